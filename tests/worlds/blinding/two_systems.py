"""Two worlds that differ in which system version gave one of two answers that are to be reviewed blind.

The answers differ in length: how long those of a version are together would tell.
"""

from dataclasses import dataclass
from typing import Any

from django.db.models import F

from rubricweb.models import Dataset, Item, Review, ReviewQueue, RubricVersion, Run, RunTally
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services import comments
from rubricweb.services.datasets import columns
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.blinding.two_worlds import HOUR

CRITERIA: list[dict[str, Any]] = [
    {"id": "kind", "name": "kind", "weight": 1.0, "requirement": "Is kind."},
]


@dataclass(frozen=True)
class SystemsWorld:
    """Three cases answered by v3 and v4, graded in a run over each, all in alice's blind `queue`.

    She has submitted the first answer to c1 and both to c2, ann everything. `draft` is on the other answer
    to c1.
    """

    version: RubricVersion
    dataset: Dataset
    runs: tuple[Run, Run]
    queue: ReviewQueue
    shared: ReviewQueue
    draft: Review

    @property
    def beside(self) -> Item:
        """The answer to the same case that alice has submitted."""
        return self.dataset.items.get(submission="c1 first")


def row(case: str, which: str, version: str) -> dict[str, Any]:
    return {
        "id": f"{case}-by-{version}",
        "case_id": case,
        "system": f"assistant@{version}",
        "prompt": f"Question {case}?",
        "submission": f"{case} {which}",
        "metadata": {"build": version, "language": "en"},
    }


def systems_world(people: Cast, *, swapped: bool) -> SystemsWorld:
    """v3 gave the first answer to c1 and c3 and v4 the second; `swapped` the other way round."""
    team, ed = people.team, people.ed
    first, second = ("v4", "v3") if swapped else ("v3", "v4")
    items = [
        *(row("c1", "first", first), row("c1", "in other words", second)),
        *(row("c2", "first", "v3"), row("c2", "in other words", "v4")),
        *(row("c3", "first", first), row("c3", "in other words", second)),
    ]
    dataset = factories.dataset(team, ed, items=items, name="questions")
    columns.declare(dataset, ["build", "language"], by=ed)
    version = factories.version(team, ed, criteria=CRITERIA)

    def answers(label: str) -> list[int]:
        found = dataset.items.filter(system_version__label=label).order_by("position")
        return list(found.values_list("pk", flat=True))

    old, new = (
        grade(
            factories.run(
                team, ed, dataset=dataset, rubric_version=version, item_ids=answers(label), name=f"Of {label}"
            ),
            # What is said depends on the words, so that it is the same whoever answered.
            InProcessJudge(lambda requirement, response: "MET" if "first" in response else "UNMET"),
        )
        for label in ("v3", "v4")
    )
    queue, shared = (
        factories.queue(
            team,
            ed,
            dataset=dataset,
            rubric_version=version,
            raters_per_item=len(raters),
            raters=raters,
            name=name,
            blind=blind,
            source=source,
        )
        for name, raters, blind, source in (
            ("Blind", [people.alice, people.ann], "both", Source()),
            ("Shared", [people.ann], "none", Source()),
        )
    )
    for place, person, words in (
        (queue, people.alice, ("c1 first", "c2 first", "c2 in other words")),
        (
            queue,
            people.ann,
            (
                "c1 first",
                "c1 in other words",
                "c2 first",
                "c2 in other words",
                "c3 first",
                "c3 in other words",
            ),
        ),
        (shared, people.ann, ("c1 first", "c1 in other words")),
    ):
        for said in words:
            review = queues.start_review(place, dataset.items.get(submission=said), person)
            for criterion in reviews.criteria_of(review):
                reviews.save_verdict(review, criterion.pk, verdict="MET", reason="")
            reviews.submit(review, now=review.started_at)
    # Who grades at this moment is told by the database's clock, which no test stops.
    RunTally.objects.update(beat_at=F("beat_at") - HOUR)
    waits = dataset.items.get(submission="c1 in other words")
    comments.write(waits, by=people.ann, text="Seen, @alice?")
    draft = queues.start_review(queue, waits, people.alice)
    return SystemsWorld(version, dataset, (old, new), queue, shared, draft)
