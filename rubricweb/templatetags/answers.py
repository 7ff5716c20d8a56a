"""How answers of every kind look: verdicts, chosen options, what checks measured."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from rubricweb.engine.number_format import MISSING, counted
from rubricweb.engine.scoring.effect import effect_of, verdict_effect, verdict_words
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion
from rubricweb.selectors.reviews.reviews import Quote
from rubricweb.templatetags.display import icon, score, verdict_chip

register = template.Library()

DIGITS = "123456789"


@dataclass(frozen=True)
class ShownOption:
    """One option of a choice; `keys` pick it on the keyboard: a digit, and c for the first that abstains."""

    label: str
    na: bool
    keys: tuple[str, ...]


@register.filter
def as_json(value: Any) -> str:
    """Plain values for an attribute that a script reads: in what htmx swaps no JSON in a script stays."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def spans_json(evidence: Sequence[Quote]) -> str:
    """Quoted places as a form sends them."""
    spans = [{"field": one.field, "start": one.start, "end": one.end, "text": one.text} for one in evidence]
    return json.dumps(spans, ensure_ascii=False)


@register.filter
def shown_options(criterion: Criterion) -> list[ShownOption]:
    """The options in the rubric's order, those that abstain last; the tenth and later have no digit."""
    scored = [option["label"] for option in criterion.options if not option.get("na")]
    abstaining = [option["label"] for option in criterion.options if option.get("na")]
    return [
        ShownOption(
            label=label,
            na=place >= len(scored),
            keys=(*DIGITS[place : place + 1], *("c" * (place == len(scored)))),
        )
        for place, label in enumerate([*scored, *abstaining])
    ]


@register.simple_tag
def answer_chip(
    criterion: Criterion, label: str | None, small: bool = False, title: str = "", error: str = ""
) -> SafeString:
    """A label as glyph and word, whatever the criterion's kind; None is "Pending", `error` a failed call.

    An option of an ordinal scale shows its place, "2/5"; one that abstains looks like CANNOT_ASSESS.
    """
    if error:
        return verdict_chip("ERROR", small=small, title=title or error)
    if criterion.kind != "choice" or label is None or not _is_option(criterion, label):
        weight = 1 if criterion.weight is None else criterion.weight  # a draft may have none yet
        return verdict_chip(label, small=small, title=title, weight=weight)
    place = _places(criterion).get(_folded(label))
    return format_html(
        '<span class="chip chip--{}{}"{}>{}<span class="chip__words">{}</span>{}</span>',
        "cannot" if place is None else "option",
        " chip--small" if small else "",
        format_html(' title="{}"', title) if title else "",
        icon("minus" if place is None else "circle-dot"),
        label,
        _place_mark(criterion, place),
    )


@register.simple_tag
def value_chip(value: float | None, small: bool = False) -> SafeString:
    """What a check measured, as a number with two decimals."""
    return format_html(
        '<span class="chip chip--value{}">{}<span class="num">{}</span></span>',
        " chip--small" if small else "",
        icon("gauge"),
        score(value, 2),
    )


@register.filter
def effect(value: float | None, weight: float | None) -> str:
    """What an answer of this value does to the score: "helped", "hurt", "neither"; "" without a value."""
    return effect_of(value, weight or 0) or ""


@register.filter
def effect_words(label: str) -> str:
    """What a verdict says in a table that pools criteria by effect: MET is "pass", UNMET "fail"."""
    return {"MET": "pass", "UNMET": "fail"}.get(label, label)


@dataclass(frozen=True)
class VerdictChoice:
    """One verdict to choose: its stored `value`, its words, its key, and the look of what it does."""

    value: str
    words: str
    key: str
    look: str


@register.filter
def verdict_choices(weight: float | None) -> list[VerdictChoice]:
    """The verdicts on a criterion of this weight: of a penalty "Error present" comes first and is red."""
    looks = {"helped": "helped", "hurt": "hurt"}
    return [
        VerdictChoice(
            value=verdict.value,
            words=verdict_words(verdict, weight or 0),
            key=verdict.value[0].lower(),
            look=looks.get(verdict_effect(verdict, weight or 0) or "", "cannot"),
        )
        for verdict in (Verdict.MET, Verdict.UNMET, Verdict.CANNOT_ASSESS)
    ]


@register.simple_tag
def answer_words(criterion: Criterion, label: str | None) -> str:
    """A label of a criterion in running text: "met", of a penalty "error present", an option as it stands."""
    if label in set(Verdict) and criterion.kind != "choice":
        return verdict_words(str(label), criterion.weight).lower()
    return label_words(label)


@register.filter
def label_words(label: str | None) -> str:
    """A label in running text: MET is "met", an option stays as the rubric writes it, None is "–"."""
    if label is None:
        return MISSING
    return label.lower().replace("_", " ") if label in set(Verdict) else label


@register.simple_tag
def steps_apart(criterion: Criterion, one: str | None, other: str | None) -> str:
    """How far two answers on an ordinal scale are apart, in words: options 1 and 3 are "2 steps apart".

    "" where they are equal, where one abstains, and for every other kind of criterion.
    """
    if criterion.kind != "choice" or criterion.scale_type != "ordinal" or one is None or other is None:
        return ""
    places = _places(criterion)
    here, there = places.get(_folded(one)), places.get(_folded(other))
    if here is None or there is None or here == there:
        return ""
    steps = abs(there - here)
    return f"{counted(steps, 'step')} apart"


def _places(criterion: Criterion) -> dict[str, int]:
    """Folded label → place from 0 among the options that do not abstain."""
    scored = [option["label"] for option in criterion.options if not option.get("na")]
    return {_folded(label): place for place, label in enumerate(scored)}


def _place_mark(criterion: Criterion, place: int | None) -> SafeString:
    if place is None or criterion.scale_type != "ordinal":
        return SafeString("")
    of = len(_places(criterion))
    return format_html(
        '<span class="chip__place num" title="Option {} of {}">{}/{}</span>', place + 1, of, place + 1, of
    )


def _is_option(criterion: Criterion, label: str) -> bool:
    return any(_folded(option["label"]) == _folded(label) for option in criterion.options)


def _folded(label: Any) -> str:
    return str(label).strip().casefold()
