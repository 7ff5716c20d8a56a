"""Scores over time: what is joined, whose colour it has, and which run the headline follows."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.judges.base import JudgeConfig, JudgeError
from rubricweb.models import Dataset, ExampleSnapshot, FewShotSnapshot, RubricVersion, Run
from rubricweb.services.datasets.halves.drawing import split_cases
from rubricweb.services.runs import lifecycle as services
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

Graded = Callable[..., Run]


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def graded(people: Cast, version: RubricVersion) -> Graded:
    """A finished run over a dataset; the judge says `verdict` to everything."""

    def made(dataset: Dataset, name: str, *, verdict: str = "UNMET", **options: Any) -> Run:
        options = {"rubric_version": version} | options
        run = factories.run(people.team, people.ed, dataset=dataset, name=name, **options)
        return grade(run, InProcessJudge(lambda requirement, response: verdict))

    return made


def dataset(people: Cast, name: str, count: int = 4) -> Dataset:
    items = [{"id": f"{number}", "submission": f"{name} {number}."} for number in range(count)]
    return factories.dataset(people.team, people.ed, name=name, items=items)


def board(people: Cast, sign_in, **query: object) -> Any:
    return sign_in(people.bob).get(reverse("dashboard", args=[people.team.slug]), query)


def lines(chart: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Colour of each series and the runs its line joins, in order."""
    names = [run["name"] for run in chart["runs"]]
    return [
        (one["kind"], [name for name, value in zip(names, one["values"], strict=True) if value is not None])
        for one in chart["series"]
    ]


def test_runs_over_another_half_or_scored_by_other_rules_are_never_joined(
    people: Cast, sign_in, graded: Graded
) -> None:
    split = dataset(people, "split", count=10)
    split_cases(split, n_dev=2, by=people.ed)
    for name, options in {
        "All": {},
        "Dev": {"half": "dev"},
        "Test": {"half": "test"},
        "Raw": {"normalize": False},
        "Strict": {"abstention": "zero"},
        "All again": {},
    }.items():
        graded(split, name, **options)
    page = board(people, sign_in)
    assert [names for _, names in lines(page.context["chart"])] == [
        ["All", "All again"],
        ["Dev"],
        ["Test"],
        ["Raw"],
        ["Strict"],
    ]
    labels = [line["label"].partition(" · ")[2] for line in page.context["chart"]["series"]]
    assert labels == ["", "dev half", "test half", "raw scores", "abstentions zero"]


def test_runs_over_different_datasets_are_never_joined(people: Cast, sign_in, graded: Graded) -> None:
    one, other = dataset(people, "one"), dataset(people, "other")
    for over, name in ((one, "a"), (other, "b"), (one, "c")):
        graded(over, name)
    chart = board(people, sign_in).context["chart"]
    assert lines(chart) == [("judge", ["a", "c"]), ("other", ["b"])]
    assert {len(one["low"]) for one in chart["series"]} == {3}  # and bands only with their own line


def test_a_series_keeps_its_colour_whatever_the_filter_and_what_came_later(
    people: Cast, sign_in, graded: Graded
) -> None:
    one, other = dataset(people, "one"), dataset(people, "other")
    graded(one, "a")
    graded(other, "b")
    assert lines(board(people, sign_in, dataset=other.pk).context["chart"]) == [("other", ["b"])]
    third = dataset(people, "third")
    graded(third, "c")
    graded(other, "d")
    assert lines(board(people, sign_in, dataset=other.pk).context["chart"]) == [("other", ["b", "d"])]
    assert lines(board(people, sign_in, series=3).context["chart"]) == [("third", ["c"])]


def test_the_sixth_series_has_the_first_colour_and_another_mark(
    people: Cast, sign_in, graded: Graded
) -> None:
    for number in range(6):
        graded(dataset(people, f"data {number}", count=1), f"run {number}")
    page = board(people, sign_in)
    drawn = page.context["chart"]["series"]
    assert [(one["kind"], one["turn"]) for one in (drawn[0], drawn[5])] == [("judge", 0), ("judge", 1)]
    assert page.content.decode().count("swatch--judge swatch--turn-1") == 1


