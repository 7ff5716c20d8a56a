"""Deleting: nobody finds it any more, its rows go batch by batch, and what it has cost stays."""

import csv
import json
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db.models import ForeignKey, Index, Model, UniqueConstraint
from django.utils import timezone

from rubricweb.access import access_membership
from rubricweb.engine import Rubric
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    Adjudication,
    Comment,
    Dataset,
    Deletion,
    DeletionState,
    Item,
    JournalEntry,
    JudgeCall,
    JudgeEndpoint,
    Judgement,
    Membership,
    ReviewQueue,
    RubricVersion,
    Run,
    RunItem,
    RunState,
    RunTally,
    Team,
)
from rubricweb.selectors import deletions as selected
from rubricweb.selectors.deletions import Deletable
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.selectors.labels.provenance import item_provenance
from rubricweb.selectors.runs.graders import examples_of
from rubricweb.selectors.spending.month_figures import month_figures
from rubricweb.services import exports
from rubricweb.services.datasets import imports
from rubricweb.services.datasets.changes import corrections
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.deletions import deletions
from rubricweb.services.deletions.removal import Remover
from rubricweb.services.reviews import queue_changes, queues
from rubricweb.services.runs import control, few_shot
from rubricweb.services.shared import uploads
from rubricweb.services.teams import teams
from tests import factories
from tests.judging import InProcessJudge, grade
from tests.worlds.furnished import Furnished, furnish_teams
from tests.worlds.remembered import remembered

pytestmark = pytest.mark.django_db
WORKER = "here:1"
LEFT = {"Deletion", "JournalEntry"}
"""What a deletion adds."""

Rows = dict[str, set[int]]


def rows() -> Rows:
    """The ids of every row there is, by table."""
    return {
        model.__name__: set(model._base_manager.values_list("pk", flat=True))
        for model in apps.get_app_config("rubricweb").get_models(include_auto_created=True)
    }


def gone(before: Rows) -> dict[str, int]:
    """How many rows of each table went since."""
    now = rows()
    return {name: len(ids - now[name]) for name, ids in before.items() if ids - now[name]}


def come(before: Rows) -> set[str]:
    now = rows()
    return {name for name, ids in before.items() if now[name] - ids}


@pytest.fixture
def world() -> Furnished:
    return remembered("furnished, nothing going on", make_world)


def make_world() -> Furnished:
    found = furnish_teams()
    for team in (found.people.team, found.people.other_team):
        ended = {"state": RunState.CANCELLED, "finished_at": timezone.now()}
        team.runs.filter(state=RunState.RUNNING).update(**ended)
        for queue in team.queues.all():
            queues.close_queue(queue, by=found.people.alice)
    return found


@pytest.fixture
def run(world: Furnished) -> Run:
    return Run.objects.get(pk=world.ours["run_id"])


@pytest.fixture
def dataset(world: Furnished) -> Dataset:
    return Dataset.objects.get(pk=world.ours["dataset_id"])


@pytest.fixture
def queue(world: Furnished) -> ReviewQueue:
    return ReviewQueue.objects.get(pk=world.ours["queue_id"])


@pytest.fixture
def version(world: Furnished) -> RubricVersion:
    return RubricVersion.objects.get(pk=world.ours["version_id"])


def delete(world: Furnished, row: Deletable) -> Deletion:
    return deletions.delete(row, str(row), by=world.people.alice, now=timezone.now(), enqueue=None)


def removed(world: Furnished, row: Deletable) -> Deletion:
    found = deletions.work(delete(world, row).pk, worker=WORKER, now=timezone.now)
    assert (found.state, found.bin) == (DeletionState.DONE, None), found.message
    return found


def spent(team: Team) -> object:
    return month_figures(team, viewer=None, now=timezone.now()).spending


def spend(run: Run, usd: float) -> None:
    RunTally.objects.filter(run=run).update(cost_usd=usd, reserved_usd=0.0, in_flight=0)


# The run judged three items by three criteria.
OF_RUN = {
    "Run": 1,
    "RunItem": 3,
    "JudgeCall": 9,
    "Judgement": 9,
    "RunSummary": 1,
    "RunCriterionSummary": 3,
    "SharedLink": 1,
    "SharedLink_runs": 1,
}


def test_of_a_run_every_row_goes_and_no_other_and_its_cost_stays(world: Furnished, run: Run) -> None:
    spend(run, 1.25)
    before, cost = rows(), spent(run.team)
    found = removed(world, run)
    left = gone(before)
    assert left.pop("RunEvent") >= 1
    assert left == OF_RUN
    assert come(before) == LEFT
    assert found.planned == {"verdicts": 9, "shared_links": 1}
    assert spent(world.people.team) == cost
    figures = month_figures(world.people.team, viewer=None, now=timezone.now())
    assert [(one.run, one.cost_usd) for one in figures.runs if one.run is None] == [(None, 1.25)]


