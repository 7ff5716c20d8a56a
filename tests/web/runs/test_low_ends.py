"""Beside a mean stands what it does not show: the lowest score, who does not pass, what was not seen."""

import re

import pytest
from django.urls import reverse

from rubricweb.models import RunSummary
from rubricweb.selectors.runs import results
from rubricweb.services.shared.run_summaries import summarise_stopped
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.attempts import attempts_run
from tests.worlds.sampled import graded, numbered

pytestmark = pytest.mark.django_db


def text(response) -> str:
    found = re.search(r"<main.*?</main>", response.content.decode(), re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


def test_lowest_score_and_share_below_the_bar_stand_beside_the_mean(people: Cast, sign_in) -> None:
    """The wrong and curt answer has 0. Of case a three of four pass, of b none, of c all: 1 − 7/12 = 42 %."""
    run = attempts_run(people)
    found = results.result(run, viewer=people.bob)
    assert (found.lowest, found.below_bar) == (0.0, pytest.approx(5 / 12))
    bob = sign_in(people.bob)
    slug = people.team.slug
    for address in (
        reverse("run", args=[slug, run.pk]),
        reverse("runs", args=[slug]),
        reverse("dashboard", args=[slug]),
    ):
        assert "lowest 0.00, 42% do not pass" in text(bob.get(address))
    numbers = bob.get(f"{reverse('dashboard', args=[slug])}?format=csv").content.decode().splitlines()
    assert numbers[0].endswith(",lowest,below_bar")
    assert re.search(r",0\.0,0\.41666\d+$", numbers[1])


def test_without_a_pass_rule_the_lowest_score_stands_alone(people: Cast, sign_in) -> None:
    run = graded(people, numbered(4), lambda requirement, text: "MET" if "kind" in requirement else "UNMET")
    page = text(sign_in(people.bob).get(reverse("run", args=[people.team.slug, run.pk])))
    assert "lowest 0.50" in page
    assert "do not pass" not in page


def test_runs_summed_up_before_get_their_lowest_score_from_a_worker(people: Cast) -> None:
    run = graded(people, numbered(4), lambda requirement, text: "MET")
    RunSummary.objects.filter(run=run).update(score_lowest=None, score_low=0.99)
    summarise_stopped()
    summary = RunSummary.objects.get(run=run)
    assert summary.score_lowest == 1.0
    assert summary.score_low == pytest.approx(4 / (4 + 1.96**2), abs=1e-3)  # Wilson of 4 in 4


def test_a_difference_says_what_so_many_items_could_not_have_shown(people: Cast, sign_in) -> None:
    """Sixty items: 3/60 = 5 %. One of them fell from 1 to 0."""
    run = graded(people, numbered(60), lambda requirement, text: "MET")
    after = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version)
    grade(after, InProcessJudge(lambda requirement, text: "UNMET" if "Text 07" in text else "MET"))
    address = reverse("run_diff", args=[people.team.slug, after.pk, run.pk])
    page = text(sign_in(people.bob).get(address))
    assert "Up to 5% new outright failures would not have been seen in 60 items." in page
    assert "lowest 1.00 → 0.00" in page
