"""A dataset of forty cases, ten of them dev and thirty test, with labels and judges."""

from collections.abc import Callable
from dataclasses import dataclass

from rubricweb.models import Dataset, ReviewQueue, RubricVersion, Run
from rubricweb.services.datasets.halves import drawing
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

N = 40
WRONG = frozenset({3, 17, 29, 30, 31, 38})


def row(number: int) -> dict[str, str]:
    return {"id": f"i{number}", "prompt": f"Question {number}?", "submission": f"Answer {number}"}


def people_say(number: int) -> str:
    return "MET" if number % 2 else "UNMET"


@dataclass(frozen=True)
class Halves:
    """People say MET of every other item; `first` holds a label of each."""

    people: Cast
    version: RubricVersion
    dataset: Dataset
    first: ReviewQueue

    def label(self, numbers: range, name: str) -> ReviewQueue:
        return label(self.people, self.dataset, self.version, numbers, name)

    def judged(self, half: str = "test", *, wrong: frozenset[int] = WRONG) -> Run:
        """A run whose judge says what people do, but on these items."""
        return judged(self.people, self.dataset, self.version, half=half, wrong=wrong)


def halves(people: Cast) -> Halves:
    criteria = [{"name": "only", "weight": 1, "requirement": "Is right."}]
    version = factories.version(people.team, people.ed, criteria=criteria)
    dataset = factories.dataset(people.team, people.ed, items=[row(number) for number in range(N)])
    drawing.split_cases(dataset, n_dev=10, by=people.ed)
    return Halves(people, version, dataset, label(people, dataset, version, range(N), "first"))


def label(
    people: Cast,
    dataset: Dataset,
    version: RubricVersion,
    numbers: range,
    name: str,
    rater: str = "x",
    says: Callable[[int], str] = people_say,
) -> ReviewQueue:
    lines = [f"i{number},only,{rater},{says(number)},{name}" for number in numbers]
    data = "\n".join(["item_id,criterion,rater,verdict,reason", *lines]).encode()
    return factories.import_labels(
        dataset, version, by=people.ed, data=data, filename="labels.csv", queue_name=name
    )


def judged(
    people: Cast,
    dataset: Dataset,
    version: RubricVersion,
    *,
    half: str = "",
    wrong: frozenset[int] = WRONG,
) -> Run:
    def verdict(requirement: str, response: str) -> str:
        number = int(response.strip().rsplit(" ", 1)[-1])
        return "MET" if (people_say(number) == "MET") != (number in wrong) else "UNMET"

    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, half=half)
    return grade(run, InProcessJudge(verdict))
