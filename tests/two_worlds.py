"""Two worlds that differ in what a judge said about an item, and in what was asked for that reason."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from rubricweb.judges.base import JudgeError
from rubricweb.models import Dataset, JudgeCall, ReviewQueue, RubricVersion, Run, RunTally
from rubricweb.services import budgets, endpoints, run_events, runs
from rubricweb.services.panels import Member, Panel
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade

BUDGET_USD = 0.5
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class CascadeWorld:
    """Runs over one dataset, in a blind queue: a cascade; one whose second stage fails; one that its budget
    paused; and one by the second judge, `large`, alone, which uses what it has answered before.
    """

    large: str
    version: RubricVersion
    dataset: Dataset
    earlier: Run
    cascade: Run
    broken: Run
    paused: Run
    again: Run
    blind: ReviewQueue
    shared: ReviewQueue

    @property
    def runs(self) -> list[Run]:
        return [self.cascade, self.broken, self.paused, self.again]


def cascade_world(people: Cast, *, unsure: bool) -> CascadeWorld:
    """The first judge finds every answer UNMET; where it is `unsure` it abstains on two of three, and the
    second judge is asked, who says UNMET too. alice is to review everything blind.
    """
    team, ed = people.team, people.ed
    team.refresh_from_db()  # as the other world left it, which is undone
    budgets.change_monthly_budget(team, by=people.alice, monthly_budget_usd=50.0)
    version, dataset = factories.version(team, ed), factories.dataset(team, ed)

    small, large = (_endpoint(people, name) for name in ("small", "large"))

    def said(name: str, requirement: str, response: str) -> str | JudgeError:
        if name == "small" and unsure and "capital of France" not in response:
            return "CANNOT_ASSESS"
        return "UNMET"

    def fails(name: str, requirement: str, response: str) -> str | JudgeError:
        return JudgeError("timeout", "late") if name == "large" else said(name, requirement, response)

    def planned(**options: object) -> Run:
        cascade = Panel([Member(small), Member(large, stage=1)])
        chosen = {"judge_id": "", "panel": cascade} | options
        return factories.run(team, ed, dataset=dataset, rubric_version=version, **chosen)

    earlier = grade(planned(panel=None, judge_id="offline"), InProcessJudge(lambda *_: "UNMET"))
    cascade = grade(planned(name="Cascade"), LabelJudge(said))
    broken = grade(planned(name="Broken"), LabelJudge(fails))
    paused = planned(name="Paused", budget_usd=BUDGET_USD)
    spent = "$0.0120" if unsure else "$0.0090"
    run_events.note(paused.pk, "budget", f"What it may cost was set to {spent}.")
    runs.pause_for_money(paused, now=timezone.now(), why=f"The next call would pass $0.50: {spent} is spent.")
    if unsure:
        run_events.note(paused.pk, "throttled", "The endpoint answered 429: too many requests.")
    some = list(dataset.items.exclude(key="bad").values_list("pk", flat=True))
    alone = planned(name="Again", panel=None, judge_id=large, use_cache=True, item_ids=some)
    again = grade(alone, LabelJudge(said))
    blind, shared = (
        factories.queue(team, ed, dataset=dataset, rubric_version=version, run=cascade, **options)
        for options in (
            {"name": "Blind", "raters": [people.alice]},
            {"name": "Not blind", "raters": [people.ann], "blind": "none"},
        )
    )
    # What is said of the last seconds and the last minute would depend on when a page is asked for.
    RunTally.objects.update(beat_at=F("beat_at") - HOUR)
    JudgeCall.objects.update(created_at=F("created_at") - HOUR)
    return CascadeWorld(large, version, dataset, earlier, cascade, broken, paused, again, blind, shared)


def _endpoint(people: Cast, name: str) -> str:
    """A priced judge; its id."""
    endpoint = endpoints.add_endpoint(
        people.team,
        by=people.alice,
        name=name,
        base_url="http://127.0.0.1:9/v1",
        model=f"{name}-1",
        input_usd_per_million=1.0,
        output_usd_per_million=2.0,
    )
    return f"endpoint-{endpoint.pk}"


def in_both_worlds(look: Callable[[bool], dict[str, str]]) -> tuple[dict[str, str], dict[str, str]]:
    """What `look(unsure)` finds in each world, the other one undone, with times and secrets made alike."""
    found = []
    for unsure in (False, True):
        with transaction.atomic():
            _count_ids_anew()
            found.append({place: alike(text) for place, text in look(unsure).items()})
            transaction.set_rollback(True)
    return found[0], found[1]


# What differs between any two moments: times, how long ago, secrets of forms and tokens, cursors.
CHANGING = [
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?",
    r"\b\d{10}\.\d+",
    r"\b\d\d:\d\d:\d\d\b",
    r"(?<=Expires: )[^\n']+",
    r"(?<=Content-Length: )\d+",
    r"<time [^>]*>[^<]*",
    r'(?<=csrfmiddlewaretoken" value=")[^"]*',
    r"(?<=X-CSRFToken\": \")[^\"]*",
    r"\brw_[\w-]+",
    r'(?<=cursor=)[\w%=-]+|(?<=next_cursor": ")[^"]*|(?<=next_cursor":")[^"]*',
]


def alike(text: str) -> str:
    """The text with all that is CHANGING taken out."""
    return re.sub("|".join(CHANGING), "…", text)


def told_apart(one: dict[str, str], other: dict[str, str]) -> list[str]:
    """Where the two differ, with the first words that do."""
    assert one.keys() == other.keys()
    return [
        f"{place}: {_first_difference(one[place], other[place])}"
        for place in one
        if one[place] != other[place]
    ]


def _first_difference(one: str, other: str) -> str:
    start = next(
        (i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return f"{one[max(start - 60, 0) : start + 60]!r} | {other[max(start - 60, 0) : start + 60]!r}"


def _count_ids_anew() -> None:
    """Rows of the next world get the ids of those that were undone, which PostgreSQL would not use again."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), apps.get_models()):
            cursor.execute(statement)
