"""What a run will probably ask, cost and take, measured on its own prompts before one of them is sent."""

# Long because a forecast is told from what is known to what is shown.

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import mean, stdev
from uuid import UUID

from django.db.models import Count, QuerySet

from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Item, Run, RunMode, User
from rubricweb.selectors.blinding import hidden_datasets, hidden_items
from rubricweb.selectors.datasets.systems import blinded_answers
from rubricweb.selectors.runs.planning.judge_history import JudgeHistory, histories
from rubricweb.selectors.runs.planning.plans import Plan
from rubricweb.selectors.runs.planning.samples import (
    SampledQuestion,
    asked_about,
    sampled,
    unseen_in_sample,
)
from rubricweb.selectors.runs.planning.stored_replies import known_keys
from rubricweb.selectors.shared import workers
from rubricweb.selectors.spending.spending import Spending, visible_month_spending

# Items whose prompts are put together, and prompts they may come to: about a quarter of a second of work.
ITEMS_READ = 200
FEWEST_ITEMS_READ = 20
PROMPTS_READ = 2000

# What is assumed of a judge that was never asked. English is nearer 5 bytes a token, other scripts nearer 3.
ASSUMED_BYTES_PER_TOKEN = (3.0, 5.0)
ASSUMED_TOKENS_PER_ANSWER = (40.0, 400.0)
ASSUMED_LATENCY_SECONDS = (1.0, 10.0)
# What a provider's chat format, and the schema of the reply, may add to a prompt's text.
ASSUMED_TOKENS_AROUND = 60
# How far a tokenizer strays from its own mean, from one dataset to the next.
TOKENS_SPREAD = 0.05
Z95 = 1.96
# Providers answer a batch within this time.
BATCH_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Range:
    """A number that is probably between `low` and `high`; equal where it is certain."""

    low: float
    high: float

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.high + other.high)

    def times(self, low: float, high: float) -> "Range":
        """Both ends multiplied, each by its own number from 0."""
        return Range(self.low * low, self.high * high)


@dataclass(frozen=True, slots=True)
class JudgeForecast:
    """One judge's share: of `calls`, `cached` are answered from earlier answers and `new` are paid for.

    Tokens and cost are those of the new calls; `cost_usd` None without a price. `earlier_calls` is how many
    of its calls the numbers rest on, 0 where they are assumed; `seconds` only where some were asked live.
    """

    name: str
    model: str
    price_source: str
    calls: Range
    cached: Range
    new: Range
    prompt_tokens: Range
    completion_tokens: Range
    cost_usd: Range | None
    seconds: Range
    earlier_calls: int


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a whole run comes to. Asking again after errors comes on top.

    The sums are over its judges: `cost_usd` is that of judges with a price and None when none has one;
    `unpriced` names the others, and models that judges fall back on at no known price. `seconds` is None when
    nothing is asked. `sampled` of the items were looked at, `basis` says in sentences what the numbers rest
    on. `month` is what the team has spent this month against its cap, None while that is withheld from the
    viewer (see `selectors.withheld_runs`).
    """

    calls: Range
    cached: Range
    new: Range
    prompt_tokens: Range
    completion_tokens: Range
    cost_usd: Range | None
    unpriced: tuple[str, ...]
    seconds: Range | None
    judges: tuple[JudgeForecast, ...]
    sampled: int
    items: int
    month: Spending | None
    basis: tuple[str, ...]

    @property
    def passes_month(self) -> bool:
        """Whether it may well cost more than is left of the team's month."""
        left = self.month.left_usd if self.month is not None else None
        return left is not None and self.cost_usd is not None and self.cost_usd.high > left


