"""A dataset evaluated by Python alone: failed items apart, resumed by content, killed without loss."""

import asyncio
import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rubricweb.engine import PerCriterionOutput, Rubric, RubricDataset, evaluate, report_usage
from rubricweb.engine.autograders import Autograder, CascadeGrader, PanelGrader, PerCriterionGrader
from rubricweb.engine.autograders.panels.by_vote import Member
from rubricweb.engine.report import EvaluationReport
from rubricweb.judges.defaults import default_per_criterion_generate_fn
from rubricweb.judges.evaluation import EvalTimingStats, ExperimentInUse
from rubricweb.judges.evaluation.experiment import opened
from rubricweb.judges.evaluation.fingerprints import grader_digest
from rubricweb.judges.offline.script import Request, Say, Script
from rubricweb.judges.offline.server import running_server
from tests.judges.completion import completion

ROOT = Path(__file__).resolve().parents[3]


class Judge:
    """Says MET; `fails` holds what a question must contain to fail. Counts what it is asked."""

    def __init__(self, *fails: str) -> None:
        self.fails = fails
        self.asked: list[str] = []
        self.most = self.now = 0

    def grader(self, **options) -> PerCriterionGrader:
        async def ask(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
            self.asked.append(user_prompt)
            self.now += 1
            self.most = max(self.most, self.now)
            await asyncio.sleep(0)
            self.now -= 1
            report_usage(prompt_tokens=10, completion_tokens=2, cost_usd=0.25)
            if any(word in user_prompt for word in self.fails):
                raise ConnectionError("gone")
            return PerCriterionOutput(criterion_status="MET", explanation="It says so.")

        return PerCriterionGrader(ask, **options)


def capitals(*answers: str, requirement: str = "Names the city") -> RubricDataset:
    rubric = Rubric.from_dict(
        [{"name": "city", "requirement": requirement}, {"name": "short", "requirement": "Is short"}]
    )
    dataset = RubricDataset(prompt="What is the capital?", rubric=rubric)
    for answer in answers:
        dataset.add_item(answer)
    return dataset


def run(dataset: RubricDataset, grader: Autograder, **options):
    return asyncio.run(evaluate(dataset, grader, **options))


def test_every_item_is_graded_and_counted() -> None:
    judge = Judge()
    result = run(capitals("Paris", "Rome", "Bonn"), judge.grader())
    assert (result.total_items, result.successful_items, result.failed_items) == (3, 3, 0)
    assert result.get_scores() == [1.0, 1.0, 1.0]
    # Two questions an item: 6 calls of 10 + 2 tokens for 0.25 dollars each.
    usage = result.total_token_usage
    assert (usage.calls, usage.prompt_tokens, usage.total_tokens) == (6, 60, 72)
    assert result.total_completion_cost == 1.5
    assert (result.experiment_dir, result.experiment_name) == (None, None)


def test_a_failed_item_stands_apart_and_in_no_mean() -> None:
    judge = Judge("\nRome\n")
    result = run(capitals("Paris", "Rome"), judge.grader())
    assert [one.item.submission for one in result.filter_failed()] == ["Rome"]
    assert result.errors == [
        (1, "city: connection: ConnectionError: gone; short: connection: ConnectionError: gone")
    ]
    assert (result.summary().score.n, result.summary().fully_judged, result.summary().items) == (1, 1, 2)
    assert len(result.get_reports()) == 1
    assert result.total_completion_cost == 1.0  # failed calls are paid for as well


def test_an_item_whose_grading_raises_costs_no_other_item() -> None:
    class Broken(Autograder):
        async def judge(self, to_grade, rubric, query=None):
            if to_grade == "Rome":
                raise KeyError("nothing for Rome")
            return 0.5

        async def aggregate(self, judge_results):
            return EvaluationReport(score=judge_results)

    result = run(capitals("Paris", "Rome", "Bonn"), Broken())
    assert result.get_scores() == [0.5, 0.5]
    assert result.errors == [(1, "failed_item: KeyError: 'nothing for Rome'")]
    assert result.filter_failed()[0].report.score is None


def test_no_more_items_are_graded_at_a_time_than_allowed() -> None:
    judge = Judge()
    run(capitals(*"abcdefgh"), judge.grader(), max_concurrent_items=2)
    assert judge.most == 4  # two items of two questions
    with pytest.raises(ValueError, match="max_concurrent_items is 0"):
        run(capitals("a"), judge.grader(), max_concurrent_items=0)


def test_with_fail_fast_nothing_is_begun_after_the_first_failure() -> None:
    judge = Judge("\nb\n")
    result = run(capitals(*"abcd"), judge.grader(), fail_fast=True, max_concurrent_items=1)
    assert [one.item.submission for one in result.item_results] == ["a", "b"]
    assert (result.total_items, result.failed_items) == (4, 1)


def test_running_again_asks_only_for_what_failed_and_takes_over_the_rest(tmp_path: Path) -> None:
    again = functools.partial(
        run, capitals("Paris", "Rome"), experiment_name="cities", experiments_dir=tmp_path
    )
    judge = Judge()
    grader = judge.grader()
    judge.fails = ("Rome",)
    first = again(grader)
    assert (first.failed_items, len(judge.asked)) == (1, 4)
    judge.fails = ()
    second = again(grader)
    assert (second.failed_items, len(judge.asked)) == (0, 6)
    assert [one.resumed for one in second.item_results] == [True, False]
    assert second.total_completion_cost == 6 * 0.25  # the two calls that failed too
    assert again(grader).successful_items == 2
    assert len(judge.asked) == 6
    assert again(grader, resume=False).successful_items == 2
    assert len(judge.asked) == 10


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({"dataset": capitals("Paris", requirement="Names the capital")}, 1),  # one of two criteria changed
        ({"dataset": RubricDataset("Other?", capitals("Paris").rubric, [*capitals("Paris")])}, 2),
        ({"options": {"abstention": "zero"}}, 0),  # scored anew, of the answers there are
        ({"options": {"system_prompt": "Be strict."}}, 2),
        ({"judge": "another-model"}, 2),
    ],
    ids=["rubric", "prompt", "policy", "system prompt", "judge"],
)
def test_what_has_other_content_is_graded_anew(tmp_path: Path, change: dict, asked: int) -> None:
    where = {"experiment_name": "cities", "experiments_dir": tmp_path}
    run(capitals("Paris"), Judge().grader(), **where)
    judge = Judge()
    graded = run(
        change.get("dataset", capitals("Paris")),
        judge.grader(**change.get("options", {})),
        judge=change.get("judge", ""),
        **where,
    )
    assert not graded.item_results[0].resumed
    assert len(judge.asked) == asked


