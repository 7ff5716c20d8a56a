"""Failed items through the API: left out of every figure, marked where they are listed."""

import pytest

from tests.factories import Cast
from tests.worlds.failing import MEAN, failing_run

pytestmark = pytest.mark.django_db


def test_a_failed_item_is_in_no_figure_of_the_run_and_marked_in_its_list(people: Cast, as_member) -> None:
    run, client = failing_run(people), as_member(people.bob)
    found = client.get(f"/runs/{run.pk}")
    assert found["score"]["value"] == pytest.approx(MEAN)
    assert (found["score"]["n"], found["fully_judged"], found["errored"]) == (3, 3, 1)
    summary = found["summary"]
    assert summary["score"] == found["score"]
    assert (summary["items"], summary["scored"], summary["fully_judged"]) == (4, 3, 3)
    ranked = client.get(f"/runs/{run.pk}/items", sort="-score")["items"]
    assert [row["key"] for row in ranked] == ["one", "three", "two"]
    first, *others = client.get(f"/runs/{run.pk}/items", sort="errors")["items"]
    assert (first["key"], first["score"], first["errors"], first["fully_judged"]) == ("four", 1.0, 4, False)
    assert all(row["fully_judged"] for row in others)


def test_a_run_and_its_summary_have_the_mean_of_every_group(people: Cast, as_member) -> None:
    run, client = failing_run(people), as_member(people.bob)
    found = client.get(f"/runs/{run.pk}")
    # Facts (1 + 4/7 + 3/7)/3 and Tone (2/3 + 0 + 1/3)/3 over the three fully judged items.
    assert [(one["name"], one["criteria"], one["score"]["n"]) for one in found["groups"]] == [
        ("Facts", 2, 3),
        ("Tone", 2, 3),
        (None, 1, 3),
    ]
    assert [one["score"]["value"] for one in found["groups"][:2]] == pytest.approx([2 / 3, 1 / 3])
    assert found["no_groups"] == ""
    assert found["summary"]["groups"] == found["groups"]
