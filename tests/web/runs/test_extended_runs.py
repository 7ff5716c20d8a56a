"""On pages an extended run is over the right words alone, and what it said of the wrong ones can be read."""

import pytest
from django.urls import reverse

from tests.factories import Cast
from tests.worlds.extended import extended_run

pytestmark = pytest.mark.django_db


def test_the_page_counts_the_right_words_and_that_of_the_wrong_ones_says_so(people: Cast, sign_in) -> None:
    run, wrong, right = extended_run(people)
    client = sign_in(people.bob)

    def page(name: str, *ids: int) -> str:
        return client.get(reverse(name, args=[people.team.slug, *ids])).content.decode()

    of_run = page("run", run.pk)
    assert '<dd class="stat__value"><span class="figure">1.00<' in of_run
    assert "1 in the place of an answer that counts no more" in of_run
    assert reverse("run_item", args=[people.team.slug, run.pk, right.pk]) in of_run
    assert reverse("run_item", args=[people.team.slug, run.pk, wrong.pk]) not in of_run
    assert "in no figure: the run was extended" in page("run_item", run.pk, wrong.pk)
    assert "in no figure: the run was extended" not in page("run_item", run.pk, right.pk)
    # The page of the wrong words leads there.
    assert reverse("run_item", args=[people.team.slug, run.pk, wrong.pk]) in page("item", wrong.pk)
