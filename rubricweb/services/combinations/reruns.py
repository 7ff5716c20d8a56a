"""Runs of combined datasets, started again over the new one and answered from the cache."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    User,
)
from rubricweb.selectors.datasets.combinations import MOST_RUNS, finished_runs, started_again
from rubricweb.selectors.runs.planning.forecasts import Range, forecast
from rubricweb.selectors.runs.planning.plans import plan
from rubricweb.services import dataset_versions
from rubricweb.services.combinations.combinations import parts_of
from rubricweb.services.combinations.matching import AskedPart
from rubricweb.services.datasets import systems
from rubricweb.services.runs import panels
from rubricweb.services.runs.starting import Draft, start_draft
from rubricweb.services.runs.work_queue import Enqueue
from rubricweb.services.shared.archiving import hold_listed, require_listed


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
    parts: Sequence[AskedPart], *, viewer: User | None, now: datetime, into: Dataset | None = None
) -> list[Rerun]:
    """The newest finished runs of the originals, in their order; `into` is the combined dataset, if there."""
    runs = _finished(parts)[:MOST_RUNS]
    reruns = [_planned(run, parts, into, viewer=viewer, now=now) for run in runs]
    order = [part.dataset.pk for part in parts]
    return sorted(reruns, key=lambda one: (order.index(one.run.dataset_id), one.run.pk))


def of_combination(combination: Combination, *, viewer: User | None, now: datetime) -> list[Rerun]:
    """The runs of the originals that can be started again, or were; none before the datasets are combined."""
    if not _is_whole(combination):
        return []
    started = started_again([combination])
    reruns = planned(parts_of(combination), viewer=viewer, now=now, into=combination.dataset)
    return [replace(one, started_as=started.get((combination.pk, one.run.pk))) for one in reruns]


@transaction.atomic
def start(
    combination: Combination,
    run_ids: Sequence[int],
    *,
    by: User,
    enqueue: Enqueue,
    budget_usd: float | None = None,
    no_cap: bool = False,
) -> list[Run]:
    """Starts these runs of the originals again over the combined dataset, each once; all or none.

    Raises Conflict where the combination is not done, what a run stands on is archived or nothing would be
    graded, NotFound for a dataset or rubric that was deleted meanwhile, Invalid for a run that is none of
    theirs, and as `start_run`.
    """
    combined = Combination.objects.select_related("dataset")
    into = _dataset_of(combined.get(pk=combination.pk))
    parts = parts_of(combination)
    known = _finished(parts).in_bulk(list(run_ids))
    made = []
    # In the order in which a run is started: rubrics, then the dataset. The combination comes last, as it is
    # for whoever deletes the dataset.
    versions = [run.rubric_version for run in known.values() if run.rubric_version is not None]
    rubrics = {version.rubric for version in versions if version.rubric is not None}
    for rubric in sorted(rubrics, key=lambda one: one.pk):
        hold_listed(rubric)
    dataset_versions.hold(into)
    held = combined.select_for_update(of=("self",)).get(pk=combination.pk)
    _dataset_of(held)
    started = started_again([held])
    for place, run_id in enumerate(dict.fromkeys(run_ids)):
        run = known.get(run_id)
        if run is None:
            raise Invalid.at(f"run_ids[{place}]", str(run_id), "a finished run over one of the originals")
        if (held.pk, run_id) in started:
            raise Conflict(f"{run} was started again before, as run {started[held.pk, run_id]}.")
        draft = _draft(run, _system(run, parts), parts, into)
        panels.require_judges(draft.run)
        new = start_draft(draft, by=by, enqueue=enqueue, budget_usd=budget_usd, no_cap=no_cap)
        held.started[str(run_id)] = new.pk
        made.append(new)
    held.save(update_fields=["started"])
    combination.started = held.started
    return made


def _dataset_of(combination: Combination) -> Dataset:
    if combination.dataset is None or not _is_whole(combination):
        raise Conflict(f"{combination} is not combined: there is nothing to run over.")
    return combination.dataset


def _is_whole(combination: Combination) -> bool:
    """Whether the combined dataset is there: not before it is copied, nor once it is deleted."""
    into = combination.dataset
    return (
        combination.state == CombinationState.DONE
        and into is not None
        and into.team_id == combination.team_id
    )


def _finished(parts: Sequence[AskedPart]) -> QuerySet[Run]:
    runs = finished_runs([part.dataset.pk for part in parts])
    return runs.select_related("system_version__system", "rubric_version__rubric", "dataset", "team")


def _planned(
    run: Run, parts: Sequence[AskedPart], into: Dataset | None, *, viewer: User | None, now: datetime
) -> Rerun:
    try:
        system = _system(run, parts)
        draft = _draft(run, system, parts, into)
        panels.require_judges(draft.run)
        judges = panels.frozen_judges(draft.run)
        counts = plan(
            draft.run.dataset,
            run.rubric_version,
            run.autograder,
            votes=run.votes_per_criterion,
            items=draft.items,
        )
        expected = forecast(draft.run, draft.items, judges, counts, viewer=viewer, now=now)
    except Refusal as refusal:
        return Rerun(run, run.system, 0, Range(0, 0), None, str(refusal))
    return Rerun(run, system, counts.calls, expected.cached, expected.cost_usd)


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


def _draft(run: Run, system: str, parts: Sequence[AskedPart], into: Dataset | None) -> Draft:
    """The same run over the version's answers: it asks the same questions where the words are the same.

    Raises Conflict where something it stands on is archived, and where there is no answer to grade.
    """
    if into is not None:
        require_listed(into)
    if run.rubric_version is not None and run.rubric_version.rubric is not None:
        require_listed(run.rubric_version.rubric)
    systems.require_listed(run.team, [system])
    dataset, items = into or run.dataset, _answers(system, parts, into)
    if not items.exists():
        raise Conflict(f"{dataset} has no answers of {system}: nothing would be graded.")
    again = Run(
        team=run.team,
        dataset=dataset,
        dataset_version=dataset.version,
        rubric_version=run.rubric_version,
        name=run.name,
        autograder=run.autograder,
        judge=run.judge,
        judge_version=run.judge_version,
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
