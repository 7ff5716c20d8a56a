"""Items that a run takes in after it was planned, and the answers they stand for."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.models import NO_JUDGE, NOT_RETIRED, Item, Run, RunItem
from rubricweb.services.runs import few_shot
from rubricweb.services.runs.starting import asks_a_judge, plan_items


def check_extension(locked: Run, fresh: QuerySet[Item]) -> None:
    """Refuses items that cannot be graded as this run grades. Raises Invalid."""
    if locked.rubric_version_id is None and (bare := fresh.filter(rubric_version=None).count()):
        raise Invalid.at(
            "rubric_version",
            f"{counted(bare, 'item')} without a rubric, in a run that grades every item by its own",
            "items that bring one",
        )
    if locked.judge.id == NO_JUDGE and asks_a_judge(fresh, locked.rubric_version):
        raise Invalid.at("judge", "criteria for a judge, in a run of checks alone", "a new run with a judge")
    if locked.few_shot is not None and (shown := few_shot.among_examples(locked.few_shot, fresh)):
        raise Invalid.at(
            "few_shot.dataset",
            f"{counted(len(shown), 'item')} that the judge is shown as examples ({', '.join(shown[:5])})",
            "items with other ids and other words",
        )


def take_in(locked: Run, fresh: QuerySet[Item]) -> tuple[int, int]:
    """The run is over these items too from now on; how many, and how many answers they stand in the place of.

    An answer and its correction are one attempt in other words, and count once. What was said of the words
    before stays with them, and counts again where they come back.
    """
    back = RunItem.every.filter(run=locked, replaced=True, item__in=fresh.order_by())
    added = back.update(replaced=False)
    added += plan_items(locked, fresh)  # those that came back are not among them any more
    return added, _replaced(locked).update(replaced=True)


def _replaced(locked: Run) -> QuerySet[RunItem]:
    """The run's retired answers in whose place another one of the run stands in the dataset as it is now:
    a correction, or an answer of the same system version, with the same number, to the same words.
    """
    same = {f"item__{name}": OuterRef(f"item__{name}") for name in ("wording", "system_version", "attempt")}
    # Every correction refers to the first words, and those may have come back.
    corrected = Q(item__replaces=OuterRef("item")) | Q(item__replaces=OuterRef("item__replaces"))
    corrected |= Q(item=OuterRef("item__replaces"))
    instead = RunItem.objects.filter(
        Q(**same) | corrected, run=locked, item__case=OuterRef("item__case"), item__retired_in=NOT_RETIRED
    )
    return RunItem.objects.filter(Exists(instead), run=locked).exclude(item__retired_in=NOT_RETIRED)