def test_of_a_queue_reviews_and_labels_go_and_decisions_stay(
    world: Furnished, queue: ReviewQueue, version: RubricVersion
) -> None:
    decided = Adjudication.objects.create(
        item_id=world.ours["item_id"],
        criterion_id=world.ours["criterion_id"],
        queue=queue,
        verdict="MET",
        cause="judge_wrong",
        decided_by=world.people.alice,
    )
    before = rows()
    removed(world, queue)
    assert gone(before) == {
        "ReviewQueue": 1,
        "ReviewQueue_raters": 1,
        "QueueItem": 3,
        "Review": 1,
        "Notice": 1,
    }
    decided.refresh_from_db()
    assert decided.queue is None
    # It still stands: on the item's page, and in the ground truth that goes out.
    [(criterion, stands)] = item_provenance(decided.item, viewer=world.people.alice)
    assert (criterion.pk, stands.verdict, stands.rule) == (decided.criterion_id, "MET", "adjudicated")
    assert not labelled_queues(decided.item.dataset.pk, team=decided.item.dataset.team).exists()
    made = exports.export(
        world.people.team,
        viewer=world.people.alice,
        what="ground_truth",
        format="csv",
        dataset=decided.item.dataset,
        queues=[],
    )
    [line] = csv.DictReader("".join(map(str, made.chunks)).splitlines())
    assert (line["criterion"], line["verdict"], line["rule"]) == (str(criterion), "MET", "adjudicated")


def test_of_a_dataset_everything_goes_and_nothing_of_another_team(
    world: Furnished, dataset: Dataset, run: Run
) -> None:
    spend(run, 2.5)
    before, cost = rows(), spent(dataset.team)
    removed(world, dataset)
    left = gone(before)
    # Its other run has three items and was never asked.
    assert left == OF_RUN | {
        "Dataset": 1,
        "DatasetChange": 1,
        "CaseSplit": 1,
        "Case": 3,
        "Item": 3,
        "Run": 2,
        "RunItem": 6,
        "RunEvent": left["RunEvent"],
        "ReviewQueue": 1,
        "ReviewQueue_raters": 1,
        "QueueItem": 3,
        "Review": 1,
        "Comment": 1,
        "Notice": 1,
    }
    assert come(before) == LEFT
    assert spent(world.people.team) == cost
    theirs = Dataset.objects.get(pk=world.theirs["dataset_id"])
    assert (theirs.items.count(), theirs.runs.count()) == (3, 2)


def test_of_a_rubric_versions_runs_and_queues_go_and_datasets_stay(
    world: Furnished, version: RubricVersion, dataset: Dataset
) -> None:
    before = rows()
    assert version.rubric is not None
    removed(world, version.rubric)
    left = gone(before)
    assert (left["Rubric"], left["RubricVersion"], left["Criterion"], left["Meaning"]) == (1, 1, 3, 3)
    assert (left["Run"], left["ReviewQueue"], left["Judgement"]) == (2, 1, 9)
    assert not {"Dataset", "Item", "Case", "Comment"} & set(left)
    assert dataset.items.count() == 3


def test_of_a_team_everything_goes_but_its_audit_log_and_what_it_spent(world: Furnished, run: Run) -> None:
    spend(run, 3.5)
    team = world.people.team
    slug, lines = team.slug, JournalEntry.objects.filter(team=team).count()
    theirs = {
        field.model: set(field.model._base_manager.filter(**{field.name: world.people.other_team}))
        for field in referring(Team)
    }
    found = delete(world, team)
    assert not Membership.objects.filter(team=team).exists()
    with pytest.raises(NotFound):
        access_membership(world.people.alice, slug)
    assert set(JudgeEndpoint.objects.filter(team=team).values_list("sealed_key")) == {("",)}
    again = teams.create_team("Capital quality", owner=world.people.alice, slug=slug)
    done = deletions.work(found.pk, worker=WORKER, now=timezone.now)
    assert (done.state, done.bin) == (DeletionState.DONE, None), done.message
    left = {
        field.model.__name__: field.model._base_manager.filter(**{field.name: team}).count()
        for field in referring(Team)
        if field.name != "bin"
    }
    kept = {name: n for name, n in left.items() if n}
    assert kept == {"JournalEntry": lines + 1, "RunTally": 1, "Deletion": 2}
    assert RunTally.objects.get(team=team).cost_usd == 3.5
    # Whatever belonged to its rows is gone as well: of each table only the other team's rows are left.
    assert {row.run.team for row in RunItem.objects.select_related("run__team")} == {world.people.other_team}
    assert set(RubricVersion.objects.values_list("rubric__team", flat=True)) == {world.people.other_team.pk}
    for model, before in theirs.items():
        assert before <= set(model._base_manager.all())
    assert again.memberships.count() == 1


