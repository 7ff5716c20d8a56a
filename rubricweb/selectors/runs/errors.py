"""Errors of a run by class, with an example each."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Count, Max, Value

from rubricweb.engine.errors import Fault
from rubricweb.errors import Invalid, Withheld
from rubricweb.judges.base import ERROR_KINDS as JUDGE_ERROR_KINDS
from rubricweb.models import Judgement, Run, RunItem, RunState, User
from rubricweb.selectors.blinding import is_withheld
from rubricweb.selectors.withheld_runs import is_withheld_run

# Every kind of error a verdict can end in, and what it means to a person: those of judges, panels and checks.
# A check that was installed may have kinds of its own.
ERROR_KINDS: Mapping[str, str] = {
    **JUDGE_ERROR_KINDS,
    "no_quorum": "Too few votes of the panel came for a verdict.",
    "no_reference": "The check compares with a reference, and the item has none.",
    "not_installed": "The check needs a package that is not installed here.",
    "too_large": "The submission is too large for the check.",
    "timed_out": "The check took too long.",
    "check_crashed": "The check broke off with an error of its own.",
    "unknown_check": "The check is not installed here.",
    "bad_params": "The check cannot read its parameters.",
    "bad_value": "The check returned no finite number.",
}


def require_error_kinds(run: Run, kinds: Sequence[str]) -> None:
    """Refuses kinds of error that nobody knows: neither in ERROR_KINDS, nor one that a check of this run has
    of its own. Raises Invalid.
    """
    if ERROR_KINDS.keys() >= set(kinds):
        return
    failed = Judgement.objects.filter(run=run, error_kind__isnull=False).exclude(error_kind__in=ERROR_KINDS)
    own = failed.order_by("error_kind").values_list("error_kind", flat=True).distinct()
    known = [*ERROR_KINDS, *map(str, own)]
    faults = [
        Fault(f"error_kinds[{place}]", repr(kind[:60]), ", ".join(known))
        for place, kind in enumerate(kinds)
        if kind not in known
    ]
    if faults:
        raise Invalid(f"{faults[0].found} is not a kind of error. Known: {faults[0].allowed}.", faults[:200])


def retried_kinds(
    run: Run, kinds: Sequence[str] | None, item_ids: Sequence[int] | None, *, by: User | None
) -> Sequence[str] | None:
    """Which kinds of failed verdicts this person has asked again by resuming the run: those they name, None
    for all. None, an empty list, of a run whose calls are withheld from them.

    What there was to do would tell what failed. Raises Withheld where they want nothing else, Invalid for
    kinds that nobody knows.
    """
    if not is_withheld_run(run, by):
        require_error_kinds(run, kinds or ())
        return kinds
    if kinds or item_ids is not None or (kinds is None and run.state == RunState.FINISHED):
        raise Withheld(
            "You are still to review some items of this run blind, so whether anything failed is not told, "
            "nor asked again for you. Submit your reviews, or ask somebody who is not a rater."
        )
    return ()


@dataclass(frozen=True)
class ErrorExample:
    """What one verdict, or a holistic judge's whole answer, said instead of an answer."""

    message: str
    item_id: int
    item: str
    criterion: str


@dataclass(frozen=True)
class ErrorClass:
    """Errors of one kind in a run, with the newest as an example; None where it must not be shown."""

    kind: str
    count: int
    newest: ErrorExample | None

    @property
    def example(self) -> str:
        """The newest one's message, "" without one."""
        return self.newest.message if self.newest else ""


def error_classes(run: Run, *, viewer: User) -> list[ErrorClass]:
    """Errors of graded items by class, the most frequent first.

    A viewer who is still to review some items blind gets no examples: they quote replies; and nothing at all
    of a run whose calls are withheld: an error may be that of a judge only asked where another was unsure.
    Looks only at items with errors: at most nine queries, two while there are none.
    """
    if is_withheld_run(run, viewer):
        return []
    errored = RunItem.objects.filter(run=run, errors__gt=0).order_by()
    if not errored.exists():
        return []
    verdicts = Judgement.objects.filter(
        run=run, item_id__in=errored.values("item_id"), error_kind__isnull=False
    )
    whole = errored.filter(error_kind__isnull=False)  # where a holistic judge failed
    counts: Counter[str] = Counter()
    newest: dict[bool, list[int]] = {}
    for is_whole, failed in ((False, verdicts), (True, whole)):
        found = list(failed.order_by().values_list("error_kind").annotate(n=Count("pk"), newest=Max("pk")))
        counts.update({str(kind): n for kind, n, _ in found})
        newest[is_whole] = [pk for _, _, pk in found]
    examples = {} if is_withheld(run, viewer) else _examples(newest[False], newest[True])
    return [ErrorClass(kind, n, examples.get(kind)) for kind, n in counts.most_common()]


def _examples(judgement_ids: Sequence[int], run_item_ids: Sequence[int]) -> dict[str, ErrorExample]:
    """By kind of error."""
    whole = RunItem.objects.filter(pk__in=run_item_ids) if run_item_ids else RunItem.objects.none()
    single = Judgement.objects.filter(pk__in=judgement_ids) if judgement_ids else Judgement.objects.none()
    found = [
        *whole.values_list("error_kind", "error_message", "item_id", "item__key", Value("")),
        *single.values_list("error_kind", "error_message", "item_id", "item__key", "criterion__name"),
    ]
    return {str(kind): ErrorExample(*rest) for kind, *rest in found}
