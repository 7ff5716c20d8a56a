"""Runs over two system versions, paired by case: numbers by hand from `tests.worlds.systems`."""

from importlib import import_module
from types import SimpleNamespace

import pytest
from django.apps import apps
from django.db import connection

from rubricweb.access import access_run
from rubricweb.errors import Invalid, Withheld
from rubricweb.models import Case, Item, Run, RunItem, RunSummary
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.runs.diff.diff import run_diff
from rubricweb.selectors.runs.diff.item import item_in_both
from rubricweb.selectors.runs.diff.items import hidden_from, item_changes, item_page
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.systems import FACT, Versions, answer, judge, run_of_before, versions


@pytest.fixture
def world(people: Cast) -> Versions:
    return versions(people)


@pytest.fixture
def pair(world: Versions) -> tuple[Run, Run]:
    """(v4's run, v3's run)"""
    before = world.run_over("v3")
    return world.run_over("v4"), before


def test_answers_of_two_versions_are_paired_by_case(people: Cast, pair: tuple[Run, Run]) -> None:
    found = run_diff(*pair, viewer=people.bob)
    assert (found.paired_by, found.scores.n) == ("case", 3)
    assert [side.system for side in found.sides] == ["assistant@v4", "assistant@v3"]
    # c1 1 → 0.25, c2 0.75 → 1, c3 0.25 → 0.25: means 2/3 and 1/2.
    assert found.scores.mean_one.value == pytest.approx(2 / 3)
    assert found.scores.mean_other.value == pytest.approx(1 / 2)
    assert found.scores.difference.value == pytest.approx(-1 / 6)
    # −0.75 and 0.25: rank 2 below, rank 1 above.
    assert (found.scores.wilcoxon.n, found.scores.wilcoxon.zeros) == (2, 1)
    assert (found.scores.wilcoxon.above, found.scores.wilcoxon.below) == (1.0, 2.0)
    # c4 stands twice, once for each of its words.
    assert dict(found.counts) == {"regression": 1, "fix": 1, "unchanged": 1, "unpaired": 4}
    assert [side.items for side in found.sides] == [5, 5]


def test_cases_without_a_pair_are_counted_and_named(people: Cast, pair: tuple[Run, Run]) -> None:
    without = run_diff(*pair, viewer=people.bob).without_pair
    assert (without.only_run.n, without.only_run.keys) == (1, ("c6",))
    assert (without.only_baseline.n, without.only_baseline.keys) == (1, ("c5",))
    # Each run has an answer to c4, in words that the other was not asked: two rows of the list.
    assert (without.reworded.n, without.reworded.keys) == (2, ("c4",))
    assert (without.n, without.unscored) == (4, 0)


def test_a_case_that_was_corrected_and_answered_again_counts_once(people: Cast) -> None:
    world = versions(people, answer("v4", "c3", attempt=2, submission="v4 c3 anew"))
    Item.objects.filter(submission="v4 c3 anew").update(wording=2)
    baseline, run = world.run_over("v3"), world.run_over("v4")
    found = run_diff(run, baseline, viewer=people.bob)
    # c3's first words pair as before; its new answer and both to c4 are to words the other was not asked.
    assert (found.scores.n, found.scores.difference.value) == (3, pytest.approx(-1 / 6))
    without = found.without_pair
    assert (without.reworded.n, without.reworded.keys) == (3, ("c3", "c4"))
    assert without.n + without.unscored == found.counts["unpaired"] == 5
    # c1 0.25, c2 1, c3 (0.25 + 1) / 2, c4 and c6 0: five cases, not six.
    summary = RunSummary.objects.get(run=run)
    assert (summary.cases, summary.score_mean) == (5, pytest.approx(0.375))
    # A summary of an earlier release counted it twice: it is taken away, and those of other runs are not.
    before = import_module("rubricweb.migrations.0065_cases_in_several_words_count_once")
    before.forget_means_that_counted_a_case_twice(apps, SimpleNamespace(connection=connection))
    assert set(RunSummary.objects.values_list("run", flat=True)) == {baseline.pk}
    # Both answered c3 in both words: one pair, over both.
    Item.objects.filter(submission="v3 c5").update(case=Case.objects.get(key="c3"), wording=2, attempt=2)
    found = run_diff(run, baseline, viewer=people.bob)
    # v3's answers to c3 have 0.25 and 1 as v4's do: no difference, after −0.75 and 0.25.
    assert (found.scores.n, found.scores.difference.value) == (3, pytest.approx(-1 / 6))
    assert found.scores.mean_one.value == pytest.approx((1 + 0.75 + 0.625) / 3)
    seen = item_in_both(run, baseline, Item.objects.get(submission="v4 c3 anew"), viewer=people.bob)
    assert seen is not None
    assert seen.baseline_row is not None
    assert (seen.baseline_row.item.submission, len(seen.run_rows), len(seen.baseline_rows)) == ("v3 c5", 2, 2)


