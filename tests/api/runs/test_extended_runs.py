"""Through the API an extended run is over the right words alone, and its report on the wrong ones stays."""

import pytest

from tests.factories import Cast
from tests.worlds.extended import extended_run

pytestmark = pytest.mark.django_db


def test_a_run_counts_the_right_words_and_keeps_its_report_on_the_wrong_ones(people: Cast, as_member) -> None:
    run, wrong, right = extended_run(people)
    client = as_member(people.bob)
    found = client.get(f"/runs/{run.pk}")
    assert (found["score"]["value"], found["score"]["n"], found["summary"]["items"]) == (1.0, 4, 4)
    assert client.get(f"/runs/{run.pk}/progress")["items"] == 4
    assert wrong.pk not in [row["item_id"] for row in client.get(f"/runs/{run.pk}/items")["items"]]
    report = client.get(f"/runs/{run.pk}/items/{wrong.pk}")
    assert ([one["verdict"] for one in report["verdicts"]], report["score"]) == (["UNMET"], 0.0)
    assert report["replaced"]
    assert not client.get(f"/runs/{run.pk}/items/{right.pk}")["replaced"]
