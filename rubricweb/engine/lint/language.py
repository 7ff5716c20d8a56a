"""The little English that lint knows: words, stems, and which verbs tell what a response does.

Nothing here parses. Every list is short on purpose and errs on the side of silence: a requirement in another
language simply matches nothing.
"""

from __future__ import annotations

import re
from functools import lru_cache

SUBJECT = (
    r"(?:(?:the|this|each|every)\s+)?(?:assistant(?:'s)?\s+|model(?:'s)?\s+)?"
    r"(?:response|answer|submission|output|text|essay|story|summary|reply|model|assistant|author|writer"
    r"|completion|code|email|letter|article|report|translation|explanation|chatbot|it)"
)
"""What a requirement calls the thing it is about."""

_SAYING = (
    "acknowledge add admit advise advocate analyse analyze apologise apologize argue assert attribute "
    "avoid bring caution cite clarify classify compare compute conclude contrast correct criticise "
    "criticize define demonstrate describe direct discourage discuss distinguish elaborate emphasise "
    "emphasize encourage enumerate explain explore express greet highlight hint identify illustrate "
    "imply include inform inquire instruct interpret introduce invite justify mention offer omit "
    "outline phrase praise prescribe prompt propose provide rank reassure recognise recognize recommend "
    "refer refrain refuse remind repeat rephrase specify stipulate suggest summarise summarize tell "
    "thank translate urge warn"
)
"""Verbs whose subject in a requirement is almost always the response itself."""

_SAYING_OR_NOUN = (
    "address answer ask comment count counsel detail document give label limit list name note "
    "present question quote reference report request show state stress structure support use"
)
"""The same, but their -s form is also a plural noun, or a verb that often has another subject."""

_OTHER = (
    "be begin calculate comply confirm contain cover do end fit follow handle have incorporate keep "
    "maintain make match meet open organise organize possess produce read remain respect return solve "
    "sound start stay tailor take write"
)
"""Verbs that in a subordinate clause usually belong to something else."""

_IRREGULAR = {"be": "is", "have": "has", "do": "does"}


def third_person(verb: str) -> str:
    """The -s form: ``explain`` → ``explains``, ``classify`` → ``classifies``, ``address`` → ``addresses``."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if re.search(r"[^aeiou]y$", verb):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(?:s|sh|ch|x|z|o)$", verb) else "s")


def one_of(words: list[str]) -> str:
    """A pattern for any of the words, longest first."""
    return "(?:" + "|".join(sorted(set(words), key=lambda word: (-len(word), word))) + ")"


SAYS = one_of([third_person(verb) for verb in _SAYING.split()])
SAYS_OR_NOUNS = one_of([third_person(verb) for verb in _SAYING_OR_NOUN.split()])
DOES_OTHER = one_of([third_person(verb) for verb in _OTHER.split()])
SAY = one_of(_SAYING.split())
SAY_OR_NOUN = one_of(_SAYING_OR_NOUN.split())
DO_OTHER = one_of(_OTHER.split())

ERROR_NOUN = (
    r"(?:errors?|mistakes?|inaccurac(?:y|ies)|falsehoods?|hallucinations?|contradictions?|typos?|fabrications?"
    r"|misinformation|misconceptions?|insults?|slurs?|plagiarism|clich[ée]s?|filler|jargon|"
    r"(?:false|incorrect|inaccurate|wrong|misleading|harmful|dangerous|unsafe|offensive|irrelevant"
    r"|outdated|fabricated|invented|unsupported|biased|rude)\s+"
    r"(?:\w+\s+)?(?:information|claims?|statements?|advice|details?|facts?|content|language|recommendations?"
    r"|assumptions?|instructions?|suggestions?))"
)
"""A thing nobody wants in a response."""

BAD_QUALITY = (
    r"(?:rude|wrong|incorrect|inaccurate|misleading|harmful|dangerous|unsafe|offensive|irrelevant|insulting"
    r"|incoherent|incomplete|verbose|repetitive|condescending|dismissive|judgmental|biased|confusing"
    r"|plagiari[sz]ed)"
)
"""What nobody wants a response to be."""

BAD_ACT = (
    r"(?:hallucinat|fabricat|insult|plagiari[sz]|mislead|invent|misquot|misstat|misinterpret|misrepresent"
    r"|contradict|ignor|neglect|ramble|exaggerat)\w*"
)
"""What nobody wants a response to do."""


def plain(text: str) -> str:
    """The text with brackets and what stands in quotation marks blanked out, the rest where it was.

    ``'Says "yes" (or no).'`` becomes ``'Says "   "        .'``.
    """
    for pattern in _BRACKETS:
        text = pattern.sub(lambda match: " " * len(match.group()), text)
    return _QUOTED.sub(
        lambda match: match.group()[0] + " " * (len(match.group()) - 2) + match.group()[-1], text
    )


_BRACKETS = (re.compile(r"\([^()]*\)"), re.compile(r"\([^()]*\)"), re.compile(r"\[[^\[\]]*\]"))
_QUOTED = re.compile(r'"[^"\n]*"|“[^”\n]*”|`[^`\n]*`')


def first_sentence(text: str) -> str:
    """Up to and with the first full stop, question or exclamation mark that ends a sentence, or line."""
    match = _SENTENCE.match(text)
    return match.group() if match else text


_SENTENCE = re.compile(r"\s*[^\n]*?(?:[.!?](?=\s|$)|(?=\n)|$)")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


def words(text: str) -> list[str]:
    """The words in lower case, a hyphenated one in its parts."""
    return _WORD.findall(text.lower())


@lru_cache(maxsize=4096)
def content_stems(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning, subject and little words left out.

    ``"The response names the capital city."`` gives ``{"name", "capital", "citi"}``. Numbers stay as they
    are.
    """
    return frozenset(stem(word) for word in words(text) if word not in _LITTLE)


def stem(word: str) -> str:
    """The word without a common ending: names, named, naming → nam; cities, city → citi. Rough on purpose."""
    if not word.isascii() or len(word) < 4:
        return word
    for ending, replacement in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)] + replacement
    return word


_ENDINGS = (("ies", "i"), ("ing", ""), ("ed", ""), ("es", ""), ("s", ""), ("y", "i"), ("e", ""))
_LITTLE_WORDS = (
    "a an the this that these those of to in on at by for with from as is are be been being it its and or "
    "response responses answer answers submission output text assistant model should must will would can may "
    "does do did has have which who whom what when where how any some such there their they them user users "
    "about into than then so if s"
)
_LITTLE = frozenset(_LITTLE_WORDS.split())
_NEGATING_WORDS = (
    "not no never without fail fails failing omit omits lack lacks lacking neglects miss misses cannot doesn "
    "don't doesn't isn't avoid avoids avoiding refrain refrains"
)
NEGATING = frozenset(_NEGATING_WORDS.split())
"""Words that turn a sentence round."""
