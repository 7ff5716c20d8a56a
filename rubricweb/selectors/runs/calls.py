"""Calls to judges about one item of a run: what was sent, what came back, what it cost."""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from rubricweb import engine
from rubricweb.engine.autograders.base import Prompt
from rubricweb.errors import NotFound
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import (
    PRUNED,
    Criterion,
    Item,
    JournalEntry,
    JudgeCall,
    Judgement,
    Run,
    RunItem,
    User,
    Vote,
)
from rubricweb.selectors.runs import listing
from rubricweb.selectors.runs.graders import PER_ITEM, Graders
from rubricweb.selectors.shared.pages import keyset_page
from rubricweb.selectors.withheld_runs import hides_examples

# Texts of calls: a few kilobytes each, or a few hundred where the submission is long.
BODIES = ("request", "reply", "reasoning")


@dataclass(frozen=True)
class CallMessage:
    """One message of a request, as text: parts of other kinds than text stand as JSON."""

    role: str
    text: str


@dataclass(frozen=True)
class CallInFull:
    """One call with everything that is known about it.

    `judge` is who was asked, "" when that is not stored, and `config` what the run froze of it, None then:
    never a key or a header. `request` is the body as it was sent; where the answer was taken from an earlier
    call (`call.cached_from`), that call's. `prompt` is rebuilt from frozen rows for calls of a time when
    requests were not stored, and None for one whose failure was asked again later. `pruned_at` is when what
    was said was cleared, None while it is there. `withheld` hides request, reasoning and prompt: they may
    show examples with labels of items the viewer is still to review blind.
    """

    call: JudgeCall
    judge: str
    config: JudgeConfig | None
    request: Mapping[str, Any] | None
    prompt: Prompt | None
    pruned_at: datetime | None
    withheld: bool

    @property
    def body(self) -> str:
        """The request as JSON to read and copy, "" without one."""
        return "" if self.request is None else json.dumps(self.request, indent=2, ensure_ascii=False)

    @property
    def messages(self) -> tuple[CallMessage, ...]:
        """What the judge was told, in order."""
        if self.request is not None:
            return tuple(_messages(self.request))
        if self.prompt is not None:
            return (CallMessage("system", self.prompt.system), CallMessage("user", self.prompt.user))
        return ()

    @property
    def reasoning(self) -> str:
        """What the model thought before it answered, as far as the viewer may see it."""
        return "" if self.withheld else self.call.reasoning


@dataclass(frozen=True)
class CallPage:
    """`rows` of one page, oldest first; `next_cursor` opens the following one, None on the last."""

    rows: tuple[CallInFull, ...]
    next_cursor: str | None


def calls(run: Run, item: Item) -> QuerySet[JudgeCall]:
    """The calls about one item without their texts, oldest first. `runs.run_item` is their access check."""
    return JudgeCall.objects.filter(run=run, item=item).defer(*BODIES).order_by("pk")


def call_in_full(run: Run, item: Item, call_id: int, *, viewer: User) -> CallInFull:
    """One call about an item of a run. Raises NotFound, Withheld while the viewer reviews the item blind."""
    row = _opened(run, item, viewer)
    found = _with_source(run, item).filter(pk=call_id).first() if 0 < call_id < 2**63 else None
    if found is None:
        raise NotFound("call about this item")
    [call] = _in_full(run, item, row, [found], viewer)
    return call


def calls_in_full(
    run: Run, item: Item, *, viewer: User, cursor: str | None = None, size: int = 50
) -> CallPage:
    """Every call about an item of a run, page by page. Raises as `call_in_full` does."""
    row = _opened(run, item, viewer)
    page = keyset_page(_with_source(run, item), order=("pk",), cursor=cursor, size=size)
    return CallPage(tuple(_in_full(run, item, row, page.rows, viewer)), page.next_cursor)


def asks_each(run: Run, row: RunItem) -> bool:
    """Whether a single judge was asked about every criterion of this item apart."""
    if run.panel is not None or run.autograder == PER_ITEM:
        return False
    rubric = row.rubric_version.to_engine()
    prompts = Graders(run).single(row.rubric_version_id).prompts(engine.Submission(output=""), rubric)
    return len(prompts) == sum(not criterion.is_check for criterion in rubric.criteria)


def _opened(run: Run, item: Item, viewer: User) -> RunItem:
    row = listing.run_item(run, item, viewer=viewer)
    if row is None:
        raise NotFound("item in this run")
    return row


def _with_source(run: Run, item: Item) -> QuerySet[JudgeCall]:
    return JudgeCall.objects.filter(run=run, item=item).select_related("cached_from").order_by("pk")


def _in_full(
    run: Run, item: Item, row: RunItem, calls: Sequence[JudgeCall], viewer: User
) -> list[CallInFull]:
    withheld = hides_examples(run, viewer)
    requests = {call.pk: None if withheld else _request(call) for call in calls}
    pruned = _pruned_at(run, calls)
    unknown = {call.pk for call in calls if requests[call.pk] is None and pruned[call.pk] is None}
    prompts = _prompts(run, item, row, calls) if unknown and not withheld else {}
    judges = _judges(run, calls)
    return [
        CallInFull(
            call=call,
            judge=judges.get(call.pk, ""),
            config=_config(run, judges.get(call.pk, "")),
            request=requests[call.pk],
            prompt=prompts.get(call.pk) if call.pk in unknown else None,
            pruned_at=pruned[call.pk],
            withheld=withheld,
        )
        for call in calls
    ]


