"""Comments on an item as one person may read them, and the access checks of what can be commented on.

A comment may tell a verdict. So while an item is hidden from somebody, they see no comments on it but their
own, and of those not which verdict they were about.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.errors import NotFound
from rubricweb.models import (
    Comment,
    Criterion,
    Item,
    Judgement,
    Membership,
    RaterKind,
    ReviewQueue,
    Role,
    Run,
    Team,
    User,
    in_reviews,
)
from rubricweb.selectors.blinding import hidden_items, require_visible
from rubricweb.selectors.rubrics.criterion_names import criterion_names
from rubricweb.selectors.shared.pages import keyset_page

SHOWN = 50
"""So many comments of an item are on a page."""
VERDICTS_OFFERED = 100


@dataclass(frozen=True)
class CommentLine:
    """One comment as a reader sees it.

    `author` is how others see them, "" for somebody whose account is gone. `about` is the criterion, and
    `verdict` with `judge` the verdict it is about, where the reader may see that; `judge` is "" for a
    person's. A removed comment has no text.
    """

    id: int
    item_id: int
    author: str
    username: str | None
    text: str
    criterion: Criterion | None
    judgement_id: int | None
    verdict: str | None
    judge: str
    resolved: bool
    created_at: datetime
    edited_at: datetime | None
    removed_at: datetime | None
    is_mine: bool


@dataclass(frozen=True)
class CommentPage:
    """`rows` of one page; `next_cursor` opens the following page, None on the last one."""

    rows: tuple[CommentLine, ...]
    next_cursor: str | None


@dataclass(frozen=True)
class Mentionable:
    username: str
    name: str


@dataclass(frozen=True)
class OfferedVerdict:
    """A verdict that a new comment can be about; `by` is whose, as the page around the comments says it."""

    judgement: Judgement
    by: str


@dataclass(frozen=True)
class Thread:
    """Comments on an item in time order, the newest page of them.

    `earlier` is how many came before the first line; `count` how many the reader may see at all. `withheld`
    says that others' comments are hidden for now, `own_withheld` that the reader's own are. `criteria` and
    `verdicts` are what a new comment can be about besides the whole item, and `people` those who can be
    mentioned.
    """

    item: Item
    lines: tuple[CommentLine, ...]
    earlier: int
    count: int
    withheld: bool
    own_withheld: bool
    may_write: bool
    criteria: tuple[Criterion, ...]
    verdicts: tuple[OfferedVerdict, ...]
    people: tuple[Mentionable, ...]

    @property
    def named_criteria(self) -> list[tuple[Criterion, str]]:
        """The criteria as they are offered, each with its name: of a reworded one the newest words."""
        newest: dict[tuple[int | None, str | int], Criterion] = {}
        for one in sorted(self.criteria, key=lambda one: -one.version_id):
            newest.setdefault((one.version.rubric_id, one.uid or one.pk), one)
        names = criterion_names(newest.values())
        return [(one, names[one.pk]) for one in self.criteria if one.pk in names]

    @property
    def named_verdicts(self) -> list[tuple[OfferedVerdict, str]]:
        """The verdicts as they are offered, each with the name of what it answers."""
        names = criterion_names({one.judgement.criterion for one in self.verdicts})
        return [(one, names[one.judgement.criterion_id]) for one in self.verdicts]

    @property
    def before(self) -> int | None:
        """The id that `thread(before=…)` takes for the page before this one; None when this is the first."""
        return self.lines[0].id if self.lines and self.earlier else None


def thread(
    item: Item,
    *,
    viewer: User,
    run: Run | None = None,
    queues: Sequence[ReviewQueue] = (),
    letters: Mapping[int, str] | None = None,
    before: int | None = None,
    size: int = SHOWN,
) -> Thread:
    """The newest comments on the item, or those before a comment's id; verdicts of `run` and `queues` can be
    commented on. `letters` stand there for people's names, by rater id, where the page hides those.
    """
    team = item.dataset.team
    withheld = hidden_items(viewer, team, item=item.pk).exists()
    comments = _readable(item, viewer, withheld)
    count = comments.count()
    asked = comments if before is None else comments.filter(pk__lt=before)
    rows = list(asked.order_by("-pk")[:size])[::-1]
    earlier = comments.filter(pk__lt=rows[0].pk).count() if len(rows) == size else 0
    membership = Membership.objects.select_related("team").filter(team=team, user_id=viewer.pk).first()
    may_write = membership is not None and membership.may(Role.ANNOTATOR)
    return Thread(
        item=item,
        lines=tuple(_lines(rows, viewer, withheld)),
        earlier=earlier,
        count=count,
        withheld=withheld,
        own_withheld=withheld and hidden_items(viewer, team, item=item.pk, own=True).exists(),
        may_write=may_write,
        criteria=_criteria(item, run, queues) if may_write else (),
        verdicts=_verdicts(item, run, queues, letters) if may_write and not withheld else (),
        people=_people(team) if may_write else (),
    )


def comments(item: Item, *, viewer: User, cursor: str | None = None, size: int = SHOWN) -> CommentPage:
    """One page of the comments on an item this person may read, oldest first."""
    withheld = hidden_items(viewer, item.dataset.team, item=item.pk).exists()
    page = keyset_page(_readable(item, viewer, withheld), order=("pk",), cursor=cursor, size=size)
    return CommentPage(tuple(_lines(page.rows, viewer, withheld)), page.next_cursor)


def comment_for(team: Team, comment_id: int, viewer: User) -> Comment:
    """The access check of a comment: not found while it is hidden from this person."""
    item = OuterRef("item_id")
    own = Q(author=viewer) & ~Exists(hidden_items(viewer, team, item=item, own=True))
    rows = Comment.objects.filter(item__dataset__team=team).filter(
        own | ~Exists(hidden_items(viewer, team, item=item))
    )
    rows = rows.select_related("item__dataset__team", "criterion", "judgement__review", "author")
    comment = rows.filter(pk=comment_id).first() if 0 < comment_id < 2**63 else None
    if comment is None:
        raise NotFound("comment")
    return comment


def line(comment: Comment, viewer: User) -> CommentLine:
    """One comment as this person, who came through `comment_for`, may see it."""
    withheld = hidden_items(viewer, comment.item.dataset.team, item=comment.item_id).exists()
    return next(_lines([comment], viewer, withheld))


def judgement_for(item: Item, judgement_id: int, viewer: User) -> Judgement:
    """The access check of a verdict on the item that is commented on. Raises Withheld, NotFound."""
    require_visible(viewer, item)
    rows = _undeleted_verdicts().filter(item=item).select_related("criterion")
    judgement = rows.filter(pk=judgement_id).first() if 0 < judgement_id < 2**63 else None
    if judgement is None:
        raise NotFound("verdict on this item")
    return judgement


def _undeleted_verdicts() -> QuerySet[Judgement]:
    given = Q(run__team__deleted_at=None, run__isnull=False) | in_reviews(queue__team__deleted_at=None)
    return Judgement.objects.filter(given)


def _readable(item: Item, viewer: User, withheld: bool) -> QuerySet[Comment]:
    rows = Comment.objects.filter(item=item)
    if withheld:
        # Their own stay, but for those on what they are to label again without seeing what they said of it.
        again = hidden_items(viewer, item.dataset.team, item=item.pk, own=True)
        rows = rows.none() if again.exists() else rows.filter(author=viewer)
    return rows.select_related("criterion", "judgement__review", "author")


def _lines(comments: Sequence[Comment], viewer: User, withheld: bool) -> Iterator[CommentLine]:
    """The comments without criteria and verdicts of what was deleted; a worker is still to remove those."""
    criteria = Criterion.objects.filter(
        version__rubric__team__deleted_at=None,
        pk__in=[one.criterion_id for one in comments if one.criterion_id],
    )
    shown_criteria = set(criteria.order_by().values_list("pk", flat=True))
    about = [one.judgement_id for one in comments if one.judgement_id and not withheld]
    shown_verdicts = set(_undeleted_verdicts().filter(pk__in=about).values_list("pk", flat=True))
    for comment in comments:
        yield _line(
            comment,
            comment.criterion if comment.criterion_id in shown_criteria else None,
            comment.judgement if comment.judgement_id in shown_verdicts else None,
            viewer,
        )


def _line(
    comment: Comment, criterion: Criterion | None, judgement: Judgement | None, viewer: User
) -> CommentLine:
    return CommentLine(
        id=comment.pk,
        item_id=comment.item_id,
        author=str(comment.author) if comment.author else "",
        username=comment.author.username if comment.author else None,
        text=comment.text,
        criterion=criterion,
        judgement_id=judgement.pk if judgement else None,
        verdict=judgement.verdict if judgement else None,
        judge=judgement.judge if judgement else "",
        resolved=comment.resolved,
        created_at=comment.created_at,
        edited_at=comment.edited_at,
        removed_at=comment.removed_at,
        is_mine=comment.author_id == viewer.pk,
    )


def _criteria(item: Item, run: Run | None, queues: Sequence[ReviewQueue]) -> tuple[Criterion, ...]:
    """Of the item's own rubric, else of the run's and the queues', else of what its dataset last met."""
    if item.rubric_version_id is not None:
        versions = {item.rubric_version_id}
    else:
        among: list[Run | ReviewQueue] = [*([run] if run else []), *queues]
        versions = {one.rubric_version_id for one in among if one.rubric_version_id}
        versions = versions or _last_versions(item)
    rows = Criterion.objects.filter(version__in=versions).select_related("version")
    return tuple(rows.order_by("-version_id", "position"))


