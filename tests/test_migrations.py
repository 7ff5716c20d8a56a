"""Migrations and models say the same, and data they move arrives."""

from importlib import import_module

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection

from rubricweb.engine.autograders.few_shot import content_digest
from rubricweb.models import Item
from tests import factories
from tests.factories import Cast

ITEMS = [
    {"id": "own", "submission": "Caf\u00e9  noir", "prompt": "What to drink?"},
    {"id": "chat", "submission": "Tea.", "prompt": [{"role": "user", "content": "And\nyou?"}]},
    {"id": "none", "submission": "Cafe\u0301 noir"},
]


@pytest.mark.django_db
def test_no_model_waits_for_a_migration() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)


def test_items_from_before_get_the_hash_new_items_have(people: Cast, django_assert_num_queries) -> None:
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    hashes = {item.key: item.content_hash for item in dataset.items.all()}
    assert hashes == {item.key: content_digest(item.to_engine()) for item in dataset.items.all()}
    Item.objects.update(content_hash="")
    move = import_module("rubricweb.migrations.0003_content_hash_of_items").hash_items
    move(apps, connection.schema_editor())
    assert {item.key: item.content_hash for item in dataset.items.all()} == hashes
    with django_assert_num_queries(1):
        move(apps, connection.schema_editor())
