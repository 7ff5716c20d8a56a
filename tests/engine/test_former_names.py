"""Names and arguments of the published libraries that are others here say which."""

import asyncio
import importlib
import subprocess
import sys

import pytest

from rubricweb.engine import LengthPenalty, Rubric, RubricDataset, evaluate
from rubricweb.engine.autograders import Autograder, PerCriterionGrader
from rubricweb.engine.published.former_names import FORMER_NAMES

MODULES = ["", ".autograders", ".types", ".datasets", ".checks", ".rewards", ".agreement"]


async def ask(system_prompt, user_prompt): ...


@pytest.mark.parametrize(
    ("name", "there"),
    [
        ("CriterionOption", "Option of rubricweb.engine"),
        ("EscalationConfig", "Stage and CascadeGrader of rubricweb.engine.autograders"),
        ("compute_metrics", "compare_labels of rubricweb.engine.agreement"),
        ("JudgeRubric", "the same name of rubricweb.engine.rewards"),
        ("ContainsKeywords", "the same name of rubricweb.engine.checks"),
    ],
)
def test_an_import_by_the_former_name_says_the_new_one(name, there):
    with pytest.raises(ImportError, match=f"rubricweb.engine has no {name}; here it is: {there}"):
        exec(f"from rubricweb.engine import {name}")


@pytest.mark.parametrize("module", MODULES)
def test_no_module_takes_a_name_that_it_has_for_a_former_one(module):
    imported = importlib.import_module(f"rubricweb.engine{module}")
    public = set(getattr(imported, "__all__", ()))
    assert public
    for name in FORMER_NAMES.keys() - public - vars(imported).keys():
        with pytest.raises(ImportError, match=f"{imported.__name__} has no {name}; here it is: "):
            getattr(imported, name)
    assert not hasattr(imported, "anything_else")


def test_what_a_hint_names_is_there():
    for there in set(FORMER_NAMES.values()):
        _, of, module = there.partition(" of rubricweb.")
        if not of or there.startswith("the same name"):
            continue
        module = "rubricweb." + module.split(",")[0].split()[0]
        name = there.partition(" of ")[0].replace(",", " ").split()[-1].partition("(")[0]
        if name.isidentifier() and name[0].isupper():
            assert hasattr(importlib.import_module(module), name), there


@pytest.mark.parametrize(
    ("argument", "hint"),
    [
        ("length_penalty", "it belongs to the rubric"),
        ("llm_config", "pass a generate_fn"),
        ("cannot_assess_config", "pass abstention"),
        ("shuffle_options", "pass option_seed"),
    ],
)
def test_a_former_argument_of_a_grader_says_what_it_is_here(argument, hint):
    with pytest.raises(TypeError, match=rf"unexpected keyword argument '{argument}'; {hint}"):
        PerCriterionGrader(ask, **{argument: None})
    with pytest.raises(
        TypeError, match=r"PerCriterionGrader\(\) got an unexpected keyword argument 'other'$"
    ):
        PerCriterionGrader(ask, other=1)


def test_former_arguments_elsewhere_say_it_too():
    class Own(Autograder):
        async def judge(self, to_grade, rubric, query=None): ...

        async def aggregate(self, judge_results): ...

    with pytest.raises(TypeError, match="length_penalty'; it belongs to the rubric"):
        Own(length_penalty=None)
    rubric = Rubric.from_dict([{"requirement": "x"}])
    with pytest.raises(TypeError, match="'grader'; call it autograder"):
        asyncio.run(rubric.grade("x", grader=PerCriterionGrader(ask)))
    with pytest.raises(TypeError, match="'progress_style'; pass show_progress"):
        asyncio.run(evaluate(RubricDataset("p", rubric), PerCriterionGrader(ask), progress_style="rich"))
    with pytest.raises(ValueError, match="a count_fn; allowed: none: words are counted"):
        LengthPenalty(count_fn=len)
    result = asyncio.run(evaluate(RubricDataset("p", rubric), PerCriterionGrader(ask)))
    with pytest.raises(AttributeError, match=r"no compute_metrics; rubricweb\.engine\.agreement"):
        result.compute_metrics()


def test_everything_public_comes_with_a_star_and_nothing_of_the_network_before():
    """In a process of its own: here the judges are imported already."""
    script = (
        "import sys, rubricweb.engine\n"
        "assert not [name for name in sys.modules if name.startswith('rubricweb.judges')]\n"
        "from rubricweb.engine import *\n"
        "print(evaluate.__module__, default_per_criterion_generate_fn.__name__, report_usage.__name__)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (ended.stdout.split(), ended.stderr) == (
        ["rubricweb.judges.evaluation.runner", "default_per_criterion_generate_fn", "report_usage"],
        "",
    )
