"""`rubricweb rubrics labels` and `decide`: what becomes of labels that were given to other words."""

import argparse

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.management.terminal.printed import moment, print_json, table, terminal
from rubricweb.management.terminal.who import acting, note
from rubricweb.models import Role, RubricVersion
from rubricweb.selectors.rubrics import versions as selected
from rubricweb.selectors.rubrics.label_changes import GUIDELINES, LabelChange, changes_in_version
from rubricweb.services.rubrics.label_decisions import Chosen, decide
from rubricweb.templatetags.display import count, usd


def labels(options: argparse.Namespace) -> int:
    """The criteria a version asks in other words, what stands on the words before, and what was decided."""
    found = changes_in_version(_version(options, Role.VIEWER))
    if options.json:
        for change in found.changes:
            print_json(_plain(change))
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
    version = _version(options, Role.EDITOR)
    change = _called(version, options.criterion)
    seen = change.decision.pk if change.decision is not None else None
    carried = dict(options.option) if options.option else None
    who = acting(options, Role.EDITOR)
    done = decide(version, change.uid, Chosen(options.kind, carried, options.reason), by=who.user, seen=seen)
    if options.json:
        print_json(_plain(done))
    else:
        note(f"{done.name or GUIDELINES}: {options.kind.replace('_', ' ')}, {count(done.labels)} labels.")
    return 0


def _version(options: argparse.Namespace, role: Role) -> RubricVersion:
    who = acting(options, role)
    return selected.version_with_criteria(access.access_version(who.team, options.version).pk)


def _called(version: RubricVersion, name: str) -> LabelChange:
    """The change about a criterion by name or id. Raises Invalid, naming those there are."""
    found = changes_in_version(version).changes
    for change in found:
        if name == change.uid or (change.name and name.casefold() == change.name.casefold()):
            return change
    names = ", ".join(change.name or GUIDELINES for change in found) or "none: nothing was reworded"
    raise Invalid.at("CRITERION", f"{name!r}, which {version} does not ask in other words", names)


def _plain(change: LabelChange) -> dict[str, object]:
    """The change as `GET /rubric-versions/{id}/label-changes` answers it."""
    decision = change.decision
    return {
        "uid": change.uid,
        "name": change.name,
        "criterion_id": change.criterion.pk if change.criterion is not None else None,
        "previous_id": change.previous.pk if change.previous is not None else None,
        "labels": change.labels,
        "reviews": change.reviews,
        "adjudications": change.decisions,
        "may_carry": change.may_carry,
        "needs_options": change.needs_map,
        "earlier": [{"label": one.label, "labels": one.labels} for one in change.earlier],
        "options": list(change.options),
        "decision": None
        if decision is None
        else {
            "id": decision.pk,
            "kind": decision.kind,
            "options": decision.options,
            "reason": decision.reason,
            "evidence": decision.evidence,
            "decided_by": decision.decided_by.username if decision.decided_by else None,
            "decided_at": decision.decided_at.isoformat(),
        },
    }
