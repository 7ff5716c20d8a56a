"""What the operator at the terminal looks up by name, without being a member of anything."""

from collections.abc import Sequence

from django.db.models import Q

from rubricweb.errors import Invalid, NotFound
from rubricweb.models import (
    Dataset,
    Item,
    Membership,
    ReviewQueue,
    Role,
    Team,
    User,
)


def every_team() -> list[Team]:
    return list(Team.objects.order_by("name"))


def has_team(slug: str) -> bool:
    return Team.objects.filter(slug__iexact=slug).exists()


def team_called(slug: str) -> Team:
    """The team at this address; the only one when `slug` is empty. Raises Invalid listing what there is."""
    teams = every_team()
    if not teams:
        raise Invalid("There is no team yet. Make one: rubricweb create-team NAME --owner USER")
    if not slug and len(teams) == 1:
        return teams[0]
    known = ", ".join(team.slug for team in teams)
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
    """The person with this user name or e-mail address."""
    user = User.objects.filter(Q(username__iexact=name) | Q(email__iexact=name, email__gt="")).first()
    if user is None:
        known = ", ".join(User.objects.order_by("username").values_list("username", flat=True)[:20])
        raise Invalid(f"There is nobody called {name!r}. Known: {known or 'nobody yet'}.")
    return user


def dataset_called(team: Team, name: str) -> Dataset:
    """A dataset by its number or its name."""
    rows = Dataset.objects.filter(team=team)
    dataset = rows.filter(pk=int(name)).first() if _is_number(name) else None
    dataset = dataset or rows.filter(name=name).first()
    if dataset is None:
        known = ", ".join(f"{one.pk} ({one.name})" for one in rows[:20])
        raise Invalid(f"There is no dataset {name!r} in {team}. Known: {known or 'none yet'}.")
    return dataset


def items_called(dataset: Dataset, names: Sequence[str]) -> list[int]:
    """The ids of items by their keys or as id:N. Raises Invalid naming the first that is not there."""
    found = []
    for name in names:
        rows = Item.objects.filter(dataset=dataset)
        number = name.removeprefix("id:")
        by_id = name.startswith("id:") and _is_number(number)
        item = rows.filter(pk=int(number)).first() if by_id else rows.filter(key=name).first()
        if item is None:
            raise Invalid(f"There is no item {name!r} in {dataset}; allowed: its key, or id:N.")
        found.append(item.pk)
    return found


def queue_called(team: Team, name: str) -> ReviewQueue:
    """A review queue by its number or its name."""
    rows = ReviewQueue.objects.filter(team=team).select_related("dataset", "rubric_version")
    queue = rows.filter(pk=int(name)).first() if _is_number(name) else None
    queue = queue or rows.filter(name=name).first()
    if queue is None:
        known = ", ".join(f"{one.pk} ({one.name})" for one in rows[:20])
        raise Invalid(f"There is no review queue {name!r} in {team}. Known: {known or 'none yet'}.")
    return queue


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 19
