"""What is imported is declared, in the part of the installation that imports it; nothing else is declared."""

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import rubricweb
from rubricweb.management.console import CLIENT_SIDE
from rubricweb.management.terminal.installed import APP_MODULES

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "rubricweb"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Needed, and imported by nobody here: Django, Celery or a command line name them.
BY_NAME = {
    "argon2-cffi": ("hashers.Argon2PasswordHasher", "settings.py"),
    "gunicorn": ('"-m", "gunicorn"', "management/serving/serve.py"),
    "psycopg": ('"postgresql://"', "settings.py"),
}
# What the base installation runs, besides whole floors.
LIBRARY_FLOORS = ("engine", "judges")
LIBRARY_COMMANDS = (
    *(name.replace(".", "/") for name in CLIENT_SIDE),
    "arguments/",
    "console",
    *(f"terminal/{name}" for name in ("installed", "named_files", "printed", "remarks")),
)


def _name(requirement: str) -> str:
    """`openai` for `openai[aiohttp]>=3`, spelt as distributions are compared."""
    [name] = re.findall(r"^[A-Za-z0-9._-]+", requirement)
    return re.sub(r"[-_.]+", "-", name).lower()


BASE = {_name(one) for one in PROJECT["dependencies"]}
OPTIONAL = {_name(one) for extra in ("math", "parquet") for one in EXTRAS[extra]}
# The app brings pyarrow, and goes on without it: a file that needs it says so.
APP = {_name(one) for one in EXTRAS["app"]} - OPTIONAL


def _imported(file: Path) -> Iterator[str]:
    """Top-level modules a file imports, also by `import_module("name")`, other than Python's and our own."""
    for node in ast.walk(ast.parse(file.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "find_spec")):
            names = [one.value for one in node.args if isinstance(one, ast.Constant)]
        for name in names:
            module = name.partition(".")[0]
            if module and module not in sys.stdlib_module_names and module != "rubricweb":
                yield module


MODULES = functools.cache(packages_distributions)


def _distribution(module: str) -> str:
    return _name(MODULES()[module][0])


def _users(files: list[Path]) -> dict[str, set[str]]:
    """Distribution → the files that import it."""
    users: dict[str, set[str]] = {}
    for file in files:
        for module in _imported(file):
            users.setdefault(_distribution(module), set()).add(str(file.relative_to(PACKAGE)))
    return users


def _everything() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _library() -> list[Path]:
    def belongs(file: Path) -> bool:
        floor, *rest = file.relative_to(PACKAGE).parts
        if floor == "management":
            return "/".join(rest).startswith(LIBRARY_COMMANDS)
        return floor in (*LIBRARY_FLOORS, "__init__.py", "errors.py")

    return [file for file in _everything() if belongs(file)]


def test_everything_that_is_imported_is_declared() -> None:
    users = _users(_everything())
    assert {name: files for name, files in users.items() if name not in BASE | APP | OPTIONAL} == {}


def test_the_library_and_its_commands_import_nothing_of_the_app_but_when_it_is_asked_for() -> None:
    """`console` sets Django up for other commands, `lint` for a stored rubric: both look first."""
    users = _users(_library())
    assert {name: files for name, files in users.items() if name in APP} == {
        "django": {"management/console.py", "management/rubrics/lint.py"},
        "django-environ": {"management/console.py"},
    }


def test_everything_that_is_declared_is_used() -> None:
    for word, file in BY_NAME.values():
        assert word in (PACKAGE / file).read_text()
    assert sorted((BASE | APP | OPTIONAL) - set(_users(_everything())) - set(BY_NAME)) == []


def test_a_command_looks_for_all_that_the_app_needs() -> None:
    assert {_distribution(module) for module in APP_MODULES} == APP


def test_the_version_is_written_in_one_place() -> None:
    assert "version" not in PROJECT
    assert re.fullmatch(r"\d+\.\d+\.\d+", rubricweb.__version__)