def referring(model: type[Model]) -> list[ForeignKey[Any, Any]]:
    return [
        field
        for other in apps.get_app_config("rubricweb").get_models(include_auto_created=True)
        for field in other._meta.concrete_fields
        if isinstance(field, ForeignKey) and field.related_model is model
    ]


def test_every_key_that_is_looked_up_when_a_row_goes_has_an_index() -> None:
    """Without one, each batch that is removed would read the whole table that refers to it."""
    unindexed = []
    for model in apps.get_app_config("rubricweb").get_models(include_auto_created=True):
        first = {
            index.fields[0].lstrip("-") if isinstance(index, Index) else index.fields[0]
            for index in (*model._meta.indexes, *model._meta.constraints)
            if isinstance(index, Index | UniqueConstraint) and index.fields
        }
        unindexed += [
            f"{model.__name__}.{field.name}"
            for field in model._meta.concrete_fields
            if isinstance(field, ForeignKey) and not field.db_index and not field.unique
            if field.name not in first
        ]
    assert unindexed == []


def test_it_is_out_of_sight_before_a_row_is_removed(world: Furnished, dataset: Dataset, run: Run) -> None:
    delete(world, dataset)
    assert Judgement.objects.filter(run=run).count() == 9
    assert not world.people.team.datasets.exists()
    assert not world.people.team.runs.exists()
    assert not world.people.team.queues.exists()
    again = factories.dataset(world.people.team, world.people.ed, name=dataset.name)
    assert again.items.count() == 3


def test_a_run_whose_dataset_stays_is_out_of_sight_there_too(
    world: Furnished, dataset: Dataset, run: Run, version: RubricVersion
) -> None:
    delete(world, run)
    assert run not in dataset.runs.all()
    assert not Run.objects.filter(rubric_version=version, pk=run.pk).exists()
    assert Run.objects.filter(dataset=dataset).count() == 1


def test_only_its_name_deletes_it(world: Furnished, dataset: Dataset) -> None:
    with pytest.raises(Invalid, match="'capital answers'"):
        deletions.delete(dataset, "Capital", by=world.people.alice, now=timezone.now(), enqueue=None)
    assert world.people.team.datasets.exists()


def test_deleted_twice_it_is_deleted_once(world: Furnished, run: Run) -> None:
    delete(world, run)
    with pytest.raises(Conflict, match="just deleted by somebody else"):
        delete(world, run)


def test_nothing_begins_over_what_was_deleted_since_it_was_read(
    world: Furnished, dataset: Dataset, run: Run, version: RubricVersion
) -> None:
    """A request that waited for the deletion to end goes no further."""
    by, wake_ups = world.people.ed, factories.WakeUps()
    Run.objects.filter(pk=run.pk).update(state=RunState.CANCELLED)
    criterion, item = version.criteria.first(), dataset.items.first()
    assert criterion is not None
    assert item is not None
    labels = f"item_id,criterion,rater,verdict\n{item.key},{criterion.name},new,MET\n".encode()
    read = Run.objects.select_related("dataset").get(pk=run.pk)
    delete(world, Dataset.objects.get(pk=dataset.pk))
    for go_on in (
        lambda: control.resume_run(read, by=by, enqueue=wake_ups),
        lambda: control.extend_run(read, by=by, enqueue=wake_ups),
        lambda: control.set_budget(read, by=by, budget_usd=None),
        lambda: factories.run(world.people.team, by, dataset=dataset, rubric_version=version),
        lambda: factories.queue(world.people.team, by, dataset=dataset, rubric_version=version, raters=[by]),
        lambda: factories.import_labels(dataset, version, by=by, data=labels, filename="labels.csv"),
    ):
        with pytest.raises(NotFound, match=r"no such (run|dataset)"):
            go_on()
    assert not ReviewQueue.objects.filter(name="labels").exists()
    assert not Run.objects.filter(state=RunState.RUNNING, dataset=dataset).exists()
    assert not wake_ups.notified


