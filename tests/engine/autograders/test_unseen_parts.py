"""Pictures and files in prompts: a placeholder stands for each, never its base64."""

import base64

import pytest

from rubricweb.engine import Rubric, Submission
from rubricweb.engine.autograders import AUTOGRADERS
from rubricweb.engine.conversations.unseen_parts import unseen_parts

MEGABYTE = base64.b64encode(b"\x89PNG" * 250_000).decode()
SHORT = base64.b64encode(b"\xff\xd8" * 300).decode()


def prompt_of(query=None, output="A dog.", **more):
    rubric = Rubric.from_dict([{"requirement": "Names the animal"}])
    return [
        make().prompts(Submission(output, query=query, **more), rubric)[0].user
        for make in AUTOGRADERS.values()
    ]


def turn(*parts):
    return [{"role": "user", "content": [{"type": "text", "text": "What is this?"}, *parts]}]


@pytest.mark.parametrize(
    ("part", "placeholder"),
    [
        (
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{MEGABYTE}", "detail": "low"}},
            "[image: image/png, 1.0 MB, not shown to the judge]",
        ),
        (
            {"type": "input_image", "image_url": f"data:image/jpeg;base64,{SHORT}"},
            "[image: image/jpeg, 600 B, not shown to the judge]",
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": SHORT}},
            "[image: image/webp, 600 B, not shown to the judge]",
        ),
        (
            {"type": "input_audio", "input_audio": {"data": SHORT * 10, "format": "wav"}},
            "[audio: wav, 6 kB, not shown to the judge]",
        ),
        (
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{SHORT}"},
            },
            "[file: application/pdf, 600 B, not shown to the judge]",
        ),
    ],
)
def test_a_part_that_is_no_text_is_named_by_kind_and_size(part, placeholder):
    query = turn(part)
    assert unseen_parts(query) == 1
    for user in prompt_of(query):
        assert f"What is this?\n{placeholder}\n" in user
        assert SHORT not in user
        assert len(user) < 2_000


def test_data_within_texts_and_calls_of_tools_is_never_sent_either():
    markdown = f"Look: ![plot](data:image/png;base64,{MEGABYTE}) and say."
    call = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"arguments": f"data:image/gif;base64,{SHORT}"}],
    }
    for user in (
        *prompt_of(markdown),
        *prompt_of([call]),
        *prompt_of(output=markdown),
        *prompt_of(output=markdown, thinking=markdown),
        *prompt_of(reference=markdown),
    ):
        assert "not shown to the judge]" in user
        assert SHORT not in user
        assert MEGABYTE[:100] not in user
    assert unseen_parts(markdown) == unseen_parts([call]) == 1


@pytest.mark.parametrize(
    "part",
    [
        {"type": "refusal", "refusal": "no"},
        {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
    ],
)
def test_other_parts_are_shown_as_the_json_they_are(part):
    """An address is short, and its prompt stays what it was."""
    for user in prompt_of(turn(part)):
        assert str(part).replace("'", '"') in user


def test_a_picture_at_an_address_is_counted_as_not_shown_and_texts_are_not():
    assert unseen_parts(turn({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}})) == 1
    assert unseen_parts(turn()) == unseen_parts("What is this?") == unseen_parts(None) == 0
    assert unseen_parts("In CSS: url(data:image/gif;base64,R0lGOD)") == 0
