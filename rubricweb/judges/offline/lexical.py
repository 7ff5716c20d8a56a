"""Verdicts from words alone: deterministic, instant, and no substitute for a judge.

Words of the criterion are looked for in the response, and that is all. Where the criterion speaks of the
reference or of questions, those words are looked for instead; a few words of rubrics ("acknowledges") stand
for words of responses ("sorry"), so that the demo shows a judge that is often right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.judges.offline.questions import AskedCriterion, AskedOption, ParsedPrompt
from rubricweb.judges.offline.words import content_words, is_number, sentences, stem, stems, tokens

MODEL = "offline-lexical"
SIGNATURE = "offline judge (not an LLM)"
ABOUT = (
    "It only compares words of the criterion with words of the submission: "
    "for trying rubricweb without a key, not for deciding."
)
"""Said wherever somebody chooses or sees the offline judge."""

MET, UNMET, CANNOT_ASSESS = "MET", "UNMET", "CANNOT_ASSESS"

_NEGATION = re.compile(
    r"\b(?:(?:does|do|should|must|may|is|are)(?: not|n['’]t)|cannot|never|avoids?|without|free of|fails? to"
    r"|omits?|lacks?|contains no|includes no|uses no|only words|plain|no)\b",
    re.IGNORECASE,
)
_NEW = re.compile(r"\b(?:invent\w*|fabricat\w+|made[- ]up|outside|(?:does )?not contain)\b", re.IGNORECASE)
_EVERY = re.compile(r"\b(?:every|each|all)\b", re.IGNORECASE)
_DENIAL = re.compile(r"\b(?:not|never|cannot|no|without)\b|n['’]t\b", re.IGNORECASE)
_QUOTED = re.compile(r"[\"“”]([^\"“”\n]{2,80})[\"“”]")
_CODE = r"(?-i:\b[A-Z]{3,}(?:-?\d+)?\b|\b[A-Z]\w*_\w+\b|\b[A-Z][a-z]+[A-Z]\w+\b|\b\d+x\w+\b)"
_STANDS_FOR = {
    r"promis\w+|compensat\w+": r"refund\w*|vouchers?|goodwill|exception|compliments|receipts|keep it|free",
    r"by when|deadline|how long": r"within|today|tomorrow|\w+days?|same day|minutes?|hours?|weeks?",
    r"next steps?|what to do": r"please|book|send|pick|choose|hold|open|start|reply|we will|we'll",
    r"blam\w+|at fault|accus\w+": r"you (?:should|could|must) have|you (?:did not|failed|have probably)"
    r"|your (?:own )?fault|failed to|refrain|really at home|you read|as you were told",
    r"acknowledg\w+|apolog\w+|empath\w+|regrets?": r"sorry|apolog\w+|frustrat\w+|disappoint\w+|worr\w+"
    r"|nuisance|annoying|no fun|understand|unpleasant|must have been",
    r"words? that|understands|wording|jargon|abbreviations?|ticket|code names?": _CODE,
    r"notices?|effects?": r"now|you can|no longer|again|fixed|remembers|keeps?",
    r"thanks?|thank\w+": r"thank\w*",
}
"""What a criterion says, and what in a response counts as it; the first that applies does."""
_WORTH = {
    "poor bad badly weak none no not never wrong missing": 0,
    "fair some partly medium average adequate": 1,
    "good well clear mostly warm": 2,
    "excellent perfect every full fully complete completely very all always": 3,
}
_ENOUGH, _ENOUGH_FOR_AN_ERROR = 0.5, 0.75
_ENOUGH_OF_ONE, _ENOUGH_OF_EVERY = 0.55, 0.25


@dataclass(frozen=True, slots=True)
class WordMatch:
    """A verdict, or an option where there are some, and the words it rests on."""

    verdict: str
    reason: str
    option: AskedOption | None = None

    @property
    def answer(self) -> dict[str, str]:
        """The finding as the keys of a reply, the explanation first."""
        fields = {"criterion_status": self.verdict} if self.option is None else {"option": self.option.label}
        return {"explanation": f"{self.reason[:1].upper()}{self.reason[1:]} — {SIGNATURE}", **fields}

    @property
    def worth(self) -> float:
        """1 for MET, an option's value where the prompt says it, else 0."""
        if self.option is None:
            return float(self.verdict == MET)
        return 0.0 if self.option.na else self.option.value or 0.0


