"""Requests that were cut off or never answered: perhaps paid for, they count as what they cost at most."""

from collections import defaultdict

from django.db import transaction
from django.db.models import F, Max, QuerySet, Sum

from rubricweb.engine.number_format import counted
from rubricweb.models import RunTally
from rubricweb.services.runs.budgets import CALLS_TO_GO_BY
from rubricweb.services.runs.events import note


@transaction.atomic
def book_lost(tallies: QuerySet[RunTally]) -> set[int]:
    """Books what is at risk in these tallies as lost; the ids of the runs where anything was.

    For tallies of workers that are gone, or that have nothing in flight any more. Booking twice books once.
    Three at risk, one of a judge without a price and the others of $0.03 at most together: `lost_calls` 2,
    `lost_at_most_usd` 0.03, `unpriced` 1, nothing at risk. Where the dearest call of the run cost $0.01
    (see `dearest_call_usd`), which is less: `lost_at_most_usd` 0.02.
    """
    found = list(tallies.filter(at_risk_calls__gt=0).select_for_update(of=("self",)).order_by("pk"))
    of_run: dict[int, int] = defaultdict(int)
    for tally in found:
        priced, usd = tally.at_risk_calls - tally.at_risk_unpriced, tally.at_risk_usd
        dearest = None if tally.run_id is None else dearest_call_usd(tally.run_id)
        RunTally.objects.filter(pk=tally.pk).update(
            lost_calls=F("lost_calls") + priced,
            lost_at_most_usd=F("lost_at_most_usd") + (usd if dearest is None else min(usd, priced * dearest)),
            unpriced=F("unpriced") + tally.at_risk_unpriced,
            at_risk_calls=0,
            at_risk_unpriced=0,
            at_risk_usd=0.0,
        )
        if tally.run_id is not None:
            of_run[tally.run_id] += tally.at_risk_calls
    for run_id, calls in of_run.items():
        note(run_id, "lost", lost_words(calls))
    return set(of_run)


def dearest_call_usd(run_id: int) -> float | None:
    """What the dearest call of a run has cost, by any of its judges; None until five are answered, and where
    none of them has a known cost.
    """
    seen = (
        RunTally.objects.filter(run=run_id)
        .order_by()
        .aggregate(calls=Sum("calls"), dearest=Max("dearest_usd"))
    )
    return seen["dearest"] or None if (seen["calls"] or 0) >= CALLS_TO_GO_BY else None


def lost_words(requests: int) -> str:
    """ "3 requests had no answer or were cut off; what they may have cost counts against the caps." """
    was, they = ("was", "it") if requests == 1 else ("were", "they")
    lost = f"{counted(requests, 'request')} had no answer or {was} cut off"
    return f"{lost}; what {they} may have cost counts against the caps."
