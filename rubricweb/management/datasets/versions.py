"""`rubricweb datasets retire`, `restore`, `correct`, `versions`: what changes a dataset, and what did."""

import argparse

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.named_files import read_file, read_text_file
from rubricweb.management.terminal.printed import moment, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import ChangeKind, Dataset, Role
from rubricweb.selectors.datasets import versions as selected
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets.changes import corrections, undoing
from rubricweb.services.datasets.changes import retirement as services
from rubricweb.services.datasets.changes.retirement import ChangePlan
from rubricweb.services.rubrics import rubrics
from rubricweb.templatetags.display import count


def versions(options: argparse.Namespace) -> int:
    """The versions of a dataset, newest first."""
    actor = resolve_actor(options, Role.VIEWER)
    dataset = lookup.dataset_called(actor.team, options.dataset)
    changes = selected.changes(dataset, viewer=actor.user)
    if options.json:
        from rubricweb.api.datasets.version_schemas import DatasetVersion

        for row in changes:
            print_shape(DatasetVersion, row)
        return 0
    rows = table(("version", "when", "by", "what", "note"), ("items",))
    for row in changes:
        by = str(row.created_by or "")
        what = row.get_kind_display().lower()
        rows.add_row(str(row.version), moment(row.created_at), by, what, row.note, count(row.items))
    terminal().print(rows)
    return 0


def retire(options: argparse.Namespace) -> int:
    """Takes items out of a dataset. Safe to repeat."""
    actor = resolve_actor(options, Role.EDITOR)
    dataset = access.access_dataset(actor.team, lookup.dataset_called(actor.team, options.dataset).pk)
    ids = _chosen(actor, dataset, options, retired=False)
    if options.plan:
        return _say(services.plan_retirement(dataset, ids, actor.user), options)
    return _say(services.retire(dataset, ids, by=actor.user, note=options.note), options)


def restore(options: argparse.Namespace) -> int:
    """Puts retired items back. Safe to repeat."""
    actor = resolve_actor(options, Role.EDITOR)
    dataset = access.access_dataset(actor.team, lookup.dataset_called(actor.team, options.dataset).pk)
    ids = _chosen(actor, dataset, options, retired=True)
    if options.plan:
        return _say(services.plan_restoration(dataset, ids, actor.user), options)
    return _say(services.restore(dataset, ids, by=actor.user, note=options.note), options)


def undo(options: argparse.Namespace) -> int:
    """Puts a dataset back into the version before its newest, while nothing stands on that."""
    actor = resolve_actor(options, Role.EDITOR)
    dataset = access.access_dataset(actor.team, lookup.dataset_called(actor.team, options.dataset).pk)
    if options.plan:
        plan = undoing.plan_undoing(dataset, actor.user)
    else:
        seen = dataset.version if options.version is None else options.version
        plan = undoing.undo(dataset, by=actor.user, seen=seen)
    if options.json:
        from rubricweb.api.datasets.version_schemas import UndoPlan as Shown

        print_shape(Shown, plan)
        return 0
    note(f"{'Would undo' if options.plan else 'Undid'} version {plan.version} of {dataset}.")
    for line in (*plan.says, *(f"Not now: {one}" for one in plan.stands)):
        note(line)
    return 0


def correct(options: argparse.Namespace) -> int:
    """Puts the right words in the place of an answer's, or of a case's."""
    actor = resolve_actor(options, Role.EDITOR)
    dataset = lookup.dataset_called(actor.team, options.dataset)
    if bool(options.item) == bool(options.case):
        raise Invalid("Name one item by --item, or one case by --case.")
    rubric = None
    if options.rubric is not None:
        rubric = rubrics.read(read_file(options.rubric), filename=options.rubric.name)
    texts = {
        name: None if path is None else read_text_file(path)
        for name, path in (
            ("submission", options.submission),
            ("thinking", options.thinking),
            ("prompt", options.prompt),
            ("reference", options.reference),
        )
    }
    words = corrections.Correction(**texts, rubric=rubric)
    if options.item:
        [item_id] = lookup.items_called(dataset, [options.item], viewer=actor.user)
        item = access.access_item(actor.team, item_id)
        if options.plan:
            return _say(corrections.plan_item(item, words, actor.user), options)
        return _say(corrections.correct_item(item, words, by=actor.user, note=options.note), options)
    case = access.access_case(actor.team, lookup.case_called(dataset, options.case).pk)
    if options.plan:
        return _say(corrections.plan_case(case, words, actor.user), options)
    return _say(corrections.correct_case(case, words, by=actor.user, note=options.note), options)


def _chosen(actor: Actor, dataset: Dataset, options: argparse.Namespace, *, retired: bool) -> list[int]:
    if not options.item and not options.case:
        raise Invalid("Name items by --item, --items-from or --case.")
    cases = [lookup.case_called(dataset, name).pk for name in options.case]
    named = lookup.items_called(dataset, options.item, viewer=actor.user, retired=retired)
    return [*named, *selected.items_of_cases(dataset, cases, retired=retired)]


def _say(plan: ChangePlan, options: argparse.Namespace) -> int:
    if options.json:
        from rubricweb.api.datasets.version_schemas import ChangePlan as Shown

        print_shape(Shown, plan)
        return 0
    verb = f"Would {plan.change.value}" if options.plan else plan.change.label
    rewords = plan.change == ChangeKind.CORRECT and plan.cases
    what = "1 case" if rewords else counted(plan.items, "item")
    note(f"{verb} {what}: version {plan.version} of the dataset.")
    if plan.replacement is not None:
        note(f"The right words are item id:{plan.replacement}.")
    for line in plan.says:
        note(line)
    return 0
