"""`rubricweb judges try`: a judge on one submission, each answer as it comes."""

import argparse
import sys
from contextlib import closing
from pathlib import Path

from rubricweb import access, engine
from rubricweb.engine.number_format import counted
from rubricweb.engine.rubric import Rubric
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.named_files import read_file, rubric_in, stored_id
from rubricweb.management.terminal.printed import say
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Dataset, Judge, Role, RubricVersion
from rubricweb.selectors.teams.lookup import dataset_called
from rubricweb.selectors.tries import NEXT, PICKED, WRONG, chosen_item, item_in
from rubricweb.services.tries.answers import (
    BEFORE,
    StillWaiting,
    TriedReply,
    TriedResult,
    TriedSum,
    TriedVerdict,
    TryPiece,
    TryStopped,
)
from rubricweb.services.tries.judges import definition_called
from rubricweb.services.tries.subject import Subject, subject_of
from rubricweb.services.tries.tries import TryRequest, start_try
from rubricweb.templatetags.display import usd


def try_it(options: argparse.Namespace) -> int:
    """A line for each answer, and one for the sum; 1 where something was not answered."""
    actor = resolve_actor(options, Role.EDITOR)
    asked = definition_called(actor.team, options.judge, viewer=actor.user)
    before = None
    if options.before:
        before = definition_called(actor.team, options.before, viewer=actor.user).definition
    subject = _subject(actor, options, asked.judge)
    request = TryRequest(actor.team, actor.user, asked.definition, subject, asked.judge, before)
    whole = True
    with closing(start_try(request)) as trying:
        if subject.item is not None and not options.json:
            note(f"On item {subject.item} (id:{subject.item.pk}) of {subject.item.dataset}.")
        for piece in trying:
            _print(piece, subject.rubric, names={BEFORE: f"{options.before}: "}, as_json=options.json)
            sys.stdout.flush()
            whole = whole and not (isinstance(piece, TriedSum) and piece.unanswered)
            whole = whole and not (isinstance(piece, TriedReply) and piece.error and not piece.is_vote)
    return 0 if whole else 1


def _subject(actor: Actor, options: argparse.Namespace, judge: Judge | None) -> Subject:
    item = pasted = None
    if options.submission is not None:
        if options.dataset or options.item:
            raise Invalid.at("--submission", "a submission beside a dataset or item", "one of them")
        pasted = engine.Submission(output=_text(options.submission))
    else:
        if not options.dataset:
            raise Invalid.at("--dataset", "nothing", "a dataset as id:N or its name, or --submission FILE")
        dataset = _dataset(actor, options.dataset)
        after = item_in(dataset, options.after, actor.user).pk if options.after else None
        way = PICKED if options.item else WRONG if options.wrong else NEXT
        item = chosen_item(dataset, way, viewer=actor.user, said=options.item, after=after, judge=judge)
    version, draft = _rubric(actor, options.rubric)
    return subject_of(actor.team, viewer=actor.user, item=item, pasted=pasted, version=version, draft=draft)


def _dataset(actor: Actor, name: str) -> Dataset:
    if (number := stored_id(name)) is not None:
        return access.access_dataset(actor.team, number)
    return dataset_called(actor.team, name)


def _rubric(actor: Actor, name: str | None) -> tuple[RubricVersion | None, Rubric | None]:
    if not name:
        return None, None
    if (number := stored_id(name)) is not None:
        return access.access_version(actor.team, number), None
    return None, rubric_in(Path(name))


def _text(path: Path) -> str:
    data = sys.stdin.buffer.read() if str(path) == "-" else read_file(path)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise Invalid.at("--submission", f"{path}, which is not UTF-8", "text in UTF-8") from error


# ── What is printed ──────────────────────────────────────────────────────────────────────────────


def _print(piece: TryPiece, rubric: Rubric, *, names: dict[str, str], as_json: bool) -> None:
    if as_json:
        from rubricweb.api.judges.try_schemas import TryLine, line_of

        print_shape(TryLine, line_of(piece, rubric))
    elif isinstance(piece, TryStopped):
        note(piece.why)
    elif not isinstance(piece, StillWaiting):
        say(*(f"{names.get(piece.side, '')}{line}" for line in _lines(piece, rubric)))


def _lines(piece: TriedReply | TriedResult | TriedSum, rubric: Rubric) -> list[str]:
    if isinstance(piece, TriedResult):
        return [f"{_said(piece.criterion, rubric)} [{piece.by}]"]
    if isinstance(piece, TriedSum):
        return [_sum(piece)]
    who = f"{piece.judge}{f' #{piece.repeat + 1}' if piece.repeat else ''}: " if piece.is_vote else ""
    lines = [f"{who}{_said(verdict, rubric)}" for verdict in piece.verdicts]
    if piece.overall is not None:
        lines.append(f"{who}{piece.overall.score:g} of 100: {piece.overall.reason}")
    if piece.error is not None:
        lines += [f"{who}{piece.error.kind}: {piece.error.message}"] * (not piece.verdicts)
        lines += [f"  {piece.advice}"] + [f"  as it came: {piece.text}"] * bool(piece.text)
    if piece.is_known:
        lines.append("  known from before")
    else:
        cost = "cost unknown" if piece.cost_usd is None else usd(piece.cost_usd)
        lines.append(f"  {_tokens(piece)}{cost}, {piece.seconds:.1f} s")
    return lines


def _said(verdict: TriedVerdict, rubric: Rubric) -> str:
    name = rubric.criteria[verdict.index].name or f"criterion {verdict.index + 1}"
    if verdict.answer is None:
        assert verdict.error is not None, "one of them is there"
        return f"{name}: {verdict.error.kind}: {verdict.error.message}"
    answer = verdict.answer
    label = answer.verdict or answer.option or f"{answer.value:g}"
    return f"{name}: {label}. {answer.reason}"


def _tokens(reply: TriedReply) -> str:
    if reply.prompt_tokens is None:
        return ""
    return f"{reply.prompt_tokens:,} + {reply.completion_tokens:,} tokens, "


def _sum(total: TriedSum) -> str:
    score = f"score {total.score:.3f}" if total.score is not None else "no score"
    if total.overall is not None:
        score = f"{total.overall:g} of 100"
    cost = "cost unknown" if total.cost_usd is None else usd(total.cost_usd)
    left = counted(total.unanswered, "criterion", "criteria")
    missing = f", {left} without an answer" if total.unanswered else ""
    return f"{score}; {total.asked} asked, {total.known} known, {cost}{missing}"
