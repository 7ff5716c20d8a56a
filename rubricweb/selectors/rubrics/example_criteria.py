"""What an example of a judge can be about: the criteria of a team's rubrics, and how each can be answered."""

from functools import cache

from rubricweb.engine.judging.definition import JudgeExample
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Rubric, Team, unarchived


class ExampleCriteria:
    """The criteria of a team that a judge answers. What was read once is not read again."""

    def __init__(self, team: Team) -> None:
        self.team = team
        self.of_rubric = cache(self._of_rubric)
        self.of_example = cache(self._of_example)

    def rubrics(self) -> list[Rubric]:
        """Those that are listed and have a published version, by title."""
        listed = Rubric.objects.filter(unarchived(), team=self.team, versions__isnull=False)
        return list(listed.distinct().order_by("title", "pk"))

    def _of_rubric(self, rubric_id: int) -> list[Criterion]:
        """What the newest version of a rubric asks a judge; nothing for a rubric of others."""
        rubric = Rubric.objects.filter(unarchived(), team=self.team, pk=rubric_id).first()
        version = rubric.versions.order_by("-number").first() if rubric else None
        return [] if version is None else list(version.criteria.exclude(kind="check").order_by("position"))

    def _of_example(self, uid: str, requirement: str) -> Criterion | None:
        """The criterion that an example was labelled for, of the newest rubric that words it so."""
        worded = Criterion.objects.filter(version__rubric__team=self.team, uid=uid, requirement=requirement)
        return worded.exclude(kind="check").order_by("-version_id").first()

    def title(self, example: JudgeExample) -> str:
        """What people call its criterion: its name, or what it asks where no rubric words it so any more."""
        criterion = self.of_example(example.uid, example.requirement)
        return example.requirement if criterion is None else criterion.title


def example_labels(criterion: Criterion) -> list[str]:
    """The labels that an example of this criterion can have; those that abstain teach nothing."""
    if criterion.kind == "choice":
        return [option["label"] for option in criterion.options if not option.get("na")]
    return [Verdict.MET.value, Verdict.UNMET.value]
