"""Beside a mean stands what it does not show: the lowest score, who does not pass, what was not seen."""

import re

import pytest
from django.urls import reverse

from rubricweb.models import RunSummary
from rubricweb.selectors.comparison.people_means import estimate_of
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.runs import results
from rubricweb.services.shared.run_summaries import summarise_stopped
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade
from tests.worlds.attempts import attempts_run, labelled_by_two, rubric_version, stricter_run
from tests.worlds.sampled import graded, numbered, opened

pytestmark = pytest.mark.django_db


def text(response) -> str:
    found = re.search(r"<main.*?</main>", response.content.decode(), re.DOTALL)
    assert found is not None
    return " ".join(re.sub(r"<[^>]+>", " ", found[0]).split())


def test_lowest_score_and_share_below_the_bar_stand_beside_the_mean(people: Cast, sign_in) -> None:
    """The wrong and curt answer has 0. Of case a three of four pass, of b none, of c all: 1 − 7/12 = 42 %."""
    run = attempts_run(people)
    found = results.result(run, viewer=people.bob)
    assert (found.low_end.lowest, found.low_end.below_bar) == (0.0, pytest.approx(5 / 12))
    bob = sign_in(people.bob)
    slug = people.team.slug
    for address in (
        reverse("run", args=[slug, run.pk]),
        reverse("runs", args=[slug]),
        reverse("dashboard", args=[slug]),
    ):
        assert "lowest 0.00, 42% do not pass" in text(bob.get(address))
    numbers = bob.get(f"{reverse('dashboard', args=[slug])}?format=csv").content.decode().splitlines()
    assert numbers[0].endswith(",lowest,below_bar,judge_version")
    assert re.search(r",0\.0,0\.41666\d+,$", numbers[1])


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


def test_the_low_end_of_people_stands_beside_their_mean(people: Cast, sign_in) -> None:
    """By tests/worlds/attempts.py people's lowest score is 0 and 17/24 = 71 % do not pass; the judge 42 %."""
    run, queue = labelled_by_two(people)
    found = estimate_of(run, [queue], viewer=people.bob)
    assert (found.labelled_low_end.lowest, found.labelled_low_end.below_bar) == (0.0, pytest.approx(17 / 24))
    assert found.judged_low_end == found.judged_labelled_low_end
    assert (found.judged_low_end.lowest, found.judged_low_end.below_bar) == (0.0, pytest.approx(5 / 12))
    bob, slug = sign_in(people.bob), people.team.slug
    compare = text(bob.get(f"{reverse('compare', args=[slug])}?run={run.pk}"))
    theirs, the_judges = "lowest 0.00, 71% do not pass", "lowest 0.00, 42% do not pass"
    assert f"People, labelled items only plain mean, tells of these alone {theirs}" in compare
    assert f"Judge, the same items plain mean {the_judges}" in compare
    assert f"Judge, all items its own bias is in it {the_judges}" in compare
    for address in (reverse("run", args=[slug, run.pk]), reverse("dashboard", args=[slug])):
        assert f"On the labelled items: people {theirs} ; the judge {the_judges}" in text(bob.get(address))


def test_of_raw_scores_people_pass_by_their_criteria_as_the_judge_does(people: Cast) -> None:
    """The rule asks for half of the score, which raw scores do not tell: nobody is below the bar."""
    run, queue = labelled_by_two(people, normalize=False)
    found = estimate_of(run, [queue], viewer=people.bob)
    # ann 4 of 4 and rae 0 are the best, both 0 the lowest.
    assert (found.labelled_low_end.lowest, found.labelled_low_end.below_bar) == (0.0, None)
    assert found.judged_low_end.below_bar is None


def test_the_lowest_score_of_each_group_stands_beside_its_mean(people: Cast, sign_in) -> None:
    """Wrong answers have 0 in Facts; a group has no pass rule."""
    run = attempts_run(people)
    bob, slug = sign_in(people.bob), people.team.slug
    for address in (reverse("run", args=[slug, run.pk]), reverse("dashboard", args=[slug])):
        assert re.search(r"Facts 1 criterion 0\.58 3 cases lowest 0\.00 (?!,)", text(bob.get(address)))


def test_two_runs_show_how_many_of_the_same_cases_do_not_pass(people: Cast, sign_in) -> None:
    """5/12 before; the stricter judge passes none. tests/worlds/attempts.py derives the interval."""
    before = attempts_run(people)
    after = stricter_run(people, before)
    bob, slug = sign_in(people.bob), people.team.slug
    page = text(bob.get(reverse("run_diff", args=[slug, after.pk, before.pk])))
    assert "Do not pass, before → after 42% → 100% Δ +58% [−88%, 100%] of 3 cases" in page
    assert "each by the pass rule of its own rubric" not in page
    other = rubric_version(people)
    by_another = factories.run(people.team, people.ed, dataset=before.dataset, rubric_version=other)
    grade(
        by_another, LabelJudge(lambda name, requirement, said: "warm" if "sounds" in requirement else "MET")
    )
    page = text(bob.get(reverse("run_diff", args=[slug, by_another.pk, before.pk])))
    assert "42% → 0%" in page
    assert "of 3 cases, each by the pass rule of its own rubric" in page


def test_where_one_run_has_no_pass_rule_no_share_is_compared(people: Cast, sign_in) -> None:
    run = attempts_run(people)
    version = factories.version(people.team, people.ed, title="No rule")
    other = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=version)
    grade(other, InProcessJudge(lambda requirement, text: "MET"))
    page = text(sign_in(people.bob).get(reverse("run_diff", args=[people.team.slug, other.pk, run.pk])))
    # Of the cases ¾, ¼ and ¾; the other meets its penalty too, (10 + 5 − 15)/15.
    assert "lowest 0.25 → 0.00" in page
    assert "Do not pass" not in page


def test_who_is_to_review_blind_is_shown_no_low_end(people: Cast, sign_in) -> None:
    run, _ = labelled_by_two(people)
    after = stricter_run(people, run)
    opened(people, run, Source(), raters=[people.ed], name="Blind")
    slug = people.team.slug
    addresses = (
        reverse("run", args=[slug, run.pk]),
        reverse("dashboard", args=[slug]),
        f"{reverse('compare', args=[slug])}?run={run.pk}",
        reverse("run_diff", args=[slug, after.pk, run.pk]),
    )
    blind, sees = sign_in(people.ed), sign_in(people.alice)
    for address in addresses:
        assert "lowest 0." in text(sees.get(address))
        page = text(blind.get(address))
        assert "lowest" not in page
        assert "do not pass" not in page.lower()
