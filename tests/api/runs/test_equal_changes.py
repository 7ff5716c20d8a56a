"""A criterion whose value moved by the same in every item, beside criteria that did not move."""

from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Run
from tests import factories
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade

ITEMS = [{"id": f"i{number}", "submission": f"Answer {number}"} for number in range(8)]
SCALE: dict[str, Any] = {
    "kind": "choice",
    "weight": 1.0,
    "scale_type": "ordinal",
    "options": [
        {"label": "poor", "value": 0.0},
        {"label": "fair", "value": 0.8},
        {"label": "good", "value": 1.0},
    ],
}


@pytest.fixture
def pair(people: Cast) -> tuple[Run, Run]:
    """(run, baseline): the tone of all eight answers was good and is fair, the rest is as it was."""
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    rubric_version = factories.version(
        people.team,
        people.ed,
        criteria=[
            SCALE | {"name": "tone", "requirement": "How the answer sounds."},
            SCALE | {"name": "style", "requirement": "How the answer is written."},
            {"name": "fact", "weight": 1.0, "requirement": "Has the fact."},
        ],
    )

    def graded(tone: str) -> Run:
        run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=rubric_version)
        said = {"sounds": tone, "written": "good", "fact": "MET"}
        return grade(run, LabelJudge(lambda _, asked, __: next(said[word] for word in said if word in asked)))

    before = graded("good")
    return graded("fair"), before


def test_a_change_without_spread_has_an_exact_p_and_counts_in_the_adjustment(
    people: Cast, as_member, sign_in, capsys: pytest.CaptureFixture[str], pair: tuple[Run, Run]
) -> None:
    run, baseline = pair
    tone, style, fact = as_member(people.bob).get(f"/runs/{run.pk}/against/{baseline.pk}")["criteria"]
    assert tone["difference"]["value"] == pytest.approx(-0.2)
    # All eight fell: 2 of the 2⁸ sign patterns are as one-sided. The others did not move, and are tests too:
    # Holm multiplies the smallest of three by 3.
    assert (tone["test"], tone["p_unadjusted"], tone["p"]) == ("sign_flips", 2 / 256, 6 / 256)
    assert (style["test"], style["p_unadjusted"], style["p"]) == ("sign_flips", 1.0, 1.0)
    assert (fact["test"], fact["p"]) == ("mcnemar", 1.0)

    address = reverse("run_diff", args=[people.team.slug, run.pk, baseline.pk])
    page = " ".join(sign_in(people.bob).get(address).content.decode().split())
    assert "0.0234" in page
    assert page.count(">sign flips</small>") == 2
    compare = terminal_of(people.team, people.bob, capsys)
    assert "0.0234 by sign flips" in " ".join(compare("compare", run.pk, "--with", baseline.pk).out.split())


def test_a_criterion_without_a_value_has_no_test(people: Cast, as_member, pair: tuple[Run, Run]) -> None:
    run, baseline = pair
    empty = grade(
        factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version),
        InProcessJudge(lambda asked, _: "CANNOT_ASSESS"),
    )
    rows = as_member(people.bob).get(f"/runs/{empty.pk}/against/{baseline.pk}")["criteria"]
    assert [(row["n"], row["test"], row["p"]) for row in rows if row["criterion"]["name"] == "fact"] == [
        (0, None, None)
    ]
