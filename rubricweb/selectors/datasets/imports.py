"""Imports of files as lists show them."""

from rubricweb.models import DatasetImport, ImportState, Team
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
