"""No command tells people a key that was made from the content: files and --json hold it."""

from typing import Any

import pytest
from django.db import transaction

from tests.commands.test_access import COMMANDS, names
from tests.factories import Cast
from tests.worlds.furnished import MADE, Furnished, make_keys

DATA = {("export",)}
"""What prints a file, in which the key is the item's name for programs."""


@pytest.fixture
def people(furnished: Furnished) -> Cast:
    return furnished.people


def test_no_command_prints_a_made_key(furnished: Furnished, people: Cast, at_terminal: Any) -> None:
    make_keys(people.team)
    alice, said = at_terminal(people.alice), 0
    for path, (_, arguments) in COMMANDS.items():
        with transaction.atomic():  # what one command does is undone before the next
            ended = alice(*path, *arguments.format(**names(furnished.ours)).split())
            transaction.set_rollback(True)
        assert not MADE.search(ended.err), path
        if path not in DATA:
            assert not MADE.search(ended.out), path
        said += ended.code == 0
    assert said > 40