def test_the_headline_follows_no_try(people: Cast, sign_in, graded: Graded, version: RubricVersion) -> None:
    whole = dataset(people, "whole", count=8)
    items = list(whole.items.values_list("pk", flat=True))
    graded(whole, "dry run", item_ids=items[:3])  # 3 of 8 is fewer than half
    only_tries = board(people, sign_in).content.decode()
    assert "Nothing to draw: every run here is a try" in only_tries
    assert "data-chart-time" not in only_tries
    graded(whole, "all of it")
    page = board(people, sign_in)
    assert page.context["board"].newest.name == "all of it"
    assert lines(page.context["chart"]) == [("judge", ["all of it"])]
    # The table and the file tell of it, and that it is none of the line.
    assert "a try on 3 of 8 items: not in the chart" in page.content.decode()
    rows = list(csv.DictReader(io.StringIO(board(people, sign_in, format="csv").content.decode())))
    assert {row["run"]: (row["series"], row["is_try"]) for row in rows} == {
        "all of it": ("1", "no"),
        "dry run": ("1", "yes"),
    }
    # Half of it is no try.
    graded(whole, "half", item_ids=items[:4])
    assert board(people, sign_in).context["board"].newest.name == "half"


def test_agreement_is_that_of_a_run_the_headline_may_follow(
    people: Cast, sign_in, graded: Graded, version: RubricVersion
) -> None:
    whole = dataset(people, "whole", count=8)
    first = graded(whole, "all of it")
    labels = "item_id,criterion,rater,verdict,reason\n0,capital,x,MET,\n1,capital,x,UNMET,\n"
    factories.import_labels(whole, version, by=people.ed, data=labels.encode(), filename="labels.csv")
    graded(whole, "dry run", item_ids=list(whole.items.values_list("pk", flat=True)[:2]))
    assert board(people, sign_in).context["board"].agreement.run == first
    # Of another series it is said that nobody labelled that one.
    graded(dataset(people, "other"), "elsewhere")
    page = " ".join(board(people, sign_in, series=2).content.decode().split())
    assert "Nobody has labelled other by the rubric of elsewhere yet." in page


def test_a_run_whose_every_call_failed_is_followed_by_nobody(
    people: Cast, sign_in, graded: Graded, version: RubricVersion
) -> None:
    whole = dataset(people, "whole", count=4)
    judged = graded(whole, "judged")
    labels = "item_id,criterion,rater,verdict,reason\n0,capital,x,MET,\n1,capital,x,UNMET,\n"
    factories.import_labels(whole, version, by=people.ed, data=labels.encode(), filename="labels.csv")
    broken = factories.run(people.team, people.ed, dataset=whole, rubric_version=version, name="broken")
    grade(broken, InProcessJudge(lambda requirement, response: JudgeError("bad_request", "No such model")))
    page = board(people, sign_in)
    found = page.context["board"]
    assert (found.newest.run_id, found.rated, found.agreement.run) == (judged.pk, judged, judged)
    # UNMET of two where people say MET once: one of two agrees, and by chance half would. κ is 0.
    text = " ".join(re.sub(r"<[^>]*>", " ", page.content.decode()).split())
    assert "2 verdicts of judged, over whole" in text
    # The table tells of both.
    assert [point.name for _, point in found.points] == ["broken", "judged"]
    elsewhere = factories.run(
        people.team, people.ed, dataset=dataset(people, "other"), rubric_version=version, name="alone"
    )
    grade(elsewhere, InProcessJudge(lambda requirement, response: JudgeError("bad_request", "No such model")))
    alone = board(people, sign_in, dataset=elsewhere.dataset_id)
    assert (alone.context["board"].newest, alone.context["board"].rated) == (None, None)
    text = " ".join(alone.content.decode().split())
    assert "no run over half of its dataset or more has finished with a score yet" in text


def test_a_run_is_no_try_because_items_came_later(people: Cast, sign_in, graded: Graded) -> None:
    grown = dataset(people, "grown", count=2)
    run = graded(grown, "before")
    late = [{"id": f"late {number}", "submission": "Late."} for number in range(6)]
    factories.add_items(grown, by=people.ed, data=json.dumps(late).encode(), filename="late.json")
    assert board(people, sign_in).context["board"].newest.run_id == run.pk


def test_a_cancelled_run_is_followed_by_nobody(
    people: Cast, sign_in, graded: Graded, version: RubricVersion
) -> None:
    data = dataset(people, "data")
    graded(data, "done")
    stopped = factories.run(people.team, people.ed, dataset=data, rubric_version=version, name="stopped")
    services.cancel_run(stopped, by=people.ed, now=timezone.now())
    assert board(people, sign_in).context["board"].newest.name == "done"


