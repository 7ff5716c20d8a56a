"""`rubricweb import-…`: files into rubrics, datasets and labels."""

import argparse
import shlex
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from django.db import transaction

from rubricweb import access
from rubricweb.engine.errors import shortened
from rubricweb.engine.formats.dataset_values import ColumnsRead
from rubricweb.engine.formats.label_files import LabelChoices
from rubricweb.engine.formats.labels.left_out import LeftOut
from rubricweb.engine.formats.rubric_files import write_rubric
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.named_files import read_file, stored_id
from rubricweb.management.terminal.printed import print_file, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Dataset, Role, RubricVersion
from rubricweb.selectors.datasets.imports import unseen_in_dataset
from rubricweb.selectors.datasets.titles import case_names, item_names
from rubricweb.selectors.teams import lookup
from rubricweb.services import label_files
from rubricweb.services.datasets import answers as answer_files
from rubricweb.services.datasets import datasets, files
from rubricweb.services.datasets.datasets import StoredItems
from rubricweb.services.datasets.previews import AS_IT_IS, ImportChoices, ItemsPreview
from rubricweb.services.label_files import LabelsPlan
from rubricweb.services.rubrics import rubrics
from rubricweb.templatetags.display import count

ITEMS_OWN = "-"
NAMED_MAX = 20
"""So many cases are named; --json names all."""
SHAPE_WORDS = {
    "long": "one label a row",
    "criteria": "a column for each criterion",
    "raters": "a column for each rater",
    "both": "a column for each rater and criterion",
}


def rubric(options: argparse.Namespace) -> int:
    actor = resolve_actor(options, Role.EDITOR)
    data = read_file(options.file)
    if options.plan:
        content = rubrics.read(data, filename=options.file.name)
        print_file([write_rubric(content, "yaml")])
        columns = rubrics.columns_read(data, options.file.name)
        note(f"{f'Columns: {columns}. ' if columns else ''}Nothing was stored.")
        return 0
    version, is_new = files.rubric_from_file(
        actor.team, by=actor.user, data=data, filename=options.file.name, title=options.title
    )
    if columns := rubrics.columns_read(data, options.file.name):
        note(f"Columns: {columns}")
    note(f"{'Published' if is_new else 'Already there:'} {version} (id:{version.pk}){_others(version)}")
    return 0


def dataset(options: argparse.Namespace) -> int:
    actor = resolve_actor(options, Role.EDITOR)
    given = _given(options)
    given |= {"name": options.name, "system": options.system}
    if options.plan:
        return _say_preview(datasets.plan_dataset_file(actor.team, strict=options.strict, **given))
    choices = ImportChoices(options.duplicates, options.new_names, options.strict)
    stored, is_new = files.dataset_from_file(actor.team, by=actor.user, choices=choices, **given)
    note(f"{'Stored' if is_new else 'Already there:'} {_dataset_words(stored.dataset)}")
    if is_new:
        note_columns(stored.columns, stored.recognised)
    if is_new and (version := stored.dataset.rubric_version) is not None:
        note(f"Its rubric: {version} (id:{version.pk}){_others(version)}")
    _note_new(stored.preview)
    _note_left_out_of(stored)
    return 0


def items(options: argparse.Namespace) -> int:
    """More items for a dataset there is."""
    actor = resolve_actor(options, Role.EDITOR)
    dataset = lookup.dataset_called(actor.team, options.dataset)
    given = _given(options)
    if options.plan:
        plan = datasets.plan_items(dataset, viewer=actor.user, strict=options.strict, **given)
        return _say_preview(plan)
    choices = ImportChoices(options.duplicates, options.new_names, options.strict)
    stored = datasets.add_items_of_file(dataset, by=actor.user, choices=choices, **given)
    note(f"Added {counted(stored.items, 'item')} to {dataset} (id:{dataset.pk})")
    note_columns(stored.columns, stored.recognised)
    _note_new(stored.preview)
    _note_left_out_of(stored)
    return 0


