"""Failed items through the API: left out of every figure, marked where they are listed."""

import pytest

from rubricweb.models import RunItem
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
    ranked = client.get(f"/runs/{run.pk}/items", sort="-score")
    assert [row["key"] for row in ranked["items"]] == ["one", "three", "two"]
    says = "1 item: a verdict on it failed, so it has no rank until it is retried"
    assert ranked["left_out"] == [{"why": "failed", "items": 1, "says": says}]
    # Unless asked for otherwise, all of them in the order of the dataset.
    everything = client.get(f"/runs/{run.pk}/items")
    assert [row["key"] for row in everything["items"]] == ["one", "two", "three", "four"]
    assert everything["left_out"] == []
    first, *others = client.get(f"/runs/{run.pk}/items", sort="errors")["items"]
    assert (first["key"], first["score"], first["errors"], first["fully_judged"]) == ("four", 1.0, 4, False)
    assert all(row["fully_judged"] for row in others)


def test_what_is_not_graded_yet_and_what_has_no_score_is_counted_where_it_is_not_listed(
    people: Cast, as_member
) -> None:
    run, client = failing_run(people), as_member(people.bob)
    RunItem.objects.filter(run=run, item__key="one").update(graded_at=None, score=None)
    RunItem.objects.filter(run=run, item__key="two").update(score=None)

    def left_out(**asked: str) -> list[tuple[str, int]]:
        found = client.get(f"/runs/{run.pk}/items", **asked)["left_out"]
        return [(one["why"], one["items"]) for one in found]

    assert left_out() == [("not_graded", 1)]
    assert left_out(sort="errors") == [("not_graded", 1)]
    assert left_out(sort="score") == [("not_graded", 1), ("failed", 1), ("no_score", 1)]


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
