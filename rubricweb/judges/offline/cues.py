"""Things rubrics ask for that show in a text's form rather than in its words.

A cue is a pattern that recognises the requirement and a look at the response that decides it. The first cue
whose pattern is found decides; a look that returns None passes the requirement on to the next one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from rubricweb.judges.offline.phrases import (
    BLAME,
    COMMITMENT,
    COUNT,
    EMPTY_STEP,
    FEELING,
    FUTURE,
    GREETING,
    JARGON,
    LINK,
    MONEY_BACK,
    NEGATED,
    RUDE,
    SCOPE,
    STEP,
    TIME,
    UNIT,
    any_of,
)
from rubricweb.judges.offline.words import (
    NUMBER_WORDS,
    content_words,
    is_number,
    sentences,
    stem,
    stems,
    tokens,
)


@dataclass(frozen=True, slots=True)
class Material:
    """What a cue may look at: the (scoped) response, what was asked, and the exemplar; "" where absent."""

    response: str
    query: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Whether what a requirement describes is there, and the words that say so."""

    present: bool
    detail: str
    complete: bool = False
    """True when the cue covers the whole requirement: its other words need not be looked for."""


Look = Callable[[re.Match[str], Material], Sighting | None]


@dataclass(frozen=True, slots=True)
class Cue:
    """A pattern over requirements, and the look that decides them."""

    pattern: re.Pattern[str]
    look: Look


@dataclass(frozen=True, slots=True)
class Seen:
    """A cue's sighting, where in the requirement the cue begins, and the words it leaves over."""

    sighting: Sighting
    start: int
    rest: str


def sight(requirement: str, material: Material) -> Seen | None:
    """What the first cue that applies says; None when none does."""
    for cue in CUES:
        found = cue.pattern.search(requirement)
        if found is None:
            continue
        sighting = cue.look(found, material)
        if sighting is not None:
            rest = requirement[: found.start()] + " " + requirement[found.end() :]
            return Seen(sighting, found.start(), rest)
    return None


def scoped(requirement: str, response: str) -> tuple[str, str]:
    """(requirement, response) narrowed to the first or last sentences when the requirement asks for that.

    ("apologises in the first two sentences", "A. B. C.") becomes ("apologises", "A. B.").
    """
    found = SCOPE.search(requirement)
    if found is None:
        return requirement, response
    count = _count(found["count"]) if found["count"] else 1
    parts = (
        sentences(response)
        if found["unit"].lower().startswith("sentence")
        else [part for part in re.split(r"\n\s*\n", response) if part.strip()]
    )
    if parts and GREETING.fullmatch(parts[0].strip()):
        parts = parts[1:]
    kept = parts[:count] if found["end"].lower() in ("first", "opening") else parts[-count:]
    return requirement[: found.start()] + requirement[found.end() :], " ".join(kept)


_GENERIC_NAMES = frozenset({"customer", "sir", "madam", "all", "there", "team", "everyone", "user", "friend"})


def _find(pattern: re.Pattern[str], what: str) -> Look:
    """A look that searches the response for a pattern."""

    def look(_: re.Match[str], material: Material) -> Sighting:
        found = pattern.search(material.response)
        return (
            Sighting(True, f"found {what}: {quote(found[0])}")
            if found
            else Sighting(False, f"found no {what}")
        )

    return look


def quote(text: str, limit: int = 60) -> str:
    """A passage in quotation marks on one line, shortened."""
    line = " ".join(text.split()).strip(" ,;:-*•")
    return f"“{line if len(line) <= limit else line[: limit - 1] + '…'}”"


def _count(text: str) -> int:
    return NUMBER_WORDS.get(text.lower()) or int(text.replace(",", ""))


def _size(unit: str, text: str) -> int:
    kind = unit.lower().split()[0].removesuffix("s")
    if kind == "word":
        return len(text.split())
    if kind == "sentence":
        return len(sentences(text))
    if kind == "character":
        return len(text)
    if kind == "paragraph":
        return len([part for part in re.split(r"\n\s*\n", text) if part.strip()])
    if kind == "line":
        return len([line for line in text.splitlines() if line.strip()])
    if kind == "example":
        return len(re.findall(r"\b(?:for example|for instance|e\.g\.|such as)", text, re.IGNORECASE))
    return len(_list_lines(text))


