"""Verdicts from words alone: deterministic, instant, and no substitute for a judge."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from rubricweb.judges.offline.choices import chosen
from rubricweb.judges.offline.cues import Material, quote, scoped, sight
from rubricweb.judges.offline.phrases import any_of
from rubricweb.judges.offline.questions import Asked, AskedCriterion, AskedOption
from rubricweb.judges.offline.words import content_words, is_number, sentences, stem, stems

MODEL = "offline-lexical"
SIGNATURE = "offline judge (not an LLM)"

MET, UNMET, CANNOT_ASSESS = "MET", "UNMET", "CANNOT_ASSESS"

_NEGATION = any_of(
    r"(?:does|do|did|should|must|may|is|are|will|can)(?: not|n['’]t)|cannot|never|is missing",
    r"avoids?|without|free (?:of|from)|refrains? from|(?:contains|includes|makes|has|uses) no|no",
    r"fails? to|omits?|lacks?|leaves? out|neglects? to",
)
_SAID_NO = re.compile(r"\b(?:not|never|cannot|no|without|neither|nor)\b|n['’]t\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”']([^\"“”'\n]{2,80})[\"“”'](?!\w)")
_ENOUGH, _ENOUGH_FOR_AN_ERROR = 0.5, 0.75


@dataclass(frozen=True, slots=True)
class Finding:
    """A verdict, or an option where there are some, and the words it rests on."""

    verdict: str
    reason: str
    option: AskedOption | None = None

    @property
    def answer(self) -> dict[str, str]:
        """The finding as the keys of a reply, the explanation first."""
        said = {"criterion_status": self.verdict} if self.option is None else {"option": self.option.label}
        return {"explanation": self.reason, **said}


def answer(asked: Asked) -> str:
    """The reply in the form asked for: JSON of one of our schemas, or prose led by Yes or No."""
    findings = [judge_criterion(criterion, asked) for criterion in asked.criteria]
    if asked.form == "one_shot":
        evaluations = [
            {"criterion_number": criterion.number, **found.answer}
            for criterion, found in zip(asked.criteria, findings, strict=True)
        ]
        return json.dumps({"criteria_evaluations": evaluations}, ensure_ascii=False)
    if asked.form == "holistic":
        return json.dumps(_overall(asked.criteria, findings), ensure_ascii=False)
    first = findings[0]
    if asked.form == "prose" and first.option is None:
        return f"{'Yes' if first.verdict == MET else 'No'}\n\n{first.reason}"
    return json.dumps(first.answer, ensure_ascii=False)


def judge_criterion(criterion: AskedCriterion, asked: Asked) -> Finding:
    """Whether the response holds what the requirement describes, by its words and its form.

    MET means present, for negative criteria too; those need more evidence. An empty response, or a
    requirement in which nothing can be looked for, is CANNOT_ASSESS. Where there are options, one is chosen.
    """
    found = _by_words(criterion, asked)
    if not criterion.options:
        return found
    option, why = chosen(criterion, found.verdict, named=lambda label: _named(label, asked.response))
    return Finding(found.verdict, f"{why[:1].upper()}{why[1:]}. {found.reason}", option)


def _named(label: str, response: str) -> float:
    """The share of a label's words that the response has; 0 for a label without any."""
    terms = _terms(label)
    return _share(terms, response)[0] if terms else 0.0


def _by_words(criterion: AskedCriterion, asked: Asked) -> Finding:
    if not asked.response.strip():
        return _finding(CANNOT_ASSESS, "the response is empty")
    requirement, response = scoped(criterion.requirement, asked.response)
    material = Material(response, asked.query, asked.reference)
    seen = sight(requirement, material)
    negation = _NEGATION.search(requirement)
    # A negation inside a cue ("no more than 60 words") or behind it ("… that is not in the list") belongs to
    # it.
    if negation is None or (seen is not None and seen.sighting.complete and seen.start <= negation.start()):
        present, detail = _present(requirement, material, strict=criterion.negative)
        return _finding(_label(present), detail)
    rest = requirement[: negation.start()] + " " + requirement[negation.end() :]
    present, detail = _present(rest, material, strict=not criterion.negative)
    return _finding(_label(None if present is None else not present), f"asked for absence; {detail}")


def _present(requirement: str, material: Material, *, strict: bool) -> tuple[bool | None, str]:
    """Whether it is there (None when nothing can be looked for), and the words found."""
    seen = sight(requirement, material)
    if seen is None:
        return _worded(requirement, material.response, strict=strict)
    sighting = seen.sighting
    if sighting.present and not sighting.complete and _telling(seen.rest):
        there, detail = _worded(seen.rest, material.response, strict=strict)
        return there is not False, f"{sighting.detail}; {detail}"
    return sighting.present, sighting.detail


