"""`rubricweb queues`: the review queues there are, opening and changing them, at the terminal."""

import argparse
from dataclasses import replace

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.named_files import read_text_file
from rubricweb.management.terminal.paging import note_left_out
from rubricweb.management.terminal.printed import Table, facts, say, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Blind, Dataset, ReviewQueue, Role, RubricVersion, User
from rubricweb.selectors.datasets.systems import queue_systems, versions_called
from rubricweb.selectors.reviews import queues as selected
from rubricweb.selectors.reviews.queue_plans import queue_plan
from rubricweb.selectors.reviews.queue_sources import Source, new_seed
from rubricweb.selectors.shared.archived import archived_left_out
from rubricweb.selectors.teams import lookup
from rubricweb.services.reviews import queue_changes
from rubricweb.services.reviews import queues as services
from rubricweb.templatetags.display import count, duration, systems_words, tells_system


def list_queues(options: argparse.Namespace) -> int:
    """The queues of the team, a line each: open ones first."""
    actor = resolve_actor(options, Role.VIEWER)
    rows = [
        row
        for row in selected.queues(actor.team, actor.user, archived=options.archived)
        if not options.state or row.queue.state == options.state
    ]
    if options.json:
        from rubricweb.api.reviews import queue_schemas as schemas

        for row in rows:
            print_shape(schemas.QueueInList, schemas.in_list(row))
    elif rows:
        _print_list(rows)
    else:
        note("There are no such queues yet.")
    note_left_out(archived_left_out(actor.team, ReviewQueue, archived=options.archived), "--archived")
    return 0


