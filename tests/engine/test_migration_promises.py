"""What scripts and files for the published libraries bring along, and what is refused instead of promised."""

import asyncio
import functools
import io
import json
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

import rubricweb.engine.rewards as vf
from rubricweb.engine import (
    InvalidRubric,
    LengthPenalty,
    PerCriterionOutput,
    Rubric,
    RubricDataset,
    checks,
    compute_length_penalty,
    normalize_to_grade_input,
    parse_thinking_output,
    word_count,
)
from rubricweb.engine.autograders import PerCriterionGrader

SECTIONS = """
rubric:
  sections:
    - id: facts
      criteria:
        - {id: capital, weight: 10, requirement: Names Paris}
        - {id: 2, weight: 5, requirement: Names the country}
    - title: Errors
      criteria:
        - {id: wrong, name: misplaced, weight: -5, requirement: Places Paris outside France}
"""


# ── rubric 2 ─────────────────────────────────────────────────────────────────────────────────────


def test_ids_name_the_criteria_and_sections_that_have_no_name_of_their_own() -> None:
    rubric = Rubric.from_yaml(SECTIONS)
    assert rubric.names == ("capital", "2", "misplaced")
    assert [criterion.group for criterion in rubric.criteria] == ["facts", "facts", "Errors"]


def test_ids_that_start_anew_in_every_section_name_nothing() -> None:
    parts = [{"title": title, "criteria": [{"id": 1, "requirement": title}]} for title in ("A", "B")]
    assert Rubric.from_dict({"sections": parts}).names == ("C1", "C2")


@pytest.mark.parametrize("bad", [{"a": 1}, True, 1.5])
def test_an_id_that_is_neither_text_nor_whole_number_is_refused_with_its_place(bad: object) -> None:
    with pytest.raises(InvalidRubric) as refused:
        Rubric.from_dict([{"id": bad, "requirement": "Names Paris"}])
    assert [fault.place for fault in refused.value.faults] == ["criteria[0].id"]


@pytest.mark.parametrize("mode", ["r", "rb"])
def test_a_rubric_is_read_from_an_open_file(tmp_path: Path, mode: str) -> None:
    path = tmp_path / "rubric.yaml"
    path.write_text(SECTIONS)
    with path.open(mode) as file:
        assert Rubric.from_file(file) == Rubric.from_file(path) == Rubric.from_file(str(path))


def test_an_open_file_without_a_name_is_refused() -> None:
    with pytest.raises(InvalidRubric, match="an open file without a name"):
        Rubric.from_file(io.StringIO(SECTIONS))


def test_words_are_what_white_space_separates() -> None:
    assert [word_count(text) for text in ("", " ", "It is  so.\n")] == [0, 0, 3]


@pytest.mark.parametrize(
    ("text", "thinking", "output"),
    [
        ("<thinking>ABC</thinking><output>DEF</output>", "ABC", "DEF"),
        ("Just output text", "", "Just output text"),
        ("<thinking>Think</thinking>Rest", "Think", "Rest"),
        ("a <THINKING> b </Thinking> c <thinking>d</thinking>", "b", "a  c"),
        ("<thinking>never closed", "", "<thinking>never closed"),
        ("<output> only </output> after", "", "only"),
    ],
)
def test_thinking_and_output_are_taken_out_of_a_text(text: str, thinking: str, output: str) -> None:
    assert parse_thinking_output(text) == {"thinking": thinking, "output": output}
    assert normalize_to_grade_input(text) == {"thinking": thinking, "output": output}


def test_a_text_of_opening_tags_alone_is_searched_once() -> None:
    """Searching on from each of 200,000 tags to the end would be 2 · 10^11 steps, hours."""
    text = "<thinking>" * 200_000
    assert parse_thinking_output(text)["output"] == text


def test_what_is_graded_is_normalised_and_other_shapes_are_refused() -> None:
    assert normalize_to_grade_input({"thinking": "t"}) == {"thinking": "t", "output": ""}
    with pytest.raises(ValueError, match="allowed: output"):
        normalize_to_grade_input({"answer": "x"})


