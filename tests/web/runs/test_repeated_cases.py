"""Pages and downloads of a run over several answers to a case say that they count cases."""

import csv
import io
import re

import pytest
from django.urls import reverse

from rubricweb.models import Item
from rubricweb.selectors.reviews.queue_sources import Source
from tests import factories
from tests.factories import Cast
from tests.judging import grade
from tests.worlds.attempts import ITEMS, attempts_run, judge, rubric_version, verdict_on
from tests.worlds.sampled import label, opened

pytestmark = pytest.mark.django_db


def by_the_words(item: Item, criterion: str) -> str:
    return verdict_on("sounds" if criterion == "tone" else "", item.submission)


def test_the_run_page_counts_cases_and_says_so(people: Cast, sign_in) -> None:
    run, client = attempts_run(people), sign_in(people.bob)
    page = client.get(reverse("run", args=[people.team.slug, run.pk])).content.decode()
    words = " ".join(page.split())
    assert '<dd class="stat__value"><span class="figure">0.58<' in words
    assert "of 3 cases, by the rubric’s rule" in words
    counted = (
        "The scored items answer 3 cases: figures here count cases, several answers to one as their mean"
    )
    assert f"every graded item has a score. {counted}" in words
    assert "4 of 6 in 3 cases" in words  # the fact
    assert "mean of 3 cases" in words  # the tone
    assert words.count("3 cases</small>") == 4  # and two groups


def test_two_answers_to_one_case_have_no_interval_of_the_pass_rate(people: Cast, sign_in) -> None:
    items = [one for one in ITEMS if one["case_id"] == "a"][1:3]
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=items),
        rubric_version=rubric_version(people),
    )
    grade(run, judge())
    label(opened(people, run, Source()), people.ann, 2, by_the_words)
    page = sign_in(people.bob).get(reverse("run", args=[people.team.slug, run.pk])).content.decode()
    words = " ".join(re.sub(r"<[^>]+>", " ", page).split())
    # One is right and warm, the other wrong and curt: half of the one case passes, its mean score is 1/2.
    assert "Mean score 0.50 no interval from 1 case" in words
    assert "Passed 50% no interval from 1 case, by the rubric’s rule" in words
    assert "0.50 of this one rater" in words
    assert "All items answer one case: that does not tell how cases differ." in words


def test_the_dashboard_says_how_people_s_rates_weigh_cases(people: Cast, sign_in) -> None:
    run = attempts_run(people)
    queue = opened(people, run, Source())
    label(queue, people.ann, 6, by_the_words)
    page = sign_in(people.bob).get(reverse("dashboard", args=[people.team.slug])).content.decode()
    assert (
        "by people, the mean over items of what their raters said, every case weighing the same however many "
        "answers it has, with 95 % intervals."
    ) in " ".join(page.split())


def test_the_scores_of_the_dashboard_have_the_number_of_cases(people: Cast, sign_in) -> None:
    attempts_run(people)
    url = reverse("dashboard", args=[people.team.slug])
    answer = sign_in(people.bob).get(url, {"format": "csv"})
    [row] = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["items"], row["scored"], row["cases"]) == ("6", "6", "3")
    assert float(row["mean_score"]) == pytest.approx(7 / 12)
