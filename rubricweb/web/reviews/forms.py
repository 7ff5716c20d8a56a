"""What people send from the pages of the reviews room."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from django.http import QueryDict

from rubricweb.engine.number_format import plain_number
from rubricweb.errors import Invalid
from rubricweb.selectors.reviews.reviews import Quote, ReviewQuestion
from rubricweb.services.labels import checked_label
from rubricweb.services.reviews.evidence import Span
from rubricweb.services.reviews.reviews import SeenAnswer, SubmittedAnswer


def read_answers(data: QueryDict, asked: Sequence[ReviewQuestion]) -> list[SubmittedAnswer]:
    """The answers of a whole review form: fields verdict_<id> and reason_<id>, a missing label is None."""
    return [
        SubmittedAnswer(
            question.criterion.pk,
            read_label(data.get(f"verdict_{question.criterion.pk}", "")),
            read_words(data.get(f"reason_{question.criterion.pk}", "")),
            read_evidence(data.get(f"evidence_{question.criterion.pk}")),
            read_seconds(data.get(f"seconds_{question.criterion.pk}")),
            read_known(data.getlist(f"known_{question.criterion.pk}")),
        )
        for question in asked
    ]


def typed_answers(data: QueryDict, asked: Sequence[ReviewQuestion]) -> dict[int, tuple[str | None, str]]:
    """Criterion id → (label, reason) of a form that was refused; a label the criterion refuses is None."""
    typed = {}
    for question in asked:
        pk = question.criterion.pk
        label = read_label(data.get(f"verdict_{pk}", ""))
        try:
            label = checked_label(question.criterion, label) if label else None
        except Invalid:
            label = None
        typed[pk] = (label, data.get(f"reason_{pk}", question.reason))
    return typed


def read_evidence(text: str | None) -> list[Span] | None:
    """The evidence a form names, JSON as the API takes it; None when it names none."""
    if text is None:
        return None
    try:
        return _spans(json.loads(text or "[]"))
    except UNREADABLE as error:
        raise Invalid.at("evidence", "something else", "a list of {field, start, end, text}") from error


UNREADABLE = (ValueError, TypeError, KeyError, OverflowError, RecursionError)


def _spans(text: Any) -> list[Span]:
    return [Span(str(one["field"]), int(one["start"]), int(one["end"]), str(one["text"])) for one in text]


def read_known(sent: Sequence[str]) -> list[SeenAnswer] | None:
    """The answers a page has seen or sent, each as `known_answer` writes it; None where it names none.

    What pages of an earlier release kept on the device are bare labels: of those nothing else is compared.
    """
    if not sent:
        return None
    return [_seen(text) for text in sent]


def _seen(text: str) -> SeenAnswer:
    try:
        answer = json.loads(text)
        verdict, spans = read_label(str(answer["verdict"])), _spans(answer["evidence"])
        return SeenAnswer(verdict, str(answer["reason"]), tuple(spans))
    except UNREADABLE:
        return SeenAnswer(read_label(text), None)


def known_answer(question: ReviewQuestion) -> str:
    """What is stored of one criterion, for the page that shows it to send back (see `read_known`)."""
    evidence = [asdict(quote) for quote in question.evidence]
    answer = {"verdict": question.verdict or "", "reason": question.reason, "evidence": evidence}
    return json.dumps(answer, ensure_ascii=False)


def read_note(data: QueryDict) -> str | None:
    """The note of a form; None where nobody changed it on its page, for another tab may have."""
    note = data.get("note")
    return None if note == data.get("known_note") else note


def read_words(text: str) -> str:
    """What was typed; browsers send the end of a line as two characters."""
    return text.replace("\r\n", "\n")


def read_seconds(text: str | None) -> float | None:
    """A number of seconds a page measured; None for anything else, for nothing hangs on it."""
    return plain_number(text) if text else None


def same_as_stored(answers: Sequence[SubmittedAnswer], asked: Sequence[ReviewQuestion]) -> bool:
    """Whether a form says nothing that is not stored already."""
    stored = {question.criterion.pk: (question.verdict, question.reason) for question in asked}
    quoted = {question.criterion.pk: [_span(one) for one in question.evidence] for question in asked}
    return all(
        stored[answer.criterion_id] == (answer.verdict, answer.reason)
        and (answer.evidence is None or list(answer.evidence) == quoted[answer.criterion_id])
        for answer in answers
    )


def _span(quote: Quote) -> Span:
    return Span(quote.field, quote.start, quote.end, quote.text)


def read_label(text: str) -> str | None:
    """The label a form names, None for the empty text; whether the criterion knows it, the service says."""
    return text.strip() or None
