"""How far a run is, what it spends, who works on it and what it waits for: small enough to ask every 2 s.

Counts come from the items' rows and from the tallies workers keep, never from the rows of calls or verdicts,
of which there may be millions.
"""

# Long because what a run’s page shows while it runs comes from one look at the tables.

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Case, Count, F, Max, Min, Q, QuerySet, Sum, When
from django.db.models.functions import Coalesce

from rubricweb.models import (
    BatchJob,
    Criterion,
    JudgeCall,
    Judgement,
    Run,
    RunEvent,
    RunItem,
    RunMode,
    RunState,
    RunTally,
    User,
)
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.selectors.shared import workers
from rubricweb.selectors.shared.workers import SILENT_AFTER
from rubricweb.selectors.spending.spending import (
    holding,
    lost_calls,
    lost_usd,
    refused_by,
    visible_month_spending,
)
from rubricweb.selectors.withheld_runs import is_withheld_run, stop_reason

# Speed is measured over this time, over at most so many of the newest calls of all runs.
RECENTLY = timedelta(seconds=60)
RECENT_CALLS = 5000
# A run that was told to slow down this lately, or since an answer came, is being slowed down.
THROTTLED_LATELY = timedelta(seconds=20)

# From this many items on a run is looked at less often.
LARGE_ITEMS = 20_000

# The kind of event that says that the endpoint asked to wait.
THROTTLED = "throttled"

WAITING: Mapping[str, str] = {
    "no_worker": "No worker is running.",
    "queued": "Workers are busy with other runs.",
    "throttled": "The endpoint asked for patience.",
    "batch": "The provider has its questions as a batch, and answers within a day.",
    "budget": "The budget is used up.",
    "month_budget": "The team's budget for the month is used up.",
    "paused": "Somebody has to resume it.",
}
"""Everything a run that has not ended may be waiting for, in words."""


@dataclass(frozen=True)
class AtWork:
    """A worker process in a run: its `host:pid`, its calls in flight (None while they are withheld), its last
    sign of life.
    """

    name: str
    in_flight: int | None
    beat_at: datetime


