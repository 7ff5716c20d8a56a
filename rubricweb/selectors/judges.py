"""Judges and their versions, as far as a person may see them.

The examples of a judge are labels that people decided, and its versions came of what people said. Who is
still to review an item of the team blind sees of a judge that has examples, in any version, only its current
version, without examples, digest and note; and of no run by which of its versions it was graded.
"""

from dataclasses import dataclass

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from rubricweb.engine.judging.changes import DefinitionChange, definition_changes
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.errors import Conflict, NotFound, Withheld
from rubricweb.models import Judge, JudgeVersion, Run, Team, User, unarchived
from rubricweb.selectors.blinding import hidden_datasets
from rubricweb.selectors.shared.pages import Page, keyset_page


@dataclass(frozen=True)
class VisibleVersion:
    """A version as a person sees it; where it is `withheld`, without examples, digest and note."""

    version: JudgeVersion
    is_current: bool
    withheld: bool
    definition: JudgeDefinition
    digest: str | None
    note: str | None


def judges(
    team: Team, *, search: str = "", archived: bool = False, cursor: str | None = None, size: int = 50
) -> Page[Judge]:
    """The team's judges by name; or those archived. Each has `version_count` and `run_count`."""
    rows = _counted(Judge.objects.filter(unarchived(archived=archived), team=team))
    if search:
        rows = rows.filter(name__icontains=search)
    return keyset_page(rows, order=("name", "pk"), cursor=cursor, size=size)


def judge_with_counts(judge: Judge) -> Judge:
    return _counted(Judge.objects.filter(pk=judge.pk)).get()


def _counted(rows: QuerySet[Judge]) -> QuerySet[Judge]:
    versions = JudgeVersion.objects.filter(judge=OuterRef("pk")).order_by().values("judge")
    runs = Run.objects.filter(judge_version__judge=OuterRef("pk")).order_by().values("judge_version__judge")
    return rows.select_related("team", "current", "created_by").annotate(
        version_count=Coalesce(Subquery(versions.annotate(n=Count("pk")).values("n")), 0),
        run_count=Coalesce(Subquery(runs.annotate(n=Count("pk")).values("n")), 0),
    )


def judge_versions(judge: Judge) -> QuerySet[JudgeVersion]:
    """Every version, newest first, with `run_count`."""
    runs = Run.objects.filter(judge_version=OuterRef("pk")).order_by().values("judge_version")
    return (
        judge.versions.select_related("judge__team", "created_by", "parent")
        .annotate(run_count=Coalesce(Subquery(runs.annotate(n=Count("pk")).values("n")), 0))
        .order_by("-number")
    )


def judge_called(team: Team, words: str) -> Judge:
    """A judge by its slug, archived or not; `support-judge@v3` names the judge too. Raises NotFound."""
    slug = words.strip().partition("@")[0]
    judge = Judge.objects.filter(team=team, slug=slug).select_related("team", "current").first()
    if judge is None:
        raise NotFound(f"judge {slug!r}")
    return judge


def judge_version_called(team: Team, words: str) -> JudgeVersion:
    """`support-judge@v3`, or `support-judge` for its current version, archived or not. Raises NotFound."""
    judge, label = judge_called(team, words), words.strip().partition("@")[2]
    number = label.removeprefix("v")
    if not label and judge.current is None:
        raise Conflict(f"The judge {judge} has no current version: name one, such as {judge.slug}@v1.")
    is_number = number.isascii() and number.isdigit() and len(number) < 10
    wanted = {"pk": judge.current_id} if not label else {"number": int(number) if is_number else 0}
    version = judge_versions(judge).filter(**wanted).first()
    if version is None:
        raise NotFound(f"version {label!r} of the judge {judge.slug}")
    return version


# ── What a person may see ────────────────────────────────────────────────────────────────────────


def withheld_judges(team: Team, viewer: User, hidden: frozenset[int] | None = None) -> frozenset[int]:
    """The ids of judges of which this person sees no examples and no history: see the top of this module. So
    are those that were made of a version of one, whose words they have.

    `hidden` is what `hidden_datasets` gives, for callers that have asked it; without it that is one query
    for somebody who rates in no open blind queue.
    """
    if not (hidden_datasets(viewer, team) if hidden is None else hidden):
        return frozenset()
    versions = JudgeVersion.objects.filter(judge__team=team).order_by()
    shows = versions.filter(definition__examples__0__isnull=False).values("judge_id")
    found = versions.filter(Q(judge__in=shows) | Q(parent__judge__in=shows))
    return frozenset(found.values_list("judge_id", flat=True).distinct())


def is_withheld_judge(judge: Judge, viewer: User) -> bool:
    return judge.pk in withheld_judges(judge.team, viewer)


def require_judge_visible(judge: Judge, viewer: User) -> None:
    """Refuses what would tell of a judge's examples or history: see the top of this module."""
    if is_withheld_judge(judge, viewer):
        raise _withheld(judge)


def _withheld(judge: Judge) -> Withheld:
    return Withheld(
        f"The judge {judge} is shown examples that people labelled, and you are still to review items of "
        "this team blind: its examples and what changed in it appear once you have submitted yours."
    )


def version_told(run: Run, withheld: frozenset[int]) -> JudgeVersion | None:
    """By which version of its judge the run was graded; None where it has none, and of the judges that
    `withheld_judges` gives. Reads its judge: see `with_judge`.
    """
    version = run.judge_version
    return None if version is None or version.judge_id in withheld else version


def version_told_to(run: Run, viewer: User) -> JudgeVersion | None:
    """The same of a single run. One query for somebody who rates in no open blind queue."""
    return None if run.judge_version_id is None else version_told(run, withheld_judges(run.team, viewer))


def shown_judge(run: Run, withheld: frozenset[int]) -> str:
    """What lists call the judge of a run: "support-judge@v3" where a person made that version and it may be
    told, see `version_told`; else the name its verdicts carry.
    """
    told = version_told(run, withheld)
    return str(told) if told is not None and told.is_named else run.judge.name


def visible_versions(judge: Judge, viewer: User) -> QuerySet[JudgeVersion]:
    """The versions of which this person may know, newest first, with `run_count`."""
    versions = judge_versions(judge)
    if is_withheld_judge(judge, viewer):
        return versions.filter(pk__in=[judge.current_id])
    return versions


def visible_version(
    version: JudgeVersion, viewer: User, *, withheld: frozenset[int] | None = None
) -> VisibleVersion:
    """The version as far as this person may see it. Reads `version.judge.team`.

    `withheld` is what `withheld_judges` gives, for callers with many. Raises Withheld for another than the
    current version of such a judge.
    """
    judge = version.judge
    is_current = judge.current_id == version.pk
    if judge.pk not in (withheld_judges(judge.team, viewer) if withheld is None else withheld):
        return VisibleVersion(version, is_current, False, version.definition, version.digest, version.note)
    if not is_current:
        raise _withheld(judge)
    shown = version.definition.model_copy(update={"examples": ()})
    return VisibleVersion(version, is_current, True, shown, None, None)


def visible_definition(version: JudgeVersion, viewer: User) -> JudgeDefinition:
    """The definition alone. Raises as `visible_version`."""
    return visible_version(version, viewer).definition


def changes_between(
    before: JudgeVersion, after: JudgeVersion, *, viewer: User
) -> tuple[DefinitionChange, ...]:
    """What differs between two versions, of one judge or of two. Raises Withheld where that would tell."""
    for version in (before, after):
        require_judge_visible(version.judge, viewer)
    return definition_changes(before.definition, after.definition)
