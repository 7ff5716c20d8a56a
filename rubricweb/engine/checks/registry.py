"""The checks by the name rubrics store, our own and those of installed packages."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from importlib.metadata import EntryPoint, entry_points

from pydantic import BaseModel

from rubricweb.engine.checks.base import Check
from rubricweb.engine.checks.json_schema import JSON_SCHEMA
from rubricweb.engine.checks.reference import MATCHES_REFERENCE, MATH_EQUIVALENCE, NUMERIC_TOLERANCE
from rubricweb.engine.checks.regex import MATCHES_REGEX
from rubricweb.engine.checks.structure import THINK_FORMAT, XML_FORMAT
from rubricweb.engine.checks.text import CONTAINS_KEYWORDS, LENGTH_BETWEEN, NO_FORBIDDEN_PHRASES
from rubricweb.engine.errors import Fault

ENTRY_POINTS = "rubricweb.checks"
"""The entry point group in which a package announces its checks."""

BUILT_IN: dict[str, Check] = {
    "contains_keywords": CONTAINS_KEYWORDS,
    "no_forbidden_phrases": NO_FORBIDDEN_PHRASES,
    "length_between": LENGTH_BETWEEN,
    "matches_regex": MATCHES_REGEX,
    "json_schema": JSON_SCHEMA,
    "matches_reference": MATCHES_REFERENCE,
    "numeric_tolerance": NUMERIC_TOLERANCE,
    "math_equivalence": MATH_EQUIVALENCE,
    "xml_format": XML_FORMAT,
    "think_format": THINK_FORMAT,
}

CHECKS: dict[str, Check] = dict(BUILT_IN)
"""Every check that can be used; ``load_plugins`` adds those of installed packages."""

PLUGIN_FAULTS: dict[str, Fault] = {}
"""The installed checks that cannot be used, by the name of their entry point."""


def load_plugins(
    found: Iterable[EntryPoint] | None = None,
    into: MutableMapping[str, Check] = CHECKS,
    faults: MutableMapping[str, Fault] = PLUGIN_FAULTS,
) -> None:
    """Add the checks announced in the entry point group ``rubricweb.checks``; broken ones go to ``faults``.

    One that cannot be imported, is no Check, or whose name is taken is left out and costs no other. Loading
    runs the package's own code: only packages that were installed on purpose are looked at.
    """
    for point in entry_points(group=ENTRY_POINTS) if found is None else found:
        fault = _add(point, into)
        if fault is not None:
            faults[point.name] = fault


def _add(point: EntryPoint, into: MutableMapping[str, Check]) -> Fault | None:
    place = f"check {point.name} ({point.value})"
    try:
        check = point.load()
    except (Exception, SystemExit) as error:
        return Fault(place, f"{type(error).__name__}: {error}", "a module that can be imported")
    if not isinstance(check, Check):
        return Fault(place, f"something of type {type(check).__name__}", "a Check")
    if check.name != point.name:
        return Fault(place, f"a check named {check.name!r}", "the entry point's own name")
    if check.name in into:
        return Fault(place, f"the name {check.name} again", "a name no other check has")
    if not isinstance(check.params, type) or not issubclass(check.params, BaseModel):
        return Fault(place, "params that are no pydantic model", "a subclass of CheckParams")
    if check.params.model_config.get("extra") != "forbid":
        return Fault(place, "params that accept unknown names", "a subclass of CheckParams")
    into[check.name] = check
    return None