def test_the_headline_follows_the_chosen_series(people: Cast, sign_in, graded: Graded) -> None:
    one, other = dataset(people, "one"), dataset(people, "other")
    graded(one, "a")
    graded(other, "b")
    assert board(people, sign_in).context["board"].newest.name == "b"
    chosen = board(people, sign_in, series=1)
    assert chosen.context["board"].newest.name == "a"
    assert [point.name for _, point in chosen.context["board"].points] == ["a"]
    [row] = csv.DictReader(io.StringIO(board(people, sign_in, series=1, format="csv").content.decode()))
    assert row["run"] == "a"
    # One that is not there, as after another dataset was chosen beside it, is passed over.
    assert board(people, sign_in, series=1, dataset=other.pk).context["board"].newest.name == "b"


def test_series_that_differ_in_model_panel_or_examples_alone_do_not_read_alike(
    people: Cast, sign_in, version: RubricVersion
) -> None:
    data = dataset(people, "data", count=1)

    def asked(model: str, **panel: Any) -> None:
        """A run whose judge has always the same name."""
        config = JudgeConfig(name="ours", base_url="http://127.0.0.1:9/v1", model=model)
        options: dict[str, Any] = {"judge": config}
        if panel:
            options = {"judge_id": None, "panel": Panel([PanelMember("offline", config=config)] * 2, **panel)}
        run = factories.run(people.team, people.ed, dataset=data, rubric_version=version, **options)
        grade(run, InProcessJudge(lambda requirement, response: "MET"))

    asked("small")
    asked("large")
    [label] = [one["label"] for one in board(people, sign_in, series=2).context["chart"]["series"]]
    assert label == "Capitals v1"  # drawn alone
    asked("small", rule="majority")
    asked("small", rule="any", quorum=0.6)
    shown = FewShotSnapshot(data.pk, None, (), 1, 7, "one", (ExampleSnapshot(1, 1, "MET", ""),))
    for digest in ("one", "two"):
        asked("large")
        Run.objects.filter(pk=Run.objects.latest("pk").pk).update(few_shot=replace(shown, digest=digest))
    page = board(people, sign_in)
    ours, panel = "Capitals v1 · ours", "Capitals v1 · panel of 2"
    assert [one["label"] for one in page.context["chart"]["series"]] == [
        f"{ours} · small · no examples",
        f"{ours} · large · no examples",
        f"{panel} · settled by majority · however few votes",
        f"{panel} · settled by any · at least 60% of the votes",
        f"{ours} · large · 1 example, seed 7 · series 5",
        f"{ours} · large · 1 example, seed 7 · series 6",
    ]
    # Nothing can be said of the last one that is not so of the one before: no rule without words.
    assert [rule["label"] for rule in page.context["chart"]["breaks"]] == [
        "large",
        "panel of 2",
        "settled by any · at least 60% of the votes",
        "ours · 1 example, seed 7",
    ]
    text = " ".join(page.content.decode().split())
    assert "ours · criterion by criterion · large · 1 example, seed 7 · series 6" in text
    rows = list(csv.DictReader(io.StringIO(board(people, sign_in, format="csv").content.decode())))
    assert [(row["model"], row["examples"]) for row in rows][1] == ("large", "no examples")
    assert rows[2]["panel"].endswith("asked 1 time; settled by majority; however few votes")


def test_another_filter_renews_the_export_and_the_series_to_choose_from(
    people: Cast, sign_in, graded: Graded
) -> None:
    one, other = dataset(people, "one"), dataset(people, "other")
    graded(one, "a")
    graded(one, "b", normalize=False)
    graded(other, "c")
    url, query = reverse("dashboard", args=[people.team.slug]), {"dataset": one.pk}
    swapped = sign_in(people.bob).get(url, query, headers={"HX-Request": "true"}).content.decode()
    assert f'href="?dataset={one.pk}&amp;format=csv"' in swapped
    field = swapped.partition('id="series-field" hx-swap-oob="true"')[2].partition("</select>")[0]
    assert [option.rpartition(">")[2] for option in field.split("</option>")[:-1]] == [
        "All; each figure of the newest run that has it",
        "Capitals v1",
        "Capitals v1 · raw scores",
    ]


def test_the_number_of_queries_does_not_grow_with_runs_and_tries(
    people: Cast, sign_in, graded: Graded, django_assert_max_num_queries
) -> None:
    whole = dataset(people, "whole", count=8)
    items = list(whole.items.values_list("pk", flat=True))
    for number in range(3):
        graded(whole, f"all {number}")
        graded(whole, f"dry {number}", item_ids=items[:1])
    bob = sign_in(people.bob)
    url = reverse("dashboard", args=[people.team.slug])
    bob.get(url)
    with django_assert_max_num_queries(45):
        bob.get(url)
