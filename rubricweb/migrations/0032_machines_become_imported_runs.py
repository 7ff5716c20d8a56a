"""Labels of machines that came in files become imported runs, one for each queue; running it again is fine.

The rule: whatever a rater of the kind "machine" is said to have labelled becomes a finished run of a judge of its
name, over the items it labelled, with the scores of what it judged. The other origins follow from what is stored: a
rater of the kind "settled" is a file's ground truth; a review that came in a file is a person's, imported; any other
is a person's, given here. Which raters are machines an earlier migration told by their names, and people since.
A queue that held nobody but machines is gone. The summary in lists is written when a worker next looks.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from rubricweb import engine
from rubricweb.engine.scoring import length_penalty, passed, penalised, score_labels
from rubricweb.engine.scoring.outcomes import label_outcome

BATCH = 500


def move(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    reviews: Any = apps.get_model("rubricweb", "Review").objects
    raters: Any = apps.get_model("rubricweb", "Rater").objects
    for rater in raters.filter(kind="machine").order_by("pk"):
        queues: Any = apps.get_model("rubricweb", "ReviewQueue").objects
        for queue in queues.filter(reviews__rater=rater).distinct().order_by("pk"):
            _move(apps, rater, queue, reviews.filter(rater=rater, queue=queue))


def _move(apps: Apps, rater: Any, queue: Any, reviews: Any) -> None:
    runs: Any = apps.get_model("rubricweb", "Run").objects
    judgements: Any = apps.get_model("rubricweb", "Judgement").objects
    run = runs.create(
        team_id=queue.team_id,
        dataset_id=queue.dataset_id,
        rubric_version_id=queue.rubric_version_id,
        name=f"{rater.name} from {queue.name}"[:200],
        autograder="per_criterion",
        judge={"id": "imported", "name": rater.name, "model": rater.name},
        rater=rater,
        use_cache=False,
        state="finished",
        finished_at=queue.created_at,
        created_by_id=queue.created_by_id,
    )
    runs.filter(pk=run.pk).update(created_at=queue.created_at)
    judgements.filter(review__in=reviews).update(run=run, review=None, judge=rater.name)
    reviews.all().delete()
    events: Any = apps.get_model("rubricweb", "RunEvent").objects
    events.create(run=run, kind="imported", message=f"Imported from {queue.name}."[:500])
    run_item: Any = apps.get_model("rubricweb", "RunItem")
    rows = _scored(apps, run, queue, run_item)
    while batch := [row for row, _ in zip(rows, range(BATCH), strict=False)]:
        run_item.objects.bulk_create(batch)
    queue.raters.remove(rater)
    if not queue.raters.exists():
        queue.delete()


def _scored(apps: Apps, run: Any, queue: Any, run_item: Any) -> Iterator[Any]:
    """A row for every item the run says something of, as `services.imported_runs` scores it."""
    judgements: Any = apps.get_model("rubricweb", "Judgement").objects
    items: Any = apps.get_model("rubricweb", "Item").objects
    said: dict[int, dict[int, str]] = defaultdict(dict)
    answers = judgements.filter(run=run).values_list("item_id", "criterion_id", "verdict")
    for item_id, criterion_id, label in answers:
        said[item_id][criterion_id] = label
    rubrics: dict[int, tuple[engine.Rubric, list[int]]] = {}
    for item in items.filter(dataset_id=queue.dataset_id).order_by("pk").iterator(chunk_size=BATCH):
        if item.pk not in said:
            continue
        version_id = item.rubric_version_id or run.rubric_version_id
        if version_id not in rubrics:
            rubrics[version_id] = _rubric(apps, version_id)
        rubric, ids = rubrics[version_id]
        labels = [said[item.pk].get(pk) for pk in ids]
        found = score_labels(rubric, labels)
        submission = engine.Submission(item.submission, thinking=item.thinking)
        penalty = length_penalty(rubric.length_penalty, submission)
        score = penalised(found.score, penalty)
        outcomes = [label_outcome(one, label) for one, label in zip(rubric.criteria, labels, strict=True)]
        yield run_item(
            run=run,
            item=item,
            rubric_version_id=version_id,
            graded_at=queue.created_at,
            score=score,
            raw_score=found.raw_score,
            coverage=found.coverage,
            passed=passed(rubric, score, outcomes),
            length_penalty=penalty,
        )


def _rubric(apps: Apps, version_id: int) -> tuple[engine.Rubric, list[int]]:
    """A stored version as the engine has it, and the ids of its criteria in order."""
    version: Any = apps.get_model("rubricweb", "RubricVersion").objects.get(pk=version_id)
    rows = list(version.criteria.order_by("position"))
    criteria = [
        engine.Criterion(
            weight=row.weight,
            requirement=row.requirement,
            name=row.name,
            kind=row.kind,
            options=tuple(engine.Option(**option) for option in row.options),
            scale_type=row.scale_type or None,
            check=row.check_name or None,
            params=row.params,
        )
        for row in rows
    ]
    rubric = engine.Rubric(
        criteria,
        pass_rule=None if version.pass_rule is None else engine.PassRule(**version.pass_rule),
        length_penalty=None
        if version.length_penalty is None
        else engine.LengthPenalty(**version.length_penalty),
    )
    return rubric, [row.pk for row in rows]


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0031_imported_runs")]
    operations = [migrations.RunPython(move, migrations.RunPython.noop, elidable=True)]
