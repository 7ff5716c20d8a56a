"""What the operator at the terminal looks up by name, without being a member of anything."""

import re
from collections.abc import Iterable, Sequence
from typing import TypeVar

from django.db.models import Model, Q, QuerySet

from rubricweb.errors import Invalid, NotFound
from rubricweb.models import (
    NOT_RETIRED,
    ApiToken,
    Case,
    Combination,
    Criterion,
    Dataset,
    Item,
    JudgeEndpoint,
    Membership,
    ReviewQueue,
    Role,
    Rubric,
    System,
    Team,
    User,
)
from rubricweb.selectors.blinding import is_hidden
from rubricweb.selectors.datasets.imports import ImportedRater, imported_raters
from rubricweb.selectors.labels.adjudications import criterion_for
from rubricweb.selectors.teams import addresses

Row = TypeVar("Row", bound=Model)
SHOWN = 20
"""How many of those there are a refusal lists."""
AT_ONCE = 5000


def every_team() -> list[Team]:
    return list(Team.objects.filter(deleted_at=None).order_by("name"))


def has_team(slug: str) -> bool:
    return Team.objects.filter(slug__iexact=slug).exists()


def team_called(slug: str) -> Team:
    """The team at this address; when `slug` is empty the only one, archived ones aside.

    Raises Invalid listing what there is.
    """
    teams = every_team()
    if not teams:
        raise Invalid("There is no team yet. Make one: rubricweb create-team NAME --owner USER")
    listed = [team for team in teams if team.archived_at is None] or teams
    if not slug and len(listed) == 1:
        return listed[0]
    known = ", ".join(team.slug + (" (archived)" if team.archived_at else "") for team in teams)
    for team in teams:
        if slug and team.slug.casefold() == slug.casefold():
            return team
    if slug:
        raise Invalid(f"There is no team {slug!r}. Known: {known}.")
    raise Invalid(f"There are {len(teams)} teams; say which with --team. Known: {known}.")


def first_owner(team: Team) -> User:
    """Who has owned the team the longest. Raises NotFound for a team without owners."""
    rows = Membership.objects.filter(team=team, role=Role.OWNER, user__is_active=True).select_related("user")
    membership = rows.order_by("pk").first()
    if membership is None:
        raise NotFound("active owner of this team")
    return membership.user


def first_of_all_owners() -> User | None:
    """The owner of the oldest team; None when no team has an active one."""
    rows = Membership.objects.filter(role=Role.OWNER, user__is_active=True).select_related("user")
    membership = rows.order_by("team_id", "pk").first()
    return membership.user if membership else None


def person_called(name: str) -> User:
    """The person with this user name, or who has proven this e-mail address."""
    user = addresses.person_named(name)
    if user is None:
        known = ", ".join(User.objects.order_by("username").values_list("username", flat=True)[:SHOWN])
        raise Invalid(f"There is nobody called {name!r}. Known: {known or 'nobody yet'}.")
    return user


def dataset_called(team: Team, name: str) -> Dataset:
    """A dataset by its number or its name."""
    return _by_number_or_name(Dataset.objects.filter(team=team), name, noun="dataset", team=team)


def combination_called(team: Team, name: str) -> Combination:
    """A combination of datasets by its number or its name, the newest of that name."""
    rows = Combination.objects.filter(team=team).select_related("dataset", "team", "created_by")
    return _by_number_or_name(rows.order_by("-pk"), name, noun="combination of datasets", team=team)


def rubric_called(team: Team, name: str) -> Rubric:
    """A rubric by its number or its title; id:7 is a version. Raises Invalid."""
    rows = Rubric.objects.filter(team=team).order_by("-updated_at", "-pk")
    if name.startswith("id:") and not rows.filter(title=name).exists():
        raise Invalid(
            f"{name!r} is how a version is named; a rubric is named by its number or title: "
            "rubricweb rubrics list."
        )
    return _by_number_or_name(rows, name, noun="rubric", team=team, field="title")


def queue_called(team: Team, name: str) -> ReviewQueue:
    """A review queue by its number or its name."""
    rows = ReviewQueue.objects.filter(team=team).select_related("dataset", "rubric_version")
    return _by_number_or_name(rows, name, noun="review queue", team=team)