def _last_versions(item: Item) -> set[int]:
    """The rubric versions of the newest run and the newest queue over the item's dataset."""
    newest_first = [
        rows.filter(dataset=item.dataset_id, rubric_version__isnull=False).order_by("-pk")
        for rows in (Run.objects.all(), ReviewQueue.objects.all())
    ]
    found = (rows.values_list("rubric_version_id", flat=True).first() for rows in newest_first)
    return {one for one in found if one is not None}


def _verdicts(
    item: Item, run: Run | None, queues: Sequence[ReviewQueue], letters: Mapping[int, str] | None
) -> tuple[OfferedVerdict, ...]:
    among = in_reviews(queue__in=queues)
    if run is not None:
        among |= Q(run=run)
    elif not queues:
        return ()
    rows = Judgement.objects.filter(among, item=item, verdict__isnull=False)
    rows = rows.select_related("criterion__version", "review__rater")
    offered = rows.order_by("criterion__position", "review_id", "pk")[:VERDICTS_OFFERED]
    return tuple(OfferedVerdict(one, _rater_name(one, letters)) for one in offered)


def _rater_name(verdict: Judgement, letters: Mapping[int, str] | None) -> str:
    if verdict.review is None:
        return verdict.judge
    rater = verdict.review.rater
    if letters is None or rater.kind != RaterKind.HUMAN:
        return rater.name
    return letters.get(rater.pk, "a person")


def _people(team: Team) -> tuple[Mentionable, ...]:
    rows = Membership.objects.filter(team=team, user__is_active=True).select_related("user")
    return tuple(Mentionable(row.user.username, str(row.user)) for row in rows.order_by("user__username"))
