"""What judges are sent, byte for byte: an edit of a prompt would make every stored answer a stranger.

`golden.json` holds the digests of system prompt, user prompt and schema, and the content key, of every
question of `questions.py`. A new form is added there; a digest that is there is never changed.
"""

import json
from pathlib import Path

import pytest

from tests.judges.golden.questions import FORMS, digests

STORED = json.loads((Path(__file__).parent / "golden.json").read_text("utf-8"))


@pytest.mark.parametrize("asked", STORED)
def test_a_question_is_sent_in_the_same_bytes_as_ever(asked: str) -> None:
    assert digests()[asked] == STORED[asked]


def test_every_form_stands_there_in_every_variation() -> None:
    variations = {
        form: {name.split(", ")[1] for name in STORED if name.split(", ")[0] == form} for form in FORMS
    }
    voting = {"plain", "examples", "seed", "panel", "cascade"}
    overall = {"plain", "seed"}
    assert variations == {form: overall if form.startswith("rubric_as") else voting for form in FORMS}
    assert digests().keys() == STORED.keys()
