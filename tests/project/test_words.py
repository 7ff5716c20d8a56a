"""One thing has one name on the pages: words that were another name for it do not come back."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What a page must not say, and what it says instead.
OTHER_NAMES = {
    r"\bC/A\b": "Cannot assess",
    r"\bAbst\.": "Cannot assess",
    r"\bRationale\b": "Reason",
    r"\b[Hh]elped\b|\b[Hh]urt\b": "points earned, points lost; pass, fail",
    r"Whose answers:": "System versions",
    r"Units compared": "Labels compared",
    r"[Ee]xpected mean score|What people would say\b": "Estimated human score",
    r"[Ww]hat the figures rest on": "Items used",
    r"Adds to Δ": "Effect on score",
    r"Labels under other words": "Existing labels",
    r"Columns of the lists": "List columns",
    r"Like the system": "System",
    r"Excluded and special cases": "Left out",
    r"Score over time": "Score by version, or run by run",
}

# Markup, comments and tags of templates are no words of a page.
UNSEEN = re.compile(r"{#.*?#}|{%.*?%}|{{.*?}}|<[^>]*>", re.DOTALL)


def test_pages_call_a_thing_by_one_name() -> None:
    said = [
        f"{file.relative_to(ROOT)} says {found[0]!r}: say {instead}"
        for file in (ROOT / "templates").rglob("*.html")
        if file.parent.name != "patterns"
        for words in [UNSEEN.sub(" ", file.read_text())]
        for name, instead in OTHER_NAMES.items()
        if (found := re.search(name, words))
    ]
    assert said == []
