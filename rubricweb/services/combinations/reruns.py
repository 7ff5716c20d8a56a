"""Runs of combined datasets, started again over the new one and answered from the cache."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Q, QuerySet

from rubricweb.errors import Conflict, Invalid, Refusal
from rubricweb.models import (
    Combination,
    CombinationState,
    Dataset,
    Item,
    Run,
    RunMode,
    RunState,
    User,
    unarchived,
)
from rubricweb.selectors.runs.planning.forecasts import Range, forecast
from rubricweb.selectors.runs.planning.plans import plan
from rubricweb.services import dataset_versions
from rubricweb.services.combinations.combinations import request_of
from rubricweb.services.combinations.matching import AskedPart
from rubricweb.services.runs import panels
from rubricweb.services.runs.starting import Draft, start_draft
from rubricweb.services.runs.work_queue import Enqueue

MOST_SHOWN = 20


@dataclass(frozen=True)
class Rerun:
    """A finished run of an original, and what the same run over the new dataset comes to.

    `cached` of its `calls` are answered from earlier answers. `refused` says why it cannot be started again.
    `started_as` is the run it was started as.
    """

    run: Run
    system: str
    calls: int
    cached: Range
    cost_usd: Range | None
    refused: str = ""
    started_as: int | None = None


def planned(
    parts: Sequence[AskedPart], *, viewer: User | None, now: datetime, found: Combination | None = None
) -> list[Rerun]:
    """The newest finished runs of the originals, in their order; `found` is the combination once done."""
    reruns = []
    for run in _finished(parts)[:MOST_SHOWN]:
        reruns.append(_planned(run, parts, viewer=viewer, now=now, found=found))
    order = [part.dataset.pk for part in parts]
    return sorted(reruns, key=lambda one: (order.index(one.run.dataset_id), one.run.pk))


@transaction.atomic
def start(
    found: Combination,
    run_ids: Sequence[int],
    *,
    by: User,
    enqueue: Enqueue,
    budget_usd: float | None = None,
    no_cap: bool = False,
) -> list[Run]:
    """Starts these runs of the originals again over the combined dataset, each once; all or none.

    Raises Conflict where the combination is not done, Invalid for a run that is none of theirs, and as
    `start_run`.
    """
    held = Combination.objects.select_for_update(of=("self",)).select_related("dataset").get(pk=found.pk)
    if held.state != CombinationState.DONE or held.dataset is None or held.dataset.team_id != held.team_id:
        raise Conflict(f"{held} is not combined: there is nothing to run over.")
    parts = request_of(held).parts
    known = _finished(parts).in_bulk(list(run_ids))
    made = []
    dataset_versions.hold(held.dataset)
    for place, run_id in enumerate(dict.fromkeys(run_ids)):
        run = known.get(run_id)
        if run is None:
            raise Invalid.at(f"run_ids[{place}]", str(run_id), "a finished run over one of the originals")
        if str(run_id) in held.started:
            raise Conflict(f"{run} was started again before, as run {held.started[str(run_id)]}.")
        system = _system(run, parts)
        draft = _draft(run, held.dataset, _answers(system, parts, held.dataset))
        panels.require_judges(draft.run)
        new = start_draft(draft, by=by, enqueue=enqueue, budget_usd=budget_usd, no_cap=no_cap)
        held.started[str(run_id)] = new.pk
        made.append(new)
    held.save(update_fields=["started"])
    found.started = held.started
    return made


def _finished(parts: Sequence[AskedPart]) -> QuerySet[Run]:
    runs = Run.objects.filter(unarchived(), dataset__in=[part.dataset for part in parts], rater=None)
    of_now = runs.filter(state=RunState.FINISHED).order_by("-pk")
    return of_now.select_related("system_version__system", "rubric_version", "dataset", "team")


def _planned(
    run: Run, parts: Sequence[AskedPart], *, viewer: User | None, now: datetime, found: Combination | None
) -> Rerun:
    started_as = found.started.get(str(run.pk)) if found is not None else None
    try:
        system = _system(run, parts)
        into = found.dataset if found is not None and found.state == CombinationState.DONE else None
        draft = _draft(run, into or run.dataset, _answers(system, parts, into))
        judges = panels.judges_of(draft.run)
        counts = plan(
            draft.run.dataset,
            run.rubric_version,
            run.autograder,
            votes=run.votes_per_criterion,
            items=draft.items,
        )
        expected = forecast(draft.run, draft.items, judges, counts, viewer=viewer, now=now)
    except Refusal as refusal:
        return Rerun(run, run.system, 0, Range(0, 0), None, str(refusal), started_as)
    return Rerun(run, system, counts.calls, expected.cached, expected.cost_usd, "", started_as)


def _system(run: Run, parts: Sequence[AskedPart]) -> str:
    """Whose answers the run judges in the combined dataset. Raises Conflict where these are several's."""
    [part] = [one for one in parts if one.dataset.pk == run.dataset_id]
    if not part.system and run.system_version is None:
        raise Conflict("It went over answers of several system versions: start a run for each.")
    return part.system or run.system


def _answers(system: str, parts: Sequence[AskedPart], into: Dataset | None) -> QuerySet[Item]:
    """The version's answers in the combined dataset; before there is one, the items that will be these."""
    name, _, label = system.partition("@")
    own = Q(system_version__system__name=name, system_version__label=label)
    if into is not None:
        return Item.objects.current().filter(own, dataset=into)
    kept = [part.dataset for part in parts if not part.system]
    renamed = [part.dataset for part in parts if part.system == system]
    return Item.objects.current().filter(Q(dataset__in=renamed) | Q(own, dataset__in=kept))


def _draft(run: Run, dataset: Dataset, items: QuerySet[Item]) -> Draft:
    """The same run over other items: it asks the same questions where the words are the same."""
    again = Run(
        team=run.team,
        dataset=dataset,
        dataset_version=dataset.version,
        rubric_version=run.rubric_version,
        name=run.name,
        autograder=run.autograder,
        judge=run.judge,
        endpoint_id=run.endpoint_id,
        reply_format=run.reply_format,
        normalize=run.normalize,
        abstention=run.abstention,
        on_error=run.on_error,
        option_seed=run.option_seed,
        panel=run.panel,
        few_shot=run.few_shot,
        mode=RunMode.LIVE,
        use_cache=True,
    )
    return Draft(again, items)