def test_an_answer_without_a_score_is_counted_as_such(people: Cast, pair: tuple[Run, Run]) -> None:
    RunItem.objects.filter(run=pair[0], item__submission="v4 c2").update(errors=1)
    found = run_diff(*pair, viewer=people.bob)
    assert (found.without_pair.n, found.without_pair.unscored, found.counts["unpaired"]) == (4, 1, 5)


def test_flips_and_parts_are_over_the_pairs(people: Cast, pair: tuple[Run, Run]) -> None:
    found = run_diff(*pair, viewer=people.bob)
    fact, kind = found.criteria
    # fact: MET MET UNMET became UNMET MET UNMET; kind: MET UNMET MET became MET MET MET.
    assert (fact.n, fact.to_met, fact.to_unmet) == (3, 0, 1)
    assert (kind.n, kind.to_met, kind.to_unmet) == (3, 1, 0)
    assert (fact.missing, kind.missing) == (4, 4)
    assert fact.contribution is not None
    assert kind.contribution is not None
    # c1 loses 3/4 of three cases, c2 wins 1/4.
    assert fact.contribution.value == pytest.approx(-0.25)
    assert kind.contribution.value == pytest.approx(1 / 12)
    assert found.rest == pytest.approx(0.0)


def test_the_other_way_round_every_sign_turns(people: Cast, pair: tuple[Run, Run]) -> None:
    run, baseline = pair
    found = run_diff(baseline, run, viewer=people.bob)
    assert found.scores.difference.value == pytest.approx(1 / 6)
    assert (found.without_pair.only_run.keys, found.without_pair.only_baseline.keys) == (("c5",), ("c6",))


def test_several_answers_to_a_case_are_averaged_and_count_once(people: Cast) -> None:
    again = answer("v4", "c1", attempt=2, submission="v4 c1 again")
    world = versions(people, again)
    baseline, run = world.run_over("v3"), world.run_over("v4")
    found = run_diff(run, baseline, viewer=people.bob)
    # c1: (0.25 + 1) / 2 = 0.625 after 1; the differences −0.375, 0.25, 0 have the mean −1/24.
    assert found.scores.n == 3
    assert found.scores.difference.value == pytest.approx(-1 / 24)
    assert found.sides[0].items == 6
    fact, kind = found.criteria
    # The fact is in one of two answers to c1: half of −3/4, over three cases. No flip, so no McNemar.
    assert fact.contribution is not None
    assert fact.contribution.value == pytest.approx(-0.125)
    assert (fact.n, fact.run_mean, fact.mcnemar, fact.changed_count) == (3, 0.5, None, 1)
    assert kind.mcnemar is not None
    assert found.rest == pytest.approx(0.0)
    first = item_page(item_changes(run, baseline, set()), run, baseline).rows[0]
    assert (first.item.case.key, first.change.difference) == ("c1", pytest.approx(-0.375))
    assert (len(first.change.run_items), len(first.change.baseline_items)) == (2, 1)
    assert first.answers_changed == 1


