"""Broken files of every kind: read or refused, nothing else. See `tests.engine.formats.fuzz_readers`."""

import json

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.datasets.files import read_dataset
from tests.engine.formats.fuzz_readers import fuzz, targets


def test_readers_only_ever_refuse():
    outcome = fuzz(seconds=3, seed=20)
    assert outcome.failures == []
    tried = outcome.read + outcome.refused
    assert set(tried) == {target.name for target in targets()}


def test_a_refusal_can_always_be_shown():
    half = "\ud800"
    data = json.dumps(
        [{"submission": half, half: 1, "id": half, "rubric": [{"requirement": "x", "weight": half}]}]
    )
    with pytest.raises(InvalidFile) as refused:
        read_dataset(data.encode(), filename="x.json")
    assert "\\ud800" in str(refused.value)
    str(refused.value).encode()