def _bounded(holds: Callable[[int, int], bool], words: str) -> Look:
    def look(found: re.Match[str], material: Material) -> Sighting:
        size, bound, unit = _size(found["unit"], material.response), _count(found["count"]), found["unit"]
        return Sighting(
            holds(size, bound), f"counted {size} {unit}, asked for {words} {bound}", complete=True
        )

    return look


def _between(found: re.Match[str], material: Material) -> Sighting:
    low, high, size = _count(found["low"]), _count(found["high"]), _size(found["unit"], material.response)
    return Sighting(
        low <= size <= high, f"counted {size} {found['unit']}, asked for {low} to {high}", complete=True
    )


def _short(limit: int) -> Look:
    def look(_: re.Match[str], material: Material) -> Sighting:
        size = len(material.response.split())
        return Sighting(size <= limit, f"counted {size} words, took up to {limit} for concise")

    return look


def _long(_: re.Match[str], material: Material) -> Sighting:
    size = len(material.response.split())
    return Sighting(size > 250, f"counted {size} words, took more than 250 for long-winded")


def _list_lines(text: str) -> list[str]:
    return re.findall(r"^\s*(?:[-*•–]|\d+[.)])\s+\S.*$", text, re.MULTILINE)


def _list(_: re.Match[str], material: Material) -> Sighting:
    lines = _list_lines(material.response)
    if len(lines) >= 2:
        return Sighting(True, f"found {len(lines)} list lines")
    steps = re.findall(
        r"\b(?:first|second|then|next|after that|finally)\b,?", material.response, re.IGNORECASE
    )
    return Sighting(len(steps) >= 3, f"found {len(lines)} list lines and {len(steps)} step words")


def _question(found: re.Match[str], material: Material) -> Sighting:
    asked = [part for part in sentences(material.response) if part.rstrip("\"'”’)* ").endswith("?")]
    if re.search(r"\bend", found[0], re.IGNORECASE):
        asked = asked if sentences(material.response)[-1:] == tuple(asked[-1:]) else []
    return Sighting(bool(asked), f"found the question {quote(asked[-1])}" if asked else "found no question")


def _every_question(_: re.Match[str], material: Material) -> Sighting | None:
    asked = [part for part in sentences(material.query) if part.endswith("?")]
    if not asked:
        return None
    known = stems(material.response)
    open_ones = [question for question in asked if _coverage(question, known) < 0.25]
    answered = len(asked) - len(open_ones)
    detail = f"took {answered} of {len(asked)} questions as answered"
    return Sighting(
        not open_ones, detail + (f"; not {quote(open_ones[0])}" if open_ones else ""), complete=True
    )


def _as_in_reference(found: re.Match[str], material: Material) -> Sighting | None:
    label = re.search(r"\bcalls (\w+)", found.string)
    part = re.search(rf"\b{label[1]}:\s*([^.]+)", material.reference, re.IGNORECASE) if label else None
    clauses = _clauses(part[1] if part else material.reference)
    if not clauses:
        return None
    known = stems(material.response)
    shares = sorted(((_coverage(clause, known), clause) for clause in clauses), reverse=True)
    best, clause = shares[0]
    if re.search(r"\b(?:every|each|all)\b", found.string, re.IGNORECASE):
        mean = sum(share for share, _ in shares) / len(shares)
        worst = shares[-1][1]
        detail = f"found {mean:.0%} of the reference's terms, least of {quote(worst)}"
        return Sighting(mean >= 0.5, detail, complete=True)
    return Sighting(best >= 0.55, f"found {best:.0%} of the reference's {quote(clause)}", complete=True)


def _invented(_: re.Match[str], material: Material) -> Sighting | None:
    if not material.reference and not material.query:
        return None
    known = stems(f"{material.query} {material.reference}")
    new = [
        token
        for token in tokens(LINK.sub(" ", material.response))
        # Single digits number lists and steps; they say little about where a text comes from.
        if is_number(token) and len(stem(token)) > 1 and not {stem(token), stem(token).rstrip("%")} & known
    ]
    sources = f"{material.query} {material.reference}"
    new += [found for found in LINK.findall(material.response) if found.rstrip(".,)") not in sources]
    detail = (
        f"found {quote(new[0])}, which neither prompt nor reference has"
        if new
        else "found no new figure or link"
    )
    return Sighting(bool(new), detail, complete=True)