def test_an_attempt_with_an_error_is_in_no_mean(people: Cast) -> None:
    world = versions(people, answer("v4", "c1", attempt=2, submission="v4 c1 again"))
    baseline, run = world.run_over("v3"), world.run_over("v4")
    RunItem.objects.filter(run=run, item__submission="v4 c1 again").update(errors=1)
    found = run_diff(run, baseline, viewer=people.bob)
    assert found.scores.difference.value == pytest.approx(-1 / 6)
    assert found.criteria[0].contribution is not None
    assert found.criteria[0].contribution.value == pytest.approx(-0.25)
    assert (found.sides[0].items, found.sides[0].scored, found.sides[0].errored) == (6, 5, 1)


def test_runs_that_share_items_are_paired_by_item(people: Cast, world: Versions) -> None:
    everything = grade(run_of_before(world, "v4", "v3"), judge())
    found = run_diff(world.run_over("v4"), everything, viewer=people.bob)
    assert (found.paired_by, found.scores.n, found.without_pair.n) == ("item", 5, 5)
    assert found.scores.difference.value == 0.0
    assert found.counts["unpaired"] == 5  # the answers of v3


@pytest.mark.parametrize(
    ("system", "one_is_imported"),
    [({"system": "assistant@v9"}, False), ({"system": "assistant@v9"}, True), ({}, False)],
    ids=["named", "imported", "unnamed"],
)
def test_two_runs_over_attempts_of_one_version_count_cases(
    people: Cast, system: dict[str, str], one_is_imported: bool
) -> None:
    """12 cases of three attempts each. One judge finds the first six right, the other two more. A run that
    was imported does not say which version it is over.
    """
    version = factories.version(people.team, people.ed, criteria=[FACT])
    items = [
        {
            "case_id": f"c{case}",
            "attempt": attempt,
            "prompt": f"Question {case}",
            "submission": f"Answer {case}, attempt {attempt}.",
            **system,
        }
        for case in range(12)
        for attempt in (1, 2, 3)
    ]
    dataset = factories.dataset(people.team, people.ed, items=items)

    def said_by(right: int) -> Run:
        run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
        is_right = {f"Answer {case}," for case in range(right)}
        return grade(
            run,
            InProcessJudge(lambda _, text: "MET" if " ".join(text.split()[:2]) in is_right else "UNMET"),
        )

    baseline, run = said_by(6), said_by(8)
    if one_is_imported:
        Run.objects.filter(pk=baseline.pk).update(system_version=None)
        baseline = access_run(people.team, baseline.pk)
    found = run_diff(run, baseline, viewer=people.ed)
    assert (found.paired_by, found.scores.n, found.scores.difference.value) == (
        "case",
        12,
        pytest.approx(1 / 6),
    )
    low = found.scores.difference.low
    assert low is not None
    assert low < 0
    # Two cases turned, both to MET: McNemar's exact p is 2 · ½².
    assert (found.criteria[0].to_met, found.criteria[0].p) == (2, pytest.approx(0.5))
    seen = item_in_both(run, baseline, dataset.items.get(case__key="c7", attempt=2), viewer=people.ed)
    assert seen is not None
    assert (seen.paired_by, len(seen.run_rows), seen.change.difference) == ("case", 3, 1.0)
    assert seen.run_row is not None
    assert seen.baseline_row is not None
    assert seen.run_row.item.attempt == seen.baseline_row.item.attempt == 2


def test_a_run_over_several_versions_is_not_paired_by_case(people: Cast) -> None:
    """Its answers to one case are no attempts of one version."""
    world = versions(people, answer("v5", "c1", submission="v4 c1"))
    both = run_of_before(world, "v3", "v4")
    with pytest.raises(Invalid, match=r"2 system versions \(assistant@v3, assistant@v4\)"):
        run_diff(world.run_over("v5"), both, viewer=people.bob)


