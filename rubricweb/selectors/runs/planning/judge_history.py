"""What a judge's earlier calls show: how long its replies are, how long it takes, what a token is to it."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import mean, quantiles, stdev

from django.db.models import Q

from rubricweb.judges.base import JudgeConfig
from rubricweb.models import JudgeCall, JudgeSnapshot, PanelSnapshot, Run, Team, User, asked_judges
from rubricweb.selectors.withheld_runs import withheld_runs

# How far back is looked, and at how many calls: enough for a mean within a few percent, few enough to read.
LATEST_RUNS = 30
RUNS_READ = 3
CALLS_READ = 60
FEWEST_CALLS = 5


@dataclass(frozen=True, slots=True)
class JudgeHistory:
    """What `calls` earlier calls of one judge were like; ranges are (low, high).

    `bytes_per_token` is the UTF-8 bytes of a prompt's texts by the tokens the endpoint counted, None where
    requests are no longer kept. `completion_tokens` is the 95 % interval of the mean per call, and
    `latency_seconds` the middle half of the calls.
    """

    calls: int
    bytes_per_token: float | None
    completion_tokens: tuple[float, float]
    latency_seconds: tuple[float, float]


def histories(
    team: Team, judges: Mapping[str, JudgeConfig], *, viewer: User | None
) -> dict[str, JudgeHistory]:
    """By the names in `judges`; who answered fewer than five calls in the team's latest 30 runs is missing.

    One query for the runs, and one per judge for at most 60 calls of at most three runs. Calls to the same
    model at the same address count, whatever the judge was called and however it was asked; but not those of
    runs whose calls are withheld from the viewer. None is nobody who reviews.
    """
    runs = list(
        Run.objects.filter(team=team)
        .exclude(pk__in=withheld_runs(viewer, team).values("pk"))
        .order_by("-created_at", "-pk")
        .values_list("pk", "judge", "panel")[:LATEST_RUNS]
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


def _history(
    runs: Iterable[tuple[int, JudgeSnapshot, PanelSnapshot | None]], who: tuple[str, str]
) -> JudgeHistory | None:
    alone: list[int] = []
    among_others: list[int] = []
    for pk, judge, panel in runs:
        configs = [one.config for one in asked_judges(judge, panel)]
        same = [config is not None and _who(config.answered_by, config.model) == who for config in configs]
        if any(same):
            (alone if all(same) else among_others).append(pk)
    used = sorted([*alone, *among_others], reverse=True)[:RUNS_READ]
    # What a panel's other judges said is told apart by the model that the endpoint says answered.
    own = Q(run__in=set(alone) & set(used)) | Q(
        run__in=set(among_others) & set(used), model__startswith=who[1]
    )
    calls = JudgeCall.objects.filter(
        own, error_kind=None, cached_from=None, attempts=1, completion_tokens__gt=0, prompt_tokens__gt=0
    )
    # In no order: so the database stops at the last row it needs.
    rows = list(
        calls.order_by().values_list("prompt_tokens", "completion_tokens", "latency_seconds", "request")[
            :CALLS_READ
        ]
    )
    if len(rows) < FEWEST_CALLS:
        return None
    sizes = [(tokens, _prompt_bytes(request)) for tokens, _, _, request in rows if request]
    measured = sum(tokens or 0 for tokens, size in sizes if size)
    latencies = [latency or 0.0 for _, _, latency, _ in rows]
    lower, _, upper = quantiles(latencies, n=4)
    return JudgeHistory(
        calls=len(rows),
        bytes_per_token=sum(size for _, size in sizes) / measured if measured else None,
        completion_tokens=_mean_interval([tokens or 0 for _, tokens, _, _ in rows]),
        latency_seconds=(lower, upper),
    )


def _prompt_bytes(request: bytes | memoryview) -> int:
    """The bytes of all texts in a stored request's messages; 0 when it cannot be read."""
    try:
        messages = json.loads(zlib.decompress(bytes(request)))["messages"]
        return sum(len(str(message["content"]).encode("utf-8", "surrogatepass")) for message in messages)
    except (zlib.error, ValueError, KeyError, TypeError):
        return 0


def _mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The normal 95 % interval of the mean, at least 10 % wide either way: other items have other replies."""
    middle = mean(values)
    spread = max(1.96 * stdev(values) / len(values) ** 0.5, middle / 10)
    return max(middle - spread, 0.0), middle + spread
