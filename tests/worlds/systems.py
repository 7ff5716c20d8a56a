"""Two versions of an assistant over six cases: a regression, a fix, one alike, three without a pair."""

from dataclasses import dataclass
from typing import Any

from rubricweb.models import Case, Dataset, Item, ReviewQueue, RubricVersion, Run, RunItem
from rubricweb.selectors.runs.over_time.version_pairs import version_called
from rubricweb.services.runs.launching import launch_runs
from rubricweb.services.runs.starting import RunOptions
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

FACT = {"name": "fact", "weight": 3.0, "requirement": "Has the fact."}
KIND = {"name": "kind", "weight": 1.0, "requirement": "Is kind."}

# (fact, kind) of each answer; a score is (3·fact + kind) / 4. Nobody answers c5 in v4 and c6 in v3, and c4
# was asked in other words when v4 answered it.
V3 = {
    "c1": ("MET", "MET"),  # 1
    "c2": ("MET", "UNMET"),  # 0.75
    "c3": ("UNMET", "MET"),  # 0.25
    "c4": ("MET", "MET"),
    "c5": ("MET", "MET"),
}
V4 = {
    "c1": ("UNMET", "MET"),  # 0.25, a regression of 0.75
    "c2": ("MET", "MET"),  # 1, a fix of 0.25
    "c3": ("UNMET", "MET"),  # 0.25
    "c4": ("UNMET", "UNMET"),
    "c6": ("UNMET", "UNMET"),
}
SAID = {
    f"{version} {case}": said for version, table in (("v3", V3), ("v4", V4)) for case, said in table.items()
}
# A second attempt of v4 at c1, for those who add it: 1.
SAID["v4 c1 again"] = ("MET", "MET")
# An answer of v4 to c3 in its second words, for those who add it: 1.
SAID["v4 c3 anew"] = ("MET", "MET")


@dataclass(frozen=True)
class Versions:
    people: Cast
    dataset: Dataset
    rubric_version: RubricVersion

    def answers(self, version: str) -> list[Item]:
        return list(Item.objects.filter(dataset=self.dataset, system_version__label=version))

    def run_over(self, version: str, **options: Any) -> Run:
        """A graded run over the answers of one version."""
        return grade(self.planned(version, **options), judge())

    def planned(self, version: str, **options: Any) -> Run:
        return factories.run(
            self.people.team,
            self.people.ed,
            dataset=self.dataset,
            **{
                "rubric_version": self.rubric_version,
                "item_ids": [item.pk for item in self.answers(version)],
                "name": f"run of {version}",
                **options,
            },
        )

    def launched(self) -> tuple[Run, Run]:
        """Graded runs over v3 and v4, started together."""
        asked = tuple(version_called(self.people.team, f"assistant@{name}") for name in ("v3", "v4"))
        older, newer = launch_runs(
            self.people.team,
            by=self.people.ed,
            dataset=self.dataset,
            rubric_version=self.rubric_version,
            enqueue=factories.WakeUps(),
            no_cap=True,
            options=RunOptions(judge_id="offline", systems=asked),
        )
        return grade(older, judge()), grade(newer, judge())

    def queue(self, **options: Any) -> ReviewQueue:
        """A blind queue of ann's over the dataset."""
        return factories.queue(
            self.people.team,
            self.people.ed,
            **{
                "dataset": self.dataset,
                "rubric_version": self.rubric_version,
                "raters": [self.people.ann],
                **options,
            },
        )


def run_of_before(world: Versions, *versions: str) -> Run:
    """As runs were before they had a system version: over the answers of several, not graded yet."""
    run = world.planned(versions[0])
    for version in versions[1:]:
        RunItem.objects.bulk_create(
            RunItem(run=run, item=item, rubric_version=world.rubric_version)
            for item in world.answers(version)
        )
    Run.objects.filter(pk=run.pk).update(system_version=None)
    return Run.objects.get(pk=run.pk)


def judge() -> LabelJudge:
    return LabelJudge(lambda name, requirement, response: SAID[response.strip()]["kind" in requirement])


def answer(version: str, case: str, **more: Any) -> dict[str, Any]:
    return {
        "case_id": case,
        "system": f"assistant@{version}",
        "prompt": f"Question {case}?",
        "submission": f"{version} {case}",
        **more,
    }


def versions(people: Cast, *more: dict[str, Any]) -> Versions:
    """The dataset with both versions' answers and `more` rows."""
    rows = [answer("v3", case) for case in V3] + [answer("v4", case) for case in V4]
    dataset = factories.dataset(people.team, people.ed, items=[*rows, *more], name="questions")
    reworded = Case.objects.get(dataset=dataset, key="c4")
    Case.objects.filter(pk=reworded.pk).update(wording=2)
    Item.objects.filter(case=reworded, system_version__label="v4").update(wording=2)
    rubric_version = factories.version(people.team, people.ed, criteria=[FACT, KIND])
    return Versions(people, dataset, rubric_version)
