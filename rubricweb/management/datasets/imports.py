"""`rubricweb import-…`: files into rubrics, datasets and labels."""

import argparse
from pathlib import Path

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.management.who import Who, acting, note, read_file
from rubricweb.models import Dataset, Role, RubricVersion
from rubricweb.selectors import operators
from rubricweb.services import datasets, files, reviews

ITEMS_OWN = "-"


def rubric(options: argparse.Namespace) -> int:
    who = acting(options, Role.EDITOR)
    data = read_file(options.file)
    version, is_new = files.rubric_from_file(
        who.team, by=who.user, data=data, filename=options.file.name, title=options.title
    )
    note(f"{'Published' if is_new else 'Already there:'} {version} (id:{version.pk})")
    return 0


def dataset(options: argparse.Namespace) -> int:
    who = acting(options, Role.EDITOR)
    columns = _columns(options)
    stored, is_new = files.dataset_from_file(
        who.team,
        by=who.user,
        data=read_file(options.file),
        filename=options.file.name,
        name=options.name,
        columns=columns,
    )
    note(f"{'Stored' if is_new else 'Already there:'} {stored} (id:{stored.pk})")
    return 0


def items(options: argparse.Namespace) -> int:
    """More items for a dataset there is."""
    who = acting(options, Role.EDITOR)
    dataset = operators.dataset_called(who.team, options.dataset)
    added = datasets.add_items(
        dataset,
        by=who.user,
        data=read_file(options.file),
        filename=options.file.name,
        columns=_columns(options),
    )
    note(f"Added {added:,} item{'s' * (added != 1)} to {dataset} (id:{dataset.pk})")
    return 0


def _columns(options: argparse.Namespace) -> dict[str, str] | None:
    """Where fields are found, as --column says; None leaves it to their names."""
    columns = {}
    for pair in options.column:
        field, equals, column = pair.partition("=")
        if not (field and equals and column):
            raise Invalid(f"--column takes FIELD=COLUMN, for example submission=reply_text, not {pair!r}.")
        columns[field] = column
    return columns or None


def labels(options: argparse.Namespace) -> int:
    who = acting(options, Role.EDITOR)
    data = read_file(options.file)
    labelled = operators.dataset_called(who.team, options.dataset)
    queue = reviews.import_labels(
        labelled,
        rubric_named(who, options.rubric, labelled),
        by=who.user,
        data=data,
        filename=options.file.name,
        queue_name=options.name,
    )
    note(f"Stored the labels as the closed queue {queue} (id:{queue.pk})")
    return 0


def rubric_named(who: Who, name: str, dataset: Dataset) -> RubricVersion | None:
    """The rubric version a command line names: a file, `id:N`, or `-` for what the dataset brought along."""
    if name == ITEMS_OWN:
        return dataset.rubric_version
    if (number := stored_id(name)) is not None:
        return access.version_for(who.team, number)
    path = Path(name)
    version, is_new = files.rubric_from_file(who.team, by=who.user, data=read_file(path), filename=path.name)
    note(f"Rubric: {version} (id:{version.pk}{', new' if is_new else ''})")
    return version


def dataset_named(who: Who, name: str) -> Dataset:
    """The dataset a command line names: a file, or `id:N`."""
    if (number := stored_id(name)) is not None:
        return access.dataset_for(who.team, number)
    path = Path(name)
    stored, is_new = files.dataset_from_file(who.team, by=who.user, data=read_file(path), filename=path.name)
    note(f"Dataset: {stored} (id:{stored.pk}{', new' if is_new else ''})")
    return stored


def stored_id(name: str) -> int | None:
    """7 for `id:7`, None for a path."""
    kind, _, number = name.partition(":")
    if kind != "id":
        return None
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        raise Invalid(f"{name!r} is not a stored id; write it like id:7.")
    return int(number)
