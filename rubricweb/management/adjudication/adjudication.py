"""`rubricweb adjudication`: what people and judges differ on, and what is decided, at the terminal."""

import argparse
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from rubricweb import access
from rubricweb.engine.formats.content_ids import name_of
from rubricweb.engine.number_format import counted
from rubricweb.engine.origin import origin_words
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.printed import facts, moment, say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Adjudication, Criterion, Item, ReviewQueue, Role
from rubricweb.selectors.adjudication import inbox as selected
from rubricweb.selectors.adjudication.units import UnitAnswer, UnitToDecide, unit_to_decide
from rubricweb.selectors.datasets.titles import item_title
from rubricweb.selectors.labels.adjudications import criterion_for
from rubricweb.selectors.labels.provenance import SaidLabel, item_provenance
from rubricweb.selectors.labels.stored_answers import label_effect
from rubricweb.selectors.teams import lookup
from rubricweb.services import adjudications as services
from rubricweb.templatetags.display import count, signed


def inbox(options: argparse.Namespace) -> int:
    """What waits, the most telling first; items the person is still to review blind are left out."""
    actor = resolve_actor(options, Role.VIEWER)
    queues = [_queue_called(actor, name) for name in options.queue]
    run = access.access_run(actor.team, options.run) if options.run is not None else None
    where = selected.scope(actor.team, actor.user, queues, run)
    units = selected.inbox(where, kind=options.kind, cause=options.cause, decided=options.decided)
    if options.criterion:
        wanted = {name.casefold() for name in options.criterion}
        units = [row for row in units if wanted & {row.criterion.name.casefold(), f"id:{row.criterion.pk}"}]
    rows = selected.shown(where, units[: options.limit])
    if options.json:
        from rubricweb.api.adjudication import schemas

        for row in rows:
            print_shape(schemas.InboxUnit, row)
    else:
        _print_inbox(rows)
    if len(units) > len(rows):
        note(f"{count(len(units) - len(rows))} more; --limit {options.limit * 2} shows more of them.")
    if left := selected.items_left_out(where):
        note(f"{_items(left)} left out: you are still to review them blind.")
    return 0


def show(options: argparse.Namespace) -> int:
    """Everybody's word on one criterion of one item."""
    actor, item, criterion = _unit(options, Role.VIEWER)
    unit = unit_to_decide(item, criterion, viewer=actor.user, names=options.names)
    if options.names:
        services.note_names_shown(item, by=actor.user)
    if options.json:
        _print_unit_shape(unit)
    else:
        _print_unit(unit, _name(item, actor), names=options.names)
    return 0


def decide(options: argparse.Namespace) -> int:
    """Says what stands; somebody else's decision is only replaced by who has seen it."""
    actor, item, criterion = _unit(options, Role.REVIEWER)
    decision = services.adjudicate(
        item,
        criterion,
        by=actor.user,
        verdict=options.verdict,
        cause=options.cause,
        reason=options.reason,
        seen=_seen(options.seen),
    )
    if options.json:
        from rubricweb.api.adjudication import schemas

        print_shape(schemas.Adjudication, decision)
        return 0
    stands = _with_effect(criterion, decision.verdict)
    named = _name(item, actor)
    return say(f"{stands} stands for {criterion} of {named}: {decision.get_cause_display()}.")


def withdraw(options: argparse.Namespace) -> int:
    """Takes a decision back: the one before stands again, else what people said."""
    actor, item, criterion = _unit(options, Role.REVIEWER)
    stands = services.withdraw(item, criterion, by=actor.user, seen=_seen(options.seen))
    if options.json:
        _print_unit_shape(unit_to_decide(item, criterion, viewer=actor.user))
        return 0
    named = _name(item, actor)
    if stands is not None:
        verdict = _with_effect(stands.criterion, stands.verdict)
        return say(f"{verdict}, decided before, stands again for {criterion} of {named}.")
    return say(f"Nothing is decided for {criterion} of {named}; what people said stands.")


