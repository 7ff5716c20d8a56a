"""An option of the sampling stands in its model and in the docs; every other place has it from there."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS, SamplingOption

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rubricweb"
NAMES = {name for option in SAMPLING_OPTIONS for name in (option.name, option.sent_as)}
MODEL = "engine/judging/sampling.py"
QUIRKS = {
    "judges/client/request_body.py": {"max_tokens", "logprobs"},  # one name of two, and what goes with it
    "judges/client/reply_formats.py": {"max_tokens"},  # whether it is the other name
    "judges/client/attempts.py": {"logprobs"},  # in an answer
    "judges/client/completions.py": {"logprobs", "max_tokens", "max_output_tokens"},  # in an answer
}
"""Where an endpoint's own dialect is spoken."""
OTHER_SEEDS = ("engine", "selectors", "services", "models", "api", "management", "web", "templatetags")
"""Floors where draws of samples, halves and examples have seeds too; but not in what is about judges."""
ABOUT_JUDGES = re.compile(
    r"engine/judging/|(api|services)/endpoints/|web/judges/|management/(arguments/)?team|models/teams|judge_settings|settings\.py"
)


def spelled(source: str) -> Iterator[str]:
    """Names and texts of a module; to read `config.sampling.seed` spells nothing."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute):
            if not (isinstance(node.value, ast.Attribute) and node.value.attr == "sampling"):
                yield node.attr
        elif isinstance(node, ast.keyword | ast.arg):
            yield node.arg or ""
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value.removeprefix("--").replace("-", "_").removeprefix("OPENAI_").lower()


def test_what_spells_an_option_is_found() -> None:
    source = "f(seed=1)\na.temperature\na.sampling.top_p\n'--max-output-tokens'\n{'OPENAI_LOGPROBS': 1}"
    assert NAMES & set(spelled(source)) == {"seed", "temperature", "max_output_tokens", "logprobs"}


def test_no_module_but_the_model_spells_an_option() -> None:
    found: dict[str, set[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        module = file.relative_to(PACKAGE).as_posix()
        names = NAMES & set(spelled(file.read_text()))
        if module.split("/")[0] in OTHER_SEEDS and not ABOUT_JUDGES.search(module):
            names -= {"seed"}
        if names and not module.startswith("migrations/"):
            found[module] = names
    assert found.pop(MODEL) == NAMES
    assert found == QUIRKS


def test_no_template_reads_an_option_by_its_name() -> None:
    read = re.compile(rf"\b(config|endpoint|judge|sampling|form)\.({'|'.join(NAMES)})\b")
    assert [
        str(file.relative_to(ROOT))
        for file in (ROOT / "templates" / "judges").rglob("*.html")
        if read.search(file.read_text())
    ] == []


@pytest.mark.parametrize("option", SAMPLING_OPTIONS, ids=lambda option: option.name)
def test_the_docs_have_a_row_for_each_option_of_an_endpoint(option: SamplingOption) -> None:
    row = f"| {option.says.title.lower()} | `{option.name}` | {option.says.allowed} |"
    assert row in (ROOT / "docs/endpoints.md").read_text()
