"""`rubricweb judges`: judges and their versions, at the terminal."""

import argparse
import json
import re
from typing import Any

from django.utils import timezone

from rubricweb.engine.errors import shortened
from rubricweb.engine.judging.changes import DefinitionChange
from rubricweb.engine.judging.files import write_judge
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.named_files import read_file, write_file
from rubricweb.management.terminal.paging import first_found, note_left_out, note_more
from rubricweb.management.terminal.printed import facts, moment, print_file, say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Judge, JudgeVersion, Role
from rubricweb.selectors import judges as selected
from rubricweb.selectors.shared.archived import archived_left_out
from rubricweb.services.judges import files
from rubricweb.services.judges import versions as services
from rubricweb.services.shared import archiving
from rubricweb.templatetags.display import count

VALUE_SHOWN = 200


def list_judges(options: argparse.Namespace) -> int:
    """A line for each judge; `rubricweb judge list` has the models."""
    actor = resolve_actor(options, Role.VIEWER)
    page = first_found(options, actor.team, selected.judges)
    withheld = selected.withheld_judges(actor.team, actor.user)
    if options.json:
        from rubricweb.api.judges.schemas import NamedJudgeInList

        for row in page.rows:
            print_shape(NamedJudgeInList, NamedJudgeInList.of(row, withheld))
    elif page.rows:
        rows = table(("judge", "name", "current"), ("versions", "runs"))
        for row in page.rows:
            counts = row.__dict__
            known = "" if row.pk in withheld else count(counts["version_count"])
            current = f"v{row.current.number}" if row.current else "none"
            rows.add_row(row.slug, row.name, current, known, count(counts["run_count"]))
        terminal().print(rows)
    if not page.rows:
        note("There are no such judges. Bring one in: rubricweb judges import FILE")
    note_more(page, options.limit)
    note_left_out(archived_left_out(actor.team, Judge, archived=options.archived), "--archived")
    return 0


def show(options: argparse.Namespace) -> int:
    """A version as a file would say it, under its judge's versions."""
    actor, version = _version(options, Role.VIEWER)
    seen = selected.visible_version(version, actor.user)
    if options.json:
        return _print_version(version, actor)
    judge = version.judge
    terminal().print(
        facts(
            [
                ("judge", f"{judge.name}, {judge.slug}"),
                *([("archived", moment(judge.archived_at))] if judge.archived_at else []),
                *([("note", judge.note)] if judge.note else []),
                ("version", f"v{version.number}{', the current one' * seen.is_current}"),
                ("made", f"{version.get_origin_display()}, {moment(version.created_at)}"),
                ("runs", count(version.__dict__["run_count"])),
            ]
        )
    )
    rows = table(("version", "from", "by", "note", "made"), ("runs",))
    for one in selected.visible_versions(judge, actor.user):
        told = "" if seen.withheld else one.note
        cells = (f"v{one.number}", f"v{one.parent.number}" if one.parent else "", str(one.created_by or ""))
        rows.add_row(*cells, told, moment(one.created_at), count(one.__dict__["run_count"]))
    terminal().print(rows)
    if seen.withheld:
        note("Its examples and what changed in it are withheld until you have submitted your blind reviews.")
    print_file([write_judge(seen.definition, slug=judge.slug, name=judge.name, version=version.number)])
    return 0


def diff(options: argparse.Namespace) -> int:
    """Each field that differs; nothing on standard output where none does."""
    actor = resolve_actor(options, Role.VIEWER)
    before = selected.judge_version_called(actor.team, options.baseline)
    after = selected.judge_version_called(actor.team, options.version)
    changes = selected.changes_between(before, after, viewer=actor.user)
    if options.json:
        from rubricweb.api.judges.schemas import JudgeDiff

        print_shape(JudgeDiff, {"before": before, "after": after, "changes": changes}, indent=2)
        return 0
    if not changes:
        note(f"{before} and {after} ask the same.")
    return say(*_lines(changes)) if changes else 0


def export(options: argparse.Namespace) -> int:
    """A version as the file that `import` reads."""
    actor, version = _version(options, Role.VIEWER)
    text = files.judge_file(version, viewer=actor.user, shipped=options.shipped)
    if options.output:
        write_file(options.output, [text])
    else:
        print_file([text])
    return 0