def agreed(options: argparse.Namespace) -> int:
    """How much of a queue everybody agrees on, and how much waits."""
    actor = resolve_actor(options, Role.REVIEWER, archived_too=True)
    queue = _queue_called(actor, options.queue)
    where = selected.scope(actor.team, actor.user, [queue])
    units, waiting = len(selected.agreed(queue, actor.user)), len(selected.inbox(where))
    left = selected.items_left_out(where)
    if options.json:
        from rubricweb.api.adjudication import schemas

        print_shape(schemas.Agreed, {"units": units, "waiting": waiting, "hidden_items": left})
        return 0
    say(
        f"{counted(units, 'unit')} of {queue} could be accepted as everybody said; "
        f"{counted(waiting, 'unit')} to be decided."
    )
    if left:
        note(f"{_items(left)} left out: you are still to review them blind.")
    return 0


def accept(options: argparse.Namespace) -> int:
    """Decides what everybody agrees on as everybody said."""
    actor = resolve_actor(options, Role.REVIEWER)
    queue = _queue_called(actor, options.queue)
    accepted = services.accept_agreed(queue, by=actor.user)
    if options.json:
        from rubricweb.api.adjudication import schemas

        print_shape(schemas.Accepted, {"accepted": accepted})
        return 0
    return say(f"{counted(accepted, 'unit')} of {queue} accepted.")


def truth(options: argparse.Namespace) -> int:
    """What stands for every labelled criterion of an item; the raters by name only when that is asked for."""
    actor = resolve_actor(options, Role.VIEWER)
    item = _item(actor, options.item)
    rows = item_provenance(item, viewer=actor.user)
    if options.names:
        services.note_names_shown(item, by=actor.user)
    if options.json:
        from rubricweb.api.adjudication import schemas

        answer = schemas.ground_truth_of_item(item, rows, names=options.names)
        print_shape(schemas.GroundTruthOfItem, answer)
        return 0
    if not rows:
        note(f"Nobody has labelled {_name(item, actor)} yet.")
        return 0
    shown = table(("criterion", "stands", "by", "from"))
    for criterion, found in rows:
        labels = ", ".join(f"{f'{one.rater}: ' * options.names}{_with_origin(one)}" for one in found.labels)
        rule = f"{found.rule}, {found.decided_by}" if options.names and found.decided_by else found.rule
        stands = _with_effect(criterion, found.verdict) if found.verdict else "people are tied"
        shown.add_row(criterion.name, stands, rule, labels)
    terminal().print(shown)
    return 0


# ── What the commands name ───────────────────────────────────────────────────────────────────────


def _queue_called(actor: Actor, name: str) -> ReviewQueue:
    return access.access_queue(actor.team, lookup.queue_called(actor.team, name).pk)


def _item(actor: Actor, name: str) -> Item:
    return access.access_item(actor.team, lookup.item_called(actor.team, name, viewer=actor.user).pk)


def _unit(options: argparse.Namespace, role: Role) -> tuple[Actor, Item, Criterion]:
    actor = resolve_actor(options, role)
    item = _item(actor, options.item)
    return actor, item, criterion_for(item, lookup.criterion_called(item, options.criterion).pk)


def _name(item: Item, actor: Actor) -> str:
    """The key of an item; its number where that is kept from them, or was made."""
    return name_of(item_title(item, viewer=actor.user, team=actor.team).key, id=item.pk)


def _seen(text: str) -> datetime | None:
    """The time of the decision that is to be replaced, as `show` prints it; None where none is named."""
    if not text:
        return None
    try:
        seen = datetime.fromisoformat(text)
    except ValueError:
        seen = None
    if seen is None or seen.tzinfo is None:
        allowed = "the time `rubricweb adjudication show` gives, such as 2026-03-01T14:05:00.123456+00:00"
        raise Invalid.at("--seen", repr(text[:40]), allowed)
    return seen


# ── What they print ──────────────────────────────────────────────────────────────────────────────


def _print_inbox(rows: list[selected.InboxUnit]) -> None:
    if not rows:
        note("Nothing of that waits to be decided.")
        return
    shown = table(("id", "item", "criterion", "people", "judge", "because"))
    for row in rows:
        because = ", ".join(row.kinds)
        if row.decided:
            because = f"decided: {_with_effect(row.criterion, row.decided.verdict)}"
        key = row.item_key or "withheld"
        cells = (f"id:{row.item_id}", key, row.criterion.name, _counted(row.criterion, row.votes))
        judged = [
            _with_effect(row.criterion, label) + " (imported)" * bool(origin)
            for label, origin in row.by_judges
        ]
        shown.add_row(*cells, ", ".join(judged), because)
    terminal().print(shown)