def system_called(team: Team, name: str) -> System:
    """A system by its number or its name."""
    rows = System.objects.filter(team=team).exclude(name="").order_by("name")
    return _by_number_or_name(rows, name, noun="system", team=team)


def dataset_beside(dataset: Dataset) -> Dataset | None:
    """The dataset whose name this one would have, had it not been taken: "answers" for "answers (2)"."""
    called = Dataset.objects.filter(team=dataset.team_id, name=_without_number(dataset.name))
    return called.exclude(pk=dataset.pk).first()


def rubrics_beside(rubric: Rubric) -> QuerySet[Rubric]:
    """Others of the same title, or of the one it would have; the first three."""
    titles = {rubric.title, _without_number(rubric.title)}
    called = Rubric.objects.filter(team=rubric.team_id, title__in=titles)
    return called.exclude(pk=rubric.pk).order_by("pk")[:3]


def _without_number(name: str) -> str:
    """ "answers" for "answers (2)"."""
    return re.sub(r" \(\d+\)$", "", name)


def _by_number_or_name(rows: QuerySet[Row], name: str, *, noun: str, team: Team, field: str = "name") -> Row:
    """The row of this number, written 7 or id:7, else of this name. Raises Invalid listing the first that
    there are.
    """
    number = name.removeprefix("id:")
    row = rows.filter(pk=int(number)).first() if _is_number(number) else None
    row = row or rows.filter(**{field: name}).first()
    if row is None:
        known = ", ".join(f"{one.pk} ({getattr(one, field)})" for one in rows[:SHOWN])
        raise Invalid(f"There is no {noun} {name!r} in {team}. Known: {known or 'none yet'}.")
    return row


def items_called(dataset: Dataset, names: Sequence[str], *, viewer: User, retired: bool = False) -> list[int]:
    """The ids of current items, or of retired ones, by their keys or as id:N, in that order. Raises Invalid
    naming the first that is not there, or has a key that would tell the viewer who answered blind.
    """
    numbers = {name: int(name[3:]) for name in names if name.startswith("id:") and _is_number(name[3:])}
    keys = [name for name in names if name not in numbers]
    rows = Item.objects.filter(dataset=dataset).order_by("pk")
    rows = rows.exclude(retired_in=NOT_RETIRED) if retired else rows.current()
    found: dict[str | int, int] = {}
    for begin in range(0, len(names), AT_ONCE):
        called = rows.filter(key_is_shown(viewer, dataset.team), key__in=keys[begin : begin + AT_ONCE])
        found |= called.values_list("key", "pk")
        some = list(numbers.values())[begin : begin + AT_ONCE]
        found |= {pk: pk for pk in rows.filter(pk__in=some).values_list("pk", flat=True)}
    ids = [found.get(numbers.get(name, name)) for name in names]
    for name, pk in zip(names, ids, strict=True):
        if pk is None:
            raise Invalid(
                f"There is no {'retired item' if retired else 'item'} {name!r} in {dataset}; "
                "allowed: its key, or id:N."
            )
    return [pk for pk in ids if pk is not None]


def case_called(dataset: Dataset, name: str) -> Case:
    """A case of the dataset by its key, or as id:N."""
    rows = Case.objects.filter(dataset=dataset)
    number = name.removeprefix("id:")
    by_id = name.startswith("id:") and _is_number(number)
    case = (rows.filter(pk=int(number)) if by_id else rows.filter(key=name)).first()
    if case is None:
        raise Invalid(f"There is no case {name!r} in {dataset}; allowed: its key, or id:N.")
    return case


def imported_rater_called(dataset: Dataset, name: str) -> ImportedRater:
    """Somebody who labelled the dataset in files, as id:N, or by name where no other one has it."""
    everybody = imported_raters(dataset)
    number = name.removeprefix("id:")
    by_id = name.startswith("id:") and _is_number(number)
    raters = [one for one in everybody if (one.id == int(number) if by_id else one.name == name)]
    if len(raters) != 1:
        known = ", ".join(f"id:{one.id} ({one.name}, {one.rater_kind})" for one in everybody[:SHOWN])
        several = f"{len(raters)} raters" if raters else "no rater"
        raise Invalid(f"{dataset} has {several} from a file called {name!r}. Known: {known or 'none yet'}.")
    return raters[0]