def forecast(
    run: Run,
    items: QuerySet[Item],
    judges: Mapping[str, JudgeConfig],
    plan: Plan,
    *,
    viewer: User | None,
    now: datetime,
) -> Forecast:
    """What the run of this row, which need not be stored, would come to over these items.

    `judges` are those it asks, with or without keys, by the names its votes carry; `plan` counts its prompts.
    The prompts of at most 200 items spread over the dataset are put together, measured, and looked up among
    the team's answers. At most fifteen queries (a dozen more for a viewer who rates blind), one for each
    model and one for each 500 prompts, however large the dataset. Items that the `viewer` is still to review
    blind count as new: that a judge was asked about one can tell what another said, where a cascade
    escalates. Nor are theirs measured by version: see `_measured`. None is nobody who reviews.
    """
    repeats, stages = run.repeats_of(judges), _stages(run, judges)
    votes = sum(repeats.values()) or 1
    prompts_in_all = plan.calls // (sum(repeats[name] for name in judges if stages[name] == 0) or 1)
    per_item = max(prompts_in_all * votes / max(plan.items, 1), 1)
    sample = sampled(items, plan.items, min(ITEMS_READ, max(FEWEST_ITEMS_READ, int(PROMPTS_READ / per_item))))
    asked = list(asked_about(sample, run, judges, repeats))
    blind = viewer if viewer is not None and hidden_datasets(viewer, run.team) else None
    untold = _untold(run, sample, blind)
    measured = _measured(run, items, judges, repeats, viewer=blind, size=len(sample))
    askable = (one.key for one in asked if one.item not in untold)
    known = known_keys(run.team_id, askable) if run.use_cache else set()
    earlier = histories(run.team, judges, viewer=viewer)
    differing = _differing(run, items, plan.items) if asked and len(sample) < plan.items else plan.items
    processes = sum(worker.processes for worker in workers.alive(now)) or 1
    found = tuple(
        _JudgeShare(
            name,
            config.at_batch_price() if run.mode == RunMode.BATCH and not stages[name] else config,
            [one for one in asked if one.judge == name],
            known,
            measured=[one.size for one in measured if one.judge == name],
            calls=prompts_in_all * repeats[name],
            share_asked=(plan.items, len(sample)),
            share_differing=differing / max(plan.items, 1),
            once=run.use_cache,
            later=stages[name] > 0,
            history=earlier.get(name),
        ).forecast(processes)
        for name, config in judges.items()
    )
    priced = [one.cost_usd for one in found if one.cost_usd is not None]
    return Forecast(
        calls=_sum(one.calls for one in found),
        cached=_sum(one.cached for one in found),
        new=_sum(one.new for one in found),
        prompt_tokens=_sum(one.prompt_tokens for one in found),
        completion_tokens=_sum(one.completion_tokens for one in found),
        cost_usd=_sum(priced) if priced or not found else None,
        unpriced=(*(one.name for one in found if one.cost_usd is None), *_unpriced_fallbacks(judges)),
        seconds=_seconds(run, found, stages),
        judges=found,
        sampled=len(sample),
        items=plan.items,
        month=visible_month_spending(run.team, viewer=viewer, now=now),
        basis=tuple(
            _forecast_basis(
                run,
                plan,
                earlier,
                stages,
                _how_measured(len(sample), plan, elsewhere=bool(measured)),
                bool(untold),
                _alike(run, asked, plan.items, differing),
                unseen_in_sample(sample, plan.items),
            )
        ),
    )


# ── Who is asked, how often and when ─────────────────────────────────────────────────────────────


def _stages(run: Run, judges: Iterable[str]) -> dict[str, int]:
    if run.panel is None:
        return dict.fromkeys(judges, 0)
    return {member.name: member.stage for member in run.panel.members}


def _untold(run: Run, sample: Sequence[Item], viewer: User | None) -> set[int]:
    """The ids of items about which the viewer must not learn what judges were asked; None is somebody from
    whom nothing is hidden.
    """
    if viewer is None or not run.use_cache:
        return set()
    return set(
        hidden_items(viewer, run.team)
        .filter(pk__in=[item.pk for item in sample])
        .values_list("pk", flat=True)
    )


def _measured(
    run: Run,
    items: QuerySet[Item],
    judges: Mapping[str, JudgeConfig],
    repeats: Mapping[str, int],
    *,
    viewer: User | None,
    size: int,
) -> list[SampledQuestion]:
    """The questions whose length stands for that of these items' where it would tell the viewer who answered:
    those about all answers of the dataset. None where nothing is told.

    A viewer who reads two answers to a case without their versions, and the others with theirs, would find
    how long those of one version are together, and which of the two fits.
    """
    if viewer is None:
        return []
    others = Item.objects.current().filter(dataset=run.dataset_id)
    if blinded_answers(run.dataset, viewer).isdisjoint(items.values_list("pk", flat=True)):
        return []
    if not others.exclude(pk__in=items.order_by().values("pk")).exists():
        return []
    sample = sampled(others, others.count(), max(size, FEWEST_ITEMS_READ))
    return list(asked_about(sample, run, judges, repeats))


def _differing(run: Run, items: QuerySet[Item], count: int) -> int:
    """How many of the items differ in their words: no fewer prompts are asked about each criterion."""
    if not run.use_cache:
        return count
    return int(items.order_by().aggregate(n=Count("content_hash", distinct=True))["n"])


def _unpriced_fallbacks(judges: Mapping[str, JudgeConfig]) -> Iterator[str]:
    for config in judges.values():
        if config.fallback_model and config.as_fallback().cost_usd(0, 0) is None:
            yield config.fallback_model


# ── What one judge's share comes to ──────────────────────────────────────────────────────────────


