"""Rules about criteria that are too much alike."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from rubricweb.engine.lint.base import Hit, LintInput, Rule, RuleExample, criteria
from rubricweb.engine.lint.draft import DraftCriterion
from rubricweb.engine.lint.language import NEGATING, stem, words

NEAR = 0.75
"""Share of their meaning-carrying words that two requirements have in common to count as nearly the same."""

MIRRORED = 0.6
"""The same for one that asks for a thing and one that punishes its lack: there fewer words prove as much."""

FEW_STEMS = 4
"""Requirements with fewer such words are too short to be compared by them."""

MOST_STEMS = 50_000
"""Only so many words are compared, of all requirements together: lint runs while one types."""

MOST_PAIRS = 200
"""More pairs of requirements that are alike are not looked into: whoever has so many knows."""

_NEGATING_STEMS = frozenset(stem(word) for word in NEGATING) | frozenset(NEGATING)


def similarity(one: frozenset[str], other: frozenset[str]) -> float:
    """Jaccard's index of two sets of stems, 0 to 1; 0.0 when both are empty.

    {name, capital, citi} and {name, capital, river}: 2 in common of 4, 0.5.
    """
    union = len(one | other)
    return len(one & other) / union if union else 0.0


def _duplicates(sight: LintInput) -> Iterator[Hit]:
    by_text: dict[str, list[DraftCriterion]] = defaultdict(list)
    for criterion in sight.criteria:
        if criterion.asks_a_judge:
            by_text[_normalised(criterion.requirement)].append(criterion)
    for first, *rest in by_text.values():
        if rest:
            yield Hit(
                f"The same requirement again: {_listed([first, *rest])}. "
                f"Its weight counts {len(rest) + 1} times.",
                "Keep one of them and add the weights together.",
                first.index,
                tuple(criterion.index for criterion in rest),
            )


def _near_duplicates(sight: LintInput) -> Iterator[Hit]:
    for one, other in _near_pairs(sight.criteria, NEAR):
        if _turns(one) != _turns(other) or _normalised(one.requirement) == _normalised(other.requirement):
            continue
        if _differ_in_one_fact(one, other):
            continue
        share = similarity(one.stems, other.stems)
        yield Hit(
            f"{_listed([one, other])} share {share:.0%} of their words: the same thing may be counted twice.",
            "Merge them, or say in each what the other one does not cover.",
            one.index,
            (other.index,),
        )


def _mirrored(sight: LintInput) -> Iterator[Hit]:
    for one, other in _near_pairs(sight.criteria, MIRRORED, ignoring=_NEGATING_STEMS):
        if not one.weight or not other.weight or (one.weight > 0) == (other.weight > 0):
            continue
        if _turns(one) == _turns(other) or _differ_in_one_fact(one, other):
            continue
        yield Hit(
            f"{_listed([one, other])} are two sides of one thing: having it gains points and lacking it "
            "loses them again.",
            "Keep one side, with the weight the thing deserves.",
            one.index,
            (other.index,),
        )


def _names_alike(sight: LintInput) -> Iterator[Hit]:
    seen: dict[str, DraftCriterion] = {}
    for criterion in sight.criteria:
        if not criterion.name:
            continue
        for key in _look_keys(criterion.name):
            other = seen.setdefault(key, criterion)
            if other is not criterion and _confusable(criterion.name, other.name):
                yield Hit(
                    f"The names “{other.name}” and “{criterion.name}” are easily taken for each other in "
                    "tables and label files.",
                    "Give one of them a name that says what is different.",
                    other.index,
                    (criterion.index,),
                )
                break


def _check_repeats(sight: LintInput) -> Iterator[Hit]:
    judged = [criterion for criterion in sight.criteria if criterion.asks_a_judge]
    for check in sight.criteria:
        if check.kind != "check":
            continue
        topic = _CHECKED.get(check.check)
        phrases = (
            [value.casefold() for value in check.values if len(value) > 3] if check.check in _PHRASED else []
        )
        for criterion in judged:
            text = criterion.requirement.casefold()
            if (topic and topic.search(text)) or any(phrase in text for phrase in phrases):
                yield Hit(
                    f"{_listed([criterion, check])} look at the same thing: the check “{check.check}” "
                    "and the judge may disagree, and both count.",
                    "Leave it to the check, or ask the judge only for what the check cannot see.",
                    criterion.index,
                    (check.index,),
                )


_CHECKED = {
    "length_between": re.compile(
        r"\b\d[\d,]*\s+(?:words?|characters?)\b|\b(?:word|character)\s+(?:count|limit)\b"
    ),
    "json_schema": re.compile(r"\bvalid\s+json\b|\bjson\s+(?:schema|object|format)\b"),
    "xml_format": re.compile(r"\bxml\b"),
}
_PHRASED = ("contains_keywords", "no_forbidden_phrases")


def _near_pairs(
    all_criteria: Sequence[DraftCriterion], share: float, ignoring: frozenset[str] = frozenset()
) -> Iterator[tuple[DraftCriterion, DraftCriterion]]:
    """Pairs of long enough requirements with that share in common, at most MOST_PAIRS, found over bit sets:
    it runs while one types. Requirements after the first MOST_STEMS words are left out.
    """
    return islice(_similar_pairs(all_criteria, share, ignoring), MOST_PAIRS)


def _similar_pairs(
    all_criteria: Sequence[DraftCriterion], share: float, ignoring: frozenset[str]
) -> Iterator[tuple[DraftCriterion, DraftCriterion]]:
    bits: dict[str, int] = {}
    masks = []
    compared = 0
    for criterion in all_criteria:
        stems = criterion.stems - ignoring if ignoring else criterion.stems
        if criterion.asks_a_judge and len(stems) >= FEW_STEMS:
            compared += len(stems)
            if compared > MOST_STEMS:
                break
            masks.append(
                (criterion, sum(1 << bits.setdefault(word, len(bits)) for word in stems), len(stems))
            )
    for (one, mask, size), (other, other_mask, other_size) in combinations(masks, 2):
        if size < share * other_size or other_size < share * size:
            continue
        common = (mask & other_mask).bit_count()
        if common >= share * (size + other_size - common):
            yield one, other


def _turns(criterion: DraftCriterion) -> bool:
    """Whether the requirement is about something being absent."""
    return not NEGATING.isdisjoint(criterion.words)


def _differ_in_one_fact(one: DraftCriterion, other: DraftCriterion) -> bool:
    """Whether they are one sentence about two things: other numbers, or one word exchanged for another."""
    only_one, only_other = one.stems - other.stems, other.stems - one.stems
    if any(word.isdigit() for word in only_one | only_other):
        return True
    negating = _NEGATING_STEMS
    return len(only_one - negating) == len(only_other - negating) == 1


def _normalised(requirement: str) -> str:
    return " ".join(words(requirement)) or requirement.strip()


def _listed(members: Sequence[DraftCriterion]) -> str:
    return " and ".join(f"“{criterion.label}”" for criterion in members)


_LOOKS = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l"})


def _look_keys(name: str) -> list[str]:
    """Keys of which two confusable names share one: as it looks, and with any one character left out."""
    bare = re.sub(r"[\W_]+", "", name.casefold())
    looks = "=" + bare.translate(_LOOKS)
    if len(bare) < 6:
        return [looks]
    return [looks, bare, *(f"{bare[:i]}{bare[i + 1 :]}" for i in range(len(bare)))]


def _confusable(one: str, other: str) -> bool:
    """Digits number things on purpose: names that differ only in them are told apart well enough."""
    return re.sub(r"\d+", "", one.casefold()) != re.sub(r"\d+", "", other.casefold()) or (
        one.casefold().translate(_LOOKS) == other.casefold().translate(_LOOKS)
    )


DUPLICATE_REQUIREMENTS = Rule(
    name="duplicate_requirements",
    title="The same requirement twice",
    explanation=(
        "Equal but for case, spaces and punctuation: it is judged, paid for and counted more than once."
    ),
    severity="warning",
    find=_duplicates,
    triggers=criteria("Names the capital.", "names the  capital"),
    passes=criteria("Names the capital.", "Names the river."),
)
NEAR_DUPLICATES = Rule(
    name="near_duplicates",
    title="Nearly the same requirement",
    explanation=(
        f"Two requirements share at least {NEAR:.0%} of the words that carry meaning (endings cut off, "
        f"little words left out, at least {FEW_STEMS} of them). Pairs that differ in a number or in "
        "exactly one word, as when a sentence is repeated for two cities, are taken for two things."
    ),
    severity="warning",
    find=_near_duplicates,
    # {recommend, see, doctor, fever, last} of {recommend, see, doctor, fever, last, quickly}: 5 of 6.
    triggers=criteria(
        "Recommends seeing a doctor if the fever lasts.",
        "Recommends seeing a doctor quickly if fever lasts.",
    ),
    passes=criteria(
        "Recommends seeing a doctor if the fever lasts.",
        "Recommends seeing a doctor if the rash lasts.",
    ),
)
MIRRORED_CRITERIA = Rule(
    name="mirrored_criteria",
    title="Rewarded for having it, punished for lacking it",
    explanation=(
        "One criterion rewards a thing and another takes points for its absence, in nearly the same words: "
        "the thing counts twice and the score swings by both weights. Found from "
        f"{MIRRORED:.0%} of the words in common, the negation aside."
    ),
    severity="hint",
    find=_mirrored,
    triggers=RuleExample(
        (
            {"requirement": "Mentions the risk of bleeding after surgery.", "weight": 5},
            {"requirement": "Fails to mention the risk of bleeding after surgery.", "weight": -5},
        )
    ),
    passes=RuleExample(
        (
            {"requirement": "Mentions the risk of bleeding after surgery.", "weight": 5},
            {"requirement": "Fails to mention who should be called first.", "weight": -5},
        )
    ),
)
NAMES_LOOK_ALIKE = Rule(
    name="names_look_alike",
    title="Names that are easily confused",
    explanation=(
        "Labels are joined to criteria by name. Names that differ in one letter, in signs between "
        "words, or in characters that look the same (0 and O, 1 and l) send labels to the wrong column. "
        "Numbered names, such as step_1 and step_2, are left alone."
    ),
    severity="hint",
    find=_names_alike,
    triggers=criteria(
        {"name": "clear_ending", "requirement": "Ends with a question."},
        {"name": "clear-ending", "requirement": "Ends with the date."},
    ),
    passes=criteria(
        {"name": "step_1", "requirement": "Ends with a question."},
        {"name": "step_2", "requirement": "Ends with the date."},
    ),
)
CHECK_REPEATS_CRITERION = Rule(
    name="check_repeats_criterion",
    title="A check and a judge look at the same thing",
    explanation=(
        "A check answers without a model, always the same way. A judged criterion about the same "
        "length, format or phrases is paid for, can contradict it, and doubles the weight."
    ),
    severity="hint",
    find=_check_repeats,
    triggers=criteria(
        "The answer is at most 100 words long.",
        {"check": "length_between", "params": {"max": 100, "unit": "words"}},
    ),
    passes=criteria(
        "The answer names the capital.", {"check": "length_between", "params": {"max": 100, "unit": "words"}}
    ),
)