def _print_list(rows: list[selected.QueueRow]) -> None:
    table = Table()
    for title in ("id", "queue", "state", "dataset"):
        table.add_column(title, no_wrap=title in ("id", "state"))
    table.add_column("answers of")
    table.add_column("criteria", justify="right", no_wrap=True)
    for title in ("items", "submitted", "of", "drafts"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        queue, progress = row.queue, row.progress
        figures = (progress.items, progress.submitted, progress.wanted, progress.drafts)
        asked = count(len(queue.criteria.all())) if queue.criteria.all() else "all"
        cells = [str(queue.pk), queue.name, queue.state, queue.dataset.name]
        table.add_row(*cells, systems_words(row.systems), asked, *map(count, figures))
    terminal().print(table)


def show(options: argparse.Namespace) -> int:
    """One queue: how far it is, who has done how much, how long the rest takes."""
    actor, queue = _queue(options, Role.VIEWER)
    progress = selected.queue_progress(queue, actor.user)
    pace = selected.queue_pace(queue, progress, actor.user)
    raters = selected.rater_progress(queue)
    source = selected.source_words(queue, actor.user)
    if options.json:
        _print_in_full(queue, actor.user)
        return 0
    people = "the whole team" if queue.everyone else "chosen members"
    left = "none" if not progress.left else "not known yet" if pace.left is None else duration(pace.left)
    about = [
        ("queue", f"{queue.pk}, {queue.name}, {queue.state}"),
        ("items", f"{count(progress.items)} of {queue.dataset}, {queue.raters_per_item} people each"),
        ("chosen", " ".join(source)),
        ("criteria", ", ".join(one.name for one in queue.criteria.all()) or "all"),
        ("answers of", systems_words(queue_systems([queue], viewer=actor.user, team=actor.team)[queue.pk])),
        *([("split", f"{queue.half} cases")] if queue.half else []),
        ("people", f"{people}; order: {queue.get_order_display()}; blind: {queue.get_blind_display()}"),
        ("submitted", f"{count(progress.submitted)} of {count(progress.wanted)}"),
        ("drafts", f"{count(progress.drafts)}, {count(progress.expired)} of them released"),
        ("work left", left),
    ]
    table = Table(("rater",), ("submitted", "drafts", "expired", "skipped", "a review takes"))
    for one in raters:
        figures = map(count, (one.submitted, one.drafts, one.expired, one.skipped))
        name = one.name if one.rates else f"{one.name} (taken out)"
        table.add_row(name, *figures, duration(one.seconds))
    console = terminal()
    console.print(facts(about))
    console.print(table)
    return 0


# ── Opening and changing ─────────────────────────────────────────────────────────────────────────


def new(options: argparse.Namespace) -> int:
    """Opens a queue; with --plan it only says what it would come to."""
    actor = resolve_actor(options, Role.EDITOR)
    dataset = lookup.dataset_called(actor.team, options.dataset)
    version = _version(actor, dataset, options.rubric)
    criteria = [_criterion(name) for name in options.criterion]
    systems = versions_called(dataset, options.system)
    source = _source(actor, dataset, options)
    if options.plan:
        plan = queue_plan(
            dataset,
            source,
            viewer=actor.user,
            rubric_version=version,
            criteria=criteria,
            raters_per_item=options.raters_per_item,
            systems=systems,
            half=options.split,
        )
        answers = "" if plan.answers is None else f", {count(plan.answers)} answers"
        work = f", about {duration(plan.seconds)} of work" if plan.seconds is not None else ""
        said = f"{count(plan.items)} items, {count(plan.reviews)} reviews{answers}{work}."
        told = [tells_system(plan.one_system)] if plan.one_system and options.blind != Blind.NONE else []
        return say(said, *plan.source, *told)
    queue = services.create_queue(
        actor.team,
        services.QueueRequest(
            name=options.name,
            dataset=dataset,
            rubric_version=version,
            criteria=criteria,
            systems=systems,
            half=options.split,
            raters=[lookup.person_called(name) for name in options.rater],
            everyone=options.everyone,
            raters_per_item=options.raters_per_item,
            run=None if options.run is None else access.access_run(actor.team, options.run),
            source=source,
            blind=options.blind,
            order=options.order,
            needs_reason=options.needs_reason,
            hold_minutes=options.hold,
            instructions=read_text_file(options.instructions) if options.instructions else "",
        ),
        by=actor.user,
    )
    items = selected.queue_progress(queue, actor.user).items
    return say(f"Queue {queue.pk} is open with {count(items)} items.")


def edit(options: argparse.Namespace) -> int:
    """Other words for reviewers, and another time until items are released; what is not named stays."""
    actor, queue = _queue(options, Role.EDITOR)
    instructions = read_text_file(options.instructions) if options.instructions else None
    changes = (options.name, instructions, options.hold, options.history, options.grid)
    if all(change is None for change in changes):
        raise Invalid("Nothing to change; allowed: --name, --instructions, --hold, --history and --grid.")
    queue_changes.edit_queue(
        queue,
        by=actor.user,
        name=options.name,
        instructions=instructions,
        hold_minutes=options.hold,
        history=None if options.history is None else options.history == "yes",
        grid=None if options.grid is None else options.grid == "yes",
    )
    if options.json:
        _print_in_full(queue, actor.user)
        return 0
    if queue.imported:
        settled = "not to be settled" if queue.history else "to be settled"
        return say(f"Labels {queue.pk} are {queue.name}; what their raters differ on is {settled}.")
    return say(
        f"Queue {queue.pk} is {queue.name}; items are released after {queue.hold_minutes} idle minutes."
    )


def pause(options: argparse.Namespace) -> int:
    """Hands nothing out and takes nothing in until it is resumed."""
    actor, queue = _queue(options, Role.EDITOR)
    queue_changes.pause_queue(queue, by=actor.user)
    return _state(queue)


def resume(options: argparse.Namespace) -> int:
    """Goes on with a paused queue."""
    actor, queue = _queue(options, Role.EDITOR)
    queue_changes.resume_queue(queue, by=actor.user)
    return _state(queue)


def close(options: argparse.Namespace) -> int:
    """No more reviews; blinding ends."""
    actor, queue = _queue(options, Role.EDITOR)
    services.close_queue(queue, by=actor.user)
    return _state(queue)


def reopen(options: argparse.Namespace) -> int:
    """Opens a closed queue again."""
    actor, queue = _queue(options, Role.EDITOR)
    queue_changes.reopen_queue(queue, by=actor.user)
    return _state(queue)


def extend(options: argparse.Namespace) -> int:
    """More items, more people per item, or both."""
    actor, queue = _queue(options, Role.EDITOR)
    source = _source(actor, queue.dataset, options)
    only_raters = options.raters_per_item is not None and source == Source()
    wanted = None if options.no_items or only_raters else source
    added = queue_changes.extend_queue(
        queue, by=actor.user, source=wanted, raters_per_item=options.raters_per_item
    )
    return say(
        f"{count(added)} items added to queue {queue.pk}, {queue.raters_per_item} people have each item."
    )


def reassign(options: argparse.Namespace) -> int:
    """Puts people in and takes others out."""
    actor, queue = _queue(options, Role.EDITOR)
    queue_changes.reassign_queue(
        queue,
        by=actor.user,
        add=_people(options.add),
        remove=_people(options.remove),
        everyone={"yes": True, "no": False}.get(options.everyone),
    )
    names = ", ".join(one.name for one in selected.rater_progress(queue) if one.rates)
    return say(f"In queue {queue.pk} are: {names}.")


def _queue(options: argparse.Namespace, role: Role) -> tuple[Actor, ReviewQueue]:
    actor = resolve_actor(options, role)
    queue = lookup.queue_called(actor.team, options.queue)
    return actor, access.access_queue(actor.team, queue.pk)


def _people(names: list[str]) -> list[User]:
    return [lookup.person_called(name) for name in names]


def _version(actor: Actor, dataset: Dataset, named: str) -> RubricVersion | None:
    """id:N is a published version, nothing is the dataset's own, - is the rubric each item brings."""
    if named == "-":
        return None
    if not named:
        return dataset.rubric_version
    number = named.removeprefix("id:")
    if not named.startswith("id:") or not number.isdecimal():
        raise Invalid(f"{named!r} is no rubric version; allowed: id:N, or - for the rubric each item brings.")
    return access.access_version(actor.team, int(number))


def _criterion(named: str) -> int | str:
    """A criterion as id:N or by its name."""
    number = named.removeprefix("id:")
    return int(number) if named.startswith("id:") and number.isdecimal() else named


def _source(actor: Actor, dataset: Dataset, options: argparse.Namespace) -> Source:
    """Which items the arguments choose: a sample, a run's doubtful ones, chosen ones, a filter, or all."""
    run = None if options.from_run is None else access.access_run(actor.team, options.from_run)
    narrowed = Source(search=options.search, metadata=options.metadata)
    if options.sample is not None:
        return replace(
            narrowed,
            kind="sample",
            size=options.sample,
            run=run,
            strata_metadata=options.even_by,
            strata_criterion=options.even_by_verdict,
            seed=new_seed() if options.seed is None else options.seed,
        )
    if run is not None:
        return replace(narrowed, kind="run", run=run, reasons=tuple(options.reason))
    if options.item:
        return Source(
            kind="items", item_ids=tuple(lookup.items_called(dataset, options.item, viewer=actor.user))
        )
    return replace(narrowed, kind="filter") if options.search or options.metadata else Source()


def _print_in_full(queue: ReviewQueue, viewer: User) -> None:
    from rubricweb.api.reviews import queue_schemas as schemas

    print_shape(schemas.QueueInFull, schemas.in_full(queue, viewer))


def _state(queue: ReviewQueue) -> int:
    if missing := queue.people_missing():
        each = counted(queue.raters_per_item, "person", "people")
        note(f"Each item is for {each}, {missing} more than may review in it: see rubricweb queues reassign.")
    return say(f"Queue {queue.pk} is {queue.state}.")