@dataclass(frozen=True)
class Progress:
    """How far a run is; what is unknown is None.

    `verdicts` and `errors` are those of `graded` items, `errored` items among them have at least one error,
    `working` items are held by a worker right now. `calls` were asked, `cached` answered from earlier
    answers, `attempts` are requests sent. `cost_usd` is what is known to be spent, None when that is
    nothing though calls were answered; it would be higher by `cache_saved_usd` if the `cached_prompt_tokens`,
    a part of `prompt_tokens`, had not been in caches of the providers. `unpriced` calls, of unknown cost, are
    in it with what was set aside for them, where a cap held, and else not. Not in it are `lost_calls`, which
    were cut off and cost at most `lost_at_most_usd`. `held_usd` is set aside for calls in flight and for what
    a provider has as a batch, and is not spent yet. `month_usd` is what all runs of the team cost in this
    calendar month (UTC), None without a cap on it. `waiting` is a key of WAITING, "" while it goes on.
    `stop_reason` is why it stopped early, "" when it did not.

    While it is `withheld` from the viewer (`selectors.withheld_runs` says why), everything that counts calls,
    their cost, their pace and what failed is None. Items graded are told: which stage the others wait for is
    not.
    """

    state: str
    items: int
    graded: int
    errored: int | None
    working: int
    verdicts: int | None
    errors: int | None
    calls: int | None
    cached: int | None
    attempts: int | None
    in_flight: int | None
    prompt_tokens: int | None
    cached_prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    cache_saved_usd: float | None
    unpriced: int | None
    lost_calls: int | None
    lost_at_most_usd: float | None
    held_usd: float | None
    budget_usd: float | None
    month_usd: float | None
    month_budget_usd: float | None
    calls_per_second: float | None
    seconds_left: float | None
    latest_call_at: datetime | None
    workers: tuple[AtWork, ...]
    waiting: str
    stop_reason: str
    withheld: bool

    @property
    def share(self) -> float:
        """Share of items done, 0 to 1."""
        return self.graded / self.items if self.items else 1.0

    @property
    def left(self) -> int:
        """Items without a result yet."""
        return self.items - self.graded

    @property
    def parts(self) -> tuple[tuple[str, int, str], ...]:
        """(label, items, kind) by state, for one stacked bar; they add up to all items."""
        working = min(self.working, self.left)
        graded: tuple[tuple[str, int, str], ...] = (("Graded", self.graded, "accent"),)
        if self.errored is not None:
            graded = (
                ("Graded", self.graded - self.errored, "accent"),
                ("With errors", self.errored, "error"),
            )
        return (*graded, ("Running", working, "working"), ("Waiting", self.left - working, "pending"))

    @property
    def retries(self) -> int | None:
        """Requests sent beyond the first of each call."""
        if self.attempts is None or self.calls is None:
            return None
        return max(self.attempts - self.calls, 0)

    @property
    def cached_share(self) -> float | None:
        """Share of the prompts' tokens that providers had in their caches; None before any are known."""
        if self.cached_prompt_tokens is None or not self.prompt_tokens:
            return None
        return self.cached_prompt_tokens / self.prompt_tokens

    @property
    def cache_saved_share(self) -> float | None:
        """What providers' caches saved, as a share of the cost without them; None where that is not known."""
        if self.cost_usd is None or self.cache_saved_usd is None or not self.cost_usd + self.cache_saved_usd:
            return None
        return self.cache_saved_usd / (self.cost_usd + self.cache_saved_usd)

    @property
    def start_command(self) -> str:
        """What starts a worker while none is running, else ""."""
        return workers.start_command() if self.waiting == "no_worker" else ""

    @property
    def waiting_words(self) -> str:
        return WAITING.get(self.waiting, "")

    @property
    def is_moving(self) -> bool:
        """Whether figures still change: it runs, or calls in flight come in after a pause or an end."""
        return self.state == RunState.RUNNING or bool(self.working or self.in_flight)

    @property
    def poll_seconds(self) -> int | None:
        """How soon to look again: less often at large runs, whose items take longer to count; None once it
        has ended for good.
        """
        if self.is_moving:
            return 2 if self.items <= LARGE_ITEMS else 5
        return 10 if self.state == RunState.PAUSED else None


def progress(run: Run, *, viewer: User | None, now: datetime) -> Progress:
    """Counted afresh; at most thirteen small queries however large the run, fewer once it has ended, and
    three more for somebody who rates blind. None is nobody who reviews.
    """
    items = item_counts(run, now)
    held = Case(When(holding(now), then=F("reserved_usd")), default=0.0)
    tallies = list(
        RunTally.objects.filter(run=run)
        .annotate(held_usd=held, lost_n=lost_calls(now), lost_most_usd=lost_usd(now))
        .order_by("worker", "-month")
    )
    # Of a finished run nothing is in flight, whatever the last sign of a worker says.
    working = () if run.state == RunState.FINISHED else _at_work(tallies, now)
    calls = sum(tally.calls for tally in tallies)
    unpriced = sum(tally.unpriced for tally in tallies)
    cost = sum(tally.cost_usd for tally in tallies)
    rate = seconds_left = latest = None
    if run.state == RunState.RUNNING:
        rate, latest = _speed(run, now)
        seconds_left = _seconds_left(items, now)
    beats = [tally.beat_at for tally in tallies if tally.beat_at is not None]
    latest = max((moment for moment in (latest, items.latest) if moment is not None), default=None)
    cap = run.team.monthly_budget_usd
    month = None if cap is None else visible_month_spending(run.team, viewer=viewer, now=now)
    found = Progress(
        state=run.state,
        items=items.everything,
        graded=items.graded,
        errored=items.errored,
        working=items.working,
        verdicts=items.verdicts,
        errors=items.errors,
        calls=calls,
        cached=sum(tally.cached for tally in tallies),
        attempts=sum(tally.attempts for tally in tallies),
        in_flight=sum(one.in_flight or 0 for one in working),
        prompt_tokens=sum(tally.prompt_tokens for tally in tallies),
        cached_prompt_tokens=sum(tally.cached_prompt_tokens for tally in tallies),
        completion_tokens=sum(tally.completion_tokens for tally in tallies),
        cost_usd=None if unpriced and not cost else cost,
        cache_saved_usd=sum(tally.cache_saved_usd for tally in tallies),
        unpriced=unpriced,
        lost_calls=sum(tally.lost_n for tally in tallies),
        lost_at_most_usd=sum(tally.lost_most_usd for tally in tallies),
        held_usd=sum(tally.held_usd for tally in tallies),
        budget_usd=run.budget_usd,
        month_usd=None if month is None else month.spent_usd,
        month_budget_usd=cap,
        calls_per_second=rate,
        seconds_left=seconds_left,
        latest_call_at=latest,
        workers=working,
        waiting=_waiting(
            run,
            now,
            held=bool(items.working or working),
            quiet_since=max([run.created_at, *beats, *([latest] if latest else [])]),
            answered_at=latest or run.created_at,
        ),
        stop_reason=run.stop_reason,
        withheld=False,
    )
    return _without_calls(run, found) if is_withheld_run(run, viewer) else found


