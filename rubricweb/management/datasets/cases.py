"""`rubricweb datasets case`: what was asked, and every answer to it."""

import argparse

from rubricweb import access
from rubricweb.engine.autograders.examples.few_shot import query_text
from rubricweb.engine.formats.content_ids import given_key
from rubricweb.engine.number_format import number
from rubricweb.engine.parsers.plain_text import first_words
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.paging import FirstRows, note_left_out, note_more
from rubricweb.management.terminal.printed import table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.selectors.comparison.case import CaseAnswer, case_answers
from rubricweb.selectors.datasets.cases import words_of
from rubricweb.selectors.datasets.tags import tags_of
from rubricweb.selectors.shared.left_out import left_out
from rubricweb.selectors.teams import lookup

MOST = 500


def show_case(options: argparse.Namespace) -> int:
    """The words of a case, then a line for each answer: whose, its score, what judge and people said."""
    actor = resolve_actor(options, Role.VIEWER)
    dataset = lookup.dataset_called(actor.team, options.dataset)
    case = access.access_case(actor.team, lookup.case_called(dataset, options.case).pk)
    answers = case_answers(case, viewer=actor.user, size=min(options.limit, MOST))
    if options.json:
        from rubricweb.api.cases import schemas

        print_shape(schemas.Case, schemas.case_in_full(case, answers))
        return 0
    asked = query_text(words_of(case).to_engine().query)
    note(f"Case {case}: {first_words(asked)}")
    tags = () if answers.hidden else tags_of([case.pk]).get(case.pk)
    if tags:
        note(f"Tags: {', '.join(tags)}")
    rows = table(("id", "answer", "words", "run", "judge", "people"), ("score",))
    for answer in answers.answers:
        rows.add_row(*_row(answer))
    terminal().print(rows)
    note_left_out(left_out(to_review_blind=answers.hidden))
    if not answers.graded_alike:
        note("Judge, rubric version or examples differ: compare scores only where they are the same.")
    note_more(FirstRows(answers.answers, answers.next_cursor is not None), len(answers.answers))
    return 0


def _row(answer: CaseAnswer) -> tuple[str, ...]:
    item, grading = answer.item, answer.grading
    who = (str(item.system_version) or given_key(item.key)) + (
        f" #{item.attempt}" if item.attempt > 1 else ""
    )
    judge, people = [], []
    for criterion, said, label in answer.criteria:
        if said is not None:
            verdict = said.verdict or said.error_kind or number(said.value, 2)
            judge.append(f"{criterion.name} {verdict}")
        if label is not None:
            people.append(f"{criterion.name} {label.verdict or 'tied'}")
    return (
        f"id:{item.pk}",
        who if answer.is_current else f"{who}, retired",
        first_words(item.submission),
        str(grading.run) if grading else "",
        "\n".join(judge),
        "\n".join(people),
        number(grading.score) if grading else "",
    )