def _request(call: JudgeCall) -> Mapping[str, Any] | None:
    source = call if call.request is not None or call.cached_from is None else call.cached_from
    if source.request is None:
        return None
    body: Mapping[str, Any] = json.loads(zlib.decompress(bytes(source.request)))
    return body


def _messages(request: Mapping[str, Any]) -> Iterable[CallMessage]:
    for message in request.get("messages") or ():
        content = message.get("content")
        text = content if isinstance(content, str) else json.dumps(content, indent=2, ensure_ascii=False)
        yield CallMessage(str(message.get("role", "")), text)


def _pruned_at(run: Run, calls: Sequence[JudgeCall]) -> dict[int, datetime | None]:
    """When the calls lost what was said; a call that holds something was not pruned."""
    silent = [call for call in calls if call.request is None and not call.reply and not call.reasoning]
    times: dict[int, datetime | None] = dict.fromkeys(call.pk for call in calls)
    if not silent:
        return times
    lines = JournalEntry.objects.filter(team_id=run.team_id, verb=PRUNED).order_by("pk")
    rounds = [(datetime.fromisoformat(line.detail["before"]), line.at) for line in lines]
    for call in silent:
        times[call.pk] = next((at for before, at in rounds if before > call.created_at), None)
    return times


def _judges(run: Run, calls: Sequence[JudgeCall]) -> dict[int, str]:
    """Call id → the name of the judge that was asked, where that is known."""
    if run.panel is None:
        return {call.pk: run.judge.name for call in calls}
    votes = Vote.objects.filter(run=run, call__in=[call.pk for call in calls])
    return {pk: judge for pk, judge in votes.values_list("call_id", "judge") if pk is not None}


def _config(run: Run, judge: str) -> JudgeConfig | None:
    if run.panel is None:
        return run.judge.config
    return next((member.judge.config for member in run.panel.members if member.name == judge), None)


# ── Prompts of calls whose requests were not stored ──────────────────────────────────────────────


def _prompts(run: Run, item: Item, row: RunItem, calls: Sequence[JudgeCall]) -> dict[int, Prompt]:
    """Call id → the prompt it sent, rebuilt from frozen rows; without those that cannot be told."""
    made = _AskedCriteria(
        run, item, row, row.rubric_version.to_engine(), list(row.rubric_version.criteria.all())
    )
    asked = made.by_votes() if run.panel is not None else made.by_judgements()
    judges = _judges(run, [call for call in calls if call.pk in asked])
    prompts = {pk: made.prompt(places, judges.get(pk, "")) for pk, places in asked.items()}
    return {pk: prompt for pk, prompt in prompts.items() if prompt is not None}


@dataclass(frozen=True)
class _AskedCriteria:
    """What every call about one item asked for: call id → criteria by their place in the rubric."""

    run: Run
    item: Item
    row: RunItem
    rubric: engine.Rubric
    criteria: Sequence[Criterion]

    def by_votes(self) -> dict[int, set[int]]:
        """Every call of a panel asked about what its votes are on."""
        asked: dict[int, set[int]] = {}
        place = self._places()
        votes = Vote.objects.filter(run=self.run, item=self.item, call__isnull=False)
        for call_id, criterion_id in votes.values_list("call_id", "criterion_id"):
            asked.setdefault(call_id, set()).add(place[criterion_id])
        return asked

    def by_judgements(self) -> dict[int, set[int]]:
        """The first call about an item asks for everything it is there for; a later one for what had failed,
        which is what it and the calls after it were stored for.
        """
        place = self._places()
        stored: dict[int, set[int]] = {}
        judgements = Judgement.objects.filter(run=self.run, item=self.item, call__isnull=False)
        for call_id, criterion_id in judgements.values_list("call_id", "criterion_id"):
            if criterion_id in place:
                stored.setdefault(call_id, set()).add(place[criterion_id])
        if self.run.autograder == PER_ITEM:
            stored = {}
        calls = list(JudgeCall.objects.filter(run=self.run, item=self.item).order_by("pk").values_list("pk"))
        if asks_each(self.run, self.row) and len(place) > 1:
            return stored
        asked: dict[int, set[int]] = {}
        later: set[int] = set()
        for (call_id,) in reversed(calls):
            later |= stored.get(call_id, set())
            asked[call_id] = set(place.values()) if (call_id,) == calls[0] or not stored else set(later)
        return asked

    def prompt(self, asked: set[int], judge: str) -> Prompt | None:
        """The one prompt that asks this judge for these criteria, None when there is no such thing."""
        if not asked:
            return None
        only = None if len(asked) == len(self._places()) else sorted(asked)
        grader = Graders(self.run).single(self.row.rubric_version_id, judge)
        prompts = grader.prompts(self.item.to_engine(), self.rubric, only=only)
        return prompts[0] if len(prompts) == 1 else None

    def _places(self) -> dict[int, int]:
        """Criterion id → its place in the rubric, for those a judge is asked about."""
        return {
            criterion.pk: index for index, criterion in enumerate(self.criteria) if criterion.kind != "check"
        }