def answers(options: argparse.Namespace) -> int:
    """What one more version of a system answers to the cases of a dataset."""
    actor = resolve_actor(options, Role.EDITOR)
    dataset = lookup.dataset_called(actor.team, options.dataset)
    given = _given(options)
    given |= {"system": options.system, "as_attempt": options.as_attempt}
    if options.plan:
        plan = answer_files.plan_answers(dataset, viewer=actor.user, **given)
    else:
        choices = ImportChoices(options.duplicates, options.new_names)
        plan = answer_files.add_answers(dataset, by=actor.user, choices=choices, **given)
    if options.json:
        from rubricweb.api.datasets.schemas import AddedAnswers

        print_shape(AddedAnswers, plan)
        return 0
    note(f"{'Would add' if options.plan else 'Added'} {counted(plan.answers, 'answer')} of {plan.system}.")
    for keys, what in (
        (plan.missing, "without an answer"),
        (plan.unknown, "not in the dataset"),
        (plan.answered, "answered before"),
    ):
        if keys:
            more = f" and {len(keys) - NAMED_MAX:,} more" if len(keys) > NAMED_MAX else ""
            named = ", ".join(case_names(dataset, keys[:NAMED_MAX]))
            note(f"{counted(len(keys), 'case')} {what}: {named}{more}")
    _note_new(plan.preview)
    return 0


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """The file of a command, and where its fields are found."""
    columns = datasets.said_columns(options.column)
    return {"data": read_file(options.file), "filename": options.file.name, "columns": columns}


def note_columns(columns: ColumnsRead, recognised: str) -> None:
    """What the columns of a file were read as, or whose file it is."""
    if recognised:
        note(f"Read as {recognised}.")
    elif str(columns):
        note(f"Columns: {columns}")


def _say_preview(preview: ItemsPreview) -> int:
    """What a file would bring; nothing was stored."""
    note(f"{counted(preview.items, 'item')}, {counted(preview.duplicates, 'item')} of them said before.")
    _note_new(preview)
    note("Nothing was stored.")
    return 0


def _note_new(preview: ItemsPreview | None) -> None:
    """What is new by name, and what says what an earlier item says."""
    for line in preview.says if preview is not None else ():
        note(line)


def _note_left_out_of(stored: StoredItems) -> None:
    """What has no counterpart here in a file of another program, and what no judge is shown."""
    if unseen := unseen_in_dataset(stored.dataset):
        note(unseen)
    for fault in stored.left_out:
        note(f"Left out: {fault}")
    if stored.more_left_out:
        note(f"Left out: {stored.more_left_out:,} more")


def labels(options: argparse.Namespace) -> int:
    actor = resolve_actor(options, Role.EDITOR)
    data = read_file(options.file)
    labelled = lookup.dataset_called(actor.team, options.dataset)
    notes: list[str] = []
    given = {"data": data, "filename": options.file.name, "strict": options.strict}
    given |= {"queue_name": options.name, "choices": _choices(options)}
    with transaction.atomic():  # a rubric file is not kept when its labels are refused, or only looked at
        version = rubric_named(actor, options.rubric, labelled, tell=notes.append)
        if options.plan:
            found = label_files.plan_labels(labelled, version, **given)
            transaction.set_rollback(True)
        else:
            stored = label_files.import_label_file(labelled, version, by=actor.user, **given)
    if options.plan:
        names = item_names(labelled, (one.item_id for one in found.first), viewer=actor.user)
        return _print_plan(found, names, as_json=options.json)
    for line in notes:
        note(line)
    if stored.queue is not None:
        note(f"Stored the labels as the closed queue {stored.queue} (id:{stored.queue.pk})")
    for run in stored.runs:
        note(f"Stored the grades of {run.judge.name} as imported run {run.pk}, {run}")
    _note_left_out(stored.left_out)
    if options.json:
        from rubricweb.api.reviews.label_file_schemas import LabelsImported, labels_imported

        print_shape(LabelsImported, labels_imported(stored, actor.user))
    return 0


def _choices(options: argparse.Namespace) -> LabelChoices:
    """--rater-kind KIND is for everybody, RATER=KIND for one; the rest is as the API has it."""
    kinds = [kind for kind in options.rater_kind if "=" not in kind]
    if len(kinds) > 1:
        raise Invalid("--rater-kind takes one kind for everybody, and RATER=KIND for single ones.")
    return label_files.said_choices(
        shape=options.shape,
        columns=options.column,
        values=options.value,
        rater_kind=next(iter(kinds), None),
        rater_kinds=[kind for kind in options.rater_kind if "=" in kind],
        rater=options.rater,
        history=options.history,
        criterion=options.criterion,
    )


def _note_left_out(left_out: Iterable[LeftOut]) -> None:
    for group in left_out:
        note(f"Left out: {group}")


