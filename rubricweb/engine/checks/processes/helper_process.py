"""Questions that may take for ever, as a program that can be ended: JSON lines in, JSON lines out.

Started by ``limited.py`` as a plain script, so that it imports nothing of rubricweb but itself.
"""

from __future__ import annotations

import functools
import importlib
import json
import re
import signal
import sys
from collections.abc import Callable
from itertools import islice
from typing import Any

MAX_MEMORY_BYTES = 2 * 1024**3
MAX_FAULTS_SHOWN = 3
_MAX_BARE = 500
"""Longest text read as one formula when it marks none."""


def main(task: str) -> None:
    """Answer one question per line until the input ends; ``task`` is a key of TASKS.

    A question is ``{"seconds": …, "question": …}``; the answer ``{"answer": …}`` or ``{"crash": "…"}``.
    Should nobody be left to end an answer that takes too long, the alarm does.
    """
    prepare, answer = TASKS[task]
    prepare()
    _limit_memory()
    _say("ready")
    for line in sys.stdin:
        asked = json.loads(line)
        signal.alarm(int(asked["seconds"]) + 5)
        try:
            _say({"answer": answer(asked["question"])})
        except Exception as error:
            _say({"crash": f"{type(error).__name__}: {error}"[:500]})
        finally:
            signal.alarm(0)


@functools.lru_cache(maxsize=64)
def validator_of(schema_json: str) -> Any:
    """The compiled JSON schema, draft by its ``$schema``; patterns in linear time, nothing is fetched.

    Raises ValueError for what is not a valid schema.
    """
    jsonschema_rs = importlib.import_module("jsonschema_rs")
    return jsonschema_rs.validator_for(
        json.loads(schema_json),
        offline=True,
        pattern_options=jsonschema_rs.RegexOptions(size_limit=1_000_000, dfa_size_limit=1_000_000),
    )


def schema_faults(schema_json: str, instance: Any) -> list[str]:
    """The first faults of a value against a schema, each with its place; none when it fits."""
    validator = validator_of(schema_json)
    if validator.is_valid(instance):
        return []
    faults: dict[str, None] = {}
    for error in islice(validator.iter_errors(instance), 10 * MAX_FAULTS_SHOWN):
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.instance_path)
        message = " ".join(error.message[:1000].split())
        message = message if len(message) <= 200 else message[:199] + "…"
        faults[f"{place.lstrip('.')}: {message}" if place else message] = None
    return list(faults)[:MAX_FAULTS_SHOWN]


def _answer_schema(question: dict[str, Any]) -> list[str]:
    return schema_faults(question["schema"], json.loads(question["text"]))


def _answer_math(question: dict[str, Any]) -> dict[str, Any]:
    """Whether the formula ``text`` arrives at equals ``reference``; None for what cannot be read."""
    math_verify = importlib.import_module("math_verify")
    # Its own time limit uses signals and is off: this process is the limit.
    parse = functools.partial(math_verify.parse, parsing_timeout=None)
    reference, found = (
        parse(text) or (parse(f"${text}$") if _is_bare_formula(text) else [])
        for text in (question["reference"], question["text"])
    )
    return {
        "reference": str(reference[0]) if reference else None,
        "found": str(found[0]) if found else None,
        "equal": bool(reference and found and math_verify.verify(reference, found, timeout_seconds=None)),
    }


def _is_bare_formula(text: str) -> bool:
    """Whether an unmarked text is a formula and not prose, which would be read as a product of letters."""
    if len(text) > _MAX_BARE or "$" in text or not re.search(r"[A-Za-z0-9]", text):
        return False
    return not re.search(r"[^\W\d_]{3,}", re.sub(r"\\[A-Za-z]+", " ", text))


def _prepare_schema() -> None:
    importlib.import_module("jsonschema_rs")


def _prepare_math() -> None:
    # The first formula imports half of sympy: before the clock of the first question runs.
    _answer_math({"reference": "$x+1$", "text": "$1+x$"})


TASKS: dict[str, tuple[Callable[[], None], Callable[[dict[str, Any]], Any]]] = {
    "json_schema": (_prepare_schema, _answer_schema),
    "math_equivalence": (_prepare_math, _answer_math),
}


def _limit_memory() -> None:
    resource = importlib.import_module("resource")
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY_BYTES, MAX_MEMORY_BYTES))


def _say(message: Any) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1])