def _promise(found: re.Match[str], material: Material) -> Sighting | None:
    requirement = found.string
    about_money = MONEY_BACK.search(requirement) is not None
    subject = {stem(word) for word in content_words(requirement)} - {stem("promises"), stem("policy")}
    barred = not re.search(
        r"\b(?:outside|beyond|against|contrary|exceed|not (?:allow|cover|in))", requirement, re.I
    )
    for sentence in sentences(material.response):
        if NEGATED.search(sentence) or not COMMITMENT.search(sentence):
            continue
        said = MONEY_BACK.search(sentence) if about_money else None
        if said is None and (about_money or not subject & stems(sentence)):
            continue
        if barred or _refused_by(material.reference, said[0] if said else sentence):
            return Sighting(True, f"found the promise {quote(sentence)}", complete=True)
    return Sighting(False, "found no such promise", complete=True)


def _refused_by(reference: str, what: str) -> bool:
    """Whether the reference rules this out, or says nothing of it."""
    wanted = {stem(word) for word in content_words(what)}
    about = [clause for clause in _clauses(reference) if wanted & stems(clause)]
    return not about or any(NEGATED.search(clause) for clause in about)


def _by_when(_: re.Match[str], material: Material) -> Sighting:
    for sentence in sentences(material.response):
        moment = TIME.search(sentence)
        if moment and FUTURE.search(sentence) and not NEGATED.search(sentence):
            return Sighting(True, f"found the time {quote(moment[0])} in {quote(sentence)}", complete=True)
    return Sighting(False, "found no time by which something will happen", complete=True)


def _next_step(_: re.Match[str], material: Material) -> Sighting:
    for sentence in sentences(material.response):
        step = STEP.search(sentence)
        if step and not EMPTY_STEP.search(sentence):
            return Sighting(True, f"found the step {quote(sentence)}", complete=True)
    return Sighting(False, "found no concrete step", complete=True)


def _action_of_reference(_: re.Match[str], material: Material) -> Sighting | None:
    wanted = re.search(r"\baction(?: needed| required)?:\s*([^.]+)", material.reference, re.IGNORECASE)
    if wanted is None:
        return None
    if re.fullmatch(r"\s*(?:none|nothing|no(?: action)?)\s*", wanted[1], re.IGNORECASE):
        step = re.search(
            r"\b(?:please|you (?:must|need|have to)|make sure|before you)\b", material.response, re.I
        )
        return Sighting(
            step is None, "no action is asked for" + (f", yet found {quote(step[0])}" if step else ""), True
        )
    share = _coverage(wanted[1], stems(material.response))
    return Sighting(share >= 0.5, f"found {share:.0%} of the action {quote(wanted[1])}", complete=True)


def _plain(_: re.Match[str], material: Material) -> Sighting:
    found = _jargon(material.response)
    return Sighting(
        not found, f"found {quote(found[0])}" if found else "found no abbreviation or code", complete=True
    )


def _internals(_: re.Match[str], material: Material) -> Sighting:
    found = _jargon(material.response)
    hidden = re.search(r"\binternal:\s*([^.]+)", material.reference, re.IGNORECASE)
    if not found and hidden:
        known = stems(material.response)
        found = [name for name in hidden[1].split(",") if _coverage(name, known) > 0.99]
    return Sighting(
        bool(found), f"found {quote(found[0])}" if found else "found no code or internal name", complete=True
    )


def _jargon(text: str) -> list[str]:
    """Abbreviations and codes, order numbers of the customer's kind left out."""
    return [
        found for found in JARGON.findall(LINK.sub(" ", text)) if not re.fullmatch(r"[A-Z]{2}-?\d{4,}", found)
    ]


