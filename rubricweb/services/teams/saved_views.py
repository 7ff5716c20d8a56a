"""Keeping lists as they are narrowed under names, changing and dropping them."""

from urllib.parse import parse_qsl, urlencode

from django.db import IntegrityError, transaction

from rubricweb.errors import Conflict, Forbidden, Invalid
from rubricweb.models import Dataset, Membership, Role, SavedView, ViewKind

NAME_MAX, QUERY_MAX, MOST = 100, 2000, 200
NARROWS = {
    ViewKind.ITEMS: (
        *("q", "where", "split", "tag", "system", "order", "version"),
        *("labels", "by", "score_from", "score_to", "errors", "run"),
    ),
    ViewKind.RUNS: ("dataset", "rubric", "state", "judge_version"),
    ViewKind.INBOX: ("run", "queue", "kind", "criterion", "cause", "decided"),
}
"""What each list is narrowed by in its address: nothing else is kept."""


def narrowing(kind: str, query: str) -> str:
    """The part of a query string that narrows such a list, in its order: no page of it, nothing unknown."""
    pairs = parse_qsl(query.removeprefix("?").replace("\0", ""))
    return urlencode([(name, value) for name, value in pairs if name in NARROWS[ViewKind(kind)]])


def save_view(
    member: Membership, *, kind: str, name: str, query: str, dataset: Dataset | None, shared: bool = False
) -> SavedView:
    """Keeps a list under a name. Raises Invalid for a wrong name, kind or query, Conflict for a name that is
    taken, Forbidden where it is to be shared by somebody who is no editor.
    """
    if kind not in ViewKind.values:
        raise Invalid.at("kind", repr(kind[:40]), ", ".join(ViewKind.values))
    if (kind == ViewKind.ITEMS) != (dataset is not None):
        raise Invalid.about("dataset", "A view of items is of one dataset, other views are of none.")
    kept = narrowing(kind, query)
    if len(kept) > QUERY_MAX:
        raise Invalid.about("query", f"A view keeps at most {QUERY_MAX} characters, not {len(kept)}.")
    if shared:
        _require_editor(member)
    if SavedView.objects.filter(team=member.team, owner=member.user).count() >= MOST:
        raise Conflict(f"You have {MOST} views already: delete one first.")
    view = SavedView(
        team=member.team,
        owner=member.user,
        kind=kind,
        dataset=dataset,
        name=_named(name),
        query=kept,
        shared=shared,
        pinned=True,
    )
    return _stored(view)


def change_view(
    view: SavedView,
    member: Membership,
    *,
    name: str | None = None,
    shared: bool | None = None,
    pinned: bool | None = None,
) -> SavedView:
    """What is not None. Others' views that are shared are an editor's to change."""
    _require_may_change(view, member, sharing=shared is True)
    if name is not None:
        view.name = _named(name)
    if shared is not None:
        view.shared = shared
    if pinned is not None:
        view.pinned = pinned
    return _stored(view)


def delete_view(view: SavedView, member: Membership) -> None:
    _require_may_change(view, member)
    view.delete()


def _named(name: str) -> str:
    name = " ".join(name.replace("\0", "").split())
    if not 1 <= len(name) <= NAME_MAX:
        raise Invalid.about("name", f"A name has 1 to {NAME_MAX} characters, not {len(name)}.")
    return name


def _stored(view: SavedView) -> SavedView:
    try:
        with transaction.atomic():
            view.save()
    except IntegrityError as error:
        raise Conflict(f"There is a view {view.name!r} already; choose another name.") from error
    return view


def _require_may_change(view: SavedView, member: Membership, *, sharing: bool = False) -> None:
    if view.owner_id != member.user_id or sharing:
        _require_editor(member)


def _require_editor(member: Membership) -> None:
    if not member.may(Role.EDITOR):
        raise Forbidden("Views of the whole team are kept by its editors; keep one of your own instead.")
