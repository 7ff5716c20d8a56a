"""What the page of a judge shows first: how its version agrees with people, or what is missing to know it."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.dateformat import format as date_text

from rubricweb.engine.agreement import Figure
from rubricweb.engine.number_format import counted, from_to, value_of
from rubricweb.models import JudgeVersion, Run, Team
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.comparison.judge_versions import JudgeAgreement
from rubricweb.selectors.comparison.verdict import comparison_verdict, seat_of
from rubricweb.selectors.shared.unavailable import SuggestedSample, sample_for
from rubricweb.web.comparison.answer import ComparisonAnswer, comparison_answer
from rubricweb.web.comparison.forms import ComparisonQuery
from rubricweb.web.shared.plots.line_chart import ChartColumn, ChartLine, ChartPoint, LineChart


@dataclass(frozen=True)
class JudgeAnswer:
    """The badge with its look, the sentence, the figures below it, and what it rests on.

    `answer` is the table of Compare, None where nothing could be compared; `sample` the queue that would
    decide, None where none would.
    """

    look: str
    badge: str
    sentence: str
    why: str
    answer: ComparisonAnswer | None = None
    sample: SuggestedSample | None = None


def judge_answer(found: JudgeAgreement, shown: JudgeVersion) -> JudgeAnswer:
    """The sentence about one version; of a comparison the verdict that Compare gives it."""
    name = f"v{shown.number}"
    if found.run is None:
        others = " Other versions of it have." if found.versions else ""
        why = f"Start a run with it, and label some of what it grades.{others}"
        return JudgeAnswer("undecided", "Not used yet", f"{name} has graded nothing yet.", why)
    answer = comparison_answer(found.comparison) if found.comparison is not None else None
    verdict = comparison_verdict(found.comparison) if found.comparison is not None else None
    if found.comparison is None or answer is None or verdict is None:
        missing = found.unavailable
        why = f"{missing.why} {missing.next_step}" if missing is not None else ""
        sentence = f"How {name} agrees with people is not known yet."
        return JudgeAnswer("undecided", "Not measured", sentence, why)
    sample = sample_for(found.run, verdict.more_items) if verdict.more_items else None
    sentence = verdict.sentence.replace("This judge", name, 1).replace("this judge", name, 1)
    why = " ".join(filter(None, (_figures(found.comparison), verdict.why)))
    return JudgeAnswer(answer.look, verdict.title, sentence, why, answer, sample)


def _figures(comparison: Comparison) -> str:
    """ "κ 0.58, interval 0.45 to 0.66; one person 0.73, on 60 items that several people labelled." """
    seat = seat_of(comparison)
    kappa = seat.judge if seat is not None else comparison.leading.kappa
    if kappa.value is None:
        return ""
    between = from_to(kappa.low, kappa.high)
    person = f"; one person {value_of(seat.person)}" if seat is not None else ""
    items = counted(seat.items if seat is not None else comparison.items, "item")
    several = " that several people labelled" if seat is not None else ""
    return f"κ {value_of(kappa)}{f', interval {between}' if between else ''}{person}, on {items}{several}."


def version_chart(found: JudgeAgreement, shown: JudgeVersion, team: Team) -> LineChart:
    """κ by version, in their order, over the band of one person. No line joins versions of a judge."""
    columns = [ChartColumn(f"v{one.number}", date_text(one.run.created_at, "j M")) for one in found.versions]
    lines = []
    for kind, label in (("old", "Other versions"), ("judge", f"v{shown.number}")):
        points = tuple(
            ChartPoint(at, one.kappa, f"v{one.number}", _compare(team, one.run), items=one.items)
            for at, one in enumerate(found.versions)
            if (one.number == shown.number) == (kind == "judge")
        )
        if points:
            lines.append(ChartLine(label, kind, points, joined=False))  # type: ignore[arg-type]  # two kinds
    band = found.person if found.person.value is not None else None
    return LineChart(tuple(columns), tuple(lines), by_version=True, band=band, kappa=True)


def shown_answer(found: JudgeAgreement, shown: JudgeVersion, team: Team) -> dict[str, Any]:
    """What the template needs of it."""
    answer = judge_answer(found, shown)
    asked = ComparisonQuery().of(found.run, found.queues)
    return {
        "agreement": found,
        "answer": answer,
        "chart": version_chart(found, shown, team) if found.versions else None,
        "people_words": _person_words(found.person),
        "asked": asked,
        "compare_url": reverse("compare", args=[team.slug]),
        "list_url": reverse("adjudication", args=[team.slug]),
    }


def _compare(team: Team, run: Run) -> str:
    return f"{reverse('compare', args=[team.slug])}?run={run.pk}"


def _person_words(person: Figure) -> str:
    return f"one person {value_of(person)}" if person.value is not None else ""