def answer(asked: ParsedPrompt) -> str:
    """The reply in the form asked for: JSON of one of our schemas, or prose led by Yes or No."""
    findings = [judge_criterion(criterion, asked) for criterion in asked.criteria]
    first = findings[0]
    if asked.form == "one_shot":
        numbered = zip(asked.criteria, findings, strict=True)
        evaluations = [{"criterion_number": one.number, **found.answer} for one, found in numbered]
        return json.dumps({"criteria_evaluations": evaluations}, ensure_ascii=False)
    if asked.form == "holistic":
        return json.dumps(_overall(asked.criteria, findings), ensure_ascii=False)
    if asked.form == "prose" and first.option is None:
        return f"{'Yes' if first.verdict == MET else 'No'}\n\n{first.answer['explanation']}"
    return json.dumps(first.answer, ensure_ascii=False)


def judge_criterion(criterion: AskedCriterion, asked: ParsedPrompt) -> WordMatch:
    """Whether the response has the words that the criterion asks for.

    MET means present, for negative criteria too; those need more of the words, close together. An empty
    response, or a criterion without words to look for, is CANNOT_ASSESS. Where there are options, one is
    chosen.
    """
    share, reason = _looked_for(criterion, asked) if asked.response.strip() else (None, "nothing to read")
    enough = _ENOUGH_FOR_AN_ERROR if criterion.negative else _ENOUGH
    verdict = CANNOT_ASSESS if share is None else MET if share >= enough else UNMET
    option = _chosen(criterion.options, share, asked.response) if criterion.options else None
    return WordMatch(verdict, reason, option)


def _looked_for(criterion: AskedCriterion, asked: ParsedPrompt) -> tuple[float | None, str]:
    """The share in [0, 1] of what counts that is there, None when nothing can be looked for; why."""
    requirement = criterion.requirement
    # "Does not contain" says where to look; any other negation turns the share round.
    new = _NEW.search(requirement) and f"{asked.query} {asked.reference}".strip()
    stands = [found for words, found in _STANDS_FOR.items() if _in(words, requirement)]
    if new:
        return _lacking(new, stands, asked.response)
    negated = _NEGATION.search(requirement)
    if stands:
        found = sorted({found.lower() for found in _all(stands[0], asked.response)})
        share, reason = min(1.0, len(found) / (2 if criterion.options else 1)), f"found {_listed(found)}"
    else:
        parts = _source(requirement, asked)
        if parts is not None:
            return _of_source(parts, requirement, asked.response)
        rest = requirement if negated is None else requirement.replace(negated[0], " ", 1)
        of_words = _of_words(rest, asked.response, close=criterion.negative)
        if of_words is None:
            return None, "the criterion names nothing that words alone could show"
        share, reason = of_words
    return (1 - share, f"asked for absence, {reason}") if negated else (share, reason)


def _source(requirement: str, asked: ParsedPrompt) -> list[str] | None:
    """The statements of the reference, or the questions of the prompt, when the criterion speaks of them.

    Of "Visible: a map. Action: none." only the part counts that the criterion calls by its label.
    """
    if "question" in requirement and "?" in asked.query:
        return [part for part in sentences(asked.query) if part.endswith("?")]
    if "reference" not in requirement or not asked.reference:
        return None
    labelled = re.findall(r"(\w+):\s*([^.]+)", asked.reference)
    named = [text for label, text in labelled if stem(label) in stems(requirement)]
    return [part for part in re.split(r"[;,\n]|(?<=[.!?])\s", " ".join(named) or asked.reference) if part]


def _of_source(parts: list[str], requirement: str, response: str) -> tuple[float | None, str]:
    shares = [found[0] for part in parts if (found := _of_words(part, response))]
    if not shares:
        return 1.0, "nothing is asked for"
    every = _EVERY.search(requirement)
    share = sum(shares) / len(shares) if every else max(shares)
    # Stretched, so that enough here is enough below.
    stretched = share * _ENOUGH / (_ENOUGH_OF_EVERY if every else _ENOUGH_OF_ONE)
    return min(1.0, stretched), f"found {share:.0%} of the words given with the item"


