"""Extended runs: a corrected answer counts in the place of the wrong one, everywhere the run is told of."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from rubricweb.models import Dataset, Item, Run, RunEvent, RunItem, RunState, SystemVersion
from rubricweb.selectors.comparison.people_means import estimate_of
from rubricweb.selectors.datasets.items import runs_containing
from rubricweb.selectors.datasets.new_items import new_item_count
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.runs.diff.diff import run_diff
from rubricweb.selectors.runs.listing import run_item
from rubricweb.selectors.runs.over_time.version_pairs import version_pair
from rubricweb.selectors.runs.progress import item_counts
from rubricweb.selectors.runs.results import result, run_items
from rubricweb.services.datasets import answers
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import grade
from tests.worlds.extended import IS_RIGHT, judge
from tests.worlds.sampled import label, opened

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """Four cases answered by bot@v3 and bot@v4, of which v4's first was exported wrongly."""
    rows = [
        {
            "case_id": f"c{i}",
            "system": f"bot@{version}",
            "prompt": f"Q{i}?",
            "submission": "WRONG" if (version, i) == ("v4", 0) else f"{version} right {i}",
        }
        for version in ("v3", "v4")
        for i in range(4)
    ]
    return factories.dataset(people.team, people.ed, items=rows)


@pytest.fixture
def planned(people: Cast, dataset: Dataset) -> Callable[[str], Run]:
    """Plans a run over the answers of a version."""
    rubric_version = factories.version(people.team, people.ed, criteria=IS_RIGHT)

    def plan(version: str, **options: Any) -> Run:
        systems = (SystemVersion.objects.get(label=version),)
        return factories.run(
            people.team, people.ed, dataset=dataset, rubric_version=rubric_version, systems=systems, **options
        )

    return plan


@pytest.fixture
def run(planned: Callable[[str], Run]) -> Run:
    return grade(planned("v4"), judge())


def there(dataset: Dataset) -> Item:
    """Version 4's answer to the first case, as it is now."""
    return dataset.items.current().select_related("case", "dataset__team").get(key="c0@bot@v4")


def corrected(dataset: Dataset, people: Cast, submission: str) -> Item:
    corrections.correct_item(there(dataset), Correction(submission=submission), by=people.ed)
    return there(dataset)


def extended(run: Run, people: Cast) -> tuple[int, int]:
    """How many items came in, and how many of them the judge was asked about."""
    added = lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps())
    asked = judge()
    if run.state == RunState.RUNNING:
        grade(run, asked)
    return added, len(asked.asked)


def scored(run: Run) -> tuple[int, int, float | None]:
    """Items, cases and mean as the summary has them."""
    summary = Run.objects.get(pk=run.pk).summary
    return summary.items, summary.cases, summary.score_mean


def test_the_wrong_words_are_in_no_figure_of_a_run_that_was_extended_by_the_right_ones(
    people: Cast, dataset: Dataset, run: Run
) -> None:
    assert scored(run) == (4, 4, 0.75)
    wrong = there(dataset)
    right = corrected(dataset, people, "v4 right 0")
    assert scored(run) == (4, 4, 0.75)  # until somebody extends it
    assert extended(run, people) == (1, 1)
    assert scored(run) == (4, 4, 1.0)
    run = Run.objects.get(pk=run.pk)
    assert (run.dataset_version, run.state) == (2, RunState.FINISHED)
    found = result(run, viewer=people.ed)
    assert (found.mean.value, found.mean.n, found.scored, found.unit) == (1.0, 4, 4, "item")
    assert [(rate.met, rate.unmet) for rate in found.rates] == [(4, 0)]
    listed = [row.item_id for row in run_items(run, viewer=people.ed, order="position").rows]
    assert (len(listed), wrong.pk in listed, right.pk in listed) == (4, False, True)
    extension = RunEvent.objects.get(run=run, kind="extended").message
    assert extension.endswith("1 item added, 1 in the place of an answer that counts no more.")


def test_without_a_summary_the_figures_are_the_same(people: Cast, dataset: Dataset, run: Run) -> None:
    corrected(dataset, people, "v4 right 0")
    extended(run, people)
    Run.objects.get(pk=run.pk).summary.delete()
    run.criterion_summaries.all().delete()
    found = result(Run.objects.get(pk=run.pk), viewer=people.ed)
    assert (found.mean.value, found.mean.n, found.unit) == (1.0, 4, "item")
    assert [(rate.met, rate.unmet) for rate in found.rates] == [(4, 0)]
    assert (found.totals.met, found.totals.unmet) == (4, 0)


def test_a_corrected_answer_is_no_regression(people: Cast, dataset: Dataset, run: Run, planned) -> None:
    before = grade(planned("v3"), judge())
    corrected(dataset, people, "v4 right 0")
    extended(run, people)
    versions = SystemVersion.objects.get(label="v4"), SystemVersion.objects.get(label="v3")
    pair = version_pair(people.team, *versions)
    assert pair is not None
    assert (pair.run, pair.baseline) == (run, before)
    found = run_diff(pair.run, pair.baseline, viewer=people.ed)
    assert (found.scores.difference.value, found.scores.difference.n) == (0.0, 4)
    assert found.counts == {"regression": 0, "fix": 0, "unchanged": 4, "unpaired": 0}
    assert [(one.n, one.run_mean) for one in found.criteria] == [(4, 1.0)]


def test_people_who_labelled_all_that_the_run_is_over_labelled_every_item(
    people: Cast, dataset: Dataset, run: Run
) -> None:
    corrected(dataset, people, "v4 right 0")
    extended(run, people)
    systems = (run.system_version,)
    queue = opened(people, run, Source("all"), systems=systems)
    label(queue, people.ann, 4, lambda item, name: "MET")
    found = estimate_of(Run.objects.get(pk=run.pk), [queue], viewer=people.ed)
    assert found.these is not None
    assert (found.items, found.is_census, found.these.value, found.judged.value) == (4, True, 1.0, 1.0)


