"""What the things that cues look for look like in a text."""

from __future__ import annotations

import re

from rubricweb.judges.offline.words import NUMBER_WORDS


def any_of(*alternatives: str) -> re.Pattern[str]:
    """A pattern for any of these as whole words, in either case."""
    return re.compile(rf"\b(?:{'|'.join(alternatives)})(?!\w)", re.IGNORECASE)


COUNT = r"(?P<count>\d[\d,]*|" + "|".join(NUMBER_WORDS) + ")"
UNIT = r"(?P<unit>words?|sentences?|characters?|paragraphs?|lines?|bullets?(?: points?)?|steps?|examples?)"
_NUMBER = r"(?:\d+|" + "|".join(NUMBER_WORDS) + ")"
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"

SCOPE = re.compile(
    r"(?:\s+(?:with)?in|\s+at|\s+of)?\s+(?:its|the|their|his|her)\s+"
    rf"(?P<end>first|opening|last|final|closing)\s+(?:{COUNT}\s+)?(?P<unit>sentences?|paragraphs?)\b",
    re.IGNORECASE,
)
GREETING = re.compile(
    r"(?:hi|hello|hey|dear|good (?:morning|afternoon|evening)|greetings)\b[^\n.!?]{0,40}[,.!]?",
    re.IGNORECASE,
)
TIME = any_of(
    r"\d{1,2}[./-]\d{1,2}(?:[./-]\d{2,4})?",
    r"\d{4}-\d{2}-\d{2}",
    rf"\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}",
    rf"{_MONTH}\s+\d{{1,2}}",
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day",
    r"tomorrow|today|tonight",
    rf"{_NUMBER}(?:\s*(?:-|–|to)\s*\d+)?\s+(?:working |business )?(?:minute|hour|day|week|month)s?",
    r"\d{1,2}(?::\d{2})?\s?(?:am|pm|o'clock)",
)
FUTURE = re.compile(
    r"\b(?:will|within|by|on|from|before|until|going to|shall|takes?|next)\b|['’]ll\b", re.IGNORECASE
)
NEGATED = re.compile(
    r"\b(?:no|not|never|cannot|without|nor|neither|unable|excluded?|outside|past|closed|unfortunately)\b"
    r"|n['’]t\b",
    re.IGNORECASE,
)
COMMITMENT = any_of(
    r"(?:we|i)(?:['’]ll|['’]ve| will| have| can| are going to| am going to| would)",
    r"(?:we|i) (?:gladly |also )?(?:offer|promise|give|grant|refund)|can then be",
    r"you(?:['’]ll| will) (?:get|receive|have)",
    r"on us|free of charge|at no cost|guarantee|promise",
)
MONEY_BACK = any_of(
    r"refund\w*|reimburs\w+|compensat\w+|money back|pay for",
    r"voucher\w*|credit\w*|discount\w*|waiv\w+|free|on us",
)
LINK = re.compile(r"https?://\S+|\bwww\.\S+|\b[\w-]+(?:\.[\w-]+)+/[\w/-]+|\b\S+@\S+\.\w+", re.IGNORECASE)
JARGON = re.compile(
    r"\b(?!(?:OK|FAQ|PDF|USB|GPS|EU|UK|US|USA|AM|PM|TV|ID|SMS|PS|NB|GPX|OS)\b)"
    r"(?:[A-Z]{2,}(?:-?\d+)?|[A-Z]\d{2,})\b"
    r"|\b[A-Za-z]+_[A-Za-z_]+\b|\b[a-z]+[A-Z]\w+\b|§+\s?\d|\b[Ss]ection \d+(?:\.\d+)*"
)
RUDE = any_of(
    r"damn\w*|hell|crap\w*|shit\w*|fuck\w*|bastard\w*",
    r"idiot\w*|stupid\w*|moron\w*|shut up|dumb|pathetic|ridiculous|nonsense",
)
FEELING = any_of(
    r"sorry|apologi[sz]\w*|regret\w*|understand\w*|appreciate how|i see how",
    r"frustrat\w+|disappoint\w+|annoy\w+|inconvenien\w+|upsetting|stressful|worr(?:y|ied|ying)|rough",
    r"must have been|must be (?:hard|frustrating|annoying|worrying)",
    r"bad (?:end|start|luck)|a pity|a shame|not (?:nice|what you)",
)
BLAME = any_of(
    r"you (?:should|ought to|could|must) have",
    r"you (?:failed|forgot|neglected|ignored|misread|overlooked)",
    r"you (?:did not|didn['’]t) (?:read|check|follow|listen|pay)",
    r"your (?:own )?(?:fault|mistake|error|negligence)",
    r"as you were told|(?:had you|if you had) (?:read|checked|followed)",
    r"(?:careless|negligent)\w*|next time,? (?:please )?(?:read|check)",
)
_DO_THIS = (
    r"(?:book|send|reply|call|open|click|tap|go to|visit|choose|pick|fill|return|bring|update|restart|enter"
    r"|upload|attach|print|pack|drop|write|confirm|order|register|take|charge|reset|check|press|hold|remove|try)"
)
_WE_DO = (
    r"(?:sen[dt]|ship|book|cut|collect|call|email|order|arrang|check|pick|transfer|refund|replac|open|ask)"
)
STEP = re.compile(
    rf"(?:^|[.!?:;,]\s+|\n|[-*•]\s+|\b(?:please|simply|just|then|first|next|and)\s+){_DO_THIS}\b"
    rf"|\b(?:we|i)(?:['’]ll| will| have| am| are)\s+(?:now\s+)?{_WE_DO}\w*"
    r"|\byou can\s+(?:now\s+)?(?:start|exchange|swap|find|do (?:it|this|that)"
    rf"|{_DO_THIS})\b",
    re.IGNORECASE,
)
EMPTY_STEP = any_of(r"(?:further|other|any|more) questions", r"contact us", r"let (?:me|us) know")