def endpoint_called(team: Team, name: str) -> JudgeEndpoint:
    """An endpoint by its number, as endpoint-N, or by its name."""
    rows = JudgeEndpoint.objects.filter(team=team, removed_at=None).order_by("name")
    number = name.removeprefix("endpoint-")
    endpoint = rows.filter(pk=int(number)).first() if _is_number(number) else None
    endpoint = rows.filter(name=name).first() or endpoint
    if endpoint is None:
        known = ", ".join(f"{one.pk} ({one.name})" for one in rows[:SHOWN])
        raise Invalid(f"There is no endpoint {name!r} in {team}. Known: {known or 'none yet'}.")
    return endpoint


def member_called(team: Team, name: str) -> Membership:
    """A member by user name, or by the e-mail address they have proven."""
    rows = Membership.objects.filter(team=team).select_related("user", "team").order_by("user__username")
    membership = rows.filter(user=addresses.person_named(name)).first()
    if membership is None:
        known = ", ".join(rows.values_list("user__username", flat=True)[:SHOWN])
        raise Invalid(f"There is no member {name!r} in {team}. Known: {known}.")
    return membership


def token_called(team: Team, user: User, name: str) -> ApiToken:
    """One of the person's own tokens, by its number or by its name where no other live one has it."""
    rows = ApiToken.objects.filter(team=team, user=user).order_by("-pk")
    token = rows.filter(pk=int(name)).first() if _is_number(name) else None
    tokens = [token] if token else list(rows.filter(name=name, revoked_at=None))
    if len(tokens) != 1:
        known = ", ".join(f"{one.pk} ({one.name})" for one in rows.filter(revoked_at=None)[:SHOWN])
        several = f"{len(tokens)} tokens" if tokens else "no token"
        raise Invalid(f"{user} has {several} called {name!r} in {team}. Known: {known or 'none yet'}.")
    return tokens[0]


def item_called(team: Team, name: str, *, viewer: User) -> Item:
    """An item as id:N, or by its key where only one dataset of the team has it and the viewer may know it."""
    rows = Item.objects.filter(dataset__team=team).select_related("dataset")
    number = name.removeprefix("id:")
    if name.startswith("id:") and _is_number(number):
        items = list(rows.filter(pk=int(number)))
    else:
        called = rows.filter(key_is_shown(viewer, team), key=name).order_by("pk")
        items = list(called.current()[:SHOWN]) or list(called[:SHOWN])
    if not items:
        raise Invalid(f"There is no item {name!r} in {team}; allowed: its key, or id:N.")
    if len(items) > 1:
        known = ", ".join(f"id:{one.pk} in {one.dataset}" for one in items)
        raise Invalid(f"Several items of {team} are called {name!r}; say which. Known: {known}.")
    return items[0]


def key_is_shown(viewer: User, team: Team) -> Q:
    """The condition on items whose key does not say whose answer this person is to review blind."""
    return Q(system_version__system__name="") | ~Q(is_hidden(viewer, team))


def criterion_called(item: Item, name: str) -> Criterion:
    """A criterion the item is judged by, as id:N or by its name where only one rubric version has it.

    Judged by is the item's own rubric; else the versions of the queues over its dataset, else of the runs.
    """
    number = name.removeprefix("id:")
    if name.startswith("id:") and _is_number(number):
        return criterion_for(item, int(number))
    versions: Iterable[int | None] = [item.rubric_version_id] if item.rubric_version_id else []
    for rows in (item.dataset.queues, item.dataset.runs):
        named = rows.exclude(rubric_version=None).order_by()
        versions = versions or set(named.values_list("rubric_version_id", flat=True))
    criteria = Criterion.objects.filter(version__in=versions).select_related("version")
    criteria = criteria.order_by("-version_id", "position")
    matching = list(criteria.filter(name__iexact=name))
    if len(matching) == 1:
        return matching[0]
    if matching:
        known = ", ".join(f"id:{one.pk} of {one.version}" for one in matching)
        raise Invalid(f"Several criteria of id:{item.pk} are called {name!r}; say which. Known: {known}.")
    known = ", ".join(criteria.values_list("name", flat=True)[:SHOWN])
    raise Invalid(f"id:{item.pk} is not judged by a criterion {name!r}. Known: {known or 'none yet'}.")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
