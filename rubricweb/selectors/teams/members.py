"""A team as its settings pages show it: members, tokens, audit log."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from rubricweb.engine.errors import shortened
from rubricweb.engine.formats.content_ids import given_key
from rubricweb.errors import Invalid, NotFound
from rubricweb.models import ACCEPTED, PRUNED, ApiToken, Item, JournalEntry, Membership, Role, Team, User
from rubricweb.selectors.blinding import hidden_items, is_hidden
from rubricweb.selectors.shared.pages import keyset_page
from rubricweb.selectors.withheld_runs import withheld_runs


@dataclass(frozen=True)
class TeamMember:
    """A member as listed; `only_owner` marks the one who can neither leave nor step down."""

    membership: Membership
    only_owner: bool
    never_signed_in: bool


def members(team: Team) -> list[TeamMember]:
    """Everybody in the team, the highest role first."""
    rows = list(
        Membership.objects.filter(team=team).select_related("user").order_by("-role", "user__username")
    )
    owners = sum(row.role == Role.OWNER for row in rows)
    return [
        TeamMember(
            row,
            owners == 1 and row.role == Role.OWNER,
            row.user.last_login is None and not row.user.has_usable_password(),
        )
        for row in rows
    ]


@dataclass(frozen=True)
class RoleCount:
    role: str
    count: int


def role_counts(team: Team) -> list[RoleCount]:
    """How many members have which role, the highest first; roles nobody has are left out."""
    rows = Membership.objects.filter(team=team).order_by("-role").values_list("role").annotate(n=Count("pk"))
    return [RoleCount(Role(role).label, n) for role, n in rows]


def member_for(team: Team, user_id: int) -> Membership:
    """The access check of one membership of the team."""
    rows = Membership.objects.select_related("user", "team")
    membership = rows.filter(team=team, user_id=user_id).first() if 0 < user_id < 2**63 else None
    if membership is None:
        raise NotFound("member")
    return membership


def tokens(team: Team, user: User) -> list[ApiToken]:
    """The person's own tokens in this team, newest first; nobody sees another's."""
    return list(ApiToken.objects.filter(team=team, user=user).order_by("-pk"))


def token_for(team: Team, user: User, token_id: int) -> ApiToken:
    """The access check of a token: only its own holder comes in."""
    rows = ApiToken.objects.filter(team=team, user=user).select_related("team")
    token = rows.filter(pk=token_id).first() if 0 < token_id < 2**63 else None
    if token is None:
        raise NotFound("token")
    return token


KINDS = {
    "apitoken": "API token",
    "dataset": "dataset",
    "invitation": "invitation",
    "item": "item",
    "judge": "judge",
    "judgeendpoint": "model",
    "membership": "member",
    "modelprice": "price",
    "rater": "rater",
    "review": "review",
    "reviewqueue": "review queue",
    "rubric": "rubric",
    "rubricversion": "rubric version",
    "run": "run",
    "sharedlink": "shared link",
    "system": "system",
    "systemversion": "system version",
    "team": "team",
}
"""What a line of the audit log can be about: the model's name → the words for it."""


ACTORS_NAMED = 20


@dataclass(frozen=True)
class AuditLogLine:
    """One thing somebody did. `actor` None is the app itself; `detail` is (name, value) pairs.

    `label` is "" for an item without a key that somebody gave it, and where that is kept from the viewer: see
    `is_hidden`.
    """

    actor: str | None
    verb: str
    kind: str
    target_id: int | None
    label: str
    detail: tuple[tuple[str, Any], ...]
    at: datetime

    @property
    def detail_words(self) -> tuple[tuple[str, Any], ...]:
        """The same for people to read: "pass mark" for `pass_mark`, "judge wrong" for `judge_wrong`."""
        return tuple(
            (name.replace("_", " "), str(value).replace("_", " ") if name in CODES else value)
            for name, value in self.detail
        )


CODES = ("cause", "choice", "decision", "kind")
"""Names of details whose value is one of a list that programs use; other values are people's own words."""


@dataclass(frozen=True)
class AuditLogPage:
    """`rows` of one page; `next_cursor` opens the following page, None on the last one."""

    rows: tuple[AuditLogLine, ...]
    next_cursor: str | None


