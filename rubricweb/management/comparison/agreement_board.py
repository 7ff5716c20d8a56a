"""`rubricweb agreement`: how far the people of a queue agree with each other."""

import argparse

from rubricweb.engine.agreement import RATER_FIGURES, Figure
from rubricweb.engine.agreement.figure_rows import shown_in
from rubricweb.engine.number_format import counted, number, text_of, value_of
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import resolve_actor
from rubricweb.management.terminal.printed import Table, Terminal, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.management.terminal.unavailable import print_unavailable
from rubricweb.models import Criterion, ReviewQueue, Role
from rubricweb.selectors.comparison.board.board import AgreementBoard, CriterionAgreement, agreement_board
from rubricweb.selectors.comparison.board.raters import PairCell, RaterName
from rubricweb.selectors.teams import lookup

FEW_ENOUGH_FOR_ALL = 6
"""With more raters, the table of pairs shows κ alone: the rest is in the JSON."""


def run(options: argparse.Namespace) -> int:
    actor = resolve_actor(options, Role.VIEWER)
    queue = lookup.queue_called(actor.team, options.queue)
    criterion = _criterion_called(queue, options.criterion) if options.criterion else None
    board = agreement_board(queue, actor.user, criterion_id=criterion)
    if options.json:
        from rubricweb.api.comparison.agreement_board_schemas import AgreementBoard as Shown

        print_shape(Shown, board, indent=2)
    else:
        _print(board)
    return 0


def _criterion_called(queue: ReviewQueue, name: str) -> int:
    criteria = Criterion.objects.filter(version=queue.rubric_version_id)
    found = next((one for one in criteria if one.name.casefold() == name.casefold()), None)
    if found is None:
        known = ", ".join(one.name for one in criteria) or "none: every item brings its own rubric"
        raise Invalid(f"There is no criterion {name!r}. Known: {known}.")
    return int(found.pk)


# ── Tables ───────────────────────────────────────────────────────────────────────────────────────


def _print(board: AgreementBoard) -> None:
    console = terminal()
    console.print(f"{board.queue.name}: {board.reviews} reviews by {board.raters_total} raters")
    if board.other_files:
        others = ", ".join(one.name for one in board.other_files)
        console.print(f"With the labels that the same people gave in other files: {others}")
    if board.unavailable is not None:
        print_unavailable(board.unavailable)
    if not board.reviews:
        return
    shorts = dict.fromkeys(row.short for row in shown_in("board", shown_in("terminal", RATER_FIGURES)))
    columns = [short for short in shorts if any(short in _by_short(row) for row in board.rows)]
    table = _table("criterion", "units", *columns, "seconds")
    for row in board.rows:
        figures = _by_short(row)
        if row.criterion is None and board.within is not None:
            figures |= {
                "α": board.within.alpha,
                "mean κ": board.within.pair_kappa,
                "ceiling κ": board.within.kappa,
            }
        seconds = "not measured" if not row.seconds.n else f"{row.seconds.value:.0f}"
        table.add_row(
            row.name,
            f"{row.alpha.n}{_few(row.alpha.n, board)}",
            *(text_of(figures.get(short)) for short in columns),
            seconds,
            end_section=row.criterion is None,
        )
    console.print(table)
    if board.within is not None and board.overall is not None:
        pooled = board.overall
        console.print(
            f"α and κ over all criteria are within criteria, ceiling κ {text_of(board.within.kappa)}. In one "
            f"table of all criteria, which claims nothing: α {text_of(pooled.alpha)}, mean κ "
            f"{text_of(pooled.kappa)}, ceiling κ {text_of(pooled.ceiling.kappa)}."
        )
    _print_matrix(console, board)
    if board.hardest:
        hardest = ", ".join(f"{row.name} {number(row.agreement, 2)} (n {row.n})" for row in board.hardest[:5])
        console.print(f"Hardest items: {hardest}; {board.agreed_items} with no disagreement.")
    for rater in board.raters or ((board.mine,) if board.mine else ()):
        gold = "" if rater.gold is None else f", right on gold items {text_of(rater.gold)}"
        console.print(
            f"{_name(rater.rater)}: leniency {text_of(rater.leniency, signed=True)} "
            f"over {counted(rater.leniency.n, 'unit')}{gold}",
        )
    for week in board.weeks:
        few = _few(week.alpha.n, board)
        console.print(
            f"Week of {week.monday}: α {text_of(week.alpha)}{few} over {counted(week.items, 'item')}"
        )


def _by_short(row: CriterionAgreement) -> dict[str, Figure]:
    """The figures of a row under the heads of their columns; α is one column, whatever the scale."""
    shown = shown_in("board", shown_in("terminal", RATER_FIGURES))
    return {one.short: row.figures[one.name] for one in shown if one.name in row.figures}


def _print_matrix(console: Terminal, board: AgreementBoard) -> None:
    within = "" if board.within is None else ", κ within criteria"
    about = f"all criteria met or not{within}" if board.scope is None else board.scope.name
    if len(board.matrix) < 2:
        return
    many = len(board.matrix) > FEW_ENOUGH_FOR_ALL
    table = _table("κ" if many else "κ, raw, n", *(_name(row.rater) for row in board.matrix))
    for row in board.matrix:
        cells = [_pair(cell, many, _few(cell.n, board)) for cell in row.cells]
        table.add_row(_name(row.rater), *cells)
    console.print(f"Pairs of raters on {about}:")
    console.print(table)


def _pair(cell: PairCell, only_kappa: bool, few: str) -> str:
    if cell.kappa is None:
        return "·"
    if only_kappa:
        return f"{value_of(cell.kappa)}{few}"
    return f"{text_of(cell.kappa)}\nraw {text_of(cell.raw)}\nn {cell.n:,}{few}"


def _few(n: int, board: AgreementBoard) -> str:
    return " (too few)" if n < board.too_few_below else ""


def _table(first: str, *others: str) -> Table:
    table = Table()
    table.add_column(first)
    for title in others:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _name(rater: RaterName) -> str:
    return f"{rater.name} (you)" if rater.mine else rater.name
