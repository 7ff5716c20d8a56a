"""Saved views of lists: one's own, and those shared with the team."""

from django.db.models import Q, QuerySet

from rubricweb.models import Dataset, SavedView, Team, User, ViewKind


def saved_views(
    team: Team, viewer: User, *, kind: str = "", dataset: Dataset | None = None
) -> QuerySet[SavedView]:
    """Those this person may see, by name; of one kind of list, of one dataset, or all."""
    rows = SavedView.objects.filter(Q(owner=viewer) | Q(shared=True), team=team)
    rows = rows.filter(Q(dataset=None) | Q(dataset__team=team)).select_related("dataset", "owner")
    if kind:
        rows = rows.filter(kind=kind)
    if kind == ViewKind.ITEMS and dataset is not None:
        rows = rows.filter(dataset=dataset)
    return rows.order_by("name", "pk")