def audit_log(
    team: Team,
    *,
    viewer: User,
    actor: str = "",
    kind: str = "",
    cursor: str | None = None,
    size: int = 50,
) -> AuditLogPage:
    """Who did what, newest first. Decisions on items the viewer is still to review blind are left out, and
    the keys of the other answers to their cases; of runs whose calls are withheld, why one stopped, how much
    was left to do, and how many calls were pruned; and by which decisions others' exports count labels, which
    tells that there are labels of those words.

    `actor` is a user name, `kind` one of the words of KINDS. Raises Invalid for any other.
    """
    hidden = Q(target_kind="item", target_id__in=hidden_items(viewer, team))
    rows = JournalEntry.objects.filter(team=team).exclude(hidden).select_related("actor")
    if kind:
        rows = rows.filter(target_kind=_model_of(kind))
    if actor:
        rows = rows.filter(actor=_actor_called(team, rows, actor))
    page = keyset_page(rows, order=("-pk",), cursor=cursor, size=size)
    withheld = set(withheld_runs(viewer, team).values_list("pk", flat=True))
    reviews_blind = hidden_items(viewer, team).exists()
    items = [row.target_id for row in page.rows if row.target_kind == "item" and row.target_id is not None]
    unnamed = _with_hidden_keys(items, viewer, team) if reviews_blind else set()
    lines = [
        AuditLogLine(
            actor=str(row.actor) if row.actor else None,
            verb=row.verb,
            kind=KINDS.get(row.target_kind, row.target_kind),
            target_id=row.target_id,
            label=_label(row, unnamed),
            detail=_visible_detail(
                row, withheld, of_others=row.actor_id != viewer.pk and reviews_blind, blind=reviews_blind
            ),
            at=row.at,
        )
        for row in page.rows
    ]
    return AuditLogPage(tuple(lines), page.next_cursor)


def _label(row: JournalEntry, unnamed: Collection[int]) -> str:
    if row.target_kind != "item":
        return row.target_label
    # What earlier releases wrote may be a key that was made; the number of an item is no name of its own.
    is_named = row.target_id not in unnamed and row.target_label != f"id:{row.target_id}"
    return given_key(row.target_label) if is_named else ""


def _with_hidden_keys(item_ids: Collection[int], viewer: User, team: Team) -> set[int]:
    """Those whose key is kept from the viewer."""
    unnamed = Item.objects.filter(is_hidden(viewer, team), pk__in=item_ids)
    return set(unnamed.order_by().values_list("pk", flat=True))


def _model_of(kind: str) -> str:
    for model, words in KINDS.items():
        if words == kind:
            return model
    raise Invalid.at("kind", repr(shortened(kind)), ", ".join(KINDS.values()))


def _actor_called(team: Team, rows: QuerySet[JournalEntry], name: str) -> int:
    """A member, or somebody else who stands in these rows."""
    stands = Exists(rows.order_by().filter(actor=OuterRef("pk")))
    people = User.objects.filter(Exists(Membership.objects.filter(team=team, user=OuterRef("pk"))) | stands)
    person = people.filter(username__iexact=name).first()
    if person is None:
        known = people.order_by("username").values_list("username", flat=True)[:ACTORS_NAMED]
        raise Invalid.at("actor", repr(shortened(name)), ", ".join(known))
    return person.pk


# What the audit log keeps of a run that depends on how many calls it made.
TELLING = {"paused": "why", "gave up on": "why", "resumed": "items"}
# What it keeps of labels and decisions of others: by which decisions an export counts labels, how many units
# everybody agreed on.
OF_OTHERS = {"exported": ("label_decisions",), ACCEPTED: ("decisions",)}
# How many labels were given to earlier words, whoever decided what becomes of them.
# And what went with something that was deleted: its words may be hidden wherever else they are.
COUNTED = {
    "decided about labels of": ("labels", "probe"),
    "deleted": ("adjudications", "comments", "labels", "people", "reviews", "verdicts"),
}
# What may tell who answered: the item of a review; the file that brought answers, the versions that came with
# it, a note on a change of them.
OF_KEYS = {"review": ("item",), "dataset": ("file", "new_systems", "note")}


def _visible_detail(
    row: JournalEntry, withheld: Collection[int], *, of_others: bool, blind: bool
) -> tuple[tuple[str, Any], ...]:
    """The line's detail, without what must not be told of runs whose calls are withheld; to somebody still to
    review `blind`, also without what others said, `of_others`, how many did, and what may tell who answered.
    """
    hidden = set()
    if row.target_kind == "run" and row.target_id in withheld:
        hidden.add(TELLING.get(row.verb))
    if row.verb == PRUNED and withheld:
        hidden.add("calls")
    if of_others:
        hidden.update(OF_OTHERS.get(row.verb, ()))
    if blind:
        hidden.update(COUNTED.get(row.verb, ()), OF_KEYS.get(row.target_kind, ()))
    if row.target_kind == "review" and not given_key(row.detail.get("item")):
        hidden.add("item")  # of an earlier release
    return tuple((name, value) for name, value in row.detail.items() if name not in hidden)
