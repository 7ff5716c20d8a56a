"""Two worlds that differ in what a judge said about an item, and in what was asked for that reason."""

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import SystemRandom
from typing import Any
from unittest import mock

import time_machine
from django.apps import apps
from django.core.management.color import no_style
from django.db import connection, transaction
from django.db.models import F
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.judges.base import JudgeError
from rubricweb.models import (
    Blind,
    Dataset,
    Item,
    JudgeCall,
    Review,
    ReviewQueue,
    RubricVersion,
    Run,
    RunTally,
)
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services import comments
from rubricweb.services.datasets.halves.drawing import split_cases
from rubricweb.services.endpoints import endpoints
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.runs import budgets, events
from rubricweb.services.runs import lifecycle as runs
from rubricweb.services.runs.panels import Panel, PanelMember
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
    version, dataset = _version(people), factories.dataset(team, ed)
    split_cases(dataset, n_dev=1, by=ed)

    small, large = (_endpoint(people, name) for name in ("small", "large"))

    def said(name: str, requirement: str, response: str) -> str | JudgeError:
        if name == "small" and unsure and "capital of France" not in response:
            return "CANNOT_ASSESS"
        return "UNMET"

    def fails(name: str, requirement: str, response: str) -> str | JudgeError:
        return JudgeError("timeout", "late") if name == "large" else said(name, requirement, response)

    def planned(**options: Any) -> Run:  # those of `factories.run`
        cascade = Panel([PanelMember(small), PanelMember(large, stage=1)])
        options = {"judge_id": "", "panel": cascade, **options}
        return factories.run(team, ed, dataset=dataset, rubric_version=version, **options)

    earlier = grade(planned(panel=None, judge_id="offline"), InProcessJudge(lambda *_: "UNMET"))
    cascade = grade(planned(name="Cascade"), LabelJudge(said))
    broken = grade(planned(name="Broken"), LabelJudge(fails))
    paused = planned(name="Paused", budget_usd=BUDGET_USD)
    spent = "$0.0120" if unsure else "$0.0090"
    events.note(paused.pk, "budget", f"The budget was set to {spent}.")
    runs.pause_for_money(paused, why=f"The next call would pass $0.50: {spent} is spent.")
    if unsure:
        events.note(paused.pk, "throttled", "The endpoint answered 429: too many requests.")
    some = list(dataset.items.exclude(key="bad").values_list("pk", flat=True))
    alone = planned(name="Again", panel=None, judge_id=large, use_cache=True, item_ids=some)
    again = grade(alone, LabelJudge(said))
    blind, shared = (
        factories.queue(
            team,
            ed,
            dataset=dataset,
            rubric_version=version,
            run=cascade,
            name=name,
            raters=[rater],
            blind=blind,
        )
        for name, rater, blind in (("Blind", people.alice, Blind.BOTH), ("Not blind", people.ann, Blind.NONE))
    )
    # What is said of the last seconds and the last minute would depend on when a page is asked for.
    RunTally.objects.update(beat_at=F("beat_at") - HOUR)
    JudgeCall.objects.update(created_at=F("created_at") - HOUR)
    return CascadeWorld(large, version, dataset, earlier, cascade, broken, paused, again, blind, shared)


@dataclass(frozen=True)
class CopiesWorld:
    """The same words in many places: asked in alice's blind `queue`, a second time in that dataset but not in
    the queue, and in a subset of it. `run`, `again` and `of_subset` grade them by a judge with one opinion.

    `queue` asks about other criteria than the one in which the worlds differ: it hides that one as well.
    """

    version: RubricVersion
    dataset: Dataset
    run: Run
    again: Run
    of_subset: Run
    queue: ReviewQueue
    shared: ReviewQueue
    draft: Review

    @property
    def places(self) -> list[tuple[Run, Item]]:
        """Where the words are but in the queue, with a run that judged them there."""
        of_subset = self.of_subset.dataset.items.get()
        return [(self.run, self.dataset.items.get(key="bad again")), (self.of_subset, of_subset)]


