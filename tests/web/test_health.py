"""What load balancers and monitoring are told, signed in or not."""

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.db import OperationalError, connection
from django.test import Client

from rubricweb.selectors.shared.clock import database_now
from rubricweb.services.grading.workers import registry


def ready(client: Client) -> tuple[int, dict[str, Any]]:
    answer = client.get("/ready")
    return answer.status_code, answer.json()


def test_health_asks_nobody(client: Client) -> None:
    """Without a database: pytest-django lets this test ask none."""
    assert client.get("/health").content == b"ok\n"


@pytest.mark.django_db
def test_without_a_worker_that_lives_it_is_not_ready(client: Client) -> None:
    assert ready(client) == (503, {"database": "ok", "broker": "ok", "workers": 0})
    registry.beat("gone:1", 2, database_now() - timedelta(seconds=20))
    assert ready(client) == (503, {"database": "ok", "broker": "ok", "workers": 0})
    registry.beat("here:2", 2, database_now())
    assert ready(client) == (200, {"database": "ok", "broker": "ok", "workers": 1})


@pytest.mark.django_db
def test_a_broker_that_is_away_is_named(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.beat("here:2", 2, database_now())
    away = current_app.connection_for_write("amqp://127.0.0.1:9//")
    monkeypatch.setattr(current_app, "connection_for_write", lambda **_: away)
    assert ready(client) == (503, {"database": "ok", "broker": "away", "workers": 1})


@pytest.mark.django_db
def test_a_database_that_is_away_is_named(client: Client) -> None:
    def away(*_: object) -> None:
        raise OperationalError("the database is away")

    with connection.execute_wrapper(away):
        status, answer = ready(client)
    assert (status, answer["database"], answer["workers"]) == (503, "away", None)