def _telling(text: str) -> bool:
    """Whether a text holds quoted phrases, figures or names, which no cue can stand for."""
    return bool(_QUOTED.search(text)) or any(weight > 1 for weight, _ in _terms(text).values())


def _worded(requirement: str, response: str, *, strict: bool) -> tuple[bool | None, str]:
    """Whether enough of what the requirement names is in the response; of an error, in one passage of it."""
    alternatives = [part for part in re.split(r"\bor\b", requirement) if _terms(part)] or [requirement]
    best: tuple[float, str] | None = None
    for alternative in alternatives:
        terms = _terms(alternative)
        if not terms:
            continue
        passages = _passages(response) if strict else (response,)
        for passage in passages:
            share, detail = _share(terms, passage)
            if best is None or share > best[0]:
                best = share, detail
    if best is None:
        return None, "the criterion names nothing that words alone could show"
    return best[0] >= (_ENOUGH_FOR_AN_ERROR if strict else _ENOUGH), best[1]


def _share(terms: dict[str, tuple[float, str]], passage: str) -> tuple[float, str]:
    known, flat = stems(passage), " ".join(passage.casefold().split())
    found, lost, total = 0.0, [], 0.0
    shown: list[str] = []
    for term, (weight, word) in terms.items():
        total += weight
        there = term in flat if " " in term else term in known
        if not there:
            lost.append(word)
            continue
        shown.append(word)
        found += weight / 2 if _denied(word, passage) else weight
    detail = f"found {_listed(shown)} ({found / total:.0%} of what counts)"
    return found / total, detail + (f", not {_listed(lost)}" if lost else "")


def _denied(word: str, passage: str) -> bool:
    """Whether every sentence that has the word also says no: "we do not refund" is half a refund."""
    holding = [part for part in sentences(passage) if stem(word.split()[0]) in stems(part)]
    return bool(holding) and all(_SAID_NO.search(part) for part in holding)


def _terms(requirement: str) -> dict[str, tuple[float, str]]:
    """Stem or quoted phrase → (weight, as written): phrases weigh 3, figures 2, names 1.5."""
    terms: dict[str, tuple[float, str]] = {}
    for phrase in _QUOTED.findall(requirement):
        terms[" ".join(phrase.casefold().split()) if " " in phrase else stem(phrase)] = (3.0, phrase)
    rest = _QUOTED.sub(" ", requirement)
    for position, word in enumerate(content_words(rest)):
        weight = 2.0 if is_number(word) else 1.5 if position and word[0].isupper() else 1.0
        terms.setdefault(stem(word), (weight, word))
    return terms


def _passages(response: str) -> tuple[str, ...]:
    """Every two neighbouring sentences, so that words from opposite ends do not add up to an error."""
    parts = sentences(response)
    return tuple(" ".join(parts[start : start + 2]) for start in range(max(1, len(parts) - 1)))


def _overall(criteria: tuple[AskedCriterion, ...], findings: list[Finding]) -> dict[str, object]:
    values = [_worth(found) for found in findings]
    met = [criterion for criterion, value in zip(criteria, values, strict=True) if value > 0]
    positive = sum(criterion.weight for criterion in criteria if criterion.weight > 0)
    negative = -sum(criterion.weight for criterion in criteria if criterion.weight < 0)
    reached = sum(criterion.weight * value for criterion, value in zip(criteria, values, strict=True))
    if positive:
        share = reached / positive
    else:
        share = 1 + reached / negative if negative else 0.0
    numbers = ", ".join(str(criterion.number) for criterion in met) or "none"
    return {
        "explanation": f"Criteria met by their words: {numbers} of {len(criteria)} — {SIGNATURE}",
        "overall_score": round(100 * min(1.0, max(0.0, share))),
    }


def _worth(found: Finding) -> float:
    """1 for MET, an option's value where the prompt says it, else 0."""
    if found.option is None:
        return float(found.verdict == MET)
    return 0.0 if found.option.na else found.option.value or 0.0


def _label(present: bool | None) -> str:
    return CANNOT_ASSESS if present is None else MET if present else UNMET


def _finding(verdict: str, detail: str) -> Finding:
    return Finding(verdict, f"{detail[:1].upper()}{detail[1:]} — {SIGNATURE}")


def _listed(words: list[str], limit: int = 6) -> str:
    if not words:
        return "nothing"
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return ", ".join(quote(word) for word in words[:limit]) + more
