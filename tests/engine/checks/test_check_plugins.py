"""Checks of other packages: announced by entry points, isolated from ours and from each other."""

import re
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from rubricweb.engine.checks import BUILT_IN, ENTRY_POINTS, load_plugins

PAGE = Path(__file__).resolve().parents[3] / "docs" / "checks.md"


def install(folder: Path, name: str, source: str, entry_points: dict[str, str]) -> None:
    """What an installer leaves behind: the module, and a .dist-info with its entry points."""
    (folder / f"{name}.py").write_text(source)
    information = folder / f"{name}-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    lines = [f"{point} = {value}" for point, value in entry_points.items()]
    (information / "entry_points.txt").write_text(f"[{ENTRY_POINTS}]\n" + "\n".join(lines) + "\n")


def run(folder: Path, program: str) -> str:
    """Run a program that finds the packages in ``folder``, in a process of its own."""
    paths = f"import sys; sys.path[:0] = [{str(folder)!r}, {str(PAGE.parent.parent)!r}]\n"
    result = subprocess.run([sys.executable, "-c", paths + program], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.strip()


def test_the_package_on_the_page_grades(tmp_path):
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    source = next(code for language, code in blocks if language == "python" and "Check(" in code)
    settings = next(code for language, code in blocks if language == "toml" and ENTRY_POINTS in code)
    (point, value) = re.search(
        r'^(\w+) = "(.+)"$', settings.split("rubricweb.checks")[1], re.MULTILINE
    ).groups()
    install(tmp_path, value.split(":")[0], source, {point: value})
    graded = run(
        tmp_path,
        """
from rubricweb.engine import Rubric, Submission
from rubricweb.engine.checks import CHECKS, PLUGIN_FAULTS, run_check
rubric = Rubric.from_dict([{"check": "few_shouts", "params": {"most": 1}, "weight": 2}])
criterion = rubric.criteria[0]
print(list(CHECKS)[-1], PLUGIN_FAULTS, criterion.kind)
for text in ("Fine!", "Fine!!"):
    answer = run_check(criterion, Submission(text))
    print(answer.value, answer.reason)
""",
    )
    assert graded.splitlines() == [
        "few_shouts {} check",
        "1.0 1 exclamation mark(s)",
        "0.0 2 exclamation mark(s)",
    ]


WORKING = """
from rubricweb.engine.checks import Check, CheckResult, NoParams
def make(name):
    return Check(name, "t", "d", NoParams, lambda submission, params: CheckResult(1.0, "r"))
fine = make("fine")
shadow = make("length_between")
other = make("another_name")
number = 3
"""


def test_a_broken_package_is_reported_by_name_and_costs_no_other(tmp_path):
    install(tmp_path, "crashing", "raise RuntimeError('at import')", {"crashes": "crashing:check"})
    install(tmp_path, "leaving", "import sys; sys.exit(1)", {"leaves": "leaving:check"})
    points = {"fine": "working:fine", "length_between": "working:shadow", "renamed": "working:other"}
    install(tmp_path, "working", WORKING, points | {"number": "working:number", "absent": "working:absent"})
    program = """
from rubricweb.engine.checks import BUILT_IN, CHECKS, PLUGIN_FAULTS
print([name for name in CHECKS if name not in BUILT_IN])
print(CHECKS["length_between"] is BUILT_IN["length_between"])
for name in sorted(PLUGIN_FAULTS):
    print(PLUGIN_FAULTS[name])
"""
    assert run(tmp_path, program).splitlines() == [
        "['fine']",
        "True",
        "check absent (working:absent): found AttributeError: module 'working' has no attribute 'absent'; "
        "allowed: a module that can be imported",
        "check crashes (crashing:check): found RuntimeError: at import; "
        "allowed: a module that can be imported",
        "check leaves (leaving:check): found SystemExit: 1; allowed: a module that can be imported",
        "check length_between (working:shadow): found the name length_between again; "
        "allowed: a name no other check has",
        "check number (working:number): found something of type int; allowed: a Check",
        "check renamed (working:other): found a check named 'another_name'; "
        "allowed: the entry point's own name",
    ]


def test_a_rubric_that_needs_a_broken_package_says_so(tmp_path):
    install(tmp_path, "crashing", "raise RuntimeError('at import')", {"crashes": "crashing:check"})
    program = """
from rubricweb.engine.checks import check_params
from rubricweb.engine.errors import FaultList
faults = FaultList()
print(check_params("crashes", {}, faults, "criteria[0]"), *faults)
"""
    assert run(tmp_path, program) == (
        "None criteria[0].check: found the check crashes, "
        "which could not be loaded (RuntimeError: at import); allowed: one that can"
    )


@pytest.mark.parametrize(
    ("params", "found"),
    [
        ("dict", "params that are no pydantic model"),
        ("pydantic.BaseModel", "params that accept unknown names"),
    ],
)
def test_parameters_that_could_not_be_refused_are_refused_themselves(tmp_path, monkeypatch, params, found):
    source = f"""
import pydantic
from rubricweb.engine.checks import Check, CheckResult
loose = Check("loose", "t", "d", {params}, lambda submission, params: CheckResult(1.0, "r"))
"""
    name = f"loose_{len(params)}"
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    checks, faults = dict(BUILT_IN), {}
    load_plugins([EntryPoint("loose", f"{name}:loose", ENTRY_POINTS)], checks, faults)
    assert checks == BUILT_IN
    assert faults["loose"].found == found
