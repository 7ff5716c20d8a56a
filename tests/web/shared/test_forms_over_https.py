"""What a form is told that a proxy took over https and handed on as http."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def refusal(**headers: str) -> str:
    client = Client(enforce_csrf_checks=True, headers=headers)
    answer = client.post("/accounts/login/", {"login": "ann", "password": "p"})
    assert answer.status_code == 403
    return answer.content.decode()


def test_the_setting_is_named_where_the_proxy_is_not_believed() -> None:
    page = refusal(Origin="https://testserver")
    assert "TRUST_X_FORWARDED_PROTO=1" in page
    assert "open too long" not in page


def test_another_site_is_told_nothing_of_settings() -> None:
    for origin in ("https://elsewhere.example", "http://testserver"):
        page = refusal(Origin=origin)
        assert "open too long or came from another site" in page
        assert "TRUST_X_FORWARDED_PROTO" not in page
