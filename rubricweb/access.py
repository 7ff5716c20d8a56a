"""Access checks: (person, id) → row. A stranger is told "not found", a member without the role "not allowed".

Every page, API operation and command reaches team data through one of these functions and no other way.
"""

from collections.abc import Iterable
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

from rubricweb.errors import Conflict, Forbidden, NotFound
from rubricweb.models import (
    Case,
    Combination,
    Dataset,
    DatasetImport,
    Item,
    Judge,
    JudgeEndpoint,
    JudgeVersion,
    Membership,
    Rater,
    Review,
    ReviewQueue,
    Role,
    Rubric,
    RubricVersion,
    Run,
    SavedView,
    System,
    SystemVersion,
    Team,
    User,
)

Row = TypeVar("Row", bound=Model)


def access_membership(user: User, team_slug: str, role: Role = Role.VIEWER) -> Membership:
    """The person's membership of the team, at least `role`; the way into everything a team owns."""
    membership = (
        Membership.objects.select_related("team")
        .filter(user_id=user.pk, team__slug__iexact=team_slug)
        .first()
        if user.is_active
        else None
    )
    if membership is None:
        raise NotFound("team")
    require(membership, role)
    return membership


def require(membership: Membership, role: Role) -> None:
    """Refuses a member whose role is below `role`."""
    if membership.role < role:
        wanted = Role(role).label
        article = "an" if wanted[0] in "aeio" else "a"
        raise Forbidden(
            f"You are {membership.get_role_display()} in {membership.team}; "
            f"this needs {article} {wanted}. Ask an owner of the team."
        )


def require_changeable(team: Team) -> None:
    """Refuses changes in an archived team. Every door asks it where more than a viewer's role is needed:
    pages at a POST, operations that write, commands.
    """
    if team.archived_at is not None:
        raise Conflict(
            f"The team {team} is archived: it can be read and exported, and is changed no more until an "
            "owner restores it under Settings.",
            title="Archived",
        )


def access_teams(user: User) -> QuerySet[Team]:
    """All teams the person is in, archived ones too, by name."""
    return Team.objects.filter(memberships__user_id=user.pk).order_by("name")


def access_rubric(team: Team, rubric_id: int) -> Rubric:
    return _one(Rubric.objects.filter(team=team), rubric_id, "rubric")


def access_version(team: Team, version_id: int) -> RubricVersion:
    """A published version of one of the team's rubrics (not an item's own)."""
    return _one(RubricVersion.objects.filter(rubric__team=team), version_id, "rubric version")


def access_dataset(team: Team, dataset_id: int) -> Dataset:
    return _one(Dataset.objects.filter(team=team), dataset_id, "dataset")


def access_import(team: Team, import_id: int) -> DatasetImport:
    imports = DatasetImport.objects.filter(team=team).select_related("dataset", "team", "created_by", "file")
    return _one(imports, import_id, "import")


def access_combination(team: Team, combination_id: int) -> Combination:
    rows = Combination.objects.filter(team=team).select_related("dataset", "team", "created_by")
    rows = rows.prefetch_related("parts__dataset")
    return _one(rows, combination_id, "combination of datasets")


def access_item(team: Team, item_id: int) -> Item:
    items = Item.objects.filter(dataset__team=team).select_related(
        "dataset__team", "rubric_version", "case", "system_version__system"
    )
    return _one(items, item_id, "item")


def access_case(team: Team, case_id: int) -> Case:
    return _one(Case.objects.filter(dataset__team=team).select_related("dataset__team"), case_id, "case")


def access_run(team: Team, run_id: int) -> Run:
    runs = Run.objects.filter(team=team).select_related(
        *("team", "dataset", "rubric_version", "created_by", "summary"),
        *("system_version__system", "judge_version__judge"),
    )
    return _one(runs.defer("judge_version__definition"), run_id, "run")


