"""`rubricweb datasets tag`: words that cases are found by."""

import argparse

from django.db import transaction

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.printed import table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Dataset, Role, User
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.datasets.tags import TagCount, asked_tags, tag_counts
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets.tags import tagging
from rubricweb.templatetags.display import count


def tag(options: argparse.Namespace) -> int:
    """Gives tags to cases and takes others away, safe to repeat; without, shows which tags there are."""
    changes = bool(options.add or options.remove or options.item or options.case)
    actor = resolve_actor(options, Role.EDITOR if changes else Role.VIEWER)
    dataset = access.access_dataset(actor.team, lookup.dataset_called(actor.team, options.dataset).pk)
    if not changes:
        return _show(dataset, options, tag_counts(dataset, viewer=actor.user))
    remove = asked_tags(options.remove)
    with transaction.atomic():
        before = _having(dataset, remove, actor.user)
        made = tagging.change_tags(
            dataset,
            by=actor.user,
            add=asked_tags(options.add),
            remove=remove,
            item_ids=lookup.items_called(dataset, options.item, viewer=actor.user),
            case_ids=[lookup.case_called(dataset, name).pk for name in options.case],
        )
        after = _having(dataset, remove, actor.user)
    if options.json:
        from rubricweb.api.cases.tag_schemas import TagChange

        print_shape(TagChange, made)
        return 0
    note(f"{made}.")
    # How many had a tag says which tags they had: nothing for those who are still to review a case blind.
    for tag in made.removed if not hidden_of(actor.user, actor.team, dataset.pk) else ():
        lost = before[tag] - after[tag]
        note(f"{counted(lost, 'case')} had {tag}." if lost else f"No case had {tag}.")
    return 0


def _having(dataset: Dataset, tags: tuple[str, ...], viewer: User) -> dict[str, int]:
    """Tag → how many cases of the dataset have it."""
    return {one.tag: one.cases for one in tag_counts(dataset, viewer=viewer, asked=tags)} if tags else {}


def _show(dataset: Dataset, options: argparse.Namespace, tags: list[TagCount]) -> int:
    if options.json:
        from rubricweb.api.cases.tag_schemas import TagCount as Shown

        for row in tags:
            print_shape(Shown, row)
        return 0
    if not tags:
        note(
            f"No case of {dataset} has a tag. Give some: rubricweb datasets tag DATASET --case KEY --add TAG"
        )
        return 0
    rows = table(("tag",), ("cases",))
    for row in tags:
        rows.add_row(row.tag, count(row.cases))
    terminal().print(rows)
    return 0
