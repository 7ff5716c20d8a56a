"""Words for what runs store by name: autograders, kinds of errors, the parts of a prompt."""

import math

from django import template

from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.selectors.runs.errors import ERROR_KINDS
from rubricweb.selectors.runs.graders import escalation_words, rule_words
from rubricweb.selectors.runs.progress import Progress
from rubricweb.selectors.runs.results import VerdictCounts
from rubricweb.services.judges.definitions import WAYS
from rubricweb.services.runs.events import EVENT_KINDS

register = template.Library()
register.filter(rule_words)
register.filter(escalation_words)


@register.filter
def autograder_title(name: str) -> str:
    """ "per_criterion" is "Criterion by criterion"; one from another package keeps its name."""
    return WAYS[name].title if name in WAYS else name


@register.filter
def error_words(kind: str) -> str:
    """What a kind of error means to a person; "" for one that is not known."""
    return ERROR_KINDS.get(kind, "")


@register.filter
def counts_words(counts: VerdictCounts) -> str:
    """The answers on one item: "2 earned points · 1 lost them"; errors have a column of their own."""
    moved = counts.helped or counts.hurt
    parts = [f"{counts.helped} earned points", f"{counts.hurt} lost them"] if moved else []
    if counts.idle:
        parts.append(f"{counts.idle} moved nothing")
    for name in ("chosen", "measured", "cannot_assess"):
        if number := getattr(counts, name):
            parts.append(f"{number} {name.replace('_', ' ')}")
    return " · ".join(parts)


@register.filter
def progress_words(progress: Progress) -> str:
    """How far a run is, for those who listen: in tenths, so that it is not said at every look.

    "Running: 40% graded." or "Paused: 40% graded. Somebody has to resume it."
    """
    tenths = math.floor(progress.share * 10) * 10
    return f"{progress.state.capitalize()}: {tenths}% graded. {progress.waiting_words}".strip()


@register.filter
def event_words(kind: str) -> str:
    """What a kind of line in a run's log means; "" for one that is not known."""
    return EVENT_KINDS.get(kind, "")


@register.filter
def event_title(kind: str) -> str:
    """ "taken_over" is "taken over"."""
    return kind.replace("_", " ")


def autograder_line(name: str) -> str:
    """One line on an autograder: ours, or the first line of its docstring."""
    if name in WAYS:
        return WAYS[name].line
    return (AUTOGRADERS[name].__doc__ or "").strip().partition("\n")[0]
