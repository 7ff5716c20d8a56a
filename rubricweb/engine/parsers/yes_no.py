"""The yes or no a judge's prose gives as its answer."""

from __future__ import annotations

import re

from rubricweb.engine.parsers.think import without_thinking

_MARKS = r"[\s*_`\"'“”‘’>#\[(:]{0,20}"
# Words that can begin the clause after an answer: "No the text does not". Before any other word "no" counts
# things: "no error was found" says something of errors and answers nothing.
_CLAUSE = (
    r"(?:the|it|its|this|that|these|there|they|he|she|i|we|you|a|an|but|and|or|because|since|as|although|though"
    r"|while|not|neither|in|none|yes|no)\b"
)
_NO = rf"no\b(?!\.\s?\d)(?![*_`\"'“”‘’\])]{{0,9}}(?:[ \t]{{1,9}}(?!{_CLAUSE})\w|[-/]\w))"
_WORD = rf"(?:yes\b|{_NO})"
# "yes or no" names the answers there are, and "yes and no" is none of them.
_EITHER = r"\b(?:yes|no)\b"
_LISTED = re.compile(
    rf"{_EITHER}[*_`\"'”’]{{0,9}}\s{{0,9}}(?:/|\bor\b|\band\b)[\s*_`\"'“‘]{{0,9}}{_EITHER}", re.I
)
_QUOTED = re.compile(r"[\"“][^\"“”\n]{1,2000}[\"”]")
_LED = re.compile(rf"\A{_MARKS}(?P<word>{_WORD})", re.I)
_MARKED = re.compile(
    rf"\b(?P<final>(?:final|overall)\s{{1,9}})?(?:answer|verdict|conclusion|decision|judge?ment)\b{_MARKS}"
    rf"(?:\bis\b|[:=–—-]){{1,2}}{_MARKS}(?P<word>{_WORD})",
    re.I,
)
_LAST = re.compile(
    rf"(?:\n|[.!?][*_`\"'”’)]{{0,9}}\s){_MARKS}(?P<word>{_WORD})[\s*_`\"'”’).!\]]{{0,20}}\Z", re.I
)
_SAID = re.compile(rf"(?<![\"'“”‘’`\w-])(?P<word>{_WORD})(?![\"'“”‘’`])", re.I)


def read_yes_no(text: str) -> bool | None:
    """Whether the reply answers yes (True) or no (False); None where it gives no answer or two.

    An answer that is marked ("Final answer: No") stands, one marked as final above others. Else the answer is
    the word that leads the reply, as the prompt asks, or one that ends it as a sentence of its own. It must
    not be contradicted: ``"No, but yes in part"`` is None. Words in the reasoning decide nothing: neither
    ``"The text says yes"`` nor ``"no error"``, which may stand beside either answer, nor a quotation, nor a
    leading ``<think>`` block, where a model still weighs its answer.
    """
    place = yes_no_place(text)
    return None if place is None else text[place : place + 3].casefold() == "yes"


def yes_no_place(text: str) -> int | None:
    """The character of ``text`` at which its answer (see ``read_yes_no``) begins; None without one."""
    answer = without_thinking(text)
    thought = len(text) - len(answer)
    prose = _LISTED.sub(_blank, _QUOTED.sub(_blank_words, answer))
    marked = list(_MARKED.finditer(prose))
    marked = [match for match in marked if match["final"]] or marked
    if marked:
        chosen, words = marked[-1], marked
    else:
        found = _LED.search(prose) or _LAST.search(prose)
        if found is None:
            return None
        chosen, words = found, [found, *_SAID.finditer(prose)]
    agree = len({match["word"].casefold() for match in words}) == 1
    return thought + chosen.start("word") if agree else None


def _blank(found: re.Match[str]) -> str:
    """Blanks of the same length: places stay what they are."""
    return " " * len(found.group())


def _blank_words(quoted: re.Match[str]) -> str:
    """Blanks for several words in quotation marks, which are the submission's, unless all is in them."""
    words = quoted.group()
    own = len(words.split()) == 1 or words == quoted.string.strip()
    return words if own else _blank(quoted)
