"""Rules about the wording of one requirement."""

from __future__ import annotations

import re
from collections.abc import Iterator

from rubricweb.engine.lint.base import Hit, LintInput, Rule, criteria
from rubricweb.engine.lint.draft import DraftCriterion
from rubricweb.engine.lint.language import SAYS, SAYS_OR_NOUNS, SUBJECT, first_sentence, one_of, words

MAX_WORDS = 60
"""Words of a requirement, brackets aside, beyond which readers start to skip."""

SHORT_WORDS = 8
"""Words up to which one vague word is the whole requirement."""

_VAGUE_WORDS = (
    "acceptable adequate appropriate bad clear decent effective excellent fine good great helpful ideal "
    "meaningful nice optimal poor proper reasonable satisfactory sensible sound sufficient suitable "
    "useful thorough valuable"
)
_VAGUE_ADVERBS = (
    "acceptably adequately appropriately badly clearly effectively excellently meaningfully nicely "
    "poorly properly reasonably satisfactorily sensibly sufficiently suitably thoroughly"
)
_VAGUE = (
    r"(?:well[-\s](?:written|structured|organi[sz]ed|reasoned|formatted|explained|crafted|done)"
    r"|(?:high|good|low|poor)[-\s]quality|easy\s+to\s+(?:understand|follow|read)"
    rf"|{one_of(_VAGUE_WORDS.split())})"
)
_VAGUELY = rf"(?:{one_of(_VAGUE_ADVERBS.split())}|(?<!\bas\s)well)"
_HINTING = frozenset(f"{_VAGUE_WORDS} {_VAGUE_ADVERBS} well quality easy".split())
_GENERIC_NOUNS = (
    "response answer advice information explanation explanations language structure detail details format "
    "formatting tone summary manner way style writing flow instructions guidance context examples example "
    "recommendations recommendation suggestions questions level degree extent wording quality length amount "
    "code text output content job understanding analysis reasoning arguments argument vocabulary words "
    "sentences overview description conclusion introduction ending title tips steps"
)
_GENERIC = one_of(_GENERIC_NOUNS.split())
_CLAUSE_END = r"(?=\s*(?:[.,;:!?\n]|$|\band\b|\bor\b|\bas\s+opposed\b))"
_RESTS_ON_VAGUE = re.compile(
    rf"\b(?:is|are|be|feels?|seems?|sounds?|looks?|reads?|remains?|stays?)\s+(?:(?:very|both|overall|\w+ly)\s+)?"
    rf"(?:[a-z]+,?\s+and\s+)?(?P<predicate>{_VAGUE}){_CLAUSE_END}"
    rf"|\bquality\s+is\s+(?P<quality>high|good|low|poor){_CLAUSE_END}"
    rf"|\b(?P<noun>{_VAGUE})(?:,?\s+and\s+\w+|,\s*\w+)?\s+(?:\w+\s+)?{_GENERIC}{_CLAUSE_END}"
    rf"|(?<=\w\s)(?P<adverb>{_VAGUELY}){_CLAUSE_END}",
    re.IGNORECASE,
)
_SHORT_VAGUE = re.compile(
    rf"\b(?:{_VAGUELY}|well[-\s]\w+ed|(?:high|good)[-\s]quality|helpful|useful|clear|appropriate|adequate)\b",
    re.IGNORECASE,
)
_OF_SOMETHING_ELSE = re.compile(
    rf"\b(?:which|because|since|if|when|could|might|may|leads?|leading|to\s+[a-z]+)\b"
    rf"|\A\s*(?:{SUBJECT}\s+)?(?:[a-z]+ly\s+)?(?:{SAYS}|{SAYS_OR_NOUNS}|fails\s+to\s+\w+)\b.*\b(?:that|are|is)\b",
    re.IGNORECASE | re.DOTALL,
)
_MEASURABLE = re.compile(
    r"\d|\b(?:at\s+least|at\s+most|no\s+more\s+than|fewer\s+than|more\s+than|exactly|such\s+as|e\.\s?g|i\.\s?e"
    r"|for\s+example|including|that\s+is|namely|meaning|defined\s+as|one|two|three|four|five|because|by\s+\w+ing"
    r"|so\s+that|without)\b|:|\(|[\"“]",
    re.IGNORECASE,
)
_TASTE = re.compile(
    r"\b(?:beautiful(?:ly)?|believable|captivating|clever(?:ly)?|compelling(?:ly)?|convincing(?:ly)?"
    r"|creative(?:ly)?|creativity|elegant(?:ly)?|empathetic(?:ally)?|empathy"
    r"|engaging(?=\s*(?:[.,;?!]|$|and\b|tone\b|style\b|way\b|manner\b|opening\b))|engagingly|enjoyable"
    r"|fluent(?:ly)?|(?<!-)friendly|funny|humorous(?:ly)?|insightful|interesting|natural[\s-]sounding"
    r"|(?:feels?|sounds?)\s+natural|(?:is|an|and)\s+original|originality|persuasive(?:ly)?|poetic"
    r"|polite(?:ly)?|professional\s+(?:tone|manner|language|style)|satisfying|sophisticated|tactful(?:ly)?"
    r"|tasteful|vivid(?:ly)?|witty|warm\s+tone|emotionally\s+\w+)\b",
    re.IGNORECASE,
)
_QUESTION = re.compile(
    r"\s*(?:q\d*[).:]\s*|step\s+\d+[.:)]\s*|question\s*\d*[.:)]\s*)?"
    r"(?:does|do|did|is|are|was|were|has|have|had|will|would|can|could|should|how|what|which|who|why|where|when"
    r"|to\s+what\s+extent)\b[^.!\n]*\?",
    re.IGNORECASE,
)
_OTHER_CRITERION = re.compile(
    r"\b(?:(?:same\s+)?as\s+above|see\s+(?:above|below)|same\s+as\s+(?:before|the\s+(?:previous|last))"
    r"|(?:previous|preceding|prior|next|following|other|above|first|second|last)\s+criteri(?:on|a)\b"
    r"|criteri(?:on|a)\s+(?:above|below|no\.?\s*\d+|number\s+\d+|#?\s*[cC]?\d+)"
    r"|(?:mentioned|described|listed|stated)\s+in\s+(?:another|the\s+other)\s+criteri\w+)",
    re.IGNORECASE,
)
_POINTING = r"\b(?:see|cf\.?|as\s+in|same\s+as|unlike|besides|apart\s+from|except\s+for)\s+(?:also\s+)?"