def _print_plan(plan: LabelsPlan, names: Mapping[str, str], *, as_json: bool) -> int:
    if as_json:
        from rubricweb.api.datasets.schemas import LabelsPlan as Shown

        print_shape(Shown, label_files.plan_as_data(plan))
        return 0
    reading = plan.reading
    if reading.found is not None:
        note(f"Recognised: {SHAPE_WORDS[reading.found.shape]}.")
        columns = table(("column", "is"), ())
        for column in reading.columns:
            columns.add_row(column, reading.fields.get(column, "not read"))
        terminal().print(columns)
    rows = table(("rater", "counts as"), ("labels",))
    for one in plan.raters:
        rows.add_row(one.name, one.rater_kind, count(one.labels))
    terminal().print(rows)
    if plan.first:
        _print_first(plan, names)
    for value in reading.unknown_values:
        allowed = ", ".join(value.allowed)
        note(
            f"{value.value!r} is no answer ({counted(value.labels, 'label')}). Say --value "
            f"{shlex.quote(value.value + '=ANSWER')}, where ANSWER is one of {allowed}."
        )
    _note_left_out(plan.left_out)
    labels, items = counted(plan.labels, "label"), counted(plan.items, "item")
    note(f"{labels} of {items}. {plan.becomes} Nothing was stored.")
    return 0


def _print_first(plan: LabelsPlan, names: Mapping[str, str]) -> None:
    """The first labels as they are read; long reasons and ids of items by their beginnings."""
    note("The first labels as they are read:")
    rows = table(("item", "criterion", "rater", "verdict", "reason"))
    for one in plan.first:
        final = "" if one.final_verdict is None else f", now {one.final_verdict}"
        reason = shortened(" ".join(one.reason.split()))
        rows.add_row(shortened(names[one.item_id]), one.criterion, one.rater, f"{one.verdict}{final}", reason)
    terminal().print(rows)


def rubric_named(
    actor: Actor, name: str, dataset: Dataset, *, tell: Callable[[str], object] = note
) -> RubricVersion | None:
    """The rubric version a command line names: a file, `id:N`, or `-` for what the dataset brought along.

    What came of a file goes to `tell`.
    """
    if name == ITEMS_OWN:
        return dataset.rubric_version
    if (number := stored_id(name)) is not None:
        return access.access_version(actor.team, number)
    path = Path(name)
    version, is_new = files.rubric_from_file(
        actor.team, by=actor.user, data=_file(path, "rubrics versions RUBRIC"), filename=path.name
    )
    tell(f"Rubric: {version} (id:{version.pk}{', new' if is_new else ''}){_others(version)}")
    return version


def dataset_named(actor: Actor, name: str, *, tell: Callable[[str], object] = note) -> Dataset:
    """The dataset a command line names: a file, or `id:N`. What came of a file goes to `tell`."""
    if (number := stored_id(name)) is not None:
        return access.access_dataset(actor.team, number)
    path = Path(name)
    data = _file(path, "datasets list")
    stored, is_new = files.dataset_from_file(
        actor.team, by=actor.user, data=data, filename=path.name, choices=AS_IT_IS
    )
    tell(f"Dataset: {_dataset_words(stored.dataset, ', new' if is_new else '')}")
    if is_new and str(stored.columns):
        tell(f"Columns: {stored.columns}")
    for line in stored.preview.says if stored.preview is not None else ():
        tell(line)
    if is_new and (unseen := unseen_in_dataset(stored.dataset)):
        tell(unseen)
    return stored.dataset


def _dataset_words(dataset: Dataset, more: str = "") -> str:
    """ "answers (2) (id:7), beside answers (id:3)": a name that was taken by other items got a number."""
    words = f"{dataset} (id:{dataset.pk}{more})"
    other = lookup.dataset_beside(dataset)
    return words if other is None else f"{words}, beside {other} (id:{other.pk})"


def _others(version: RubricVersion) -> str:
    """What else goes by the title of a version's rubric, and that the rubric is archived; "" mostly."""
    rubric = version.rubric
    if rubric is None:
        return ""
    others = ", ".join(f"{one} (number {one.pk})" for one in lookup.rubrics_beside(rubric))
    archived = f" of rubric {rubric.pk}, which is archived" if rubric.archived_at else ""
    return archived + (f", beside the rubric {others}" if others else "")


def _file(path: Path, listed_by: str) -> bytes:
    try:
        return read_file(path)
    except Invalid as error:
        raise Invalid(f"{error} Stored ones are named like id:7: rubricweb {listed_by}.") from error
