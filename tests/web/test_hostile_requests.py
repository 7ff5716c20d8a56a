"""Whatever a form or an address is filled with, it is answered or refused: no page breaks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote_plus, urljoin, urlsplit

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, URLPattern, get_resolver, reverse

from rubricweb.web.urls import team_urls
from tests.factories import Cast
from tests.worlds.furnished import Furnished

HOSTILE = {
    "a bigint and more": ["9999999999999999999"],
    "a negative number": ["-1"],
    "digits of another script": ["\u0661\u0662"],
    "a superscript": ["\u00b2"],
    "a NUL": ["a\0b"],
    "half a surrogate pair": ["\ud800"],
    "infinity": ["1e999"],
    "no number": ["nan"],
    "very long": ["7" * 5_000],
    "a list": ["1", "2"],
    "JSON": ['{"a": [null]}'],
    "nothing": [""],
    "missing": [],
}
# Of values that are refused alike, most are sent at night only.
AT_NIGHT = ("a negative number", "a superscript", "infinity", "no number", "very long", "nothing")
AT_A_LANDING = tuple(words for words in HOSTILE if words not in AT_NIGHT)
FILES = {
    "empty": b"",
    "no text": b"\xff\xfe\x00\x01" * 64,
    "a NUL": b'{"items": [{"id": "a\\u0000b", "submission": "\x00"}]}',
    "nested JSON": b"[" * 5_000,
    "an open quote": b'item_id,criterion\n"a,b',
    "an archive that is none": b"PK\x03\x04" + b"\x00" * 40,
}
FILE_NAMES = (
    "a.json",
    "a.jsonl",
    "a.csv",
    "a.yaml",
    "a.parquet",
    "a.zip",
    "a",
    "n" * 5_000 + ".csv",
    "a\0b.json",
)
IN_ADDRESSES = ("a bigint and more", "a NUL", "half a surrogate pair", "a superscript", "a list")
IN_EVERY_ADDRESS = "a NUL"
ONE_BY_ONE = ("a bigint and more", "a NUL", "a superscript")
PLAIN = "application/x-www-form-urlencoded"


@dataclass
class Form:
    """What a page would post: where to, and its fields with what stands in them."""

    action: str
    fields: dict[str, list[str]] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)


class _Forms(HTMLParser):
    """The forms of a page that post, and the names that its other forms and links put into addresses."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.posts: list[Form] = []
        self.queries: set[str] = set()
        self._open: Form | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for name in ("href", "action", "hx-get", "hx-post", "formaction"):
            self.queries |= set(re.findall(r"[?&](\w+)=", given.get(name, "")))
        posts = given.get("hx-post") or given.get("formaction")
        if tag == "form" and (given.get("method", "").casefold() == "post" or posts):
            self._open = Form(posts or given.get("action") or self.url)
            self.posts.append(self._open)
        elif posts:
            fields = self._open.fields if self._open else {}
            self.posts.append(Form(posts, fields))  # shares what is still to come
        if tag in ("input", "select", "textarea", "button") and (name := given.get("name")):
            if self._open is None:
                self.queries.add(name)
            else:
                self._open.fields.setdefault(name, []).append(given.get("value", ""))
                if given.get("type") == "file":
                    self._open.files.add(name)

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._open = None


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return furnished.people


@pytest.fixture
def alice(people: Cast) -> Client:
    """The owner; a page that breaks answers 500 here, as it would to a browser."""
    client = Client(raise_request_exception=False)
    client.force_login(people.alice, backend="django.contrib.auth.backends.ModelBackend")
    return client


def addresses(furnished: Furnished) -> Iterator[tuple[str, str]]:
    """Every page of the team with the ids of what it has, by name."""
    for pattern in team_urls:
        assert isinstance(pattern, URLPattern)
        names = re.findall(r"<(?:\w+:)?(\w+)>", str(pattern.pattern))
        ids = [furnished.ours[name] for name in names]
        yield str(pattern.name), reverse(str(pattern.name), args=[furnished.people.team.slug, *ids])


def asked(client: Client, method: str, url: str, body: str = "", **headers: Any) -> int:
    """The status of one request by who is signed in, whose traces are undone."""
    session = client.cookies[settings.SESSION_COOKIE_NAME].value
    with transaction.atomic():
        answer = client.generic(method, url, body.encode(), content_type=PLAIN, **headers)
        transaction.set_rollback(True)
    client.cookies[settings.SESSION_COOKIE_NAME] = session  # signing out is a form as well
    assert not answer.get("Location", "").startswith("/accounts/login/")
    return int(answer.status_code)


def encoded(fields: dict[str, list[str]]) -> str:
    return "&".join(
        f"{quote_plus(name, errors='surrogatepass')}={quote_plus(value, errors='surrogatepass')}"
        for name, values in fields.items()
        for value in values
    )


def broken(client: Client, seen: "Seen", hostile: tuple[str, ...]) -> list[str]:
    """Every request that was answered with 500, in words.

    Pages that are not `reading` their query are asked with one: what never looks at it answers all alike.
    """
    found = []
    for words in hostile:
        values = HOSTILE[words]
        for name, url in seen.pages.items() if words in IN_ADDRESSES else ():
            if words != IN_EVERY_ADDRESS and name not in seen.reading:
                continue
            query = encoded(dict.fromkeys(sorted(seen.queries), values))
            if asked(client, "GET", f"{url}?{query}") >= 500:
                found.append(f"GET {name}: all of {sorted(seen.queries)} are {words}")
        for form in seen.forms.values():
            everything = dict.fromkeys(form.fields, values)
            if asked(client, "POST", form.action, encoded(everything)) >= 500:
                found.append(f"POST {form.action}: all fields are {words}")
    return found


