"""How much judges and their versions were used by runs."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, QuerySet

from rubricweb.models import Judge, JudgeVersion, Run, Team, unarchived


@dataclass(frozen=True)
class UsedJudge:
    """A judge, how many runs asked any version of it, and when the newest of them began."""

    judge: Judge
    runs: int
    last_used: datetime | None


@dataclass(frozen=True)
class UsedVersion:
    """The same of one version."""

    version: JudgeVersion
    runs: int
    last_used: datetime | None


def used_judges(team: Team, *, archived: bool = False) -> list[UsedJudge]:
    """The team's judges by name, or those archived. Two queries."""
    judges = Judge.objects.filter(unarchived(archived=archived), team=team).select_related("current")
    use = _use(Run.objects.filter(team=team).exclude(judge_version=None), "judge_version__judge_id")
    return [UsedJudge(judge, *use.get(judge.pk, (0, None))) for judge in judges.order_by("name", "pk")]


def used_versions(judge: Judge) -> list[UsedVersion]:
    """A judge's versions, newest first. Two queries."""
    versions = judge.versions.select_related("created_by", "parent").order_by("-number")
    use = _use(Run.objects.filter(judge_version__judge=judge), "judge_version_id")
    return [UsedVersion(version, *use.get(version.pk, (0, None))) for version in versions]


def _use(runs: QuerySet[Run], by: str) -> dict[int, tuple[int, datetime | None]]:
    counted = runs.order_by().values(by).annotate(runs=Count("pk"), last=Max("created_at"))
    return {key: (number, last) for key, number, last in counted.values_list(by, "runs", "last")}