def test_what_was_said_of_the_wrong_words_can_still_be_read(people: Cast, dataset: Dataset, run: Run) -> None:
    wrong = there(dataset)
    corrected(dataset, people, "v4 right 0")
    extended(run, people)
    row = run_item(run, wrong, viewer=people.ed)
    assert row is not None
    assert (row.score, row.replaced) == (0.0, True)
    assert [row.run for row in runs_containing(wrong, viewer=people.ed)] == [run]


def test_of_a_chain_of_corrections_the_last_counts(people: Cast, dataset: Dataset, run: Run) -> None:
    corrected(dataset, people, "Still WRONG")
    assert extended(run, people) == (1, 1)
    assert scored(run) == (4, 4, 0.75)
    corrected(dataset, people, "WRONG again")  # this one no run ever sees
    corrected(dataset, people, "v4 right 0")
    assert extended(run, people) == (1, 1)
    assert scored(run) == (4, 4, 1.0)
    assert RunItem.every.filter(run=run).count() == 6
    assert RunItem.every.filter(run=run, replaced=True).count() == 2


def test_words_that_come_back_count_again_and_are_not_asked_about_again(
    people: Cast, dataset: Dataset, run: Run
) -> None:
    wrong = there(dataset)
    right = corrected(dataset, people, "v4 right 0")
    extended(run, people)
    retirement.retire(dataset, [right.pk], by=people.ed)
    assert scored(run) == (4, 4, 1.0)
    retirement.restore(dataset, [wrong.pk], by=people.ed)
    assert new_item_count(run) == 1
    assert extended(run, people) == (1, 0)
    assert Run.objects.get(pk=run.pk).state == RunState.FINISHED
    assert scored(run) == (4, 4, 0.75)
    assert new_item_count(run) == 0
    assert RunItem.every.get(run=run, item=right).replaced


def test_a_stopped_run_asks_about_the_right_words_only(people: Cast, dataset: Dataset, planned) -> None:
    run = planned("v4")
    lifecycle.cancel_run(run, by=people.ed, now=run.created_at)
    wrong = there(dataset)
    corrected(dataset, people, "v4 right 0")
    assert lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == 1
    assert item_counts(run, run.created_at).everything == 4
    lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps())
    asked = judge()
    grade(run, asked)
    assert len(asked.asked) == 4
    assert scored(run) == (4, 4, 1.0)
    assert Run.objects.get(pk=run.pk).state == RunState.FINISHED
    assert RunItem.every.get(run=run, item=wrong).graded_at is None


def test_an_error_on_the_wrong_words_is_no_error_of_the_run_any_more(
    people: Cast, dataset: Dataset, planned
) -> None:
    run = planned("v4")
    grade(run, judge())
    row = RunItem.objects.get(run=run, item=there(dataset))
    run.judgements.filter(item=row.item).update(verdict=None, error_kind="timeout", error_message="Too slow.")
    RunItem.objects.filter(pk=row.pk).update(errors=1, score=None)
    corrected(dataset, people, "v4 right 0")
    extended(run, people)
    found = result(Run.objects.get(pk=run.pk), viewer=people.ed)
    assert (found.errored, found.errors, found.totals.errors, found.fully_judged) == (0, 0, 0, 4)
    # Nothing is asked again of words that count no more.
    assert lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps()) == 0


def test_a_retired_answer_alone_stays_until_its_place_is_taken(
    people: Cast, dataset: Dataset, run: Run
) -> None:
    retirement.retire(dataset, [there(dataset).pk], by=people.ed)
    more = {"case_id": "c4", "system": "bot@v4", "prompt": "Q4?", "submission": "v4 right 4"}
    factories.add_items(dataset, by=people.ed, data=json.dumps(more).encode(), filename="more.jsonl")
    assert extended(run, people) == (1, 1)
    assert scored(run) == (5, 5, 0.8)
    add(dataset, people, {"case_id": "c0", "prompt": "Q0?", "submission": "v4 right 0"})
    assert extended(run, people) == (1, 1)
    assert scored(run) == (5, 5, 1.0)


def test_a_case_answered_in_its_corrected_words_too_counts_once(
    people: Cast, dataset: Dataset, run: Run
) -> None:
    case = there(dataset).case
    corrections.correct_case(case, Correction(prompt="What is Q0?"), by=people.ed)
    add(dataset, people, {"case_id": "c0", "submission": "v4 right 0"})
    assert extended(run, people) == (1, 1)
    # Both are current answers to one case: (0 + 1) / 2 beside three of 1.
    assert scored(run) == (5, 4, 0.875)


def test_attempts_are_averaged_and_each_counts_in_its_right_words(
    people: Cast, dataset: Dataset, planned
) -> None:
    rows = [{"case_id": "c0", "prompt": "Q0?", "submission": "WRONG too", "attempt": 2}]
    add(dataset, people, *rows)
    run = grade(planned("v4"), judge())
    assert scored(run) == (5, 4, 0.75)
    corrected(dataset, people, "v4 right 0")
    assert extended(run, people) == (1, 1)
    # The first case has 1 and 0 now: (½ + 1 + 1 + 1) / 4.
    assert scored(run) == (5, 4, 0.875)


def add(dataset: Dataset, people: Cast, *rows: dict[str, Any]) -> None:
    data = "\n".join(map(json.dumps, rows)).encode()
    answers.add_answers(dataset, by=people.ed, data=data, filename="more.jsonl", system="bot@v4")