def _greets_by_name(_: re.Match[str], material: Material) -> Sighting:
    found = re.match(
        r"(?:hi|hello|hey|dear|good \w+)\s+([^\W\d_]+)", material.response.strip(), re.IGNORECASE
    )
    named = found is not None and found[1][0].isupper() and found[1].lower() not in _GENERIC_NAMES
    return Sighting(named, f"found the greeting {quote(found[0])}" if found else "found no greeting by name")


def _readable(_: re.Match[str], material: Material) -> Sighting:
    parts = sentences(material.response)
    mean = len(material.response.split()) / max(1, len(parts))
    return Sighting(
        len(parts) >= 2 and mean <= 24, f"counted {len(parts)} sentences of {mean:.0f} words on average"
    )


def _json(_: re.Match[str], material: Material) -> Sighting:
    text = re.sub(r"^```\w*|```$", "", material.response.strip()).strip()
    return Sighting(text[:1] in "{[" and text[-1:] in "]}", "looked for one JSON value")


def _clauses(text: str) -> list[str]:
    """The statements of a reference that carry content, without their leading labels."""
    parts = re.split(r"[;\n]|(?<=[.!?])\s+|,\s+(?=\w+\s+\w+\s+\w+)", text)
    return [part.strip(" .") for part in parts if len(content_words(part)) >= 2]


def _coverage(text: str, known: frozenset[str]) -> float:
    """Share of a text's content in [0, 1] that is known, figures counting double; 0 without content."""
    weights = {stem(word): 2.0 if is_number(word) else 1.0 for word in content_words(text)}
    return sum(weight for word, weight in weights.items() if word in known) / (sum(weights.values()) or 1.0)


def _count_cue(comparison: str, look: Look) -> Cue:
    return Cue(any_of(rf"(?:{comparison}) {COUNT} {UNIT}"), look)


