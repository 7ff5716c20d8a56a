"""Datasets of several builds are combined on their pages, and their runs started again."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Combination, CombinationState, Dataset, Run
from rubricweb.services.combinations import combinations
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade


@pytest.fixture
def builds(people: Cast) -> list[Dataset]:
    return [build(people, label) for label in ("v1", "v2")]


def build(people: Cast, label: str, **more: Any) -> Dataset:
    items = [
        {"id": f"q{n}", "prompt": f"Question {n}?", "submission": f"{label} {n}", **more} for n in range(3)
    ]
    return factories.dataset(people.team, people.ed, items=items, name=f"Replies {label}")


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def chosen(people: Cast, *datasets: Dataset) -> str:
    return f"{at('combine', people)}?" + "&".join(f"dataset={one.pk}" for one in datasets)


def said(builds: list[Dataset], **more: str) -> dict[str, str]:
    systems = {f"system_{one.pk}": f"replies@v{n}" for n, one in enumerate(builds, 1)}
    return {"name": "Replies", "match": "cases"} | systems | more


def text(response: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def test_datasets_are_chosen_planned_combined_and_their_runs_started_again(
    people: Cast, sign_in: Any, builds: list[Dataset]
) -> None:
    version = factories.version(people.team, people.ed)
    graded = grade(
        factories.run(people.team, people.ed, dataset=builds[0], rubric_version=version, name="Old"),
        InProcessJudge(lambda *_: "MET"),
    )
    ed = sign_in(people.ed)
    listed = text(ed.get(at("combine", people)))
    assert "Replies v1" in listed
    assert "Replies v2" in listed
    address = chosen(people, *builds)
    assert 'value="replies@v2"' in ed.get(address).content.decode()
    plan = text(ed.post(address, said(builds)))
    assert "6 items of 3 cases, 3 in 2 datasets" in plan
    assert "1 finished run can be started again" in plan
    assert not Combination.objects.exists()
    page = ed.post(address, said(builds, confirmed="1"))["Location"]
    assert "Waiting for a worker. " in text(ed.get(page))
    assert "See how far" in text(ed.get(at("datasets", people)))
    assert "waiting 0 of 6" in text(ed.get(at("combinations", people)))

    found = Combination.objects.get()
    combinations.work(found.pk, worker="w", now=timezone.now)
    shown = text(ed.get(page))
    assert "Everything is copied" in shown
    assert "6 of 6" in shown
    assert "Old as replies@v1" in shown
    assert "Start them" in text(ed.get(at("datasets", people)))
    earlier = text(ed.get(at("combinations", people)))
    assert "Replies Replies v1, Replies v2 done 6 of 6 1 to start again" in earlier
    runs = at("combination_runs", people, found.pk)
    assert "Choose at least one run." in text(ed.post(runs, {"no_cap": "on"}))
    started = text(ed.post(runs, {"run": [graded.pk], "no_cap": "on"}, follow=True))
    assert "Started 1 run over Replies." in started
    again = Run.objects.order_by("-pk")[0]
    assert f"started as run {again.pk}" in started
    assert (again.dataset, again.system) == (Dataset.objects.get(name="Replies"), "replies@v1")
    assert "Start them" not in text(ed.get(at("datasets", people)))


def test_what_keeps_them_apart_is_listed_and_nothing_can_be_confirmed(
    people: Cast, sign_in: Any, builds: list[Dataset]
) -> None:
    same = dict.fromkeys((f"system_{one.pk}" for one in builds), "replies@v1")
    shown = sign_in(people.ed).post(chosen(people, *builds), said(builds) | same)
    assert shown.context["plan"].conflict_count == 3
    assert "Why they cannot be combined so" in text(shown)
    assert 'name="confirmed"' not in shown.content.decode()
    kept = sign_in(people.ed).post(chosen(people, *builds), said(builds, as_attempts="on") | same)
    assert 'name="confirmed"' in kept.content.decode()


@pytest.mark.parametrize(
    ("wrong", "field"),
    [({"name": "Replies v1"}, "name"), ({"name": ""}, "name"), ({"match": "luck"}, "match")],
)
def test_what_is_refused_stands_beside_its_field(
    people: Cast, sign_in: Any, builds: list[Dataset], wrong: dict[str, str], field: str
) -> None:
    shown = sign_in(people.ed).post(chosen(people, *builds), said(builds) | wrong)
    assert shown.status_code == 422
    assert set(shown.context["form"].errors) == {field}


def test_a_version_that_is_none_is_refused_beside_its_dataset(
    people: Cast, sign_in: Any, builds: list[Dataset]
) -> None:
    wrong = {f"system_{builds[1].pk}": "@v1"}
    shown = sign_in(people.ed).post(chosen(people, *builds), said(builds) | wrong)
    assert set(shown.context["form"].errors) == set(wrong)


def test_too_few_others_and_viewers_are_refused(people: Cast, sign_in: Any, builds: list[Dataset]) -> None:
    ed = sign_in(people.ed)
    assert "Choose 2 to 20 datasets." in text(ed.get(chosen(people, builds[0])))
    foreign = factories.dataset(people.other_team, people.charlie, name="theirs")
    assert ed.get(chosen(people, builds[0], foreign)).status_code == 404
    assert ed.get(f"{at('combine', people)}?dataset=x&dataset=y").status_code == 400
    assert sign_in(people.bob).get(at("combine", people)).status_code == 403


def test_a_combination_is_cancelled(people: Cast, sign_in: Any, builds: list[Dataset]) -> None:
    ed = sign_in(people.ed)
    ed.post(chosen(people, *builds), said(builds, confirmed="1"))
    found = Combination.objects.get()
    told = ed.post(at("combination_cancel", people, found.pk), follow=True)
    assert "nothing of it stays" in text(told)
    found.refresh_from_db()
    assert found.state == CombinationState.CANCELLED
    assert "has ended already" in text(ed.post(at("combination_cancel", people, found.pk), follow=True))
    refused = ed.post(at("combination_runs", people, found.pk), {"run": ["1"]}, follow=True)
    assert "there is nothing to run over" in text(refused)


def test_the_page_of_datasets_names_what_failed_until_it_is_tried_again_or_a_week_is_over(
    people: Cast, sign_in: Any, builds: list[Dataset]
) -> None:
    ed = sign_in(people.ed)
    ed.post(chosen(people, *builds), said(builds, confirmed="1"))
    found = Combination.objects.get()
    version = factories.version(people.team, people.ed)
    factories.queue(people.team, people.ed, dataset=builds[0], rubric_version=version, raters=[people.rae])
    assert combinations.work(found.pk, worker="w", now=timezone.now).state == CombinationState.REFUSED
    assert "Replies Nothing was combined. See why" in text(ed.get(at("datasets", people)))
    Combination.objects.update(ended_at=timezone.now() - timedelta(days=8))
    assert "See why" not in text(ed.get(at("datasets", people)))
    Combination.objects.update(ended_at=timezone.now())
    factories.combination(people.team, people.ed, name="Replies")
    assert "See why" not in text(ed.get(at("datasets", people)))
    listed = text(ed.get(at("combinations", people)))
    assert listed.index("cancelled") < listed.index("The blind queue")
    assert "Combine them again" in text(ed.get(at("combination", people, found.pk)))


def test_a_run_that_was_started_again_and_deleted_can_be_started_once_more(
    people: Cast, sign_in: Any, builds: list[Dataset]
) -> None:
    version = factories.version(people.team, people.ed)
    run = factories.run(people.team, people.ed, dataset=builds[0], rubric_version=version)
    old = grade(run, InProcessJudge(lambda *_: "MET"))
    ed = sign_in(people.ed)
    ed.post(chosen(people, *builds), said(builds, confirmed="1"))
    found = combinations.work(Combination.objects.get().pk, worker="w", now=timezone.now)
    starts = (at("combination_runs", people, found.pk), {"run": [old.pk], "no_cap": "on"})
    ed.post(*starts)
    assert "Choose at least one run" not in text(ed.post(*starts))
    Run.objects.order_by("-pk")[0].delete()
    assert "1 to start again" in text(ed.get(at("combinations", people)))
    assert "Started 1 run" in text(ed.post(*starts, follow=True))


def test_the_list_asks_the_same_queries_however_many_there_are(
    people: Cast, sign_in: Any, builds: list[Dataset], django_assert_num_queries: Any
) -> None:
    ed = sign_in(people.ed)
    assert "Nothing was combined" in text(ed.get(at("combinations", people)))

    def combine(name: str) -> None:
        ed.post(chosen(people, *builds), said(builds, confirmed="1", name=name))
        combinations.work(Combination.objects.order_by("-pk")[0].pk, worker="w", now=timezone.now)

    combine("first")
    with CaptureQueriesContext(connection) as of_one:
        ed.get(at("combinations", people))
    queries = len(of_one)
    for name in ("second", "third"):
        combine(name)
    with django_assert_num_queries(queries):
        ed.get(at("combinations", people))
