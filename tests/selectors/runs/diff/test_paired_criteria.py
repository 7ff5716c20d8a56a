"""Which criteria of two rubric versions, or of two rubrics, are held against each other."""

import json
import re
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Dataset, RubricVersion, Run
from rubricweb.selectors.runs.diff.diff import RunDiff, run_diff
from rubricweb.selectors.runs.diff.item import item_in_both
from rubricweb.selectors.runs.diff.items import hidden_from, item_changes, item_page
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.versions import changed, said

FACT: dict[str, Any] = {"weight": 3.0, "requirement": "Has the fact."}
KIND: dict[str, Any] = {"weight": 1.0, "requirement": "Is kind."}


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    items = [{"id": str(number), "submission": f"Text {number}"} for number in range(8)]
    return factories.dataset(people.team, people.ed, items=items)


def version(people: Cast, *criteria: dict[str, Any], title: str = "Capitals") -> RubricVersion:
    return factories.version(people.team, people.ed, title=title, criteria=list(criteria))


def reversed_order(before: RubricVersion) -> RubricVersion:
    """The next version, with the criteria of the draft the other way round."""
    rubric = before.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    draft = {**rubric.draft, "criteria": rubric.draft["criteria"][::-1]}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    return rubrics.publish(rubric, by=None)


def graded(people: Cast, dataset: Dataset, by: RubricVersion, *, also_met: str = "nothing") -> Run:
    """The fact is there in every answer, and what is `also_met` in the first one; nothing else is."""

    def answer(requirement: str, response: str) -> str:
        is_met = "fact" in requirement or (also_met in requirement and "Text 0" in response)
        return "MET" if is_met else "UNMET"

    return grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=by), InProcessJudge(answer)
    )


def pairs(found: RunDiff) -> list[tuple[str, str, str]]:
    return [(row.criterion.name, row.before.name, row.criterion.requirement) for row in found.criteria]


def test_criteria_without_names_that_were_moved_are_all_held_against_themselves(
    people: Cast, dataset: Dataset
) -> None:
    first = version(people, FACT, KIND)
    runs = [graded(people, dataset, by) for by in (reversed_order(first), first)]
    found = run_diff(*runs, viewer=people.bob)
    assert pairs(found) == [("C1", "C2", "Is kind."), ("C2", "C1", "Has the fact.")]
    assert (found.only_run, found.only_baseline) == ((), ())
    for row in found.criteria:
        assert (row.n, row.changed_count, row.to_met, row.to_unmet, row.p) == (8, 0, 0, 0, 1.0)
        assert row.contribution is not None
        assert (row.contribution.value, row.name_before) == (0.0, "")
    assert (found.scores.difference.value, found.rest) == (0.0, 0.0)
    [*rows] = item_page(item_changes(*runs, hidden_from(runs[0], people.bob)), *runs).rows
    assert [row.answers_changed for row in rows] == [0] * 8
    seen = item_in_both(*runs, dataset.items.all()[0], viewer=people.bob)
    assert seen is not None
    assert [(row.answers_differ, row.name_before) for row in seen.criteria] == [(False, "")] * 2


def test_a_renamed_criterion_is_one_pair_and_its_earlier_name_is_told_once(
    people: Cast, dataset: Dataset, sign_in: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    first = version(people, FACT | {"name": "fact"}, KIND | {"name": "kind"})
    assert first.rubric is not None
    second = changed(first.rubric, said(name="friendly"), position=1)
    before, after = graded(people, dataset, first), graded(people, dataset, second, also_met="kind")
    found = run_diff(after, before, viewer=people.bob)
    assert pairs(found) == [("fact", "fact", "Has the fact."), ("friendly", "kind", "Is kind.")]
    assert [row.name_before for row in found.criteria] == ["", "kind"]
    # One of eight answers to a criterion of weight 1 of 4: 1/8 · 1/4, and nothing else moved.
    parts = [row.contribution.value for row in found.criteria if row.contribution is not None]
    assert parts == [0.0, pytest.approx(1 / 32)]
    assert (found.criteria[1].to_met, found.criteria[1].to_unmet) == (1, 0)
    assert found.scores.difference.value == pytest.approx(1 / 32)

    bob, item = sign_in(people.bob), dataset.items.all()[0]
    for name, ids in (("run_diff", ()), ("run_diff_item", (item.pk,))):
        page = bob.get(reverse(name, args=[people.team.slug, after.pk, before.pk, *ids])).content.decode()
        assert re.findall(r"in the baseline: (\w+)", page) == ["kind"]
    compare = "compare", after.pk, "--with", before.pk
    terminal = terminal_of(people.team, people.bob, capsys)
    printed = terminal(*compare).out
    # The name is wrapped in its column, beside the figures.
    assert re.search(r"friendly \(in .*baseline.* kind\)", " ".join(printed.split()))
    assert "Only in" not in printed
    rows = json.loads(terminal(*compare, "--json").out)["criteria"]  # what the API answers
    names = [(row["criterion"]["name"], row["baseline_name"]) for row in rows]
    assert names == [("fact", "fact"), ("friendly", "kind")]


def test_names_that_changed_places_do_not_pair_other_questions(people: Cast, dataset: Dataset) -> None:
    first = version(people, FACT | {"name": "one"}, FACT | {"name": "two", "guidance": "Be strict."})
    assert first.rubric is not None
    first.rubric.refresh_from_db()
    one, two = first.rubric.draft["criteria"]
    draft = {**first.rubric.draft, "criteria": [one | {"name": "two"}, two | {"name": "one"}]}
    rubrics.save_draft(first.rubric, draft=draft, revision=first.rubric.draft_revision)
    second = rubrics.publish(first.rubric, by=None)
    found = run_diff(*(graded(people, dataset, by) for by in (second, first)), viewer=people.bob)
    names = [(row.criterion.name, row.before.name) for row in found.criteria]
    assert names == [("two", "one"), ("one", "two")]
    assert all(row.criterion.uid == row.before.uid for row in found.criteria)


def test_a_reworded_criterion_is_only_in_one_whatever_it_is_called(people: Cast, dataset: Dataset) -> None:
    first = version(people, FACT | {"name": "fact"}, KIND)
    assert first.rubric is not None
    second = changed(first.rubric, said(requirement="Has the fact and says so."))
    found = run_diff(*(graded(people, dataset, by) for by in (second, first)), viewer=people.bob)
    assert pairs(found) == [("C2", "C2", "Is kind.")]
    assert [one.criterion.name for one in (*found.only_run, *found.only_baseline)] == ["fact", "fact"]


def test_criteria_of_two_rubrics_meet_by_their_names_and_without_names_by_what_they_ask(
    people: Cast, dataset: Dataset
) -> None:
    tidy = {"weight": 1.0, "requirement": "Is tidy."}
    first = version(people, FACT, KIND | {"name": "kind"}, tidy | {"name": "tidy"})
    other = version(people, tidy | {"name": "neat"}, KIND | {"name": "kind"}, FACT, title="Other")
    found = run_diff(*(graded(people, dataset, by) for by in (other, first)), viewer=people.bob)
    assert pairs(found) == [("kind", "kind", "Is kind."), ("C3", "C1", "Has the fact.")]
    assert [one.criterion.name for one in (*found.only_run, *found.only_baseline)] == ["neat", "tidy"]
