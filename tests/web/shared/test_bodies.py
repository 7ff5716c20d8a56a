"""How large a request may be: known before any of it is read."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.test import Client, RequestFactory
from django.urls import reverse
from django.utils import timezone

from rubricweb.folders import ASSETS
from rubricweb.models import ApiToken
from rubricweb.services.teams import teams
from rubricweb.web.bodies import ANONYMOUS_MAX_BYTES, AROUND_A_FILE_BYTES, largest_body
from rubricweb.web.urls import team_urls
from tests.factories import Cast

SIGN_IN = "/accounts/login/"
HTML = "text/html; charset=utf-8"


class Unread(io.RawIOBase):
    """A body that must not be read."""

    def read(self, size: int = -1) -> bytes:
        raise AssertionError("the body was read")


def post(client: Client, path: str, length: int, **headers: str) -> Any:
    return client.generic(
        "POST",
        path,
        headers=headers,
        **{
            "wsgi.input": Unread(),
            "CONTENT_LENGTH": str(length),
            "CONTENT_TYPE": "multipart/form-data; boundary=b",
        },
    )


def asked(path: str, method: str = "POST", **more: Any) -> int:
    return largest_body(RequestFactory().generic(method, path, **more).environ)


@pytest.fixture
def ed(people: Cast) -> Client:
    client = Client()
    client.force_login(people.ed)
    return client


@pytest.fixture
def import_page(people: Cast) -> str:
    return reverse("dataset_import", args=[people.team.slug])


# ── What is refused ──────────────────────────────────────────────────────────────────────────────


def test_who_is_not_signed_in_may_send_little(db: None) -> None:
    assert post(Client(), SIGN_IN, ANONYMOUS_MAX_BYTES + 1).status_code == 413
    with pytest.raises(AssertionError, match="the body was read"):
        post(Client(), SIGN_IN, ANONYMOUS_MAX_BYTES)


def test_a_file_of_who_is_not_signed_in_any_more_is_refused_with_what_helps(import_page: str) -> None:
    refused = post(Client(), import_page, 1_000_000)
    assert (refused.status_code, refused["Content-Type"]) == (413, HTML)
    page = refused.content.decode()
    assert "larger than 64 KB, the most this server takes from somebody who is not signed in. Sign in" in page
    assert "Split it into smaller files" not in page


def test_a_page_that_takes_no_file_takes_what_a_form_may_hold(people: Cast, ed: Client) -> None:
    new = reverse("rubric_new", args=[people.team.slug])
    refused = post(ed, new, settings.REQUEST_MAX_BYTES + 1)
    assert (refused.status_code, refused["Content-Type"]) == (413, HTML)
    assert "The request is larger than 8 MB, the most this address takes." in refused.content.decode()
    with pytest.raises(AssertionError, match="the body was read"):
        post(ed, new, settings.REQUEST_MAX_BYTES)


def test_a_script_gets_the_sentence_in_the_form_it_reads(people: Cast, ed: Client) -> None:
    new, length = reverse("rubric_new", args=[people.team.slug]), settings.REQUEST_MAX_BYTES + 1
    told = post(ed, new, length, Accept="application/json")
    assert told.json()["message"].startswith("The request is larger than 8 MB")
    toast = post(ed, new, length, **{"HX-Request": "true"})
    assert (toast.status_code, toast.content) == (413, b"")
    assert "The request is larger than 8 MB" in toast["HX-Trigger"]


def test_a_page_for_files_takes_the_documented_size_and_the_form_around_it(
    ed: Client, import_page: str
) -> None:
    most = settings.IMPORT_MAX_BYTES + AROUND_A_FILE_BYTES
    refused = post(ed, import_page, most + 1)
    assert refused.status_code == 413
    assert "The request is larger than 500 MB, the most this address takes." in refused.content.decode()
    with pytest.raises(AssertionError, match="the body was read"):
        post(ed, import_page, most)


def test_the_api_refuses_as_it_refuses_all_else(people: Cast) -> None:
    refused = post(Client(), "/api/v1/runs", settings.REQUEST_MAX_BYTES + 1)
    assert (refused.status_code, refused["Content-Type"]) == (413, "application/problem+json")
    assert refused.json()["type"] == "urn:rubricweb:problem:too-large"
    # Without a token it says so, whatever is sent, and reads none of it.
    assert post(Client(), "/api/v1/runs", settings.REQUEST_MAX_BYTES).status_code == 401


def test_a_form_with_too_much_text_is_too_large(people: Cast, ed: Client, settings: Any) -> None:
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 1024**2
    source = reverse("rubric_edit", args=[people.team.slug, 1])
    refused = ed.post(source, {"text": "x" * 1024**2})
    assert refused.status_code == 413
    assert "holds more than 1 MB of text" in refused.content.decode()


# ── What a server that reads first is told ───────────────────────────────────────────────────────


def test_a_server_is_told_what_the_address_takes_from_who_is_signed_in(ed: Client, import_page: str) -> None:
    cookie = {"HTTP_COOKIE": f"sessionid={ed.cookies['sessionid'].value}"}
    assert asked(import_page, **cookie) == settings.IMPORT_MAX_BYTES + AROUND_A_FILE_BYTES
    assert asked(SIGN_IN, **cookie) == settings.REQUEST_MAX_BYTES
    for made_up in ({}, {"HTTP_COOKIE": "sessionid=" + "a" * 32}):
        assert asked(import_page, **made_up) == ANONYMOUS_MAX_BYTES
    assert asked("/no/such/page", **cookie) == ANONYMOUS_MAX_BYTES


def test_a_server_is_told_what_an_operation_takes_from_a_live_token(people: Cast) -> None:
    membership = people.team.memberships.get(user=people.ed)
    _, secret = teams.create_token(membership, name="t", may_write=True, days=1, now=timezone.now())
    bearer = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    upload = settings.UPLOAD_MAX_BYTES + AROUND_A_FILE_BYTES
    assert asked("/api/v1/datasets/imports", **bearer) == settings.IMPORT_MAX_BYTES + AROUND_A_FILE_BYTES
    assert asked("/api/v1/datasets/import", **bearer) == upload
    assert asked("/api/v1/items/7", "PATCH", **bearer) == upload
    assert asked("/api/v1/items/7", "DELETE", **bearer) == settings.REQUEST_MAX_BYTES
    assert asked("/api/v1/runs", **bearer) == settings.REQUEST_MAX_BYTES
    ApiToken.objects.update(expires_at=timezone.now() - timedelta(days=1))
    assert asked("/api/v1/datasets/imports", **bearer) == ANONYMOUS_MAX_BYTES


def test_every_page_whose_form_holds_a_file_says_how_large_it_may_be() -> None:
    templates = (ASSETS / "templates").rglob("*.html")
    with_a_file = [one for one in templates if "multipart/form-data" in one.read_text()]
    marked = {url.name: getattr(url.callback, "body_settings", None) for url in team_urls}
    # One template is that of two pages: a new dataset, and more items of one there is.
    pages = ["dataset_import", "dataset_add", "labels_import", "rubric_import"]
    assert len(with_a_file) == 3
    items, others = [{"POST": "IMPORT_MAX_BYTES"}] * 2, [{"POST": "UPLOAD_MAX_BYTES"}] * 2
    assert [marked[page] for page in pages] == items + others
