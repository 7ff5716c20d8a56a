"""What an adjudication is about: one criterion of one item, and who said what on it."""

from collections.abc import Sequence

from django.db.models import Q

from rubricweb.errors import NotFound
from rubricweb.models import Criterion, Item, Review, ReviewQueue, Run, RunState, Team


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


def labelling_queues(item: Item) -> list[ReviewQueue]:
    """The queues in which somebody has submitted a review of the item."""
    submitted = Review.objects.by_people().filter(item=item)
    return list(ReviewQueue.objects.filter(pk__in=submitted.order_by().values("queue")).order_by("pk"))


def runs_beside(team: Team, queues: Sequence[ReviewQueue]) -> list[Run]:
    """The runs whose judges stand beside the people of these queues, each once.

    The run a queue reveals; else the newest finished one over its dataset with its rubric version, or the
    newest that ended another way. Two queries, however many queues.
    """
    wanted = {queue.run_id for queue in queues if queue.run_id is not None}
    chosen = {run.pk: run for run in Run.objects.filter(pk__in=wanted).order_by("pk")}
    without = {(queue.dataset_id, queue.rubric_version_id) for queue in queues if queue.run_id is None}
    if without:
        ended = Run.objects.filter(team=team, dataset__in={dataset for dataset, _ in without})
        newest: dict[tuple[int, int | None], Run] = {}
        for run in ended.exclude(state=RunState.RUNNING).order_by("created_at", "pk"):
            key = (run.dataset_id, run.rubric_version_id)
            best = newest.get(key)
            if best is None or run.state == RunState.FINISHED or best.state != RunState.FINISHED:
                newest[key] = run
        chosen |= {newest[key].pk: newest[key] for key in without if key in newest}
    return list(chosen.values())