@dataclass
class _JudgeShare:
    """What is known about one judge's part, before it becomes ranges.

    `calls` is what it is asked at most, and exactly unless it is `later`: in a stage that may not be reached.
    `share_asked` is (items, items sampled), `share_differing` the share of the items that differ in their
    words; what is asked alike is asked `once`. Where prompts are `measured` elsewhere, those sizes stand for
    theirs.
    """

    name: str
    config: JudgeConfig
    asked: Sequence[SampledQuestion]
    known: set[UUID]
    measured: Sequence[int]
    calls: int
    share_asked: tuple[int, int]
    share_differing: float
    once: bool
    later: bool
    history: JudgeHistory | None

    def forecast(self, processes: int) -> JudgeForecast:
        new = self._new()
        prompt_tokens, completion_tokens = self._prompt_tokens(new), self._completion_tokens(new)
        costs = [
            self.config.cost_usd(math.ceil(tokens_in), math.ceil(tokens_out))
            for tokens_in, tokens_out in (
                (prompt_tokens.low, completion_tokens.low),
                (prompt_tokens.high, completion_tokens.high),
            )
        ]
        low, high = costs
        calls = Range(0 if self.later else self.calls, self.calls)
        return JudgeForecast(
            name=self.name,
            model=self.config.model,
            price_source=self.config.price_source,
            calls=calls,
            cached=Range(max(calls.low - new.high, 0), max(calls.high - new.low, 0))
            if not self.later
            else Range(0, self.calls - self._all_new().low),
            new=new,
            prompt_tokens=prompt_tokens,
            completion_tokens=completion_tokens,
            cost_usd=None if low is None or high is None else Range(low, high),
            seconds=self._seconds(new, prompt_tokens + completion_tokens, processes),
            earlier_calls=self.history.calls if self.history else 0,
        )

    @property
    def _whole(self) -> bool:
        items, sampled_items = self.share_asked
        return sampled_items == items

    def _new(self) -> Range:
        new = self._all_new()
        return Range(0, new.high) if self.later else new

    def _all_new(self) -> Range:
        """Calls without an earlier answer, were every stage reached."""
        if not self.asked:
            return Range(self.calls, self.calls)
        unknown = [one for one in self.asked if one.key not in self.known]
        if self._whole:
            new = round(len(self._fresh()) / len(self.asked) * self.calls)
            return Range(new, new)
        if not unknown:
            # None of n was new: up to 3 in n of the rest may be, at 95 %.
            looked_at = len({one.item for one in self.asked})
            return Range(0, round(self.calls * min(3 / looked_at, 1.0)))
        share, spread = self._share_of(unknown)
        least = max(share - spread, 0.0) * self.share_differing
        # Of doubles a sample holds fewer than the whole: without them it says the most there may be.
        share, spread = self._share_of(self._fresh())
        most = max(min(share + spread, 1.0), least)
        return Range(round(least * self.calls), round(most * self.calls))

    def _fresh(self) -> list[SampledQuestion]:
        """Of the questions looked at those without an earlier answer; of those that are alike the first."""
        fresh = [one for one in self.asked if one.key not in self.known]
        return list({one.key: one for one in reversed(fresh)}.values())[::-1] if self.once else fresh

    def _share_of(self, some: Iterable[SampledQuestion]) -> tuple[float, float]:
        """How many of the questions looked at these are, and how far that may be off for the whole."""
        counts: dict[int, int] = dict.fromkeys((one.item for one in self.asked), 0)
        for one in some:
            counts[one.item] += 1
        share = sum(counts.values()) / len(self.asked)
        if share == 1.0:
            return share, 0.0
        per_item = len(self.asked) / len(counts)
        shares = [count / per_item for count in counts.values()]
        return share, _standard_error(shares, *self.share_asked) * Z95

    def _prompt_tokens(self, new: Range) -> Range:
        """Mean bytes of a prompt that is new (of any, when none is), by what a token is to this judge."""
        sizes = self._sizes()
        if not sizes:
            return Range(0, 0)
        middle = mean(sizes)
        spread = 0.0 if self._whole else _standard_error(sizes, *self.share_asked) * Z95
        around = 0
        if self.history is not None and self.history.bytes_per_token is not None:
            least = self.history.bytes_per_token * (1 - TOKENS_SPREAD)
            most = self.history.bytes_per_token * (1 + TOKENS_SPREAD)
        else:
            least, most = ASSUMED_BYTES_PER_TOKEN
            around = ASSUMED_TOKENS_AROUND
        return new.times(max(middle - spread, 0.0) / most, (middle + spread) / least + around)

    def _sizes(self) -> list[int]:
        if self.measured:
            return list(self.measured)
        fresh = [one.size for one in self._fresh()]
        return fresh or [one.size for one in self.asked]

    def _completion_tokens(self, new: Range) -> Range:
        if self.history is not None:
            low, high = self.history.completion_tokens
        else:
            answers = mean(one.answers for one in self.asked) if self.asked else 1
            low, high = (tokens * answers for tokens in ASSUMED_TOKENS_PER_ANSWER)
        most = self.config.sampling.max_output_tokens or math.inf
        return new.times(min(low, most), min(high, most))

    def _seconds(self, new: Range, tokens: Range, processes: int) -> Range:
        """As long as the slowest of: calls in flight, requests a minute, tokens a minute."""
        config = self.config
        latency = (self.history and self.history.latency_seconds) or ASSUMED_LATENCY_SECONDS
        at_once = config.concurrency * processes
        low = [latency[0] * math.ceil(new.low / at_once)]
        high = [latency[1] * math.ceil(new.high / at_once)]
        for limit, wanted in ((config.requests_per_minute, new), (config.tokens_per_minute, tokens)):
            if limit is not None:
                low.append(60 * max(wanted.low - limit, 0) / limit)
                high.append(60 * wanted.high / limit)
        return Range(max(low), max(high))


