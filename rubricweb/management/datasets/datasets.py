"""`rubricweb datasets`: the datasets of a team, their items and splits, at the terminal."""

import argparse

from rubricweb import access
from rubricweb.engine.formats.content_ids import given_key
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.paging import first, first_found, note_left_out, note_more
from rubricweb.management.terminal.printed import moment, say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Dataset, Role
from rubricweb.selectors.datasets import items as selected
from rubricweb.selectors.datasets.columns import columns as declared
from rubricweb.selectors.datasets.columns import read_where
from rubricweb.selectors.datasets.imports import imported_raters
from rubricweb.selectors.datasets.judged.filters import read_judged
from rubricweb.selectors.datasets.systems import answers_called
from rubricweb.selectors.datasets.tags import asked_tags
from rubricweb.selectors.datasets.versions import retired_left_out
from rubricweb.selectors.shared.archived import archived_left_out
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets import columns as column_services
from rubricweb.services.datasets import raters as services
from rubricweb.services.datasets import splits
from rubricweb.templatetags.display import count, percent


def list_datasets(options: argparse.Namespace) -> int:
    """The datasets, newest first."""
    actor = resolve_actor(options, Role.VIEWER)
    page = first_found(options, actor.team, selected.datasets)
    if options.json:
        from rubricweb.api.datasets.schemas import DatasetInList

        for row in page.rows:
            print_shape(DatasetInList, row)
    elif page.rows:
        rows = table(("id", "dataset", "split"), ("imported", "items", "runs"))
        for row in page.rows:
            figures = (count(row.item_count or 0), count(row.run_count))  # type: ignore[attr-defined]  # the selector counts
            rows.add_row(str(row.pk), row.name, row.sealed_as, moment(row.created_at), *figures)
        terminal().print(rows)
    if not page.rows:
        note("There are no such datasets. Bring one in: rubricweb import-dataset FILE")
    note_more(page, options.limit)
    note_left_out(archived_left_out(actor.team, Dataset, archived=options.archived), "--archived")
    return 0


def items(options: argparse.Namespace) -> int:
    """The items of a dataset, without their bodies."""
    actor, dataset = _dataset(options, Role.VIEWER)
    where = read_where(dataset, options.where)
    listed = selected.Listed(
        selected.read_version(options.version),
        options.split or "",
        asked_tags(options.tag),
        answers_called(dataset, options.system),
        read_judged(actor.team, vars(options)),
    )
    page = first(
        options.limit,
        lambda cursor, size: selected.items(
            dataset,
            viewer=actor.user,
            search=options.search,
            order=options.sort,
            cursor=cursor,
            size=size,
            where=where,
            listed=listed,
        ),
    )
    if options.json:
        from rubricweb.api.datasets.schemas import ItemInList

        for row in page.rows:
            print_shape(ItemInList, row)
    elif page.rows:
        rows = table(("id", "item", "system", "split", "tags", "begins"), ("characters",))
        for row in page.rows:
            begins, characters = row.excerpt, row.characters  # type: ignore[attr-defined]  # the selector measures
            system = row.system or ""  # type: ignore[attr-defined]  # the selector names it
            key = "withheld" if row.shown_key is None else given_key(row.shown_key)  # type: ignore[attr-defined]  # annotated
            words = " ".join(begins[:BEGINS].split())
            tags = ", ".join(row.shown_tags or ())  # type: ignore[attr-defined]  # annotated
            rows.add_row(f"id:{row.pk}", key, system, row.case.half, tags, words, count(characters))
        terminal().print(rows)
    if not page.rows:
        note(f"There are no such items in {dataset}.")
    note_more(page, options.limit)
    note_left_out(retired_left_out(dataset, listed.version), "--version retired")
    return 0


def columns(options: argparse.Namespace) -> int:
    """The metadata columns lists are narrowed by; with names, these from now on."""
    actor, dataset = _dataset(options, Role.EDITOR if options.name or options.none else Role.VIEWER)
    if options.name or options.none:
        column_services.declare(dataset, options.name, by=actor.user)
    declared_columns = declared(dataset)
    if options.json:
        from rubricweb.api.datasets.schemas import ColumnInList

        for column in declared_columns:
            print_shape(ColumnInList, column)
    elif declared_columns:
        rows = table(("column", "most frequent values"), ())
        for column in declared_columns:
            rows.add_row(column.name, ", ".join(column.values[:8]))
        terminal().print(rows)
    if not declared_columns:
        note(f"{dataset} declares no columns. Declare some: rubricweb datasets columns DATASET NAME …")
    return 0


def seal(options: argparse.Namespace) -> int:
    """Two sealed splits of the labelled items: examples for judges, and a test of judges."""
    actor, dataset = _dataset(options, Role.EDITOR)
    queues = [lookup.queue_called(actor.team, name) for name in options.queue]
    made = splits.split_dataset(dataset, n_dev=options.dev, by=actor.user, seed=options.seed, queues=queues)
    if options.json:
        from rubricweb.api.datasets.schemas import SealedCopies, sealed_copies

        print_shape(SealedCopies, sealed_copies(made, actor.user))
        return 0
    return say(
        *(
            f"{half.sealed_as}: {half} (id:{half.pk}), {_items(half)}, seal {half.seal}, "
            f"salt {half.seal_salt}"
            for half in (made.dev, made.test)
        ),
        f"Their shares of a label differ by {percent(made.report.largest_difference, 1)} at most.",
    )


def raters(options: argparse.Namespace) -> int:
    """Who labelled the dataset in files, and what they count as."""
    _, dataset = _dataset(options, Role.VIEWER)
    return _print_raters(dataset, as_json=options.json)


def rater_kind(options: argparse.Namespace) -> int:
    """Says whether a rater whose labels came in files is a person or a machine. Safe to repeat."""
    actor, dataset = _dataset(options, Role.EDITOR)
    rater = lookup.imported_rater_called(dataset, options.rater)
    services.change_kind(access.access_imported_rater(dataset, rater.id), options.kind, by=actor.user)
    return _print_raters(dataset, as_json=options.json)


def rater_member(options: argparse.Namespace) -> int:
    """Says which member a person in files is, or with --none that it is no member after all."""
    actor, dataset = _dataset(options, Role.EDITOR)
    found = lookup.imported_rater_called(dataset, options.rater)
    rater = access.access_imported_rater(dataset, found.id)
    if (options.member is None) != options.none:
        raise Invalid("Name a member, or say --none.")
    if options.none:
        services.take_member_back(rater, by=actor.user)
    else:
        services.declare_member(rater, lookup.person_called(options.member), by=actor.user)
    return _print_raters(dataset, as_json=options.json)


def _print_raters(dataset: Dataset, *, as_json: bool) -> int:
    raters = imported_raters(dataset)
    if as_json:
        from rubricweb.api.datasets.schemas import ImportedRater

        for row in raters:
            print_shape(ImportedRater, row)
    elif raters:
        rows = table(("id", "rater", "counts as", "member"), ("labels",))
        for row in raters:
            rows.add_row(f"id:{row.id}", row.name, row.rater_kind, row.member, count(row.labels))
        terminal().print(rows)
    if not raters:
        note(f"Nobody labelled {dataset} in a file.")
    return 0


BEGINS = 60
"""Characters of a submission that a line shows."""


def _dataset(options: argparse.Namespace, role: Role) -> tuple[Actor, Dataset]:
    actor = resolve_actor(options, role)
    return actor, access.access_dataset(actor.team, lookup.dataset_called(actor.team, options.dataset).pk)


def _items(half: Dataset) -> str:
    number = selected.own_rubric_counts(half)[0]
    return counted(number, "item")
