"""Renaming and archiving what a person made."""

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Dataset, JournalEntry, ReviewQueue, RubricVersion, Run, RunState
from rubricweb.selectors import dashboard
from rubricweb.selectors.datasets import items
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.selectors.reviews import queues as queue_lists
from rubricweb.selectors.rubrics import versions
from rubricweb.selectors.runs import listing
from rubricweb.selectors.runs.diff.diff import baseline_for, baselines
from rubricweb.services.reviews import queues
from rubricweb.services.runs import lifecycle
from rubricweb.services.shared import archiving
from tests import factories
from tests.factories import Cast, cast
from tests.judging import InProcessJudge, grade

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def run(people: Cast, dataset: Dataset, version: RubricVersion) -> Run:
    return factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)


def archive(people: Cast, row: archiving.Named) -> None:
    archiving.archive(row, by=people.ed, now=timezone.now())


def test_nothing_is_started_over_a_dataset_archived_since_it_was_read(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    read_before = Dataset.objects.get(pk=dataset.pk)
    archive(people, dataset)
    with pytest.raises(Conflict, match="is archived"):
        factories.run(people.team, people.ed, dataset=read_before, rubric_version=version)
    read_before.archived_at = None
    with pytest.raises(Conflict, match="is archived"):
        factories.queue(
            people.team, people.ed, dataset=read_before, rubric_version=version, raters=[people.ann]
        )


def test_each_kind_is_renamed_and_the_audit_log_says_from_what(
    people: Cast, dataset: Dataset, version: RubricVersion, run: Run
) -> None:
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    for row in (dataset, version.rubric, run, queue):
        before = str(row)
        archiving.rename(row, "  Night build ", by=people.ed)
        assert str(row) == "Night build"
        line = JournalEntry.objects.latest("pk")
        assert (line.verb, line.actor, line.target_label) == ("renamed", people.ed, "Night build")
        assert line.detail == {"before": before}
    version.refresh_from_db()
    assert version.title == "Capitals"
    assert version.rubric.draft["title"] == "Night build"
    archiving.rename(run, "", by=people.ed)
    assert str(run) == f"Run {run.pk}"


def test_a_name_that_is_taken_empty_or_too_long_is_refused(people: Cast, dataset: Dataset) -> None:
    factories.dataset(people.team, people.ed, name="other")
    factories.dataset(people.other_team, people.charlie, name="elsewhere")
    with pytest.raises(Conflict, match="already has a dataset called 'other'"):
        archiving.rename(dataset, "other", by=people.ed)
    with pytest.raises(Invalid, match="a name for the dataset"):
        archiving.rename(dataset, "  ", by=people.ed)
    with pytest.raises(Invalid, match="at most 200"):
        archiving.rename(dataset, "x" * 201, by=people.ed)
    archiving.rename(dataset, "elsewhere", by=people.ed)
    assert dataset.name == "elsewhere"


def test_what_is_in_use_is_not_archived(
    people: Cast, dataset: Dataset, version: RubricVersion, run: Run
) -> None:
    for row in (run, dataset, version.rubric):
        with pytest.raises(Conflict, match=f"Run {run.pk} is running: cancel it first"):
            archive(people, row)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    for row in (queue, dataset, version.rubric):
        with pytest.raises(Conflict, match="First look is open: close it first"):
            archive(people, row)


def test_archived_rows_leave_lists_choosers_and_the_dashboard_and_come_back(
    people: Cast, dataset: Dataset, version: RubricVersion, run: Run
) -> None:
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    queues.close_queue(queue, by=people.ed)

    def listed(archived: bool = False) -> list[list[object]]:
        state = listing.ARCHIVED if archived else ""
        return [
            list(items.datasets(people.team, archived=archived).rows),
            list(versions.rubrics(people.team, archived=archived).rows),
            [row.run for row in listing.runs(people.team, viewer=people.ed, state=state).rows],
            [row.queue for row in queue_lists.queues(people.team, people.ed, archived=archived)],
        ]

    everything = [[dataset], [version.rubric], [run], [queue]]
    assert listed() == everything
    other = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(other, InProcessJudge(lambda requirement, response: "MET"))
    archive(people, other)
    assert baseline_for(run) is None
    assert list(baselines(run, other)) == [other]  # named in the address
    archive(people, version.rubric)
    assert not dashboard.score_series(people.team, people.ed)
    archiving.restore(version.rubric, by=people.ed)
    assert dashboard.score_series(people.team, people.ed)
    for row in (run, queue, dataset, version.rubric):
        archive(people, row)
    assert listed() == [[], [], [], []]
    everything[2].insert(0, other)
    assert listed(archived=True) == everything
    everything[2].remove(other)
    choices = queue_lists.queue_choices(people.team)
    assert not choices.datasets
    assert not choices.versions
    assert not choices.runs
    assert not labelled_queues(team=people.team)
    assert not dashboard.score_series(people.team, people.ed)
    for row in (run, queue, dataset, version.rubric):
        archiving.restore(row, by=people.ed)
    assert listed() == everything
    assert [line.verb for line in JournalEntry.objects.order_by("pk")][-2:] == ["restored", "restored"]


def test_new_runs_and_queues_on_what_is_archived_are_refused(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    for row in (dataset, version.rubric):
        archive(people, row)
        for start in (factories.run, lambda *a, **k: factories.queue(*a, raters=[people.ann], **k)):
            with pytest.raises(Conflict, match="is archived: restore it first, or choose another"):
                start(
                    people.team,
                    people.ed,
                    dataset=Dataset.objects.get(pk=dataset.pk),
                    rubric_version=RubricVersion.objects.get(pk=version.pk),
                )
        archiving.restore(row, by=people.ed)
    assert not Run.objects.exists()
    assert not ReviewQueue.objects.exists()


def test_a_run_goes_on_with_nothing_that_is_archived(people: Cast, dataset: Dataset, run: Run) -> None:
    lifecycle.cancel_run(run, by=people.ed, now=timezone.now())
    assert run.rubric_version is not None
    for row in (run, dataset, run.rubric_version.rubric):
        archive(people, row)
        for go_on in (lifecycle.resume_run, lifecycle.extend_run):
            with pytest.raises(Conflict, match="is archived: restore it first"):
                go_on(run, by=people.ed, enqueue=factories.WakeUps())
        archiving.restore(row, by=people.ed)
    archiving.archive(people.team, by=people.alice, now=timezone.now())
    with pytest.raises(Conflict, match="is archived: it can be read"):
        lifecycle.resume_run(run, by=people.ed, enqueue=factories.WakeUps())
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED
    archiving.restore(people.team, by=people.alice)
    assert lifecycle.resume_run(run, by=people.ed, enqueue=factories.WakeUps()) == 3
