"""What series of scores are called: no two of them alike."""

from collections.abc import Sequence

from rubricweb.selectors.dashboard import Dashboard
from rubricweb.selectors.runs.over_time.score_series import Series, other_words
from rubricweb.templatetags.run_words import autograder_title


def labels(series: Sequence[Series]) -> dict[str, str]:
    """Series number → the rubric; of dataset, system, judge and autograder what tells some of the series
    apart; unusual scores; the versions of its judge; and what is in `distinguishing_words`.
    """
    apart = distinguishing_words(series)
    return {
        one.number: " · ".join((*_usual(one, series), *one.judge_versions, *apart[one.number]))
        for one in series
    }


def distinguishing_words(series: Sequence[Series]) -> dict[str, list[str]]:
    """Series number → what of model, settings, panel and examples tells it from those with the same usual
    words; its number where neither these nor the versions of its judge do.
    """
    groups: dict[tuple[str, ...], list[Series]] = {}
    for one in series:
        groups.setdefault(_usual(one, series), []).append(one)
    found = {one.number: _unlike(one, alike) for alike in groups.values() for one in alike}
    for alike in groups.values():
        words = [(one.judge_versions, found[one.number]) for one in alike]
        found |= {
            one.number: [*found[one.number], f"series {one.number}"]
            for one, its in zip(alike, words, strict=True)
            if words.count(its) > 1
        }
    return found


def why_empty(series: Sequence[Series]) -> str:
    """Why there is nothing to draw; "" where there is."""
    points = [point for one in series for point in one.points]
    if any(point.mean is not None for point in points):
        return ""
    if not points:
        return "Nothing to draw: every run here is a try, over fewer than half of the items there were."
    if any(point.withheld for point in points):
        return "Nothing to draw until you have reviewed: the scores of these runs are hidden from you."
    return "Nothing to draw: no run here has a score."


def next_step(board: Dashboard, *, may_edit: bool) -> str:
    """What to do where there is no κ, for this person: only editors open queues and import labels."""
    unavailable = board.unavailable
    if unavailable is None:
        return ""
    if may_edit or unavailable.code != "no_labels":
        return unavailable.next_step
    datasets = {row.queue.dataset_id for row in board.my_queues}
    if unavailable.sample is not None:
        datasets &= {unavailable.sample.dataset_id}
    return "Submit the reviews that wait for you." if datasets else "An editor can open a review queue."


def _usual(one: Series, series: Sequence[Series]) -> tuple[str, ...]:
    words = [one.rubric]
    if len({each.dataset for each in series}) > 1:
        words.append(one.dataset)
    if len({each.system for each in series}) > 1:
        words.append(one.system or "no system named")
    if len({each.judge for each in series}) > 1:
        words.append(one.judge)
    if len({each.autograder for each in series}) > 1:
        words.append(autograder_title(one.autograder).lower())
    if one.scored_as:
        words.append(one.scored_as)
    return tuple(words)


def _unlike(one: Series, others: Sequence[Series]) -> list[str]:
    """Its model, settings and parts of its panel that another judge of its name has not, and examples that
    differ.
    """
    same_judge = [other for other in others if other.judge == one.judge]
    words = [one.model] if any(other.model != one.model for other in same_judge) else []
    words += dict.fromkeys(word for other in same_judge for word in other_words(one.asked, other.asked))
    words += [part for part in one.panel if any(part not in other.panel for other in same_judge)]
    if any(other.examples != one.examples for other in others):
        words.append(one.examples)
    return words
