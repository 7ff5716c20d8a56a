"""A mean of people is of what each of them said: not of their majority, nor of their mean answers."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from rubricweb.models import Dataset, RubricVersion
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.exports.bundles import agreement_table
from rubricweb.services import adjudications
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

Said = dict[str, dict[str, str]]
"""Criterion → rater → one letter per item: M for MET, U for UNMET, C for CANNOT_ASSESS, . for no label."""

WORDS = {"M": "MET", "U": "UNMET", "C": "CANNOT_ASSESS"}


def compared(
    people: Cast,
    weights: Sequence[float],
    said: Said,
    judged: Sequence[str],
    *,
    penalty: dict[str, Any] | None = None,
    decide: Callable[[Dataset, RubricVersion], object] = lambda dataset, version: None,
) -> comparison.Comparison:
    """Criteria A, B, … of these weights; `judged` has one letter per item for each of them. Before they are
    compared `decide` may adjudicate.
    """
    names = "ABCDEF"[: len(weights)]
    criteria = [
        {"name": name, "weight": weight, "requirement": f"Requirement {name}."}
        for name, weight in zip(names, weights, strict=True)
    ]
    version = factories.version(people.team, people.ed, criteria=criteria)
    if penalty:
        RubricVersion.objects.filter(pk=version.pk).update(length_penalty=penalty)
    items = [{"id": f"{at:02}", "submission": f"Text {at:02}"} for at in range(len(judged[0]))]
    dataset = factories.dataset(people.team, people.ed, items=items)
    lines = ["item_id,criterion,rater,verdict"]
    for name, raters in said.items():
        for rater, letters in raters.items():
            lines += [f"{at:02},{name},{rater},{WORDS[one]}" for at, one in enumerate(letters) if one != "."]
    queue = factories.import_labels(
        dataset, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )

    def answer(requirement: str, response: str) -> str:
        place = next(at for at, name in enumerate(names) if f"Requirement {name}" in requirement)
        return WORDS[judged[place][int(response.split()[-1])]]

    run = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version),
        InProcessJudge(answer),
    )
    decide(dataset, version)
    return comparison.compare(run, [queue], viewer=people.bob)


THREE = {"x": "MUU" * 10, "y": "UMU" * 10, "z": "UUM" * 10}
"""Three people who each say MET of a third of thirty items, never of the same: their majority of none."""


def test_a_judge_who_is_one_more_such_person_is_not_called_lenient(people: Cast) -> None:
    found = compared(people, [1], {"A": THREE}, ["M" * 10 + "U" * 20])
    # The majority says MET of none, so that the judge would be 1/3 above it; people say it of a third, as he.
    assert [row[0] for row in found.overall.confusion] == [0, 10]
    assert found.rates.people.value == pytest.approx(1 / 3)
    assert found.rates.judge.value == pytest.approx(1 / 3)
    assert found.bias.value == pytest.approx(0)
    assert found.scores.agreement.bias.value == pytest.approx(0)
    assert found.leaning == ""
    [row] = found.criteria
    assert row.bias.value == pytest.approx(0)
    assert row.rates == found.rates


def test_bundles_hold_the_means_people_gave_and_the_share_of_ties(people: Cast) -> None:
    tied = {"x": "MM", "y": "UM"}
    found = agreement_table(compared(people, [1], {"A": tied}, ["MM"]))
    # ½ and 1 of the two items; the first is tied and no unit of a majority.
    assert (found["rates"]["people"]["value"], found["rates"]["judge"]["value"]) == (0.75, 1)
    assert (found["bias"]["value"], found["tied_share"], found["overall"]["accuracy"]["n"]) == (0.25, 0.5, 1)
    [row] = found["criteria"]
    assert (row["rates"]["people"]["value"], row["bias"]["value"], row["tied_share"]) == (0.75, 0.25, 0.5)


def test_a_unit_with_many_raters_weighs_no_more_and_who_abstains_is_in_no_mean(people: Cast) -> None:
    # Item 0 has MET MET UNMET, 1 UNMET alone, 2 MET beside CANNOT_ASSESS, 3 nothing but CANNOT_ASSESS.
    said = {"A": {"x": "MUMC", "y": "M.C.", "z": "U..."}}
    found = compared(people, [1], said, ["UUUU"])
    assert (found.rates.people.n, found.rates.people.value) == (3, pytest.approx((2 / 3 + 0 + 1) / 3))
    assert found.bias.value == pytest.approx(-5 / 9)


def test_a_decision_changes_accuracy_and_no_mean(people: Cast) -> None:
    def overrule(dataset: Dataset, version: RubricVersion) -> None:
        item, criterion = dataset.items.get(key="00"), version.criteria.get()
        adjudications.adjudicate(
            item, criterion, by=people.rae, verdict="UNMET", cause="human_wrong", reason="It is not."
        )

    found = compared(people, [1], {"A": {"x": "MM", "y": "MU"}}, ["MM"], decide=overrule)
    # The one unit that is decided is UNMET, the judge says MET. People said 1 and ½ of the two.
    assert (found.adjudicated, found.overall.n, found.overall.accuracy.value) == (1, 1, 0)
    assert (found.rates.people.value, found.bias.value) == (0.75, 0.25)
    assert found.scores.agreement.bias.value == pytest.approx(0.25)


def test_what_a_file_settled_counts_in_means_where_no_person_labelled(people: Cast) -> None:
    found = compared(people, [1], {"A": {"ground_truth": "MU", "x": ".."}}, ["MM"])
    assert (found.rates.people.n, found.rates.people.value, found.bias.value) == (2, 0.5, 0.5)
    # Nobody's agreement and no ceiling is made of it.
    assert (found.human_alpha.n, found.ceiling.n) == (0, 0)


# ── Scores ───────────────────────────────────────────────────────────────────────────────────────


def test_each_persons_score_is_cut_before_the_mean_is_taken(people: Cast) -> None:
    """Weights 1 and −1: x, who sees both, scores 0, y the error alone −1, cut to 0, z the merit alone 1.
    Their mean answers are ⅔ and ⅔, which would score 0.
    """
    said = {"A": {"x": "M", "y": "U", "z": "M"}, "B": {"x": "M", "y": "M", "z": "U"}}
    found = compared(people, [1, -1], said, ["M", "U"])
    assert found.scores.estimate.labelled.value == pytest.approx(1 / 3)
    assert found.scores.agreement.bias.value == pytest.approx(1 - 1 / 3)


def test_length_is_taken_off_each_persons_score(people: Cast) -> None:
    """Three people score 1, ½ and 0. Length costs ½: ½, 0 and, cut, 0 make 1/6; off their mean ½: 0."""
    penalty = {
        "free_budget": 0,
        "max_cap": 1,
        "penalty_at_cap": 0.5,
        "exponent": 1.0,
        "counts": "ALL",
    }
    said = {"A": {"x": "M", "y": "M", "z": "U"}, "B": {"x": "M", "y": "U", "z": "U"}}
    found = compared(people, [1, 1], said, ["M", "M"], penalty=penalty)
    assert found.scores.estimate.judged.value == pytest.approx(0.5)
    assert found.scores.estimate.labelled.value == pytest.approx(1 / 6)


def test_who_answered_a_part_is_in_rates_and_not_in_scores_beside_those_who_answered_all(
    people: Cast,
) -> None:
    said = {"A": {"x": "M", "y": "U"}, "B": {"x": "M", "y": "C"}}
    found = compared(people, [1, 1], said, ["M", "M"])
    # y could not tell B: x alone has a score of the item, 1. A is MET to one of two, B to one of one.
    assert found.scores.estimate.labelled.value == 1
    assert [row.rates.people.value for row in found.criteria] == [0.5, 1]


def test_where_criteria_are_shared_out_answers_are_put_together_one_person_for_each_part(
    people: Cast,
) -> None:
    """x and y answered A and B (weights 1 and 1), z and w the error C (−2): x scores 2/2 with w, who does not
    see it, and 0 with z, y 1/2 with w and −1/2, cut to 0, with z: (1 + 0 + ½ + 0) / 4. Mean answers 1, ½ and
    ½ would score (1 + ½ − 1) / 2 = ¼.
    """
    said = {"A": {"x": "M", "y": "M"}, "B": {"x": "M", "y": "U"}, "C": {"z": "M", "w": "U"}}
    found = compared(people, [1, 1, -2], said, ["M", "M", "U"])
    assert found.scores.estimate.labelled.value == pytest.approx(3 / 8)


def test_of_very_many_combinations_some_are_drawn_that_keep_the_mean(people: Cast) -> None:
    """Six criteria of weight 1 with three people each, one of whom says MET: 3⁶ = 729 combinations, each with
    a third MET on average, and nothing is cut.
    """
    said = {
        name: {f"{name}{number}": "M" if number == 0 else "U" for number in range(3)} for name in "ABCDEF"
    }
    found = compared(people, [1] * 6, said, ["M"] * 6)
    assert found.scores.estimate.labelled.value == pytest.approx(1 / 3)
