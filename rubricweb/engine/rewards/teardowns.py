"""What a rubric of reward functions does when scoring is over: the methods marked with ``@teardown``."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar, overload

Method = TypeVar("Method", bound=Callable[..., Any])
_PRIORITY = "_teardown_priority"


@overload
def teardown(func: Method, priority: int = 0) -> Method: ...
@overload
def teardown(func: None = None, priority: int = 0) -> Callable[[Method], Method]: ...
def teardown(func: Method | None = None, priority: int = 0) -> Method | Callable[[Method], Method]:
    """Mark a method, sync or async, that ``Rubric.teardown`` calls; also ``@teardown(priority=10)``."""

    def mark(method: Method) -> Method:
        setattr(method, _PRIORITY, priority)
        return method

    return mark if func is None else mark(func)


async def run_teardowns(rubric: object) -> None:
    """Call every marked method of an object once; the first exception is raised when all have run."""
    marked = [
        (-getattr(method, _PRIORITY), name)
        for name, method in inspect.getmembers(type(rubric), callable)
        if hasattr(method, _PRIORITY)
    ]
    failures: list[Exception] = []
    for _, name in sorted(marked):
        try:
            done = getattr(rubric, name)()
            if inspect.isawaitable(done):
                await done
        except Exception as error:
            failures.append(error)
    if failures:
        raise failures[0]
