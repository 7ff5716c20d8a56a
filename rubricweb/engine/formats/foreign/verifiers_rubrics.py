"""Rubrics as verifiers keeps them, in TOML or JSON: criteria with a text and answers from worst to best."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_KEYS = {"name", "text", "weight", "choices"}
_YES_NO = ["no", "yes"]


def is_verifiers_rubric(data: Any) -> bool:
    """Whether all criteria say what they ask as ``text``, which none of ours does, and nothing of ours."""
    criteria = data.get("criteria") if isinstance(data, Mapping) else data
    if not isinstance(criteria, list) or not criteria:
        return False
    return all(isinstance(one, Mapping) and "text" in one and set(one) <= _KEYS for one in criteria)


def as_our_rubric(data: Any) -> dict[str, Any]:
    """The rubric in our words: ``text`` is the requirement; answers other than no and yes are options.

    These stand from worst to best and are worth 0 to 1 in equal steps: 0, 0.5 and 1 for three.
    """
    head = (
        {key: value for key, value in data.items() if key != "criteria"} if isinstance(data, Mapping) else {}
    )
    criteria = data["criteria"] if isinstance(data, Mapping) else data
    return {**head, "criteria": [_criterion(one) for one in criteria]}


def _criterion(given: Mapping[str, Any]) -> dict[str, Any]:
    criterion = {key: value for key, value in given.items() if key in ("name", "weight")}
    criterion["requirement"] = given["text"]
    choices = given.get("choices", _YES_NO)
    if choices == _YES_NO:
        return criterion
    if not isinstance(choices, list) or len(choices) < 2:
        return criterion | {"options": choices}  # to be refused with its place
    last = len(choices) - 1
    options = [{"label": choice, "value": place / last} for place, choice in enumerate(choices)]
    return criterion | {"options": options, "scale_type": "ordinal"}