def test_runs_of_before_over_one_version_each_are_paired_by_case(people: Cast, world: Versions) -> None:
    before, after = (grade(run_of_before(world, version), judge()) for version in ("v3", "v4"))
    found = run_diff(after, before, viewer=people.bob)
    assert (found.paired_by, found.scores.n) == ("case", 3)
    assert [side.system for side in found.sides] == ["assistant@v4", "assistant@v3"]


def test_items_lead_with_the_regression(people: Cast, pair: tuple[Run, Run]) -> None:
    rows = item_page(item_changes(*pair, set()), *pair).rows
    assert [(row.item.case.key, row.change.change, row.answers_changed) for row in rows[:3]] == [
        ("c1", "regression", 1),
        ("c2", "fix", 1),
        ("c3", "unchanged", 0),
    ]
    assert sorted(row.item.case.key for row in rows[3:]) == ["c4", "c4", "c5", "c6"]


def test_both_answers_to_a_case_stand_side_by_side(people: Cast, world: Versions, pair) -> None:
    run, baseline = pair
    for item in (answers[0] for answers in (world.answers("v4"), world.answers("v3"))):
        seen = item_in_both(run, baseline, item, viewer=people.bob)
        assert seen is not None
        assert seen.run_row is not None
        assert seen.baseline_row is not None
        assert (seen.baseline_row.item.submission, seen.run_row.item.submission) == ("v3 c1", "v4 c1")
        assert [(word.kind, word.text) for word in seen.words] == [
            ("gone", "v3"),
            ("new", "v4"),
            ("same", " c1"),
        ]
        assert (seen.change.change, seen.change.difference) == ("regression", pytest.approx(-0.75))
        fact, kind = seen.criteria
        assert fact.run is not None
        assert fact.baseline is not None
        assert (fact.baseline.verdict, fact.run.verdict, fact.effect) == ("MET", "UNMET", "worse")
        assert not kind.answers_differ


def test_an_answer_to_other_words_stands_alone(people: Cast, world: Versions, pair) -> None:
    reworded = next(item for item in world.answers("v4") if item.submission == "v4 c4")
    seen = item_in_both(*pair, reworded, viewer=people.bob)
    assert seen is not None
    assert seen.run_row is not None
    assert (seen.baseline_row, seen.change.change, seen.words) == (None, "unpaired", ())


@pytest.mark.parametrize("version", ["v3", "v4"])
def test_a_case_with_an_answer_still_to_review_blind_is_left_out_on_both_sides(
    people: Cast, world: Versions, pair, version: str
) -> None:
    waiting = world.answers(version)[0]
    world.queue(source=Source(kind="items", item_ids=(waiting.pk,)))
    found = run_diff(*pair, viewer=people.ann)
    # c2 and c3 are left: 0.25 and 0.
    assert (found.hidden_items, found.scores.n) == (1, 2)
    assert found.scores.difference.value == pytest.approx(0.125)
    assert found.counts["regression"] == 0
    changes = item_changes(*pair, hidden_from(pair[0], people.ann))
    assert {row.item.case.key for row in item_page(changes, *pair).rows} == {"c2", "c3", "c4", "c5", "c6"}
    for other in ("v3", "v4"):
        with pytest.raises(Withheld):
            item_in_both(*pair, world.answers(other)[0], viewer=people.ann)


def test_pairing_by_case_takes_as_many_queries_however_many_cases(
    people: Cast, world: Versions, pair, django_assert_num_queries
) -> None:
    run, baseline = (access_run(people.team, one.pk) for one in pair)
    # Hidden items; items of each run with their cases; criteria, answers of each, names of cases; how many
    # items the runs are over, the dataset has, and each version had.
    with django_assert_num_queries(11):
        run_diff(run, baseline, viewer=people.bob)
