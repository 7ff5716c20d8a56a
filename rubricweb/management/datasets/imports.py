"""`rubricweb import-…`: files into rubrics, datasets and labels."""

import argparse
from collections.abc import Callable
from pathlib import Path

from django.db import transaction

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.named_files import read_file, stored_id
from rubricweb.management.terminal.printed import table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.management.terminal.who import Who, acting, note
from rubricweb.models import Dataset, Role, RubricVersion
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets import datasets, files
from rubricweb.services.labels import LabelsPlan
from rubricweb.services.reviews import reviews
from rubricweb.templatetags.display import count

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
    dataset = lookup.dataset_called(who.team, options.dataset)
    added = datasets.add_items(
        dataset,
        by=who.user,
        data=read_file(options.file),
        filename=options.file.name,
        columns=_columns(options),
    )
    note(f"Added {counted(added, 'item')} to {dataset} (id:{dataset.pk})")
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
    labelled = lookup.dataset_called(who.team, options.dataset)
    said: list[str] = []
    given = {"by": who.user, "data": data, "filename": options.file.name}
    given |= {"queue_name": options.name, "rater_kind": options.rater_kind}
    with transaction.atomic():  # a rubric file is not kept when its labels are refused, or only looked at
        version = rubric_named(who, options.rubric, labelled, tell=said.append)
        if options.plan:
            found = reviews.plan_labels(labelled, version, **given)
            transaction.set_rollback(True)
            return _print_plan(found, as_json=options.json)
        queue = reviews.import_labels(labelled, version, **given)
    for line in said:
        note(line)
    note(f"Stored the labels as the closed queue {queue} (id:{queue.pk})")
    if options.json:
        from rubricweb.api.reviews.queue_schemas import Queue

        print_shape(Queue, queue)
    return 0


def _print_plan(found: LabelsPlan, *, as_json: bool) -> int:
    if as_json:
        from rubricweb.api.datasets.schemas import LabelsPlan as Shown

        print_shape(Shown, found)
        return 0
    rows = table(("rater", "counts as"), ("labels",))
    for one in found.raters:
        rows.add_row(one.name, one.rater_kind, count(one.labels))
    terminal().print(rows)
    labels = counted(found.labels, "label")
    items = counted(found.items, "item")
    note(f"{labels} of {items} would become the closed queue {found.queue_name}. Nothing was stored.")
    return 0


def rubric_named(
    who: Who, name: str, dataset: Dataset, *, tell: Callable[[str], object] = note
) -> RubricVersion | None:
    """The rubric version a command line names: a file, `id:N`, or `-` for what the dataset brought along.

    What came of a file goes to `tell`.
    """
    if name == ITEMS_OWN:
        return dataset.rubric_version
    if (number := stored_id(name)) is not None:
        return access.access_version(who.team, number)
    path = Path(name)
    version, is_new = files.rubric_from_file(who.team, by=who.user, data=read_file(path), filename=path.name)
    tell(f"Rubric: {version} (id:{version.pk}{', new' if is_new else ''})")
    return version


def dataset_named(who: Who, name: str, *, tell: Callable[[str], object] = note) -> Dataset:
    """The dataset a command line names: a file, or `id:N`. What came of a file goes to `tell`."""
    if (number := stored_id(name)) is not None:
        return access.access_dataset(who.team, number)
    path = Path(name)
    stored, is_new = files.dataset_from_file(who.team, by=who.user, data=read_file(path), filename=path.name)
    tell(f"Dataset: {stored} (id:{stored.pk}{', new' if is_new else ''})")
    return stored
