"""What a judge's earlier calls show: how long its replies are, how long it takes, what a token is to it."""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, quantiles, stdev
from typing import TypeAlias

from django.db.models import Exists, OuterRef, QuerySet

from rubricweb.judges.base import JudgeConfig
from rubricweb.models import JudgeCall, JudgeSnapshot, PanelSnapshot, Run, RunTally, Team, User, asked_judges
from rubricweb.selectors.withheld_runs import withheld_runs

# How far back is looked, and at how many calls: enough for a mean within a few percent, few enough to read.
LATEST_RUNS = 30
CALLS_READ = 60
FEWEST_CALLS = 5

_RunAndAsked: TypeAlias = tuple[int, JudgeSnapshot, PanelSnapshot | None, bool]
"""A run's id and judges, and whether any call of it was not answered from an earlier one."""


@dataclass(frozen=True, slots=True)
class JudgeHistory:
    """What `calls` earlier calls of one judge were like; ranges are (low, high).

    `bytes_per_token` is the UTF-8 bytes of a prompt's texts by the tokens the endpoint counted, None where
    requests are no longer kept. `completion_tokens` is the 95 % interval of the mean per call, and
    `latency_seconds` the middle half of the calls; None where they came by batch, which does not tell it.
    """

    calls: int
    bytes_per_token: float | None
    completion_tokens: tuple[float, float]
    latency_seconds: tuple[float, float] | None


def histories(
    team: Team, judges: Mapping[str, JudgeConfig], *, viewer: User | None
) -> dict[str, JudgeHistory]:
    """By the names in `judges`; who answered fewer than five calls in the team's latest 30 runs is missing.

    Up to 60 calls are read, run by run from the newest on: one query for the runs, and per judge most often
    one more, for a large run has them all. Calls to the same model at the same address count, whatever the
    judge was called and however it was asked; but not those of runs whose calls are withheld from the viewer.
    None is nobody who reviews.
    """
    runs = list(
        Run.objects.filter(team=team)
        .exclude(pk__in=withheld_runs(viewer, team).values("pk"))
        .annotate(asked=Exists(RunTally.objects.filter(run=OuterRef("pk"), calls__gt=0)))
        .order_by("-created_at", "-pk")
        .values_list("pk", "judge", "panel", "asked")[:LATEST_RUNS]
    )
    seen: dict[tuple[str, str], JudgeHistory | None] = {}
    for config in judges.values():
        who = _who(config.answered_by, config.model)
        if who not in seen:
            seen[who] = _history(runs, who)
    found = {name: seen[_who(config.answered_by, config.model)] for name, config in judges.items()}
    return {name: history for name, history in found.items() if history is not None}


def _who(answered_by: str, model: str) -> tuple[str, str]:
    return answered_by.rstrip("/"), model


def _history(runs: Iterable[_RunAndAsked], who: tuple[str, str]) -> JudgeHistory | None:
    rows: list[tuple[int | None, int | None, float | None, bytes | memoryview | None]] = []
    for calls in _calls_by_run(runs, who):
        # In no order: so the database stops at the last row it needs.
        rows += calls.order_by().values_list(
            "prompt_tokens", "completion_tokens", "latency_seconds", "request"
        )[: CALLS_READ - len(rows)]
        if len(rows) == CALLS_READ:
            break
    if len(rows) < FEWEST_CALLS:
        return None
    sizes = [(tokens, _prompt_bytes(request)) for tokens, _, _, request in rows if request]
    measured = sum(tokens or 0 for tokens, size in sizes if size)
    latencies = [latency for _, _, latency, _ in rows if latency]
    return JudgeHistory(
        calls=len(rows),
        bytes_per_token=sum(size for _, size in sizes) / measured if measured else None,
        completion_tokens=_mean_interval([tokens or 0 for _, tokens, _, _ in rows]),
        latency_seconds=_middle_half(latencies) if len(latencies) >= FEWEST_CALLS else None,
    )


def _calls_by_run(runs: Iterable[_RunAndAsked], who: tuple[str, str]) -> Iterator[QuerySet[JudgeCall]]:
    """What the judge answered at the first attempt, run by run, without runs whose answers were all known."""
    for pk, judge, panel, asked in runs:
        configs = [one.config for one in asked_judges(judge, panel)]
        same = [config is not None and _who(config.answered_by, config.model) == who for config in configs]
        if not asked or not any(same):
            continue
        calls = JudgeCall.objects.filter(run=pk, error_kind=None, cached_from=None, attempts=1)
        if not all(same):
            # What a panel's other judges said is told apart by the model that the endpoint says answered.
            calls = calls.filter(model__startswith=who[1])
        yield calls.filter(completion_tokens__gt=0, prompt_tokens__gt=0)


def _prompt_bytes(request: bytes | memoryview) -> int:
    """The bytes of all texts in a stored request's messages; 0 when it cannot be read."""
    try:
        messages = json.loads(zlib.decompress(bytes(request)))["messages"]
        return sum(len(str(message["content"]).encode("utf-8", "surrogatepass")) for message in messages)
    except (zlib.error, ValueError, KeyError, TypeError):
        return 0


def _middle_half(values: Sequence[float]) -> tuple[float, float]:
    lower, _, upper = quantiles(values, n=4)
    return lower, upper


def _mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The normal 95 % interval of the mean, at least 10 % wide either way: other items have other replies."""
    middle = mean(values)
    spread = max(1.96 * stdev(values) / len(values) ** 0.5, middle / 10)
    return max(middle - spread, 0.0), middle + spread
