"""Search over everything of a team: the page, and what the palette of every page shows."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import resolve, reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb.models import Membership, Role
from rubricweb.selectors import search as selectors
from rubricweb.selectors.search import FIRST_ITEMS, KINDS, PER_KIND, Match
from rubricweb.web.http import TeamRequest, searched, team_page

ON_PAGE = 25
"""Of each kind the page shows so many, the palette PER_KIND."""
HEADINGS = {
    "page": ("Pages", "file-text"),
    "rubric": ("Rubrics", "list-checks"),
    "dataset": ("Datasets", "database"),
    "run": ("Runs", "play"),
    "queue": ("Queues", "clipboard-check"),
    "judge": ("Judges", "scale"),
    "system": ("Systems", "bot"),
    "case": ("Cases", "layers"),
    "item": ("Items", "file-text"),
    "person": ("People", "user"),
}
PAGES = (
    ("Dashboard", "dashboard", "home scores"),
    ("Rubrics", "rubrics", "criteria"),
    ("New rubric", "rubric_new", "add starter"),
    ("Datasets", "datasets", "items"),
    ("Import a dataset", "dataset_import", "upload file add"),
    ("Combine datasets", "combine", "merge"),
    ("Systems", "systems", "versions"),
    ("Judges", "judges", "models"),
    ("Runs", "runs", "grade"),
    ("New run", "run_new", "start grade"),
    ("Review", "queues", "queues"),
    ("New queue", "queue_new", "review label"),
    ("Adjudicate", "adjudication", "disagreements decide inbox"),
    ("Compare", "compare", "agreement kappa people"),
    ("Export", "exports", "download csv"),
    ("Notifications", "notifications", "mentions"),
    ("Settings", "settings", "team"),
    ("Members", "settings_members", "people invite roles settings"),
    ("Models", "settings_judges", "endpoints keys settings"),
    ("Prices", "settings_prices", "cost settings"),
    ("Spending", "settings_spending", "budget cost settings"),
    ("API tokens", "settings_tokens", "settings"),
    ("Deletions", "settings_deletions", "settings"),
    ("Audit log", "settings_audit_log", "history settings"),
)
"""Pages by their names, their addresses, and other words they are looked for by."""


@dataclass(frozen=True)
class FoundRows:
    """Rows under a heading, each with its address and its icon."""

    heading: str
    rows: list[tuple[Match, str, str]]

    @classmethod
    def of(cls, heading: str, hits: Iterable[Match], slug: str) -> "FoundRows":
        return cls(heading, [(hit, address(slug, hit), HEADINGS[hit.kind][1]) for hit in hits])


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def search(request: TeamRequest) -> HttpResponse:
    """What goes by `q`; without it what was changed last, and where one can go."""
    text, is_palette = searched(request.GET), bool(request.htmx)
    slug = request.team.slug
    pages = _pages(request.membership, text)
    if text:
        size = PER_KIND if is_palette else ON_PAGE
        hits = selectors.search(request.team, text, viewer=request.user, size=size)
        found = [FoundRows("Pages", pages)] if pages else []
        for kind, rows in groupby(hits, key=lambda hit: hit.kind):
            found.append(FoundRows.of(HEADINGS[kind][0], rows, slug))
    else:
        recent = selectors.recent(request.team)
        found = [FoundRows.of("Recent", recent, slug)] if recent else []
        found.append(FoundRows("Pages", pages))
    context: dict[str, Any] = {"found": found, "search": text, "first_items": FIRST_ITEMS}
    return render(request, "search/_found.html" if is_palette else "search/search.html", context)


def _pages(membership: Membership, text: str) -> list[tuple[Match, str, str]]:
    """The pages this person may open that go by all words of the text, or all of them."""
    pages = []
    for number, (name, route, words) in enumerate(PAGES):
        url = reverse(route, args=[membership.team.slug])
        looked_at = f"{name} {words}".lower()
        # Each view says whom it opens for: the role is written there alone.
        opens_for: Role = resolve(url).func.role  # type: ignore[attr-defined]  # `team_page` leaves it there
        if membership.role >= opens_for and all(word in looked_at for word in text.lower().split()):
            pages.append((Match("page", number, name, ""), url, HEADINGS["page"][1]))
    return pages


def address(slug: str, hit: Match) -> str:
    """The page of what was found."""
    if hit.kind == "person":
        return reverse("settings_members", args=[slug])
    if hit.kind == "system":
        return f"{reverse('systems', args=[slug])}#system-{hit.id}"
    assert hit.kind in KINDS
    return reverse(hit.kind, args=[slug, hit.id])