def _unobservable(sight: LintInput) -> Iterator[Hit]:
    for criterion in _judged(sight):
        if criterion.explained or criterion.options or _HINTING.isdisjoint(criterion.words):
            continue
        if _MEASURABLE.search(criterion.requirement):
            continue
        match = _RESTS_ON_VAGUE.search(criterion.plain)
        if match is None and len(words(criterion.plain)) <= SHORT_WORDS:
            match = _SHORT_VAGUE.search(criterion.plain)
        if match is None or _OF_SOMETHING_ELSE.search(criterion.plain[: match.start() + 2]):
            continue
        group = match.lastgroup or 0
        span = match.span(group)
        word = criterion.requirement[slice(*span)]
        yield Hit(
            f"“{word}” cannot be observed: two careful readers will draw the line at different places.",
            "Say what can be seen in a submission when it is so: a number, a named part, a thing that "
            "is absent.",
            criterion.index,
            span=span,
        )


def _missing_anchor(sight: LintInput) -> Iterator[Hit]:
    for criterion in _judged(sight):
        match = _TASTE.search(criterion.plain)
        if match and not criterion.explained and not criterion.options:
            yield Hit(
                f"“{match.group().strip()}” is a matter of degree, and nothing shows where MET begins.",
                "Add a met and an unmet example, or guidance that describes the border between them.",
                criterion.index,
                span=match.span(),
            )


def _too_long(sight: LintInput) -> Iterator[Hit]:
    for criterion in _judged(sight):
        count = len(words(criterion.plain))
        if count > MAX_WORDS:
            yield Hit(
                f"{count} words: readers and judges lose conditions in a requirement this long.",
                f"Keep the requirement under {MAX_WORDS} words; move explanations to guidance, split what is "
                "left over.",
                criterion.index,
            )