def test_nothing_begins_by_a_rubric_that_was_deleted_since_it_was_read(world: Furnished) -> None:
    team, by = world.people.team, world.people.ed
    version = factories.version(team, by)
    dataset = factories.dataset(team, by, name="stays")
    read = RubricVersion.objects.select_related("rubric").get(pk=version.pk)
    delete(world, version.rubric)
    before = Run.objects.count(), ReviewQueue.objects.count()
    for begin in (
        lambda: factories.run(team, by, dataset=dataset, rubric_version=read),
        lambda: factories.queue(team, by, dataset=dataset, rubric_version=read, raters=[by], name="Later"),
    ):
        with pytest.raises(NotFound):
            begin()
    assert (Run.objects.count(), ReviewQueue.objects.count()) == before


def test_what_is_in_use_is_refused_with_its_place(world: Furnished, dataset: Dataset, run: Run) -> None:
    going_on = factories.run(
        dataset.team, world.people.ed, dataset=dataset, rubric_version=run.rubric_version
    )
    for row in (going_on, dataset):
        with pytest.raises(Conflict, match=f"{going_on} is running: cancel it first"):
            delete(world, row)
    deleted = Deletion.objects.filter(team=dataset.team).count()
    assert deleted == 1  # the one the world came with
    Run.objects.filter(pk=going_on.pk).update(state=RunState.CANCELLED, finished_at=timezone.now())
    going_on.run_items.update(leased_by="w:1", leased_until=timezone.now() + timedelta(seconds=30))
    with pytest.raises(Conflict, match="still in flight"):
        delete(world, dataset)
    going_on.run_items.update(leased_until=None)
    queue = dataset.queues.get()
    queue_changes.reopen_queue(queue, by=world.people.alice)
    for row in (queue, dataset):
        with pytest.raises(Conflict, match=f"{queue} is open: close it first"):
            delete(world, row)
    # The dataset that this file is to become is not there yet.
    team = teams.create_team("Empty", owner=world.people.alice)
    asked, kept = imports.ImportRequest("items.jsonl"), uploads.keep(b'{"id": "a", "submission": "b"}\n')
    imports.start(team, asked, by=world.people.alice, upload_id=kept, enqueue=None)
    with pytest.raises(Conflict, match=r"The import of items\.jsonl has not ended: cancel it"):
        delete(world, team)


def test_verdicts_that_were_taken_from_its_calls_stay_with_the_request(
    world: Furnished, run: Run, dataset: Dataset
) -> None:
    JudgeCall.objects.filter(run=run).update(request=b"asked")
    first = JudgeCall.objects.filter(run=run).first()
    other = factories.run(dataset.team, world.people.ed, dataset=dataset, rubric_version=run.rubric_version)
    grade(other, InProcessJudge(lambda requirement, response: "MET"))
    taken = JudgeCall.objects.create(
        run=other, item_id=first.item_id, cached_from=first, reply="MET", attempts=0
    )
    plan = selected.plan(run, now=timezone.now())
    assert any("took answers from its calls" in one for one in plan.stays)
    removed(world, run)
    taken.refresh_from_db()
    assert (taken.cached_from, bytes(taken.request or b"")) == (None, b"asked")
    assert Judgement.objects.filter(run=other).count() == 9


def test_what_is_killed_is_taken_up_again_and_counted_once(world: Furnished, run: Run) -> None:
    found = delete(world, run)
    before = rows()

    class Killed(BaseException):
        pass

    batches = iter((3, 9))

    def die(n: int) -> None:
        if next(batches, None) is None:
            raise Killed

    Deletion.objects.filter(pk=found.pk).update(
        state=DeletionState.RUNNING, worker="gone:1", beat_at=timezone.now()
    )
    with pytest.raises(Killed):
        Remover(die).empty(found.bin)
    assert sum(gone(before).values()) > 0
    now = timezone.now()
    assert deletions.due(now, is_dead=lambda worker, at: False) == []
    assert deletions.due(now, is_dead=lambda worker, at: worker == "gone:1") == [found.pk]
    done = deletions.work(found.pk, worker=WORKER, now=timezone.now)
    assert (done.state, Judgement.objects.filter(run=run).count()) == (DeletionState.DONE, 0)


def test_nobody_begins_what_another_process_is_at(world: Furnished, run: Run) -> None:
    found = delete(world, run)
    Deletion.objects.filter(pk=found.pk).update(state=DeletionState.RUNNING, worker="other:2")
    assert deletions.work(found.pk, worker=WORKER, now=timezone.now).worker == "other:2"
    assert Judgement.objects.filter(run=run).count() == 9