def copies_world(people: Cast, *, met: bool) -> CopiesWorld:
    """Every judge finds that the words of the item `bad` name Paris, or that they do not. alice, who owns the
    team, is to review them blind; ann has, and says the same in both worlds.
    """
    team, ed = people.team, people.ed
    version = _version(people)
    bad = next(item for item in factories.ITEMS if item["id"] == "bad")
    dataset = factories.dataset(team, ed, items=[*factories.ITEMS, {**bad, "id": "bad again"}])
    subset = factories.dataset(team, ed, name="subset", items=[{**bad, "id": "of the subset"}])

    def said(requirement: str, response: str) -> str:
        return "MET" if met and "Belgium" in response and "Names Paris" in requirement else "UNMET"

    run, again, of_subset = (
        grade(factories.run(team, ed, dataset=one, rubric_version=version, name=name), InProcessJudge(said))
        for one, name in ((dataset, "One"), (dataset, "Two"), (subset, "Subset"))
    )
    asked = [item.pk for item in dataset.items.filter(key__in=("bad", "good"))]
    queue, shared = (
        factories.queue(
            team,
            ed,
            dataset=dataset,
            rubric_version=version,
            run=run,
            raters_per_item=len(raters),
            raters=raters,
            name=name,
            blind=blind,
            criteria=criteria,
            source=Source(kind="items", item_ids=tuple(asked)),
        )
        for name, raters, blind, criteria in (
            ("Blind", [people.alice, people.ann], "both", ["concise", "wrong_country"]),
            ("Shared", [people.ann], "none", []),
        )
    )
    ReviewQueue.objects.filter(dataset=dataset).update(grid=True)  # its table shows open items too
    item = dataset.items.get(key="bad")
    for place in (queue, shared):
        review = queues.start_review(place, item, people.ann)
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET, reason="")
        reviews.submit(review, now=timezone.now())
    comments.write(item, by=people.ann, text="Seen, @alice?")
    draft = queues.start_review(queue, item, people.alice)
    # Who grades at this moment is told by the database's clock, which no test stops.
    RunTally.objects.update(beat_at=F("beat_at") - HOUR)
    return CopiesWorld(version, dataset, run, again, of_subset, queue, shared, draft)


def _version(people: Cast) -> RubricVersion:
    """The same criteria with the same ids in either world, for ids are drawn at random else."""
    identified = [{**criterion, "id": criterion["name"]} for criterion in factories.CRITERIA]
    return factories.version(people.team, people.ed, criteria=identified)


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


def in_both_worlds(
    look: Callable[[bool], dict[str, str]], *, at: datetime | None = None
) -> tuple[dict[str, str], dict[str, str]]:
    """What `look(unsure)` finds in each world, the other one undone, with secrets made alike.

    Seeds are the same. `at` stops the clock, so that every time stamp must be the same; without it times are
    made alike too.
    """
    found = []
    for unsure in (False, True):
        stopped = time_machine.travel(at, tick=False) if at else nullcontext()
        with transaction.atomic(), stopped, mock.patch.object(SystemRandom, "randrange", return_value=7):
            _count_ids_anew()
            changing = SECRETS if at else [*TIMES, *SECRETS]
            found.append({place: alike(text, changing) for place, text in look(unsure).items()})
            transaction.set_rollback(True)
    return found[0], found[1]


# What differs between any two moments: times and how long ago; secrets of forms and tokens, cursors.
TIMES = [
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?",
    r"\b\d{10}\.\d+",
    r"\b\d\d:\d\d:\d\d\b",
    r"(?<=Expires: )[^\n']+",
    r"(?<=Content-Length: )\d+",
    r"<time [^>]*>[^<]*",
]
SECRETS = [
    r'(?<=csrfmiddlewaretoken" value=")[^"]*',
    r"\brw_[\w-]+",
    r'(?<=cursor=)[\w%=-]+|(?<=next_cursor": ")[^"]*|(?<=next_cursor":")[^"]*',
]


def alike(text: str, changing: Sequence[str]) -> str:
    """The text with all that is `changing` taken out."""
    return re.sub("|".join(changing), "…", text)


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