def access_queue(team: Team, queue_id: int) -> ReviewQueue:
    queues = ReviewQueue.objects.filter(team=team).select_related("dataset", "rubric_version", "run")
    return _one(queues, queue_id, "review queue")


def access_review(team: Team, review_id: int) -> Review:
    """Anybody's review, for a lead: whoever shows its labels asks `selectors.blinding` as well."""
    reviews = Review.objects.filter(queue__team=team).select_related("queue__team", "item__dataset", "rater")
    return _one(reviews, review_id, "review")


def access_rater(queue: ReviewQueue, rater_id: int) -> Rater:
    """One of the people who rate in a queue."""
    return _one(Rater.objects.filter(queues=queue), rater_id, "rater in this queue")


def access_imported_rater(dataset: Dataset, rater_id: int) -> Rater:
    """One of those whose labels of the dataset came in a file."""
    in_reviews = Q(reviews__queue__dataset=dataset, reviews__imported=True)
    of_member = Q(same_as__reviews__queue__dataset=dataset, same_as__reviews__imported=True)
    raters = Rater.objects.filter(in_reviews | of_member | Q(imported_runs__dataset=dataset)).distinct()
    return _one(raters, rater_id, "rater from a file")


def access_system(team: Team, system_id: int) -> System:
    """A system with a name; the others' is nobody's to change."""
    rows = System.objects.filter(team=team).exclude(name="").select_related("team")
    return _one(rows, system_id, "system")


def access_system_version(team: Team, version_id: int) -> SystemVersion:
    rows = SystemVersion.objects.filter(system__team=team).exclude(system__name="")
    return _one(rows.select_related("system__team"), version_id, "system version")


def access_endpoint(team: Team, endpoint_id: int) -> JudgeEndpoint:
    return _one(JudgeEndpoint.objects.filter(team=team, removed_at=None), endpoint_id, "endpoint")


def access_judge(team: Team, judge_id: int) -> Judge:
    return _one(Judge.objects.filter(team=team).select_related("team", "current"), judge_id, "judge")


def access_judge_version(team: Team, version_id: int) -> JudgeVersion:
    rows = JudgeVersion.objects.filter(judge__team=team).select_related("judge__team", "created_by", "parent")
    return _one(rows, version_id, "version of a judge")


def access_numbered_version(judge: Judge, number: int) -> JudgeVersion:
    """One of a judge's versions, by its number."""
    versions = judge.versions.select_related("created_by", "parent")
    version = versions.filter(number=number).first() if 0 < number < 2**31 else None
    if version is None:
        raise NotFound("version of this judge")
    version.judge = judge
    return version


def access_view(team: Team, user: User, view_id: int) -> SavedView:
    """One of the person's own saved views, or one shared with the team."""
    rows = SavedView.objects.filter(Q(owner=user) | Q(shared=True), team=team).select_related("dataset")
    return _one(rows.filter(Q(dataset=None) | Q(dataset__team=team)), view_id, "view")


def _one(rows: QuerySet[Row], row_id: int, what: str) -> Row:
    row = rows.filter(pk=row_id).first() if 0 < row_id < 2**63 else None
    if row is None:
        raise NotFound(what)
    return row


def access_queues(team: Team, queue_ids: Iterable[int]) -> list[ReviewQueue]:
    """Several queues of the team; refused as a whole if one of them is not there."""
    return [access_queue(team, queue_id) for queue_id in queue_ids]


def access_named(
    team: Team, kind: str, row_id: int
) -> Rubric | Dataset | Run | ReviewQueue | System | SystemVersion:
    """What can be renamed, by its kind: rubric, dataset, run, queue, system or a version of one."""
    if kind == "rubric":
        return access_rubric(team, row_id)
    if kind == "dataset":
        return access_dataset(team, row_id)
    if kind == "run":
        return access_run(team, row_id)
    if kind == "queue":
        return access_queue(team, row_id)
    if kind == "system":
        return access_system(team, row_id)
    if kind == "system-version":
        return access_system_version(team, row_id)
    raise NotFound("page")