def _question_form(sight: LintInput) -> Iterator[Hit]:
    for criterion in _judged(sight):
        match = _QUESTION.match(first_sentence(criterion.requirement))
        if match and criterion.kind == "binary":
            yield Hit(
                "A question: MET and UNMET do not answer it, and a “no” may be what was hoped for.",
                "Write it as a statement that is true or false of a submission.",
                criterion.index,
                span=match.span(),
            )


def _refers_elsewhere(sight: LintInput) -> Iterator[Hit]:
    named = {
        criterion.name.casefold(): criterion.index for criterion in sight.criteria if len(criterion.name) > 1
    }
    by_name = (
        re.compile(
            _POINTING + "(?P<name>" + one_of([re.escape(name) for name in named]) + r")\b", re.IGNORECASE
        )
        if named
        else None
    )
    for criterion in _judged(sight):
        match = _OTHER_CRITERION.search(criterion.requirement)
        others: tuple[int, ...] = ()
        if match is None and by_name is not None:
            match = by_name.search(criterion.requirement)
            others = (named[match["name"].casefold()],) if match else ()
        if match is None or others == (criterion.index,):
            continue
        yield Hit(
            f"“{match.group()}” points at another criterion, which a judge asked about this one never sees.",
            "Repeat here what is needed to decide this criterion alone.",
            criterion.index,
            others,
            match.span(),
        )


def _judged(sight: LintInput) -> Iterator[DraftCriterion]:
    return (criterion for criterion in sight.criteria if criterion.asks_a_judge)


UNOBSERVABLE_WORDS = Rule(
    name="unobservable_words",
    title="Words that cannot be observed",
    explanation=(
        "Good, appropriate, adequate, clear, high-quality: when such a word carries the requirement and "
        "nothing beside it can be pointed at, the verdict is the reader's taste. A number, an example, "
        "a reason or guidance in the criterion keeps this rule quiet."
    ),
    severity="warning",
    find=_unobservable,
    triggers=criteria("The answer is clear."),
    passes=criteria("The answer is clear: its first sentence names the capital."),
)
MISSING_ANCHOR = Rule(
    name="missing_anchor",
    title="A matter of degree without an example",
    explanation=(
        "Engaging, original, polite and the like can be judged, but only against something. An example "
        "of MET and one of UNMET, or guidance, gives people and judges the same border."
    ),
    severity="hint",
    find=_missing_anchor,
    triggers=criteria("The opening paragraph is engaging."),
    passes=criteria(
        {
            "requirement": "The opening paragraph is engaging.",
            "met_example": "It begins in the middle of a quarrel.",
            "unmet_example": "It begins with a table of contents.",
        }
    ),
)
TOO_LONG = Rule(
    name="too_long",
    title="Too long to hold in mind",
    explanation=(
        f"Beyond {MAX_WORDS} words, brackets not counted, a requirement is usually several, or an "
        "explanation that belongs in guidance."
    ),
    severity="hint",
    find=_too_long,
    triggers=criteria("Names the city, " + ", ".join(["the river that runs through it"] * 10) + "."),
    passes=criteria("Names the city and the river that runs through it."),
)
QUESTION_FORM = Rule(
    name="question_form",
    title="A question instead of a statement",
    explanation=(
        "MET says that the requirement is true of the submission. A question is not true or false, and "
        "one asked about a fault turns the meaning of “yes” round."
    ),
    severity="hint",
    find=_question_form,
    triggers=criteria("Does the answer name the capital?"),
    passes=criteria("Asks the user which capital is meant."),
)
REFERS_TO_OTHER_CRITERION = Rule(
    name="refers_to_other_criterion",
    title="Points at another criterion",
    explanation=(
        "Criteria are shown and asked one at a time, and their order can change: “as above” and “see "
        "C1” then point at nothing."
    ),
    severity="warning",
    find=_refers_elsewhere,
    triggers=criteria("Names the capital.", "Gives a source for it, as above."),
    passes=criteria("Names the capital.", "Gives a source for the capital it names."),
)
