"""`rubricweb rubrics labels` and `decide`: what becomes of labels that were given to other words."""

import argparse

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.management.terminal.printed import moment, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.management.terminal.who import Who, acting, note
from rubricweb.models import Role, RubricVersion
from rubricweb.selectors.rubrics import versions as selected
from rubricweb.selectors.rubrics.label_changes import GUIDELINES, LabelChange, changes_in_version
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from rubricweb.templatetags.display import count, usd


def labels(options: argparse.Namespace) -> int:
    """The criteria a version asks in other words, what stands on the words before, and what was decided."""
    who = acting(options, Role.VIEWER)
    found = changes_in_version(_version(who, options), viewer=who.user)
    if options.json:
        from rubricweb.api.rubrics.schemas import LabelChange as Shape

        for change in found.changes:
            print_shape(Shape, change)
        return 0
    if not found.changes:
        note("The version asks nothing in other words: labels of the versions before count.")
        return 0
    rows = table(("criterion", "id", "decision", "by"), ("labels", "reviews", "adjudications"))
    for change in found.changes:
        decision = change.decision
        said = decision.get_kind_display() if decision is not None else "waits"
        by = (
            f"{decision.decided_by or ''} {moment(decision.decided_at)}".strip()
            if decision is not None
            else ""
        )
        figures = (change.labels, change.reviews, change.decisions)
        rows.add_row(change.name or GUIDELINES, change.uid, said, by, *map(count, figures))
    terminal().print(rows)
    if found.regrading is not None:
        again = found.regrading
        cost = f" for about {usd(again.cost_usd)}" if again.cost_usd is not None else ""
        note(f"Grading again as {again.run} asks at most {count(again.calls)} questions{cost}.")
    return 0


def decide_about(options: argparse.Namespace) -> int:
    """Decides about the labels of one criterion, in place of the decision there is."""
    who = acting(options, Role.EDITOR)
    version = _version(who, options)
    change = _called(version, options.criterion)
    seen = change.decision.pk if change.decision is not None else None
    carried = dict(options.option) if options.option else None
    done = decide(
        version, change.uid, NewLabelDecision(options.kind, carried, options.reason), by=who.user, seen=seen
    )
    if options.json:
        from rubricweb.api.rubrics.schemas import LabelChange as Shape

        print_shape(Shape, done)
    else:
        note(f"{done.name or GUIDELINES}: {options.kind.replace('_', ' ')}, {count(done.labels)} labels.")
    return 0


def _version(who: Who, options: argparse.Namespace) -> RubricVersion:
    return selected.version_with_criteria(access.access_version(who.team, options.version).pk)


def _called(version: RubricVersion, name: str) -> LabelChange:
    """The change about a criterion by name or id. Raises Invalid, naming those there are."""
    found = changes_in_version(version, viewer=None).changes
    for change in found:
        if name == change.uid or (change.name and name.casefold() == change.name.casefold()):
            return change
    names = ", ".join(change.name or GUIDELINES for change in found) or "none: nothing was reworded"
    raise Invalid.at("CRITERION", f"{name!r}, which {version} does not ask in other words", names)