def _lacking(known: str, stands: list[str], response: str) -> tuple[float, str]:
    """What the prompt and the reference lack: words that stand for the criterion's, else figures."""
    have = stems(known)
    if stands:
        new = [found for found in _all(stands[0], response) if not stems(found) <= have]
    else:
        # Single digits number lists and steps.
        new = [one for one in tokens(response) if is_number(one) and len(one) > 1 and stem(one) not in have]
    return float(bool(new)), f"found {_listed(new)} that neither prompt nor reference has"


def _of_words(requirement: str, response: str, *, close: bool = False) -> tuple[float, str] | None:
    """The share of the criterion's words that the response has, in two neighbouring sentences if `close`."""
    phrases = _QUOTED.findall(requirement)
    terms = {one.casefold() if " " in one else stem(one): (3.0, one) for one in phrases}
    for position, word in enumerate(content_words(_QUOTED.sub(" ", requirement))):
        weight = 2.0 if is_number(word) else 1.5 if position and word[0].isupper() else 1.0
        terms.setdefault(stem(word), (weight, word))
    if not terms:
        return None
    parts = sentences(response)
    passages = [" ".join(parts[at : at + 2]) for at in range(max(1, len(parts) - 1))] if close else [response]
    reached = max(sum(w * _there(term, part) for term, (w, _) in terms.items()) for part in passages)
    found = [word for term, (_, word) in terms.items() if _there(term, response)]
    lost = [word for _, word in terms.values() if word not in found]
    share = reached / sum(weight for weight, _ in terms.values())
    return share, f"found {_listed(found)}" + (f", not {_listed(lost)}" if lost else "")


def _there(term: str, passage: str) -> float:
    """1 when the passage has the term, a half when every sentence with it says no, 0 without it."""
    whole = " " in term
    holding = [part for part in sentences(passage) if term in (part.casefold() if whole else stems(part))]
    return 0.0 if not holding else 0.5 if all(_DENIAL.search(part) for part in holding) else 1.0


def _chosen(options: Sequence[AskedOption], share: float | None, response: str) -> AskedOption:
    """The option the response names, else the one at the share's place on the scale, whatever the order."""
    scored = [option for option in options if not option.na]
    if share is None:
        na = [option for option in options if option.na]
        return na[0] if na else _ranked(scored)[(len(scored) - 1) // 2]
    named = {option.label: (_of_words(option.label, response) or (0.0, ""))[0] for option in scored}
    best = [option for option in scored if named[option.label] == max(named.values()) > 0]
    return best[0] if len(best) == 1 else _ranked(scored)[round(share * (len(scored) - 1))]


def _ranked(options: Sequence[AskedOption]) -> list[AskedOption]:
    """From worst to best by their values, their leading numbers or their words, then by their labels."""

    def worth(option: AskedOption) -> float:
        if option.value is not None:
            return option.value
        number = re.match(r"-?\d+(?:\.\d+)?", option.label)
        if number:
            return float(number[0])
        words = re.findall(r"[a-z]+", option.label.casefold())
        known = [value for group, value in _WORTH.items() if set(group.split()) & set(words)]
        return min(known, default=1)

    return sorted(options, key=lambda option: (worth(option), option.label))


def _overall(criteria: Sequence[AskedCriterion], findings: Sequence[WordMatch]) -> dict[str, object]:
    pairs = list(zip(criteria, findings, strict=True))
    reached = sum(criterion.weight * found.worth for criterion, found in pairs)
    positive = sum(criterion.weight for criterion in criteria if criterion.weight > 0)
    negative = -sum(criterion.weight for criterion in criteria if criterion.weight < 0)
    share = reached / positive if positive else 1 + reached / negative if negative else 0.0
    numbers = ", ".join(str(criterion.number) for criterion, found in pairs if found.worth > 0) or "none"
    return {
        "explanation": f"Criteria met by their words: {numbers} of {len(criteria)} — {SIGNATURE}",
        "overall_score": round(100 * min(1.0, max(0.0, share))),
    }


def _in(words: str, text: str) -> bool:
    return bool(_all(words, text))


def _all(words: str, text: str) -> list[str]:
    return re.findall(rf"\b(?:{words})(?!\w)", text, re.IGNORECASE)


def _listed(words: Sequence[str], limit: int = 6) -> str:
    shown = ", ".join(f"“{' '.join(word.split())[:60]}”" for word in words[:limit])
    more = f" and {len(words) - limit} more" if len(words) > limit else ""
    return shown + more or "nothing"