def _standard_error(values: Sequence[float], items: int, sampled_items: int) -> float:
    """Of the mean, drawn without putting back: sd / √n · √(1 - share of the items that was looked at)."""
    if len(values) < 2:
        return 0.0
    return stdev(values) / math.sqrt(len(values)) * math.sqrt(max(1 - sampled_items / items, 0.0))


def _sum(ranges: Iterable[Range]) -> Range:
    return sum(ranges, Range(0, 0))


def _seconds(run: Run, judges: Sequence[JudgeForecast], stages: Mapping[str, int]) -> Range | None:
    """Judges of one stage are asked side by side, stages one after the other."""
    if not any(judge.new.high for judge in judges):
        return None
    if run.mode == RunMode.BATCH:
        return Range(0, BATCH_SECONDS)
    total = Range(0, 0)
    for stage in set(stages.values()):
        of_stage = [judge.seconds for judge in judges if stages[judge.name] == stage]
        total += Range(max(one.low for one in of_stage), max(one.high for one in of_stage))
    return total


def _alike(run: Run, asked: Sequence[SampledQuestion], items: int, differing: int) -> str:
    """What is said of prompts that come more than once; "" where none does."""
    double = len(asked) - len({(one.judge, one.key) for one in asked})
    if not run.use_cache or (not double and differing == items):
        return ""
    if differing == items:
        return f"Questions that are alike are asked once: {double:,} of them are."
    return (
        f"{items - differing:,} of {items:,} items say what another one says. What is asked about both in "
        "the same words is asked once; how much that is, shows only when it is asked."
    )


def _how_measured(looked_at: int, plan: Plan, *, elsewhere: bool) -> str:
    if elsewhere:
        return (
            "How long prompts are is measured on the answers of all versions: what those of one come to "
            "would tell who gave the answers you are still to review blind."
        )
    if looked_at < plan.items:
        return (
            f"The prompts of {looked_at:,} of {plan.items:,} items were put together and measured; "
            "the rest is taken to be like them."
        )
    return "All prompts were put together and measured."


def _forecast_basis(
    run: Run,
    plan: Plan,
    earlier: Mapping[str, JudgeHistory],
    stages: Mapping[str, int],
    measured: str,
    some_untold: bool,
    alike: str,
    unseen: str,
) -> Iterator[str]:
    if not stages or not plan.calls:
        return
    if unseen:
        yield unseen
    yield measured
    if not run.use_cache:
        yield "Earlier answers are not used: everything is asked anew."
    elif some_untold:
        yield (
            "Items you are still to review blind count as new: whether a judge was asked about them before "
            "is not told."
        )
    if alike:
        yield alike
    least, most = ASSUMED_LATENCY_SECONDS
    for judge in stages:
        history = earlier.get(judge)
        if history is None:
            low, high = ASSUMED_TOKENS_PER_ANSWER
            yield (
                f"{judge} was never asked here: {low:g} to {high:g} tokens an answer and "
                f"{least:g} to {most:g} s a call are assumed. "
                "A model that thinks first writes more: try it on 3 items."
            )
        elif history.latency_seconds is None:
            yield (
                f"{judge}: tokens are those of {history.calls} earlier calls, by batch; "
                f"{least:g} to {most:g} s a call are assumed."
            )
        else:
            yield f"{judge}: tokens and time are those of {history.calls} earlier calls."
    if any(stages.values()):
        yield "From none to all of the criteria go on to the next stage of the cascade."
    if run.mode == RunMode.BATCH:
        yield "A provider answers a batch within a day, for half the price; what it leaves is asked live."
    yield "Asking again after errors comes on top."
