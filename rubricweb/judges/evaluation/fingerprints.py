"""What items and graders consist of, as digests: equal ones are the same question to the same judge."""

from __future__ import annotations

import dis
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from types import CodeType, FunctionType, MethodType
from typing import Any

from pydantic import BaseModel

from rubricweb.engine.autograders.base import Autograder, Prompt
from rubricweb.engine.autograders.panels.cascade import CascadeGrader
from rubricweb.engine.autograders.panels.panel import PanelGrader
from rubricweb.engine.autograders.prompted import PromptedAutograder
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Submission
from rubricweb.judges.defaults import NoEndpoint, environment_config

_DEEP = 12


def digest_of(value: Any) -> str:
    """64 hexadecimal digits that follow from the value's content, the same in every process."""
    text = json.dumps(_described(value, _DEEP), sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def grader_digest(grader: Autograder, judge: str) -> str:
    """What a grader is: its class, its settings, its generate functions, and the ``judge`` one names.

    Of a function its code counts, its defaults and the plain values it closes over, without those it changes
    itself, such as a count of its calls; what it reads elsewhere (a module's variables, a client's settings)
    cannot be seen: ``judge`` is there to name it.
    Where the endpoint of the environment is asked, by the grader or by one within it, its address and model
    count.
    """
    return digest_of([judge, grader, _environment(grader)])


def item_key(grader: str, rubric: Rubric, submission: Submission) -> str:
    """The digest of one item under one rubric and grader."""
    return digest_of([grader, rubric.to_dict(ids=False), submission])


def judge_digest(grader: PromptedAutograder, judge: str) -> str:
    """Who answers a grader's questions: what of ``grader_digest`` is not about reading and scoring them."""
    return digest_of([judge, grader.generate_fn, grader.default_generate_fn_name, _environment(grader)])


def question_key(judge: str, prompt: Prompt) -> str:
    """The digest of one question to a judge (its digest), whichever item it belongs to."""
    asked = (prompt.system, prompt.user, prompt.schema.model_json_schema(), prompt.reply_format)
    return digest_of([judge, *asked])


def _environment(grader: Autograder) -> Any:
    if isinstance(grader, PanelGrader | CascadeGrader):
        within: list[Autograder] = (
            [member.grader for member in grader.members]
            if isinstance(grader, PanelGrader)
            else [stage.panel for stage in grader.stages]
        )
        asked_there = [_environment(one) for one in within]
        return asked_there if any(asked_there) else None
    if not isinstance(grader, PromptedAutograder):
        return None
    asked: Any = grader.generate_fn
    while isinstance(asked, functools.partial):
        asked = asked.func
    if asked is not None and getattr(asked, "__module__", "") != environment_config.__module__:
        return None
    try:
        config = environment_config()
    except NoEndpoint:
        return None
    return [config.base_url, config.model]


def _described(value: Any, deep: int) -> Any:  # noqa: C901  one branch for each kind of value
    """Plain data for any value; beyond ``deep`` levels, and of what is not known here, its type's name."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return repr(value)
    if deep <= 0:
        return _type(value)
    below = functools.partial(_described, deep=deep - 1)
    if isinstance(value, BaseModel):
        return [_type(value), below(value.model_dump())]
    if isinstance(value, Mapping):
        return {"map": sorted(([below(key), below(one)] for key, one in value.items()), key=repr)}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [below(one) for one in value]
    if isinstance(value, Set):
        return sorted((below(one) for one in value), key=repr)
    if isinstance(value, functools.partial):
        return ["partial", below(value.func), below(value.args), below(value.keywords)]
    if isinstance(value, MethodType):
        return [below(value.__func__), below(value.__self__)]
    if isinstance(value, FunctionType):
        kept = [below(_settled(value, name, cell)) for name, cell in _closed_over(value)]
        named = [below(value.__kwdefaults__)] if value.__kwdefaults__ else []
        known_by = [value.__module__, value.__qualname__]
        return [*known_by, below(value.__code__), below(value.__defaults__), kept, *named]
    if isinstance(value, CodeType):
        return [value.co_code.hex(), below(value.co_names), below(value.co_consts)]
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if is_dataclass(value) and not isinstance(value, type):
        return [_type(value), *([one.name, below(getattr(value, one.name))] for one in fields(value))]
    if isinstance(value, type):
        return [value.__module__, value.__qualname__]
    if isinstance(value, Autograder):
        return [_type(value), below(vars(value))]
    return _object(value, below)


def _object(value: Any, below: Any) -> Any:
    """An object with a ``__call__`` of its own is what that does; clients and the like are their type."""
    call = type(value).__dict__.get("__call__")
    return [_type(value), below(call)] if isinstance(call, FunctionType) else _type(value)


_CHANGES = frozenset(
    {
        "add",
        "append",
        "clear",
        "discard",
        "extend",
        "insert",
        "pop",
        "popitem",
        "remove",
        "setdefault",
        "update",
    }
)


def _closed_over(function: FunctionType) -> list[tuple[str, Any]]:
    return list(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))


def _settled(function: FunctionType, name: str, cell: Any) -> Any:
    """What the variable holds; None where the function changes it: a list of its calls is no setting."""
    return None if _is_changed(function.__code__, name) else _cell(cell)


def _is_changed(code: CodeType, name: str) -> bool:
    """Whether the code assigns the variable or an item of it, or calls a method of it that changes it.

    ``x = …``, ``x.append(…)``, ``x[key] = …`` and ``x[key] += …``. What is not surely one of these is no
    change: a setting that was overlooked would take over what another judge answered.
    """
    steps = [step for step in dis.get_instructions(code) if step.opname != "CACHE"]
    for step, second, third in zip(steps, [*steps[1:], None], [*steps[2:], None, None], strict=False):
        if step.argval != name:
            continue
        if step.opname in ("STORE_DEREF", "DELETE_DEREF"):
            return True
        if step.opname != "LOAD_DEREF" or second is None:
            continue
        if second.opname in ("LOAD_METHOD", "LOAD_ATTR") and second.argval in _CHANGES:
            return True
        sets_item = third is not None and third.opname in ("STORE_SUBSCR", "DELETE_SUBSCR", "COPY")
        if sets_item and second.opname in ("LOAD_CONST", "LOAD_FAST", "LOAD_DEREF", "LOAD_GLOBAL"):
            return True
    within = (one for one in code.co_consts if isinstance(one, CodeType))
    return any(_is_changed(one, name) for one in within)


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return None


def _type(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
