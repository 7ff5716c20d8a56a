"""What an adjudication is about: one criterion of one item, and who said what on it."""

from collections import defaultdict
from collections.abc import Sequence

from django.db.models import Q

from rubricweb.errors import NotFound
from rubricweb.models import Criterion, Item, Launch, Review, ReviewQueue, ReviewState, Run, RunState, Team


def criterion_for(item: Item, criterion_id: int) -> Criterion:
    """The access check of a criterion this item can be judged by: of its own rubric when it brings one, else
    of any version the item's team has published.
    """
    if item.rubric_version_id is not None:
        judged_by = Q(version=item.rubric_version_id)
    else:
        judged_by = Q(version__rubric__team=item.dataset.team_id)
    criterion = Criterion.objects.filter(judged_by, pk=criterion_id).first() if criterion_id < 2**63 else None
    if criterion is None:
        raise NotFound("criterion of this item")
    return criterion


def labelling_queues(items: Sequence[Item]) -> dict[int, list[ReviewQueue]]:
    """Item id → the queues in which somebody has submitted a review of the item; two queries."""
    submitted = Review.objects.filter(
        state=ReviewState.SUBMITTED, item__in=items, queue__team__deleted_at=None
    ).order_by()
    pairs = set(submitted.values_list("item", "queue"))
    queues = ReviewQueue.objects.filter(pk__in={queue for _, queue in pairs}).order_by("pk")
    found: dict[int, list[ReviewQueue]] = {item.pk: [] for item in items}
    for queue in queues:
        for item in items:
            if (item.pk, queue.pk) in pairs:
                found[item.pk].append(queue)
    return found


def judge_runs_for_queues(team: Team, queues: Sequence[ReviewQueue]) -> list[Run]:
    """The runs whose judges stand beside the people of these queues, each once.

    The run a queue reveals and those started with it; else, of each system version, the newest finished one
    over its dataset with its rubric version, or the newest that ended another way; else those with another
    version of its rubric. Two queries, however many queues.
    """
    wanted = {queue.run_id for queue in queues if queue.run_id is not None}
    revealed = Q(pk__in=wanted) | Q(launch__in=Launch.objects.filter(runs__in=wanted))
    chosen = {run.pk: run for run in Run.objects.filter(revealed).order_by("pk")}
    without = [queue for queue in queues if queue.run_id is None]
    if without:
        ended = Run.objects.filter(team=team, dataset__in={queue.dataset_id for queue in without})
        ended = ended.exclude(state=RunState.RUNNING).select_related("rubric_version")
        newest: dict[tuple[int, int | None, int | None], dict[int | None, Run]] = defaultdict(dict)
        for run in ended.order_by("created_at", "pk"):
            for key in _keys(run):
                best = newest[key].get(run.system_version_id)
                if best is None or run.state == RunState.FINISHED or best.state != RunState.FINISHED:
                    newest[key][run.system_version_id] = run
        for queue in without:
            found = next((newest[key] for key in _keys(queue) if key in newest), {})
            chosen |= {run.pk: run for run in found.values()}
    return list(chosen.values())


def _keys(one: Run | ReviewQueue) -> list[tuple[int, int | None, int | None]]:
    """What a run and a queue have in common, the closest first: dataset, version, rubric."""
    version = one.rubric_version
    of_version = (one.dataset_id, one.rubric_version_id, None)
    return [of_version] if version is None else [of_version, (one.dataset_id, None, version.rubric_id)]
