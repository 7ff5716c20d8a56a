"""Definitions of judges: read with every fault in its place, compared field by field, written for editing."""

from typing import Any

import pytest

from rubricweb.engine.autograders import AUTOGRADERS, FormTexts, JudgeWording
from rubricweb.engine.errors import Invalid
from rubricweb.engine.judging.changes import definition_changes
from rubricweb.engine.judging.definition import JudgeDefinition, JudgeExample, JudgeMember, Voting
from rubricweb.engine.judging.files import read_judge, write_judge
from rubricweb.engine.judging.reading import read_definition
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.engine.judging.shipped import shipped_left_out, shipped_texts, written_out

A = JudgeMember(name="a", endpoint="a", address="http://a/v1", model="m")
B = JudgeMember(name="b", endpoint="b", address="http://b/v1", model="m", weight=2.0)
EXAMPLE = JudgeExample(uid="u", requirement="Is short.", label="MET", key="k", output="Yes.")
ONE = JudgeDefinition(members=(A,))
PANEL = JudgeDefinition(
    members=(A, B), voting=Voting(rule={"binary": "majority"}, quorum=0.5), examples=(EXAMPLE,)
)


def told(before: JudgeDefinition, after: JudgeDefinition) -> dict[str, tuple[Any, Any]]:
    return {one.place: (one.before, one.after) for one in definition_changes(before, after)}


def test_equal_definitions_differ_in_nothing() -> None:
    assert definition_changes(PANEL, PANEL) == ()


def test_fields_members_and_examples_that_differ_are_told_by_place() -> None:
    warm = A.model_copy(update={"sampling": Sampling(temperature=0.7), "model": "n"})
    after = PANEL.model_copy(
        update={"members": (warm,), "voting": None, "examples": (), "autograder": "one_shot"}
    )
    found = told(PANEL, after)
    assert found.pop("members[b]") == (B.model_dump(mode="json"), None)
    assert found.pop("examples[k · Is short.]") == (EXAMPLE.model_dump(mode="json"), None)
    assert found.pop("voting")[1] is None
    assert found == {
        "autograder": ("per_criterion", "one_shot"),
        "members[a].model": ("m", "n"),
        "members[a].sampling.temperature": (0.0, 0.7),
    }


def test_another_order_is_told_and_two_members_of_one_name_are_kept_apart() -> None:
    turned = PANEL.model_copy(update={"members": (B, A)})
    assert told(PANEL, turned) == {"members": (["a", "b"], ["b", "a"])}
    twins = PANEL.model_copy(update={"members": (A, A)})
    assert set(told(PANEL, twins)) == {"members[b]", "members[a (2)]"}


def test_an_edited_text_is_compared_with_the_shipped_one_word_by_word() -> None:
    shipped = shipped_texts(ONE, ONE.wording).without_options
    own = f"{shipped} Decide UNMET when in doubt."
    after = ONE.model_copy(update={"wording": JudgeWording(instructions=FormTexts(without_options=own))})
    [change] = definition_changes(ONE, after)
    assert (change.before, change.after) == (shipped, own)
    assert [(one.kind, one.text) for one in change.words or ()] == [
        ("same", shipped),
        ("new", " Decide UNMET when in doubt."),
    ]


@pytest.mark.parametrize(
    ("autograder", "reply_format"),
    [(name, reply) for name, kind in AUTOGRADERS.items() for reply in kind.reply_formats],
)
def test_shipped_instructions_that_are_written_out_mean_the_same(autograder: str, reply_format: Any) -> None:
    usual = ONE.model_copy(update={"autograder": autograder, "reply_format": reply_format})
    own = usual.model_copy(update={"members": (A.model_copy(update={"wording": JudgeWording()}),)})
    for definition in (usual, own):
        out = written_out(definition)
        assert out.wording.instructions.with_options.count("{{frame}}") == 1
        assert shipped_left_out(out) == definition


def test_a_whole_message_is_not_given_instructions() -> None:
    whole = ONE.model_copy(
        update={"wording": JudgeWording(whole_messages=FormTexts(without_options="Judge."))}
    )
    out = written_out(whole).wording.instructions
    assert (out.without_options, bool(out.with_options)) == ("", True)


@pytest.mark.parametrize("definition", [ONE, PANEL])
@pytest.mark.parametrize("shipped", [False, True])
def test_a_file_is_read_back_as_the_definition_it_was_written_of(
    definition: JudgeDefinition, shipped: bool
) -> None:
    text = write_judge(definition, slug="x", name="X", version=3, note="Why.", shipped=shipped)
    read = read_judge(text)
    assert (read.slug, read.name, read.note, read.version) == ("x", "X", "Why.", 3)
    assert read_definition(read.definition) == definition


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"members": [{**A.model_dump(), "API-Key": "sk-1"}]}, "members[0].API-Key"),
        (
            {"members": [{**A.model_dump(), "sampling": {"x_api_key": "sk-1"}}]},
            "members[0].sampling.x_api_key",
        ),
        ({"voting": {"rule": {"binary": 3}}}, "voting.rule"),
        ({"voting": {"repeats": ["1"]}}, "voting.repeats[0]"),
        ({"examples": [{**EXAMPLE.model_dump(), "api_key": 1}]}, "examples[0].api_key"),
        ({"wording": {"instruction": {}}}, "wording.instruction"),
        ({"wording": {"edition": float("nan")}}, ""),
    ],
)
def test_what_cannot_be_is_told_with_its_place_and_without_its_secret(
    change: dict[str, Any], place: str
) -> None:
    with pytest.raises(Invalid) as refused:
        read_definition(ONE.model_dump(mode="json") | change)
    assert place in {fault.place for fault in refused.value.faults}
    assert "sk-1" not in str(refused.value)


def test_the_key_of_an_example_is_no_secret() -> None:
    assert read_definition(PANEL.model_dump(mode="json")) == PANEL