def _print_unit(unit: UnitToDecide, item: str, *, names: bool) -> None:
    console, asked = terminal(), unit.item.to_engine()
    rows = [
        ("item", f"id:{unit.item.pk}, {item} of {unit.item.dataset}"),
        ("criterion", f"id:{unit.criterion.pk}, {unit.criterion}, {signed(unit.criterion.weight)}"),
        *[("penalty", "MET is error present, UNMET error absent")] * _is_penalty(unit.criterion),
        ("requirement", unit.criterion.requirement),
        *[("guidance", unit.criterion.guidance)] * bool(unit.criterion.guidance),
        *[("prompt", _text(asked.query))] * bool(asked.query),
        ("submission", asked.output),
        *[("reference", asked.reference or "")] * bool(asked.reference),
    ]
    rows += [(answer.name, _said(unit.criterion, answer)) for answer in (*unit.judges, *unit.people)]
    if unit.decision is not None:
        rows.append(("decided", _decided(unit.decision, names=names)))
    elif unit.provenance is not None:
        verdict = unit.provenance.verdict
        stands = _with_effect(unit.criterion, verdict) if verdict else "people are tied"
        rows.append(("stands", f"{stands}, {unit.provenance.rule}"))
    console.print(facts(rows))


def _with_origin(label: SaidLabel) -> str:
    words = origin_words(label.origin) or "judge" * label.is_judge
    return f"{label.verdict} ({words})" if words else label.verdict


def _is_penalty(criterion: Criterion) -> bool:
    return criterion.kind == "binary" and criterion.weight < 0


def _with_effect(criterion: Criterion, label: str) -> str:
    """The stored word and what it does to the score: "MET (hurt)" of a penalty; alone where it is neither."""
    effect = label_effect(criterion, label)
    return f"{label} ({effect})" if effect in ("helped", "hurt") else label


def _said(criterion: Criterion, answer: UnitAnswer) -> str:
    """A rater's label with all they gave for it, a line each."""
    label = f"no answer: {answer.error or 'not asked'}"
    if answer.verdict:
        label = _with_effect(criterion, answer.verdict)
    label += f", first {answer.initial}" if answer.initial else ""
    label += ", finds the rubric unclear" if answer.unclear else ""
    label += f" (votes: {_counted(criterion, answer.votes)})" if answer.votes else ""
    origin = origin_words(answer.origin)
    label += f" · {origin}" if origin else ""
    quoted = [f"“{quote.text}” in the {quote.where}" for quote in answer.evidence]
    return "\n".join(filter(None, (label, answer.reason, answer.later, *quoted)))


def _decided(decision: Adjudication, *, names: bool) -> str:
    by = f", by {decision.decided_by}" if names and decision.decided_by else ""
    why = decision.get_cause_display() if decision.cause else "as all said"
    said = f"{_with_effect(decision.criterion, decision.verdict)}: {why}{by}, {moment(decision.decided_at)}"
    return "\n".join(filter(None, (said, decision.reason, f"--seen {decision.decided_at.isoformat()}")))


def _counted(criterion: Criterion, votes: Iterable[tuple[str, int]]) -> str:
    told = [(_with_effect(criterion, label), n) for label, n in votes]
    return ", ".join(f"{label} × {n}" if n > 1 else label for label, n in told)


def _text(query: Any) -> str:
    """A prompt as lines: a conversation turn by turn."""
    if isinstance(query, str):
        return query
    return "\n".join(f"{turn.get('role', '')}: {turn.get('content', '')}" for turn in query)


def _items(number: int) -> str:
    return f"{count(number)} item{'s are' if number != 1 else ' is'}"


# ── As JSON, in the shapes of the API ────────────────────────────────────────────────────────────


def _print_unit_shape(unit: UnitToDecide) -> None:
    from rubricweb.api.adjudication import schemas

    print_shape(schemas.Unit, unit)