def _without_calls(run: Run, progress: Progress) -> Progress:
    """What may be told of a run whose calls the viewer must not count."""
    return replace(
        progress,
        errored=None,
        verdicts=None,
        errors=None,
        calls=None,
        cached=None,
        attempts=None,
        in_flight=None,
        prompt_tokens=None,
        cached_prompt_tokens=None,
        completion_tokens=None,
        cost_usd=None,
        cache_saved_usd=None,
        unpriced=None,
        lost_calls=None,
        lost_at_most_usd=None,
        held_usd=None,
        calls_per_second=None,
        seconds_left=None,
        latest_call_at=None,
        workers=tuple(replace(worker, in_flight=None) for worker in progress.workers),
        # Whose patience is asked for may be told by how often: a later stage is asked less.
        waiting="" if progress.waiting == THROTTLED else progress.waiting,
        stop_reason=stop_reason(run, withheld=True),
        withheld=True,
    )


@dataclass(frozen=True)
class ItemCounts:
    """Counts over the items of a run; `recent` were graded since `recent_from`, in the last minute.

    `answers` and `errors` are those of `graded` items.
    """

    everything: int = 0
    graded: int = 0
    errored: int = 0
    errors: int = 0
    working: int = 0
    answers: int = 0
    recent: int = 0
    recent_from: datetime | None = None
    latest: datetime | None = None

    @property
    def verdicts(self) -> int:
        return self.answers - self.errors


def item_counts(run: Run, now: datetime) -> ItemCounts:
    """One pass over the items' rows, by rubric version so that answers can be counted."""
    graded, recent = Q(graded_at__isnull=False), Q(graded_at__gt=now - RECENTLY)
    of_run = RunItem.objects.filter(run=run).order_by()
    groups = list(
        of_run.values("rubric_version_id")
        .annotate(
            n=Count("pk"),
            done=Count("pk", filter=graded),
            bad=Count("pk", filter=Q(errors__gt=0) & graded),
            wrong=Coalesce(Sum("errors", filter=graded), 0),
            held=Count("pk", filter=Q(graded_at=None, leased_until__gt=now)),
            lately=Count("pk", filter=recent),
            lately_from=Min("graded_at", filter=recent),
            newest=Max("graded_at"),
        )
        .values_list(
            "rubric_version_id", "n", "done", "bad", "wrong", "held", "lately", "lately_from", "newest"
        )
    )
    if not groups:
        return ItemCounts()
    versions, n, done, bad, wrong, held, lately, lately_from, newest = zip(*groups, strict=True)
    per_item = _answers_per_item(run, versions[0] if len(versions) == 1 else of_run.values("rubric_version"))
    return ItemCounts(
        everything=sum(n),
        graded=sum(done),
        errored=sum(bad),
        errors=sum(wrong),
        working=sum(held),
        # A machine in a file may have left criteria out: its answers are counted one by one.
        answers=Judgement.objects.filter(run=run).count()
        if run.imported
        else sum(per_item.get(version, 0) * count for version, count in zip(versions, done, strict=True)),
        recent=sum(lately),
        recent_from=min(filter(None, lately_from), default=None),
        latest=max(filter(None, newest), default=None),
    )