def import_file(options: argparse.Namespace) -> int:
    """Shows what the file would change, then stores it; with `--plan` only shows it."""
    actor = resolve_actor(options, Role.EDITOR)
    after = _number(options.after)
    try:
        plan = files.plan_file(actor.team, read_file(options.file), by=actor.user, after=after)
    except Invalid as error:
        said = counted(len(error.faults), "fault") if error.faults else str(error).removesuffix(".")
        raise Invalid(f"{options.file.name}: {said}. Nothing was stored.", error.faults) from error
    for line in _said(plan):
        note(line)
    if options.plan or plan.is_no_change:
        note("Nothing was stored.")
        return _print_version(plan.same, actor) if options.json and plan.same and not options.plan else 0
    try:
        version = files.store_file(plan, actor.team, by=actor.user, note=options.note)
    except Conflict as error:
        hint = (
            f" The file was written of {plan.parent}: with --after vN it follows another."
            if plan.parent
            else ""
        )
        raise Conflict(f"{error}{hint}") from error
    note(f"{'Already there:' if plan.same else 'Kept'} {version}, {version.judge.name}.")
    return _print_version(version, actor) if options.json else 0


def edit(options: argparse.Namespace) -> int:
    """Changes what is named."""
    actor, judge = _judge(options)
    if options.name is None and options.slug is None and options.note is None:
        raise Invalid("Nothing to change; name --name, --slug or --note.")
    services.change_judge(judge, by=actor.user, name=options.name, slug=options.slug, note=options.note)
    return _say(judge, actor, options, f"{judge.name} is {judge.slug}.")


def use(options: argparse.Namespace) -> int:
    """Makes a version the current one."""
    actor, version = _version(options, Role.EDITOR)
    selected.require_judge_visible(version.judge, actor.user)
    services.make_current(version, by=actor.user)
    return _say(version.judge, actor, options, f"{version.judge.slug} is {version} now.")


def archive(options: argparse.Namespace) -> int:
    actor, judge = _judge(options)
    archiving.archive(judge, by=actor.user, now=timezone.now())
    return say(f"{judge} is archived. Back: rubricweb judges restore {judge.slug}")


def restore(options: argparse.Namespace) -> int:
    actor, judge = _judge(options)
    archiving.restore(judge, by=actor.user)
    return say(f"{judge} is back in the lists.")


# ── What is named, and what is said ──────────────────────────────────────────────────────────────


def _judge(options: argparse.Namespace) -> tuple[Actor, Judge]:
    actor = resolve_actor(options, Role.EDITOR)
    return actor, selected.judge_called(actor.team, options.judge)


def _version(options: argparse.Namespace, role: Role) -> tuple[Actor, JudgeVersion]:
    actor = resolve_actor(options, role)
    return actor, selected.judge_version_called(actor.team, options.version)


def _number(said: str | None) -> int | None:
    if said is None:
        return None
    if not re.fullmatch(r"v?[1-9]\d{0,8}", said):
        raise Invalid.at("--after", repr(said), "a version such as v4")
    return int(said.removeprefix("v"))


def _print_version(version: JudgeVersion, actor: Actor) -> int:
    from rubricweb.api.judges.schemas import JudgeVersion as Shape

    row = selected.judge_versions(version.judge).get(pk=version.pk)
    print_shape(Shape, Shape.of(selected.visible_version(row, actor.user)), indent=2)
    return 0


def _say(judge: Judge, actor: Actor, options: argparse.Namespace, line: str) -> int:
    if not options.json:
        return say(line)
    from rubricweb.api.judges.schemas import NamedJudgeInList

    withheld = selected.withheld_judges(actor.team, actor.user)
    print_shape(NamedJudgeInList, NamedJudgeInList.of(selected.judge_with_counts(judge), withheld), indent=2)
    return 0


def _said(plan: files.JudgePlan) -> list[str]:
    """What a file would bring, in lines."""
    if plan.judge is None or plan.parent is None:
        return [f"A new judge, {plan.name}{f', {plan.slug}' if plan.slug else ''}."]
    lines = [f"name: {plan.judge.name} → {plan.renamed}"] if plan.renamed is not None else []
    if plan.noted is not None:
        lines.append(f"note: {_value(plan.judge.note)} → {_value(plan.noted)}")
    if plan.same is not None:
        named = (
            ""
            if plan.same.pk == plan.judge.current_id
            else f", which is not the current one: {plan.judge.current}"
        )
        return [*lines, f"No change of what is asked: it is {plan.same}{named}."]
    return [f"After {plan.parent}:", *lines, *_lines(plan.changes)]


def _lines(changes: tuple[DefinitionChange, ...]) -> list[str]:
    """A field a line; of a text its pieces: [-what went-]{+what came+}."""
    lines = []
    for one in changes:
        if one.words is None:
            lines.append(f"{one.place}: {_value(one.before)} → {_value(one.after)}")
            continue
        marks = {"same": "{}", "gone": "[-{}-]", "new": "{{+{}+}}"}
        text = "".join(marks[piece.kind].format(piece.text) for piece in one.words)
        lines += [f"{one.place}:", *(f"  {line}" for line in text.splitlines())]
    return lines


def _value(value: Any) -> str:
    if value is None or value == "":
        return "nothing"
    return shortened(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), VALUE_SHOWN)