def test_a_length_penalty_is_computed_of_a_text_and_of_its_parts() -> None:
    config = LengthPenalty(free_budget=2, max_cap=6, penalty_at_cap=0.5, exponent=2.0)
    assert compute_length_penalty("one two", config) == 0.0
    assert compute_length_penalty("1 2 3 4", config) == 0.5 * ((4 - 2) / (6 - 2)) ** 2  # 0.125
    assert compute_length_penalty({"thinking": "1 2 3", "output": "4 5 6"}, config) == 0.5
    only = LengthPenalty(free_budget=2, max_cap=6, penalty_type="OUTPUT_ONLY")
    assert compute_length_penalty({"thinking": "1 2 3 4 5 6"}, only) == 0.0


async def _ask(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
    return PerCriterionOutput(criterion_status="MET", explanation="It says so.")


class _Asking:
    async def __call__(self, system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        return await _ask(system_prompt, user_prompt)

    def plain(self, system_prompt: str, user_prompt: str) -> str:
        return "MET"


@functools.wraps(_ask)
def _wrapped(*given: str) -> object:
    return _ask(*given)


def _promised(system_prompt: str, user_prompt: str) -> "asyncio.Future[PerCriterionOutput]":
    return asyncio.ensure_future(_ask(system_prompt, user_prompt))


@pytest.mark.parametrize(
    "generate",
    [_ask, _Asking(), _Asking().__call__, functools.partial(_ask), _wrapped, _promised],
    ids=["function", "object", "method", "partial", "wrapped", "promised"],
)
def test_whatever_can_be_awaited_is_a_generate_function(generate) -> None:
    rubric = Rubric.from_dict([{"requirement": "Names Paris"}])
    report = asyncio.run(rubric.grade("Paris", autograder=PerCriterionGrader(generate)))
    assert (report.score, report.errors) == (1.0, ())


def test_a_mock_of_an_async_function_is_a_generate_function() -> None:
    PerCriterionGrader(AsyncMock())


@pytest.mark.parametrize(
    "generate",
    [lambda system, user: "MET", _Asking().plain, functools.partial(_Asking().plain)],
    ids=["lambda", "method", "partial"],
)
def test_a_synchronous_generate_function_is_refused_when_the_grader_is_made(generate) -> None:
    with pytest.raises(TypeError, match="is a plain function; allowed: an async one"):
        PerCriterionGrader(generate)


def test_what_cannot_be_called_is_no_generate_function() -> None:
    with pytest.raises(TypeError, match="generate_fn is str; allowed: an async function"):
        PerCriterionGrader("gpt")


# ── autorubric 1.6 ───────────────────────────────────────────────────────────────────────────────

OWN_PROMPTS = {
    "rubric": [{"name": "capital", "weight": 1.0, "requirement": "Names Paris"}],
    "items": [
        {"submission": "Paris", "description": "right", "ground_truth": ["MET"], "prompt": "France?"},
        {"submission": "Bonn", "description": "wrong", "ground_truth": None, "prompt": "Germany?"},
    ],
}


def test_a_file_without_a_prompt_of_its_own_is_read_where_every_item_has_one() -> None:
    dataset = RubricDataset.from_json(json.dumps(OWN_PROMPTS))
    assert dataset.prompt is None
    assert [dataset.get_item_prompt(i) for i in range(2)] == ["France?", "Germany?"]
    assert RubricDataset.from_json(dataset.to_json()) == dataset
    assert RubricDataset(rubric=dataset.rubric, items=dataset.items) == dataset


def test_a_file_with_an_item_that_lacks_a_prompt_is_refused() -> None:
    lacking = {**OWN_PROMPTS, "items": [*OWN_PROMPTS["items"], {"submission": "x", "description": "d"}]}
    with pytest.raises(ValueError, match="prompt: found nothing"):
        RubricDataset.from_json(json.dumps(lacking))


# ── prompt-eval-rubric 0.1 ───────────────────────────────────────────────────────────────────────


def test_a_rubric_set_is_the_weighted_mean_of_its_rubrics_with_their_reasons() -> None:
    short = checks.Rubric("short", lambda output, context=None: len(output) < 9)
    cited = checks.Rubric("cited", lambda output, context=None: (0.5, f"half, for {context['query']}"))
    report = checks.RubricSet([(short, 0.3), (cited, 0.7)]).evaluate("Paris", context={"query": "France"})
    assert [(score.name, score.value, score.reason) for score in report.scores] == [
        ("short", 1.0, None),
        ("cited", 0.5, "half, for France"),
    ]
    assert report.overall == pytest.approx(0.65)  # 0.3 · 1 + 0.7 · 0.5
    assert report.by_name()["cited"].value == 0.5
    assert (report.coverage, report.errors) == (1.0, ())


def test_equal_weights_make_the_plain_mean_and_values_are_clipped() -> None:
    high, low = (checks.Rubric(name, lambda *_, v=value: v) for name, value in (("high", 7), ("low", -1)))
    assert checks.RubricSet([high, low]).evaluate("x").overall == 0.5


@pytest.mark.parametrize("returned", [float("nan"), "1", None, (1, 2, 3), ("x", "why")])
def test_what_is_no_number_counts_nothing_and_is_an_error(returned: object) -> None:
    good, bad = checks.Rubric("good", lambda *_: 1.0), checks.Rubric("bad", lambda *_: returned)
    report = checks.RubricSet([good, bad]).evaluate("x")
    assert (report.overall, report.coverage) == (0.5, 0.5)
    assert [error.criterion for error in report.errors] == ["bad"]
    assert report.scores[1].reason.startswith("error: ")


def test_an_interruption_is_no_score() -> None:
    def interrupted(output, context=None):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        checks.Rubric("stop", interrupted).evaluate("x")


@pytest.mark.parametrize(
    ("rubrics", "error"),
    [
        ([], ValueError),
        ([checks.Rubric("a", len), checks.Rubric("a", len)], ValueError),
        ([(checks.Rubric("a", len), -1.0)], ValueError),
        ([(checks.Rubric("a", len), True)], ValueError),
        ([len], TypeError),
    ],
)
def test_a_set_that_says_nothing_clear_is_refused(rubrics: list, error: type[Exception]) -> None:
    with pytest.raises(error):
        checks.RubricSet(rubrics)


def test_functions_of_the_evaluators_may_give_a_reason_too() -> None:
    result = checks.WeightedRubric([(lambda output: (0.5, "half of it"), 1.0)]).score("x")
    [part] = result.breakdown.values()
    assert (result.score, part.label) == (0.5, "half of it")


# ── verifiers ────────────────────────────────────────────────────────────────────────────────────


class _Told(vf.Rubric):
    def __init__(self, told: list[str]) -> None:
        super().__init__()
        self.told = told

    @vf.teardown
    async def last(self) -> None:
        self.told.append("last")

    @vf.teardown(priority=10)
    def first(self) -> None:
        self.told.append("first")


class _Raising(_Told):
    @vf.teardown(priority=20)
    async def broken(self) -> None:
        raise RuntimeError("cannot close")


def test_teardown_runs_the_marked_methods_by_priority_in_every_rubric_of_a_group() -> None:
    one, two = list[str](), list[str]()
    asyncio.run(vf.RubricGroup([_Told(one), _Told(two)]).teardown())
    assert one == two == ["first", "last"]
    asyncio.run(vf.Rubric().teardown())


def test_a_teardown_that_raises_keeps_no_other_from_running() -> None:
    one, two = list[str](), list[str]()
    with pytest.raises(RuntimeError, match="cannot close"):
        asyncio.run(vf.RubricGroup([_Raising(one), _Told(two)]).teardown())
    assert one == two == ["first", "last"]


def test_comparing_mathematics_takes_no_longer_than_it_is_given() -> None:
    """No answer comes within a millionth of a second, whatever is compared."""
    rubric = vf.MathRubric(timeout_seconds=1e-6)
    states = vf.states_from([{"question": "?", "answer": "1/2", "completion": r"\boxed{0.5}"}])
    asyncio.run(rubric.score_group(states))
    [error] = states[0]["errors"]
    assert (states[0]["reward"], states[0]["coverage"]) == (0.0, 0.0)
    assert "timed_out" in error.message
    asyncio.run(rubric.teardown())


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), 601])
def test_a_time_limit_that_is_none_is_refused(seconds: float) -> None:
    with pytest.raises(ValueError, match="timeout_seconds"):
        vf.MathRubric(timeout_seconds=seconds)
