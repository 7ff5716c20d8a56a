"""What is long says why: functions, classes and modules beyond a size have a comment `Long because …` above.

Lines of a docstring do not count for a function. How branched a function may be, ruff says (C901).
"""

import ast
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[2] / "rubricweb"
MOST_FUNCTION_LINES, MOST_METHODS, MOST_MODULE_LINES = 60, 20, 400
REASON = "# Long because "


def too_long(source: str) -> Iterator[str]:
    """What is long in a module and does not say why."""
    lines, module = source.splitlines(), ast.parse(source)
    if len(lines) > MOST_MODULE_LINES and not any(line.startswith(REASON) for line in lines[:30]):
        yield f"{len(lines)} lines"
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            size = _lines(node)
            if size > MOST_FUNCTION_LINES and not _says_why(node, lines):
                yield f"{node.name}: {size} lines"
        elif isinstance(node, ast.ClassDef):
            methods = sum(isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) for one in node.body)
            if methods > MOST_METHODS and not _says_why(node, lines):
                yield f"{node.name}: {methods} methods"


def _lines(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many lines a function has below its docstring."""
    first = node.body[0]
    has_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    start = first.end_lineno if has_docstring else node.lineno
    assert start is not None
    assert node.end_lineno is not None
    return node.end_lineno - start + (not has_docstring)


def _says_why(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, lines: list[str]) -> bool:
    """Whether the comment right above, before its decorators, gives the reason."""
    above = min([node.lineno, *(one.lineno for one in node.decorator_list)]) - 2
    while above >= 0 and lines[above].lstrip().startswith("#"):
        if lines[above].lstrip().startswith(REASON):
            return True
        above -= 1
    return False


def test_what_is_long_says_why() -> None:
    modules = [file for file in PACKAGE.rglob("*.py") if file.parent.name != "migrations"]
    assert len(modules) > 300
    found = [
        f"{file.relative_to(PACKAGE)}: {what}" for file in modules for what in too_long(file.read_text())
    ]
    assert found == []


def test_a_docstring_does_not_make_a_function_long_and_a_reason_lets_it_be() -> None:
    told = 'def f():\n    """' + "Words.\n" * 80 + '"""\n    return 1\n'
    body = "def f():\n" + "    x = 1\n" * 61
    assert list(too_long(told)) == []
    assert list(too_long(body)) == ["f: 62 lines"]
    assert list(too_long(f"{REASON}it is one table.\n{body}")) == []
