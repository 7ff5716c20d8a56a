"""Migrations and models say the same."""

import pytest
from django.core.management import call_command


@pytest.mark.django_db
def test_no_model_waits_for_a_migration() -> None:
    call_command("makemigrations", "--check", "--dry-run", verbosity=0)
