"""Imports of files as lists show them."""

from collections.abc import Iterable

from rubricweb.models import DatasetImport, ImportState, Team, User
from rubricweb.selectors.blinding import hidden_datasets
from rubricweb.selectors.shared.pages import Page, keyset_page

UNENDED = (ImportState.WAITING, ImportState.RUNNING, ImportState.ASKS)


def imports(team: Team, *, cursor: str | None = None, size: int = 50) -> Page[DatasetImport]:
    """The team's imports, newest first, without their faults."""
    rows = DatasetImport.objects.filter(team=team).select_related("dataset", "created_by").defer("faults")
    return keyset_page(rows, order=("-pk",), cursor=cursor, size=size)


def unended(team: Team) -> list[DatasetImport]:
    """Those that are under way or wait for an answer."""
    rows = DatasetImport.objects.filter(team=team, state__in=UNENDED).select_related("dataset")
    return list(rows.defer("faults", "found").order_by("-pk")[:20])


def without_hidden_keys(rows: Iterable[DatasetImport], *, viewer: User, team: Team) -> list[DatasetImport]:
    """The imports, without which items say the same, and which cases are new, where this person is still to
    review some of the dataset blind: keys tell who answered. Not to be saved.
    """
    found = list(rows)
    with_keys = [one for one in found if one.found.get("duplicates") or one.found.get("preview")]
    hidden = hidden_datasets(viewer, team) if with_keys else frozenset()
    for one in with_keys:
        if one.dataset_id in hidden:
            one.found = {**one.found, "duplicates": []}
            if preview := one.found.get("preview"):
                names = [name for name in preview["new_names"] if name["what"] != "case"]
                one.found["preview"] = {**preview, "first_duplicates": [], "new_names": names}
    return found
