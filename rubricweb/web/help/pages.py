"""The docs as the app shows them: which pages there are, their headings, and each as safe HTML."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import nh3
from django.urls import reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

from rubricweb import folders
from rubricweb.errors import NotFound
from rubricweb.templatetags.texts import TAGS

DOCS = folders.ASSETS / "docs"
INDEX = "README"
RESULTS_SHOWN = 40

# Unlike texts of people: lines are wrapped in the file and flow on the page, and pictures are ours.
_MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


@dataclass(frozen=True)
class Heading:
    """A heading of a page: `level` 1 is its title. `url` leads there."""

    page: str
    title: str
    level: int
    url: str


@dataclass(frozen=True)
class HelpPage:
    """A page of the docs by its path below them, without `.md`; `body` is without its title."""

    name: str
    title: str
    headings: tuple[Heading, ...]
    body: SafeString

    @property
    def sections(self) -> tuple[Heading, ...]:
        return tuple(heading for heading in self.headings if heading.level == 2)


@cache
def page_called(name: str) -> HelpPage:
    """A page, "guides/read-compare". Raises NotFound for any other name."""
    if name not in _names():
        raise NotFound("page of the help")
    tokens = _MARKDOWN.parse((DOCS / f"{name}.md").read_text())
    headings = tuple(_headings(name, tokens))
    title = headings[0].title if headings else name
    body = tokens[3:] if headings and headings[0].level == 1 else tokens
    for token in body:
        _link(name, token.children or [])
    html = nh3.clean(
        _MARKDOWN.renderer.render(body, _MARKDOWN.options, {}),
        tags=TAGS | {"h2", "img"},
        attributes={
            "a": {"href", "title"},
            "ol": {"start"},
            "img": {"src", "alt"},
            **{f"h{level}": {"id"} for level in range(2, 7)},
        },
        url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer",
    )
    return HelpPage(name, title, headings, mark_safe(html))  # noqa: S308 nh3 has just cleaned it


def picture_called(name: str) -> Path:
    """The file of a picture of the docs. Raises NotFound for any other name."""
    found = {file.name: file for file in (DOCS / "images").glob("*.png")}.get(name)
    if found is None:
        raise NotFound("picture of the help")
    return found


def headings_with(words: str) -> list[Heading]:
    """Headings that have every word, or of a page whose title has the others; guides first, decisions last.

    "kappa bias" finds "Bias" on a page "Cohen's kappa".
    """
    wanted = words.lower().split()
    if not wanted:
        return []
    found = []
    for name in sorted(_names(), key=_rank):
        page = page_called(name)
        for heading in page.headings:
            own, around = heading.title.lower(), page.title.lower()
            if all(word in own or word in around for word in wanted) and any(word in own for word in wanted):
                found.append(heading)
    return found[:RESULTS_SHOWN]


def url_of(name: str, anchor: str = "") -> str:
    """The address of a page, and of a heading on it."""
    url = reverse("help") if name == INDEX else reverse("help_page", args=[name])
    return f"{url}#{anchor}" if anchor else url


@cache
def _names() -> frozenset[str]:
    return frozenset(str(file.relative_to(DOCS).with_suffix("")) for file in DOCS.rglob("*.md"))


def _rank(name: str) -> tuple[int, str]:
    return (0 if name.startswith("guides/") else 2 if name.startswith("decisions/") else 1, name)


def _headings(page: str, tokens: list[Token]) -> Iterator[Heading]:
    """Every heading, which gets an id in passing: the name GitHub gives it, numbered from its second time."""
    times: dict[str, int] = {}
    for token, inside in pairwise(tokens):
        if token.type == "heading_open":
            title = "".join(child.content for child in inside.children or [])
            slug = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            number = times.get(slug, 0)
            times[slug] = number + 1
            slug = f"{slug}-{number}" if number else slug
            level = int(token.tag[1])
            token.attrSet("id", slug)
            yield Heading(page, title, level, url_of(page, slug if level > 1 else ""))


def _link(page: str, tokens: list[Token]) -> None:
    """Turns links to other pages and pictures into addresses here; others out of the docs are words."""
    opened: list[Token] = []
    for token in tokens:
        if token.type == "image":
            token.attrSet("src", reverse("help_picture", args=[posixpath.basename(_target(token, "src"))]))
        elif token.type == "link_open":
            opened.append(token)
            _point(page, token)
        elif token.type == "link_close":
            token.tag = opened.pop().tag


def _point(page: str, link: Token) -> None:
    target, _, anchor = _target(link, "href").partition("#")
    if ":" in target or not (target or anchor):
        return
    place = posixpath.normpath(posixpath.join(posixpath.dirname(page), target)) if target else f"{page}.md"
    name = place.removesuffix(".md")
    if name in _names():
        link.attrSet("href", url_of(name, anchor))
    else:
        link.tag, link.attrs = "span", {}


def _target(token: Token, name: str) -> str:
    value: Any = token.attrGet(name)
    return str(value or "")