@dataclass
class Seen:
    """What the pages of a team hold: their addresses by name, which of them read their query, all names that
    appear in queries, and every form by where it posts to.
    """

    pages: dict[str, str]
    reading: set[str] = field(default_factory=set)
    queries: set[str] = field(default_factory=set)
    forms: dict[str, Form] = field(default_factory=dict)


@pytest.fixture
def seen(furnished: Furnished, alice: Client) -> Seen:
    seen = Seen(dict(addresses(furnished)))
    for name, url in seen.pages.items():
        answer = alice.get(url)
        assert answer.status_code < 500, name
        if "GET" in vars(answer.wsgi_request):  # Django parses the query when it is first looked at
            seen.reading.add(name)
        if answer.status_code == 200 and answer.get("Content-Type", "").startswith("text/html"):
            found = _Forms(url)
            found.feed(answer.content.decode())
            seen.queries |= found.queries
            for form in found.posts:
                path = urlsplit(urljoin(url, form.action)).path
                known = seen.forms.setdefault(path, Form(path))
                known.fields.update(form.fields)
                known.files.update(form.files)
    seen.queries -= {"csrfmiddlewaretoken"}
    assert len(seen.forms) > 30, "the pages' forms are found"
    assert {"dashboard", "compare", "adjudication"} < seen.reading, "who reads the query is found"
    return seen


@pytest.mark.parametrize(
    "hostile", [AT_A_LANDING, pytest.param(AT_NIGHT, marks=pytest.mark.long)], ids=["landing", "night"]
)
def test_no_page_breaks_whatever_all_its_fields_and_its_query_hold(
    seen: Seen, alice: Client, hostile: tuple[str, ...]
) -> None:
    assert broken(alice, seen, hostile) == []


@pytest.mark.long
def test_no_page_breaks_whatever_one_field_or_file_holds(seen: Seen, alice: Client) -> None:
    """The other fields as they stand on the page: what comes after the first refusal."""
    found = []
    for form in seen.forms.values():
        # Of rows that are alike one is enough.
        for name in {re.sub(r"\d+", "#", name): name for name in form.fields}.values():
            for words in ONE_BY_ONE:
                fields = form.fields | {name: HOSTILE[words]}
                if asked(alice, "POST", form.action, encoded(fields)) >= 500:
                    found.append(f"POST {form.action}: {name} is {words}")
    # And files of any kind under any name.
    uploads = [form for form in seen.forms.values() if form.files]
    assert len(uploads) >= 3, "the pages' file fields are found"
    for form in uploads:
        for words, data in FILES.items():
            for name in FILE_NAMES:
                if uploaded(alice, form, SimpleUploadedFile(name, data)) >= 500:
                    found.append(f"POST {form.action}: a file {name[:20]!r} that is {words}")
    assert found == []


def uploaded(client: Client, form: Form, file: SimpleUploadedFile) -> int:
    """The status of a form sent with this file, whose traces are undone."""
    fields: dict[str, Any] = {
        name: values[-1] for name, values in form.fields.items() if name not in form.files
    }
    with transaction.atomic():
        answer = client.post(form.action, fields | dict.fromkeys(form.files, file))
        transaction.set_rollback(True)
    return int(answer.status_code)


def account_pages() -> Iterator[str]:
    """Every page outside a team that takes no argument."""
    names = {key for key in get_resolver().reverse_dict if isinstance(key, str)}
    for name in sorted(names | {f"mfa_{one}" for one in ("index", "activate_totp", "reauthenticate")}):
        try:
            yield reverse(name)
        except NoReverseMatch:
            continue


@pytest.mark.parametrize("signed_in", [True, False])
def test_no_page_of_an_account_breaks(furnished: Furnished, alice: Client, signed_in: bool) -> None:
    client = alice if signed_in else Client(raise_request_exception=False)
    # Where no worker lives, 503 is what readiness says.
    pages = [url for url in account_pages() if url != reverse("ready")]
    assert reverse("account_login") in pages
    assert reverse("invitation") in pages
    found = []
    for url in pages:
        answer = client.get(url)
        seen = _Forms(url)
        if answer.get("Content-Type", "").startswith("text/html"):
            seen.feed(answer.content.decode())
        names = {name for form in seen.posts for name in form.fields} | {"next", "key", "code"}
        for words in IN_ADDRESSES:
            sent = encoded(dict.fromkeys(sorted(names), HOSTILE[words]))
            for method, target, body in (("GET", f"{url}?{sent}", ""), ("POST", url, sent)):
                with transaction.atomic():
                    status = client.generic(method, target, body.encode(), content_type=PLAIN).status_code
                    transaction.set_rollback(True)
                if status >= 500:
                    found.append(f"{method} {url}: all of {sorted(names)} are {words}")
        if signed_in:  # signing out and ending sessions are forms as well
            client.force_login(furnished.people.alice, backend="django.contrib.auth.backends.ModelBackend")
    assert found == []
