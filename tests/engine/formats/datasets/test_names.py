"""What people call items and cases: a key somebody gave, never one that was made from the content."""

import pytest

from rubricweb.engine.formats.content_ids import given_key, name_of
from rubricweb.engine.formats.datasets.files import read_dataset

MADE = "auto-0123456789abcdef"


@pytest.mark.parametrize(
    "key",
    [
        MADE,
        f"{MADE}-2",
        f"{MADE}@assistant@v3",
        f"{MADE}@assistant@v3#2",
        f"{MADE}#2",
        f"{MADE} (until version 2)",
        f"{MADE}@a@b (wording 1, until version 2)",
    ],
)
def test_a_made_key_is_no_name_in_any_form_it_takes(key: str) -> None:
    assert given_key(key) == ""
    assert name_of(key, "Why is the sky blue?", id=7) == "“Why is the sky blue?”"
    assert name_of(key, id=7) == "id:7"
    assert name_of(key) == "one without an id"


@pytest.mark.parametrize("key", ["auto-pilot", "auto-0123", f"my-{MADE}", f"{MADE}x", "q1 (until version 2)"])
def test_a_key_somebody_gave_is_the_name(key: str) -> None:
    assert name_of(key, "Why is the sky blue?", id=7) == key


def test_a_key_that_is_kept_from_somebody_is_not_told() -> None:
    assert name_of(None, "Why?", id=7) == "“Why?”"


def test_ids_of_items_and_cases_that_reading_makes_are_told_apart() -> None:
    rows = b'{"system": "bot@v1", "prompt": "Why?", "submission": "So."}\n{"submission": "So."}\n'
    for item in read_dataset(rows, filename="rows.jsonl").items:
        assert given_key(item.id) == given_key(item.case_id) == ""
