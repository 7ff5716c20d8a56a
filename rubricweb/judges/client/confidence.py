"""How sure a judge was of a verdict, by the probabilities of the tokens that spell it.

Where the label of a verdict begins, the model chose between the tokens that begin each possible label. The
confidence is the probability of the label it chose, renormalised over the labels it could have chosen:

    confidence = P(chosen) / Σ P(label)     over the labels possible at that place

P(label) sums the probabilities of the tokens that begin this label and no other ("MET", "met", "ME"). Where
the token chosen leaves several labels open ("Good" of "Good" and "Good enough"), the choice goes on at the
next token, and its probabilities count times that of the way there. What else the model might have written
there is left out, as are tokens not chosen that leave several labels open: where they would have led is not
known. Renormalising over label words is Zhao et al., "Calibrate Before Use" (2021, arXiv:2102.09690), section
2; reading an LLM judge's token probabilities is Liu et al., "G-Eval" (2023, arXiv:2303.16634), section 2.

At the place of the verdict `MET` 0.80, `UN` 0.15, `CAN` 0.03 and `The` 0.02: 0.80 / 0.98 = 0.816.

It says how decided the model was about the last word, after its explanation; not how often it is right.
"""

from __future__ import annotations

import bisect
import itertools
import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.autograders.material import neutralised
from rubricweb.engine.parsers.yes_no import yes_no_place
from rubricweb.engine.verdict import Verdict
from rubricweb.judges.client.completions import Token, TokenChance

_MAX_TOKENS_OF_A_LABEL = 40
_MAX_BYTES_OF_A_LABEL = 4000  # its neutralised spelling, and blanks before it
_PLACE = re.compile(r'"(?:criterion_status|option)"\s*:\s*"?')
_NUMBER = re.compile(r'"criterion_number"\s*:\s*"?(\d{1,6})')


def with_confidence(
    reading: Reading, prompt: Prompt, content: str, start: int, tokens: Sequence[Token] | None
) -> Reading:
    """The reading with a confidence for every answer that has none and whose label can be found.

    `content` is all the model wrote, `start` where its answer begins in it, `tokens` what it was written in.
    Nothing is added where the tokens do not spell the content.
    """
    if not tokens or not reading.answers:
        return reading
    spelled = SpelledTokens(tokens)
    if spelled.text != content.encode("utf-8", "replace"):
        return reading
    answers = dict(reading.answers)
    for index, place in _places(prompt, content, start).items():
        answer = answers.get(index)
        if answer is None or answer.confidence is not None:
            continue
        labels, chosen = _labels(prompt, index, answer)
        confidence = label_confidence(spelled, place, labels, chosen)
        if confidence is not None:
            answers[index] = replace(answer, confidence=confidence)
    return replace(reading, answers=answers)


def label_confidence(
    spelled: SpelledTokens, place: int, labels: Mapping[str, str], chosen: str
) -> float | None:
    """Confidence in the label `chosen` written at character `place`; None when it cannot be told.

    `labels` maps every spelling to the label it means, as in `{"MET": "MET", "UNMET": "UNMET"}`.
    """
    spellings = {spelling.casefold(): label for spelling, label in labels.items()}
    at, offset = spelled.token_at(place)
    mass: defaultdict[str, float] = defaultdict(float)
    way, said = 1.0, b""
    for token in spelled.tokens[at : at + _MAX_TOKENS_OF_A_LABEL]:
        piece = _piece(token)
        still_open = 0.0
        for other, chance in _chances(token).items():
            if other[:offset] != piece[:offset]:
                continue
            meant = _meant(said + other[offset:], spellings)
            if len(meant) == 1:
                mass[meant.pop()] += way * chance
                continue
            if other == piece and meant:
                still_open = chance
        if not still_open or len(said) + len(piece) > _MAX_BYTES_OF_A_LABEL:
            break
        way, said, offset = way * still_open, said + piece[offset:], 0
    total = sum(mass.values())
    return min(1.0, mass[chosen] / total) if mass.get(chosen) else None


@dataclass(frozen=True, slots=True)
class SpelledTokens:
    """Tokens with the bytes they spell together."""

    tokens: Sequence[Token]

    @property
    def text(self) -> bytes:
        return b"".join(map(_piece, self.tokens))

    def token_at(self, place: int) -> tuple[int, int]:
        """The token that holds the character at `place`, and the byte of it where that begins."""
        text = self.text.decode("utf-8", "replace")
        byte = len(text[:place].encode())
        ends = list(itertools.accumulate(len(_piece(token)) for token in self.tokens))
        at = bisect.bisect_right(ends, byte)
        return at, byte - (ends[at - 1] if at else 0)


def _places(prompt: Prompt, content: str, start: int) -> dict[int, int]:
    """Where in the content the label of each criterion begins, by criterion index."""
    if prompt.reply_format == "yes_no":
        place = yes_no_place(content[start:])
        return {prompt.criteria[0]: start + place} if place is not None and len(prompt.criteria) == 1 else {}
    places = [match.end() for match in _PLACE.finditer(content, start)]
    numbers = [int(match.group(1)) for match in _NUMBER.finditer(content, start)]
    if not numbers:
        return {prompt.criteria[0]: places[0]} if len(places) == len(prompt.criteria) == 1 else {}
    if len(numbers) != len(places) or len(set(numbers)) != len(numbers):
        return {}  # something of this is quoted, or said twice: which is which cannot be told
    return {
        prompt.criteria[number - 1]: place
        for number, place in zip(numbers, places, strict=True)
        if 1 <= number <= len(prompt.criteria)
    }


def _labels(prompt: Prompt, index: int, answer: Answer) -> tuple[dict[str, str], str]:
    """The spellings of every label the criterion could have been given, and the label it was given."""
    if prompt.reply_format == "yes_no":
        return {"yes": "yes", "no": "no"}, "yes" if answer.verdict is Verdict.MET else "no"
    options = prompt.options_at(prompt.criteria.index(index))
    if not options:
        return {str(verdict): str(verdict) for verdict in Verdict}, str(answer.verdict)
    numbered = {str(number): label for number, label in enumerate(options, 1)}
    return numbered | {neutralised(label): label for label in options}, answer.option or ""


def _meant(written: bytes, spellings: Mapping[str, str]) -> set[str]:
    """The labels that a text beginning like this may turn out to be."""
    text = written.decode("utf-8", "replace").casefold().lstrip()
    for spelling, label in spellings.items():
        rest = text[len(spelling) :]
        if text.startswith(spelling) and rest and not (rest[0].isalnum() or rest[0] in "_ "):
            return {label}
    return {label for spelling, label in spellings.items() if spelling.startswith(text)}


def _chances(token: Token) -> dict[bytes, float]:
    """Probabilities by token, with the one chosen, which need not be among the likeliest."""
    chances = {_piece(other): _chance(other) for other in token.top_logprobs or ()}
    chances.setdefault(_piece(token), _chance(token))
    return chances


def _chance(token: TokenChance) -> float:
    """Its probability from 0 to 1; 0 where the endpoint says NaN."""
    return 0.0 if math.isnan(token.logprob) else math.exp(min(0.0, token.logprob))


def _piece(token: TokenChance) -> bytes:
    return bytes(token.bytes) if token.bytes is not None else token.token.encode("utf-8", "replace")
