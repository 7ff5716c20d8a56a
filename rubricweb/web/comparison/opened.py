"""The open row of Compare's table: which way judge and people differ, and one unit on which they do."""

from collections.abc import Sequence
from dataclasses import dataclass

from rubricweb.engine.number_format import counted
from rubricweb.models import Item, Judgement, User
from rubricweb.selectors.adjudication.inbox import InboxUnit
from rubricweb.selectors.adjudication.units import UnitToDecide, unit_to_decide
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.templatetags.answers import answer_words
from rubricweb.web.comparison.answer import CriterionRow


@dataclass(frozen=True)
class OpenedCriterion:
    """`sentence` says which way they differ most; `example` is a unit that waits, None where none does, and
    `judge` what the judge of the comparison said of it: judges of the example are those of the newest runs.
    """

    row: CriterionRow
    sentence: str
    waiting: int
    example: UnitToDecide | None
    judge: Judgement | None


def opened_criterion(
    comparison: Comparison, row: CriterionRow, waiting: Sequence[InboxUnit], *, viewer: User
) -> OpenedCriterion:
    """Of the units in the inbox, those of this criterion are its own; the first on which the judge differs
    from people is the example. Nine queries more than the page without it."""
    own = [unit for unit in waiting if unit.criterion.pk == row.compared.criterion.pk]
    differs = next((unit for unit in own if "judge differs" in unit.kinds), None)
    example = judge = None
    if differs is not None:
        item = Item.objects.select_related("dataset__team").get(pk=differs.item_id)
        example = unit_to_decide(item, differs.criterion, viewer=viewer)
        said = Judgement.objects.filter(run__in=comparison.runs, repeat=0)
        judge = said.filter(item=item, criterion=differs.criterion).first()
    return OpenedCriterion(row, _direction(row), len(own), example, judge)


def _direction(row: CriterionRow) -> str:
    if not row.n:
        return "Judge and people have no answer in common here."
    cells = [cell for line in row.compared.matrix for cell in line.cells if not cell.agrees and cell.count]
    if not cells:
        return f"They agree on all of {counted(row.n, 'item')}."
    most = max(cells, key=lambda cell: cell.count)
    criterion = row.compared.criterion
    people, judge = answer_words(criterion, most.truth), answer_words(criterion, most.judged)
    of = counted(row.differ, "disagreement")
    return f"In {most.count:,} of {of} people say {people} and the judge {judge}."
