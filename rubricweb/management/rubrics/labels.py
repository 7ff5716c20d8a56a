"""`rubricweb labels`: what becomes of labels given to other words."""

import argparse

from rubricweb import access
from rubricweb.engine.number_format import text_of
from rubricweb.errors import Conflict, Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.printed import moment, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role, RubricVersion
from rubricweb.selectors.probes import changes_with_probes
from rubricweb.selectors.rubrics import versions as selected
from rubricweb.selectors.rubrics.label_changes import GUIDELINES, LabelChange
from rubricweb.selectors.teams.lookup import person_called
from rubricweb.services import label_queues
from rubricweb.services.label_queues import QueueWish
from rubricweb.services.rubrics.label_decisions import NewLabelDecision
from rubricweb.templatetags.display import count, usd
from rubricweb.templatetags.rubric_words import probe_words


def changes(options: argparse.Namespace) -> int:
    """The criteria a version asks in other words, what stands on the words before, and what was decided."""
    actor = resolve_actor(options, Role.VIEWER)
    changes = changes_with_probes(_version(actor, options), viewer=actor.user)
    if options.json:
        from rubricweb.api.rubrics.label_schemas import LabelChange as Shape

        for change in changes.changes:
            print_shape(Shape, change)
        return 0
    if not changes.changes:
        note("The version asks nothing in other words: labels of the versions before count.")
        return 0
    columns = ("criterion", "id", "decision", "by", "labelled again")
    rows = table(columns, ("labels", "reviews", "adjudications"))
    for change in changes.changes:
        decision = change.decision
        said = decision.get_kind_display() if decision is not None else "waits"
        by = (
            f"{decision.decided_by or ''} {moment(decision.decided_at)}".strip()
            if decision is not None
            else ""
        )
        figures = (change.labels, change.reviews, change.decisions)
        labelled = ", ".join(f"{count(one.submitted)} of {count(one.wanted)}" for one in change.queues) or "–"
        rows.add_row(change.name or GUIDELINES, change.uid, said, by, labelled, *map(count, figures))
    terminal().print(rows)
    for change in changes.changes:
        _say_probe(change)
    if changes.regrading is not None:
        again = changes.regrading
        cost = f" for about {usd(again.cost_usd)}" if again.cost_usd is not None else ""
        note(f"Grading again as {again.run} asks at most {count(again.calls)} questions{cost}.")
    return 0


def decide_about(options: argparse.Namespace) -> int:
    """Decides about the labels of one criterion, in place of the decision there is."""
    actor = resolve_actor(options, Role.EDITOR)
    version = _version(actor, options)
    change = _called(version, options.criterion)
    seen = change.decision.pk if change.decision is not None else None
    if not options.open_queue and (
        options.rater or options.size or options.seed is not None or options.raters_per_item
    ):
        wrong = "--rater, --size, --seed, --raters-per-item"
        raise Invalid.at(wrong, "no queue to open", "these with --open-queue")
    chosen = NewLabelDecision(
        options.kind,
        dict(options.option) if options.option else None,
        options.reason,
    )
    opening = _wish(options) if options.open_queue else None
    done = label_queues.decide(version, change.uid, chosen, by=actor.user, seen=seen, opening=opening)
    said = f"{done.name or GUIDELINES}: {options.kind.replace('_', ' ')}, {count(done.labels)} labels."
    return _say(done, options, said)


def open_queue(options: argparse.Namespace) -> int:
    """Opens the review queue of the decision there is, unless it is open."""
    actor = resolve_actor(options, Role.EDITOR)
    version = _version(actor, options)
    change = _called(version, options.criterion)
    if change.decision is None:
        raise Conflict(f"Nothing is decided about {change.name or GUIDELINES} yet: label_again or probe it.")
    seen = change.decision.pk
    return _say(
        label_queues.open_queues(version, change.uid, _wish(options), by=actor.user, seen=seen), options
    )


def _wish(options: argparse.Namespace) -> QueueWish:
    people = [person_called(name) for name in options.rater]
    return QueueWish(people, options.size, options.seed, options.raters_per_item)


def _say(change: LabelChange, options: argparse.Namespace, *lines: str) -> int:
    """What was decided or opened, as the API prints it or in words."""
    if options.json:
        from rubricweb.api.rubrics.label_schemas import LabelChange as Shape

        print_shape(Shape, change)
        return 0
    for line in lines:
        note(line)
    for one in change.closed:
        done = f"{count(one.submitted)} of {count(one.wanted)} reviews"
        note(f"Closed queue {one.queue.pk}, {one.queue}, of the decision before: {done}.")
    for one in change.queues:
        note(f"Queue {one.queue.pk}, {one.queue}: {count(one.submitted)} of {count(one.wanted)} reviews.")
    _say_probe(change)
    return 0


def _say_probe(change: LabelChange) -> None:
    """How far a probe is and what it found, beside what is usual."""
    probe = change.probe
    if probe is None:
        return
    if probe.withheld:
        note(f"{change.name or GUIDELINES}: the probe's figures are withheld until you have answered.")
        return
    note(f"{change.name or GUIDELINES}: {probe_words(probe)}")
    for what, figure in (
        ("Equal labels before and now", probe.agreement),
        ("Alpha before and now", probe.alpha),
        ("Usually equal between raters", probe.usual),
        ("Usual alpha between raters", probe.usual_alpha),
        ("Raters with themselves", probe.repeated),
    ):
        why = f": {figure.reason}" if figure.value is None else ""
        note(f"  {what}: {text_of(figure)}, n = {count(figure.n)}{why}")


def _version(actor: Actor, options: argparse.Namespace) -> RubricVersion:
    return selected.version_with_criteria(access.access_version(actor.team, options.version).pk)


def _called(version: RubricVersion, name: str) -> LabelChange:
    """The change about a criterion by name or id. Raises Invalid, naming those there are."""
    changes = changes_with_probes(version, viewer=None).changes
    for change in changes:
        if name == change.uid or (change.name and name.casefold() == change.name.casefold()):
            return change
    names = ", ".join(change.name or GUIDELINES for change in changes) or "none: nothing was reworded"
    raise Invalid.at("CRITERION", f"{name!r}, which {version} does not ask in other words", names)
