"""Criteria answered by a check: their parameters read, described and run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from rubricweb.engine.answer import Answer
from rubricweb.engine.checks.base import CannotCheck, Check, CheckResult
from rubricweb.engine.checks.registry import CHECKS, PLUGIN_FAULTS
from rubricweb.engine.errors import Fault, FaultList, join_place, nearest, shortened, shown
from rubricweb.engine.report import GradingError
from rubricweb.engine.rubric.field_types import MAX_DEPTH
from rubricweb.engine.submission import Submission

if TYPE_CHECKING:
    from rubricweb.engine.rubric.criterion import Criterion

MAX_MESSAGE = 500


def check_params(name: object, params: object, faults: FaultList, place: str = "") -> dict[str, Any] | None:
    """Read a criterion's ``check`` and ``params``; what is wrong goes to ``faults`` and gives None.

    The result is plain JSON data with every default written out, so that a later default does not change a
    stored rubric; parameters that are not set are left out. Faults are placed at ``check`` and ``params.…``
    under ``place``: ``criteria[2].params.keywords[0]``.
    """
    check = _named(name, faults, join_place(place, "check"))
    if check is None:
        return None
    if params is not None and not isinstance(params, Mapping):
        faults.add(join_place(place, "params"), shown(params), "an object of parameters by name")
        return None
    read = _read(check, params or {})
    if not isinstance(read, BaseModel):
        for fault in read:
            faults.add(join_place(place, fault.place), fault.found, fault.allowed)
        return None
    written = read.model_dump(mode="json", by_alias=True)
    return {key: value for key, value in written.items() if value is not None}


def describe_check(name: str, params: Mapping[str, Any] | None = None) -> str:
    """What is asked, in one sentence for a reviewer: ``Contains at least one of: summary, key points``.

    Without readable parameters the check's general description. Raises ValueError for an unknown name.
    """
    check = CHECKS.get(name)
    if check is None:
        raise ValueError(f"unknown check {name!r}; allowed: {nearest(str(name), CHECKS)}")
    if check.describe is None:
        return check.description
    read = _read(check, params or {})
    return check.describe(read) if isinstance(read, BaseModel) else check.description


def run_check(criterion: Criterion, submission: Submission) -> Answer | GradingError:
    """Measure a submission by the check of a criterion: an Answer with value and reason, or the error.

    The value is clipped to 0 to 1, unless the criterion's weight is 0. Nothing a check raises gets out
    (an interruption does): its error says ``check_crashed`` and ``ValueError: …``, or the kind with which
    the check itself declined. Other kinds: ``unknown_check``, ``bad_params``, ``bad_value``.
    """
    faults = FaultList()
    check = _named(criterion.check, faults, "check")
    if check is None:
        return _error(criterion.name, "unknown_check", "; ".join(map(str, faults)))
    params = _read(check, criterion.params)
    if not isinstance(params, BaseModel):
        return _error(criterion.name, "bad_params", str(params[0]))
    return isolated(lambda: check.run(submission, params), name=criterion.name, weight=criterion.weight)


def isolated(measure: Callable[[], CheckResult], *, name: str | None, weight: float) -> Answer | GradingError:
    """What one measurement came to; whatever it raises, but for an interruption, becomes its error."""
    try:
        result = measure()
        if not isinstance(result, CheckResult):
            return _error(name, "bad_value", f"returned {shown(result)}; allowed: a CheckResult")
        number, reason = as_number(result.value), str(result.reason)
    except CannotCheck as error:
        return _error(name, error.kind, error.message)
    except Exception as error:
        return _error(name, "check_crashed", f"{type(error).__name__}: {error}")
    if number is None:
        return _error(name, "bad_value", f"returned {shown(result.value)}; allowed: a finite number")
    return Answer(verdict=None, reason=reason, value=number if weight == 0 else clipped(number))


def as_number(value: object) -> float | None:
    """What a check returned as a float (True is 1.0), or None when it is no finite number."""
    try:
        number = float(value)  # type: ignore[arg-type]  # numpy's and Decimal's numbers are welcome as well
    except (TypeError, ValueError, OverflowError):
        return None
    return number + 0.0 if math.isfinite(number) and not isinstance(value, str | bytes) else None


def clipped(value: float) -> float:
    """The nearest number from 0 to 1."""
    return min(1.0, max(0.0, value))


def _named(name: object, faults: FaultList, place: str) -> Check | None:
    if isinstance(name, str) and name in CHECKS:
        return CHECKS[name]
    if isinstance(name, str) and name in PLUGIN_FAULTS:
        faults.add(
            place,
            f"the check {name}, which could not be loaded ({PLUGIN_FAULTS[name].found})",
            "one that can",
        )
    else:
        faults.add(place, shown(name), nearest(name if isinstance(name, str) else "", CHECKS))
    return None


def _error(name: str | None, kind: str, message: str) -> GradingError:
    return GradingError(criterion=name, kind=kind, message=shortened(message, MAX_MESSAGE))


def _read(check: Check, params: Mapping[str, Any]) -> BaseModel | list[Fault]:
    """The check's parameters, or what is wrong with them, placed under ``params``."""
    try:
        return check.params.model_validate(_plain(params))
    except _TooDeep:
        return [Fault("params", "values nested too deeply", f"at most {MAX_DEPTH} levels")]
    except ValidationError as error:
        return [_fault(detail, check) for detail in _telling(error)]


def _telling(error: ValidationError) -> list[ErrorDetails]:
    """The faults without those that only follow: a list whose entries are refused is also "too short"."""
    details = error.errors(include_url=False)
    places = [detail["loc"] for detail in details]
    return [
        detail
        for detail in details
        if detail["type"] != "too_short"
        or not any(place[:-1] == detail["loc"] and place != detail["loc"] for place in places)
    ]


def _fault(detail: ErrorDetails, check: Check) -> Fault:
    place = "params"
    for step in detail["loc"]:
        place = join_place(place, f"[{step}]" if isinstance(step, int) else str(step))
    kind = detail["type"]
    if kind == "extra_forbidden":
        names = [field.alias or name for name, field in check.params.model_fields.items()]
        allowed = nearest(str(detail["loc"][-1]), names) if names else "no parameters"
        return Fault(place, "an unknown parameter", allowed)
    if kind == "missing":
        return Fault(place, "nothing", _description(check, str(detail["loc"][0])))
    if kind in ("too_short", "too_long"):
        context = detail["ctx"]
        bound = (
            f"at least {context['min_length']}" if kind == "too_short" else f"at most {context['max_length']}"
        )
        return Fault(place, f"{context['actual_length']} entries", bound)
    return Fault(place, shown(detail["input"]), _allowed(detail))


def _allowed(detail: ErrorDetails) -> str:
    found, kind = detail["input"], detail["type"]
    if kind == "tuple_type":
        return "a list"
    if kind == "string_pattern_mismatch" and isinstance(found, str) and not found.strip():
        return "text"
    message = detail["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return message[0].lower() + message[1:] if kind.startswith("string_") else message


def _description(check: Check, name: str) -> str:
    for field_name, field in check.params.model_fields.items():
        if name in (field_name, field.alias) and field.description:
            return field.description[0].lower() + field.description[1:]
    return "a value"


class _TooDeep(Exception):
    pass


def _plain(value: Any, depth: int = 0) -> Any:
    """Frozen parameters as the plain data they were read from."""
    if depth > MAX_DEPTH:
        raise _TooDeep
    if isinstance(value, Mapping):
        return {str(key): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, depth + 1) for inner in value]
    return value
