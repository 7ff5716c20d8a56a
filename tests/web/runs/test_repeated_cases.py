"""Pages and downloads of a run over several answers to a case say that they count cases."""

import csv
import io

import pytest
from django.urls import reverse

from tests.factories import Cast
from tests.worlds.attempts import attempts_run

pytestmark = pytest.mark.django_db


def test_the_run_page_counts_cases_and_says_so(people: Cast, sign_in) -> None:
    run, client = attempts_run(people), sign_in(people.bob)
    page = client.get(reverse("run", args=[people.team.slug, run.pk])).content.decode()
    words = " ".join(page.split())
    assert '<dd class="stat__value"><span class="figure">0.58<' in words
    assert "of 3 cases, by the rubric’s rule" in words
    assert "They answer 3 cases: figures here count cases, several answers to one as their mean" in words
    assert "4 of 6 in 3 cases" in words  # the fact
    assert "mean of 3 cases" in words  # the tone
    assert words.count("3 cases</small>") == 4  # and two groups


def test_the_scores_of_the_dashboard_have_the_number_of_cases(people: Cast, sign_in) -> None:
    attempts_run(people)
    url = reverse("dashboard", args=[people.team.slug])
    answer = sign_in(people.bob).get(url, {"format": "csv"})
    [row] = csv.DictReader(io.StringIO(answer.content.decode()))
    assert (row["items"], row["scored"], row["cases"]) == ("6", "6", "3")
    assert float(row["mean_score"]) == pytest.approx(7 / 12)
