"""What items and graders consist of, as digests: equal ones are the same question to the same judge."""

from __future__ import annotations

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

    Of a function its code counts, its defaults and the plain values it closes over; what it reads elsewhere
    (a module's variables, a client's settings) cannot be seen: ``judge`` is there to name it.
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
        cells = [_cell(cell) for cell in value.__closure__ or ()]
        kept = [below(cell) for cell in cells]
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


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that is not bound yet
        return None


def _type(value: Any) -> str:
    return f"{type(value).__module__}.{type(value).__qualname__}"