CUES = (
    Cue(any_of(rf"between (?P<low>\d[\d,]*) and (?P<high>\d[\d,]*) {UNIT}"), _between),
    _count_cue(
        r"at most|(?:no|not) more than|not exceed(?:ing)?|up to|maximum of|max\.?|within|limited to",
        _bounded(lambda size, bound: size <= bound, "at most"),
    ),
    _count_cue(
        "fewer than|less than|under|below|shorter than",
        _bounded(lambda size, bound: size < bound, "fewer than"),
    ),
    _count_cue(
        "at least|no fewer than|no less than|minimum of",
        _bounded(lambda size, bound: size >= bound, "at least"),
    ),
    _count_cue(
        "more than|over|longer than|exceeds?", _bounded(lambda size, bound: size > bound, "more than")
    ),
    _count_cue("exactly", _bounded(lambda size, bound: size == bound, "exactly")),
    Cue(any_of(r"(?:every|each|all)\b[^.]{0,30}\bquestions?"), _every_question),
    Cue(any_of(r"action\b[^.]*\breference"), _action_of_reference),
    Cue(any_of(r"invent\w*|fabricat\w+|hallucinat\w+|made[- ]up|makes? up|does not contain"), _invented),
    Cue(
        any_of(r"promis\w+|commits?|guarantees?", r"offers? (?:a |the )?(?:refund|discount|voucher)"),
        _promise,
    ),
    Cue(
        any_of(
            r"(?:as (?:written|stated|given) in|in|from|matches?|consistent with|per) the reference",
            r"reference calls",
        ),
        _as_in_reference,
    ),
    Cue(any_of(r"by when|deadline|time ?frame|how long", r"when\b[^.]{0,40}\bwill"), _by_when),
    Cue(any_of("next steps?", "call to action", "what to do", "actionable"), _next_step),
    Cue(any_of(r"blam\w+|at fault|accus\w+|lectur\w+"), _find(BLAME, "accusation")),
    Cue(
        any_of("ticket numbers?", "code names?", "internals?", "internal names?", "error codes?"), _internals
    ),
    Cue(any_of("jargon", "abbreviations?", "acronyms?"), _find(JARGON, "abbreviation or code")),
    Cue(
        any_of("plain (?:language|words?|wording|english)", "only words", "easy to understand", "lay terms"),
        _plain,
    ),
    Cue(
        any_of(r"acknowledg\w+|empath\w+|sympath\w+|apolog\w+|regrets?|compassion\w*"),
        _find(FEELING, "acknowledgement"),
    ),
    Cue(any_of(r"(?:greets?|greeting|salutation|address\w*)\b[^.]*\bname"), _greets_by_name),
    Cue(
        any_of("greets?|greeting|salutation"),
        _find(re.compile(rf"\A\s*{GREETING.pattern}", re.I), "greeting"),
    ),
    Cue(any_of(r"thank\w*"), _find(any_of(r"thank\w*"), "thanks")),
    Cue(
        any_of("sign-?off|signature|closing line"),
        _find(any_of("regards|sincerely|cheers|best wishes|yours"), "sign-off"),
    ),
    Cue(any_of("concise(?:ly)?|brief(?:ly)?|succinct(?:ly)?|to the point"), _short(120)),
    Cue(any_of(r"verbose|long-winded|rambl\w+|wordy"), _long),
    Cue(any_of(r"bullet\w*|numbered|step[- ]by[- ]step|as a list|a list of|lists? (?:the )?steps"), _list),
    Cue(
        any_of(r"(?:asks?|poses?|ends? with|includes?) [^.]{0,40}?(?:questions?|clarif\w+)"),
        _question,
    ),
    Cue(
        any_of(r"cites?|citations?|links?|urls?|sources?|references? (?:a|an|at least)"),
        _find(
            re.compile(LINK.pattern + r"|\[\d+\]|\(\w+,? \d{4}\)|\baccording to\b", re.I), "link or source"
        ),
    ),
    Cue(
        any_of("headings?|headers?|title"),
        _find(re.compile(r"^\s*(?:#{1,6}\s+\S.*|\*\*[^*\n]+\*\*\s*)$", re.M), "heading"),
    ),
    Cue(any_of("code (?:block|snippet|example)|snippets?"), _find(re.compile(r"```|^ {4}\S", re.M), "code")),
    Cue(any_of("tables?"), _find(re.compile(r"^\s*\|.*\|\s*$", re.M), "table")),
    Cue(any_of("valid json|json object|json format"), _json),
    Cue(any_of(r"profan\w+|swear\w*|rude\w*|insult\w*|offensive|slurs?"), _find(RUDE, "rude word")),
    Cue(
        any_of(r"examples?|illustrat\w+"),
        _find(any_of("for example|for instance|such as|like this", r"e\.g\."), "example"),
    ),
    Cue(any_of("emojis?"), _find(re.compile("[\u2600-\u27bf\U0001f300-\U0001faff]"), "emoji")),
    Cue(any_of("exclamation"), _find(re.compile("!"), "exclamation mark")),
    Cue(
        any_of(r"hedg\w+|uncertain\w*|caveats?|disclaimers?"),
        _find(any_of("may|might|could|perhaps|possibly|not (?:sure|certain)"), "hedge"),
    ),
    Cue(
        any_of("phone number|email address|contact details"),
        _find(re.compile(r"\S+@\S+\.\w+|\+?\d[\d ()-]{6,}\d"), "contact detail"),
    ),
    Cue(
        any_of(r"summary|summari[sz]\w+|conclu\w+"),
        _find(any_of("in summary|to sum up|overall|in short|in conclusion|all in all"), "summary"),
    ),
    Cue(
        any_of(r"polite\w*|courteous\w*|friendly|warm|kind|professional tone|respectful"),
        _find(any_of(r"please|thank\w*|sorry|happy to|glad|welcome|appreciate|regards"), "courtesy"),
    ),
    Cue(
        any_of("readable|well[- ](?:written|structured|organi[sz]ed)", "coherent|easy to (?:read|follow)"),
        _readable,
    ),
    Cue(
        any_of("notices?|benefits?|effects?"),
        _find(any_of("you (?:can|will|now)", "you['’]ll", "now", "no longer"), "effect"),
    ),
    Cue(any_of("(?:a|the|any|specific|exact) (?:dates?|day|weekday)"), _find(TIME, "date or time")),
    Cue(
        any_of(r"(?:a|any|specific|exact|concrete) (?:numbers?|figures?|statistics?|percentages?|amounts?)"),
        _find(re.compile(r"\d[\d.,]*\s?%?"), "number"),
    ),
)
"""Every cue, the more particular ones first."""