def test_examples_outlive_the_dataset_they_were_drawn_from(world: Furnished, version: RubricVersion) -> None:
    team, ed = world.people.team, world.people.ed
    items = [{"id": f"dev {n}", "submission": f"Paris, {n} times."} for n in range(3)]
    dev = factories.dataset(team, ed, name="dev", items=items)
    for item in dev.items.all():
        for criterion in version.criteria.all():
            Adjudication.objects.create(
                item=item, criterion=criterion, verdict="MET", cause="judge_wrong", decided_by=ed
            )
    run = Run.objects.get(pk=world.ours["run_id"])
    [criterion, *_] = version.criteria.order_by("position")
    shown = few_shot.FewShotSnapshot(
        dataset_id=dev.pk,
        queue_id=None,
        item_ids=(dev.items.all()[0].pk,),
        n=1,
        seed=1,
        digest="d",
        examples=(few_shot.ExampleSnapshot(criterion.pk, dev.items.all()[0].pk, "MET", "because"),),
    )
    run.few_shot = shown
    run.save()
    before = examples_of(run)
    removed(world, dev)
    run.refresh_from_db()
    assert examples_of(run) == before
    assert before[0][0].submission.output == "Paris, 0 times."


def test_rubrics_that_items_brought_go_with_the_last_item(world: Furnished) -> None:
    rubric = {"criteria": [{"requirement": "Says Paris.", "weight": 1.0}]}
    own = [{"id": "own", "submission": "Paris", "rubric": rubric}]
    dataset = factories.dataset(world.people.team, world.people.ed, name="own", items=own)
    [brought] = Item.objects.filter(dataset=dataset).values_list("rubric_version_id", flat=True)
    removed(world, dataset)
    assert not RubricVersion.objects.filter(pk=brought).exists()


def test_comments_on_the_criteria_of_a_rubric_stay_with_their_items(
    world: Furnished, version: RubricVersion
) -> None:
    """The plan and the audit log count what goes, and these do not."""
    comment = Comment.objects.get(item__dataset=world.ours["dataset_id"])
    Comment.objects.filter(pk=comment.pk).update(criterion=version.criteria.first())
    plan = selected.plan(version.rubric, now=timezone.now())
    assert "comments" not in plan.counts
    assert "1 comment on its criteria: from then on about their items as a whole." in plan.stays
    assert "comments" not in removed(world, version.rubric).planned
    comment.refresh_from_db()
    assert comment.criterion is None


@pytest.fixture
def corrected(world: Furnished) -> Dataset:
    """A case with a rubric of its own, corrected along with its answer, then without, both times."""
    own = [{"id": "own", "submission": "Paris", "rubric": brought("Says Paris.").to_dict()}]
    dataset = factories.dataset(world.people.team, world.people.ed, name="own", items=own)
    answered = Correction(rubric=brought("Names Paris."))
    corrections.correct_item(dataset.items.get(), answered, by=world.people.ed)
    case, asked = dataset.cases.get(), Correction(rubric=brought("Means Paris."))
    corrections.correct_case(case, asked, by=world.people.ed)
    return dataset


def brought(requirement: str) -> Rubric:
    return Rubric.from_json(json.dumps({"criteria": [{"requirement": requirement, "weight": 1.0}]}))


def test_rubrics_that_corrections_of_a_case_brought_go_with_it(world: Furnished, corrected: Dataset) -> None:
    before = RubricVersion.objects.filter(rubric=None).count()
    removed(world, corrected)
    # The one of the file, the one of the answer there is, and the one nobody has answered yet.
    assert before - RubricVersion.objects.filter(rubric=None).count() == 3


def test_a_deletion_that_failed_is_tried_again_after_a_day(world: Furnished, corrected: Dataset) -> None:
    found = delete(world, corrected)
    failed = timezone.now()
    Deletion.objects.filter(pk=found.pk).update(state=DeletionState.FAILED, message="broken", ended_at=failed)

    def due(hours: int) -> list[int]:
        return deletions.due(failed + timedelta(hours=hours), is_dead=lambda worker, at: False)

    assert due(23) == []
    assert due(25) == [found.pk]
    done = deletions.work(found.pk, worker=WORKER, now=timezone.now)
    assert (done.state, done.bin, done.message) == (DeletionState.DONE, None, "")


def test_the_audit_log_says_what_was_deleted(world: Furnished, run: Run) -> None:
    removed(world, run)
    line = JournalEntry.objects.filter(team=world.people.team).latest("pk")
    assert (line.verb, line.target_kind, line.target_label) == ("deleted", "run", str(run))
    assert line.detail == {"verdicts": 9, "shared_links": 1}