def test_another_generate_function_is_another_judge(tmp_path: Path) -> None:
    def grader(model: str) -> PerCriterionGrader:
        async def ask(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
            return PerCriterionOutput(criterion_status="MET", explanation=model)

        return PerCriterionGrader(ask)

    where = {"experiment_name": "cities", "experiments_dir": tmp_path}
    one, other, one_again = (
        run(capitals("Paris"), grader(model), **where).item_results[0] for model in ("one", "other", "one")
    )
    assert [one.resumed, other.resumed, one_again.resumed] == [False, False, True]
    assert other.report.report[0].reason == "other"


def test_experiments_share_a_cache_of_answers(tmp_path: Path) -> None:
    cache = tmp_path / "answers.jsonl"
    run(capitals("Paris"), Judge().grader(), experiment_name="a", experiments_dir=tmp_path, cache=cache)
    judge = Judge()
    result = run(
        capitals("Paris", "Rome"), judge.grader(), experiment_name="b", experiments_dir=tmp_path, cache=cache
    )
    assert (result.successful_items, len(judge.asked)) == (2, 2)


def test_an_answer_that_could_not_be_read_is_not_kept(tmp_path: Path) -> None:
    asked: list[str] = []

    async def at_first_unreadable(system_prompt: str, user_prompt: str) -> str:
        asked.append(user_prompt)
        return "no JSON at all" if len(asked) <= 2 else '{"criterion_status": "MET", "explanation": "So."}'

    where = {"experiment_name": "cities", "experiments_dir": tmp_path}
    grader = PerCriterionGrader(at_first_unreadable)
    assert run(capitals("Paris"), grader, **where).failed_items == 1
    assert run(capitals("Paris"), grader, **where).failed_items == 0
    assert len(asked) == 4


def test_a_line_that_a_kill_cut_off_is_passed_over_and_the_file_goes_on(tmp_path: Path) -> None:
    where = {"experiment_name": "cities", "experiments_dir": tmp_path}
    run(capitals("Paris", "Rome"), Judge().grader(), **where)
    items = tmp_path / "cities" / "items.jsonl"
    items.write_bytes(items.read_bytes()[:-20])  # within the second line
    (tmp_path / "cities" / "replies.jsonl").unlink()
    judge = Judge()
    assert run(capitals("Paris", "Rome"), judge.grader(), **where).successful_items == 2
    assert len(judge.asked) == 2
    lines = items.read_text().splitlines()
    assert len(lines) == 3
    assert json.loads(lines[2])["error"] is None
    assert run(capitals("Paris", "Rome"), judge.grader(), **where).total_completion_cost == 1.0


KILLED = """
import asyncio, sys
from rubricweb.engine import evaluate
from tests.judges.evaluation.test_evaluation import Judge, capitals
judge = Judge()
grader = judge.grader()
ask = grader.generate_fn
async def slow(system_prompt, user_prompt):
    if "\\nf\\n" in user_prompt and "Is short" in user_prompt:
        print("in the middle", flush=True)
        await asyncio.sleep(600)
    return await ask(system_prompt, user_prompt)
grader.generate_fn = slow
where = {"experiment_name": "e", "experiments_dir": sys.argv[1]}
asyncio.run(evaluate(capitals(*"abcdefgh"), grader, max_concurrent_items=1, **where))
"""


def test_killed_half_way_it_loses_only_the_call_in_flight(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "in the middle\n"
    with pytest.raises(ExperimentInUse), opened(tmp_path / "e", None):
        pass
    replies = tmp_path / "e" / "replies.jsonl"
    while len(replies.read_text().splitlines()) < 11:  # five items of two, and the other criterion of f
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    assert len((tmp_path / "e" / "items.jsonl").read_text().splitlines()) == 5
    assert len(replies.read_text().splitlines()) == 11


@pytest.mark.parametrize("name", ["", "..", "a/b", "/tmp/x"])
def test_an_experiment_has_the_name_of_a_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="experiment_name"):
        run(capitals("Paris"), Judge().grader(), experiment_name=name, experiments_dir=tmp_path)


def test_what_the_default_endpoint_answers_is_counted_at_its_listed_price(monkeypatch) -> None:
    said = '{"explanation": "It says so.", "criterion_status": "MET"}'
    with running_server(Script(Say(said))) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        for model, is_known in (("gpt-5-mini", True), ("unheard-of", False)):
            ask = functools.partial(default_per_criterion_generate_fn, model=model)
            result = run(capitals("Paris"), PerCriterionGrader(ask))
            assert result.total_token_usage.calls == 2
            assert (result.total_completion_cost is not None) == is_known


def test_what_an_endpoint_at_a_price_of_0_answers_costs_nothing_without_a_word_of_its_tokens(
    monkeypatch,
) -> None:
    said = '{"explanation": "It says so.", "criterion_status": "MET"}'
    ask = functools.partial(
        default_per_criterion_generate_fn,
        model="mine",
        input_usd_per_million=0.0,
        output_usd_per_million=0.0,
    )
    with running_server(Script(completion(said, usage=None))) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        result = run(capitals("Paris"), PerCriterionGrader(ask))
    assert (result.total_token_usage.calls, result.total_completion_cost) == (2, 0.0)


def test_timings_are_of_the_items_that_were_graded() -> None:
    stats = EvalTimingStats.from_durations([4.0, 1.0, 3.0, 2.0], 5.0)
    assert (stats.mean_item_duration_seconds, stats.p50_item_duration_seconds) == (2.5, 2.0)
    assert (stats.p95_item_duration_seconds, stats.items_per_second) == (4.0, 0.8)
    assert EvalTimingStats.from_durations([], 0.0).items_per_second is None


def test_a_dataset_without_items_comes_to_nothing() -> None:
    result = run(capitals(), Judge().grader())
    assert (result.total_items, result.item_results, result.total_completion_cost) == (0, [], None)
    assert result.summary().score.value is None


def test_a_panel_that_asks_another_model_of_the_environment_is_another_judge(
    tmp_path: Path, monkeypatch
) -> None:
    def say(request: Request) -> Say:
        verdict = "MET" if request.body["model"] == "one" else "UNMET"
        return Say(json.dumps({"explanation": "e", "criterion_status": verdict}))

    with running_server(Script(say)) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        for model, score in (("one", 1.0), ("two", 0.0)):
            monkeypatch.setenv("OPENAI_MODEL", model)
            panel = PanelGrader([Member(PerCriterionGrader(), "judge")])
            for name, grader in (("panel", panel), ("cascade", CascadeGrader([panel]))):
                result = run(capitals("Paris"), grader, experiment_name=name, experiments_dir=tmp_path)
                assert result.get_scores() == [score], (name, model)


def test_a_default_that_is_given_by_name_alone_counts() -> None:
    def ask_with(model: str):
        async def ask(system_prompt: str, user_prompt: str, *, model: str = model) -> PerCriterionOutput:
            return PerCriterionOutput(criterion_status="MET", explanation=model)

        return PerCriterionGrader(ask)

    small, same, large = (grader_digest(ask_with(model), "") for model in ("small", "small", "large"))
    assert small == same != large


@pytest.mark.parametrize("kept", ["experiment", "experiment and cache", "cache"])
def test_a_changed_criterion_asks_that_criterion_alone_however_answers_are_kept(
    tmp_path: Path, kept: str
) -> None:
    where = {} if kept == "cache" else {"experiment_name": "cities", "experiments_dir": tmp_path}
    where |= {"cache": tmp_path / "answers.jsonl"} if "cache" in kept else {}
    asked: list[str] = []
    count, calls = 0, {"MET": 0}

    async def counting(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
        nonlocal count
        count += 1
        calls["MET"] += 1
        asked.append(user_prompt)  # all three change, and are no setting of the judge
        return PerCriterionOutput(criterion_status="MET", explanation="So.")

    for requirement, questions in (("Names the city", 4), ("Names the river", 2), ("Names the river", 0)):
        asked.clear()
        result = run(
            capitals("Paris", "Rome", requirement=requirement), PerCriterionGrader(counting), **where
        )
        assert (result.successful_items, len(asked)) == (2, questions)
    assert (count, calls) == (6, {"MET": 6})
    assert (tmp_path / "experiments").exists() is False


def test_a_setting_that_the_function_only_reads_still_counts(tmp_path: Path) -> None:
    def ask_by(settings: dict[str, str], words: list[str]) -> PerCriterionGrader:
        async def ask(system_prompt: str, user_prompt: str) -> PerCriterionOutput:
            seen = {}
            seen[settings["model"]] = words[0]
            return PerCriterionOutput(criterion_status="MET", explanation=str(seen))

        return PerCriterionGrader(ask)

    where = {"experiment_name": "cities", "experiments_dir": tmp_path}
    first = run(capitals("Paris"), ask_by({"model": "a"}, ["x"]), **where)
    other = run(capitals("Paris"), ask_by({"model": "b"}, ["x"]), **where)
    third = run(capitals("Paris"), ask_by({"model": "b"}, ["y"]), **where)
    said = [one.item_results[0].report.report[0].reason for one in (first, other, third)]
    assert said == ["{'a': 'x'}", "{'b': 'x'}", "{'b': 'y'}"]


def test_calls_in_flight_are_at_most_the_questions_of_the_items_at_a_time() -> None:
    judge = Judge()
    panel = PanelGrader([Member(judge.grader(), "a"), Member(judge.grader(), "b")], repeats=2)
    run(capitals(*"abcd"), panel, max_concurrent_items=1)
    # One item: two criteria, two judges, each asked twice.
    assert judge.most == 2 * 2 * 2
    assert len(judge.asked) == 4 * 8