def _answers_per_item(run: Run, versions: int | QuerySet[RunItem, Any]) -> dict[int, int]:
    """How many answers or errors a graded item has, by its rubric version.

    One for every criterion; but a holistic judge gives one for all that are not checks.
    """
    criteria = Criterion.objects.filter(
        **{"version": versions} if isinstance(versions, int) else {"version__in": versions}
    )
    counted = (
        criteria.order_by()
        .values_list("version_id")
        .annotate(everything=Count("pk"), checks=Count("pk", filter=Q(kind="check")))
    )
    return {
        version: checks + (everything > checks) if run.autograder == PER_ITEM else everything
        for version, everything, checks in counted
    }


def _at_work(tallies: Sequence[RunTally], now: datetime) -> tuple[AtWork, ...]:
    """Processes heard of lately; one that worked on through midnight of a month has its newest row shown.

    What a provider's batch cost is a tally as well, but nobody's who works here.
    """
    newest = {tally.worker: tally for tally in reversed(tallies) if workers.is_process(tally.worker)}
    return tuple(
        AtWork(tally.worker, tally.in_flight, tally.beat_at)
        for tally in newest.values()
        if tally.beat_at is not None and now - tally.beat_at <= SILENT_AFTER
    )


def _speed(run: Run, now: datetime) -> tuple[float | None, datetime | None]:
    """Calls per second over the last minute, and when the latest was stored; None without two calls.

    Looks at the newest calls of all runs, a bounded number, because ids are in the order of time and there
    is no index on time.
    """
    newest = JudgeCall.objects.order_by("-pk").values_list("pk", flat=True).first()
    if newest is None:
        return None, None
    mine = Q(run=run, cached_from=None)
    seen = JudgeCall.objects.filter(pk__gt=newest - RECENT_CALLS, created_at__gt=now - RECENTLY).aggregate(
        n=Count("pk", filter=mine),
        since=Min("created_at", filter=mine),
        latest=Max("created_at", filter=mine),
    )
    if seen["n"] < 2 or now <= seen["since"]:
        return None, seen["latest"]
    return seen["n"] / max((now - seen["since"]).total_seconds(), 0.5), seen["latest"]


def _seconds_left(items: ItemCounts, now: datetime) -> float | None:
    """At the pace of the items of the last minute; None while fewer than two were graded in it."""
    if items.recent < 2 or items.recent_from is None or now <= items.recent_from:
        return None
    left = items.everything - items.graded
    return float(left * max((now - items.recent_from).total_seconds(), 0.5) / items.recent)


def _waiting(run: Run, now: datetime, *, held: bool, quiet_since: datetime, answered_at: datetime) -> str:
    """What the run waits for, a key of WAITING; "" when it goes on or has ended."""
    if run.state == RunState.PAUSED:
        return refused_by(run.stop_reason) or "paused"
    if run.state != RunState.RUNNING:
        return ""
    silent = now - quiet_since > SILENT_AFTER
    nobody = silent and not workers.alive(now)
    if run.mode == RunMode.BATCH and _is_handed_over(run):
        # Its items are held until the answers come, but somebody has to fetch them.
        return "no_worker" if nobody else "batch"
    if nobody:  # whoever holds items was killed with them
        return "no_worker"
    if held:
        return THROTTLED if _throttled(run, min(answered_at, now - THROTTLED_LATELY)) else ""
    return "queued" if silent else ""


def _is_handed_over(run: Run) -> bool:
    return BatchJob.objects.filter(run=run, stored_at=None).exclude(provider_id="").exists()


def _throttled(run: Run, since: datetime) -> bool:
    return RunEvent.objects.filter(run=run, kind=THROTTLED, latest_at__gte=since).exists()
