"""Scores over time: what is joined, what it is called, and which run the headline follows."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

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
    """Of every dataset, where none is asked for."""
    url = reverse("dashboard", args=[people.team.slug])
    return sign_in(people.bob).get(url, {"dataset": "all"} | query)


def lines(page: Any) -> list[tuple[str, list[str]]]:
    """Kind of each line, that of the judge in use last, and the runs it joins, in order."""
    chart = page.context["chart"]
    return [(line.kind, [chart.columns[point.column].name for point in line.path]) for line in chart.lines]


def chart_labels(page: Any) -> list[str]:
    return [line.label for line in page.context["chart"].lines]


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
    assert lines(page) == [
        ("old", ["Dev"]),
        ("old", ["Test"]),
        ("old", ["Raw"]),
        ("old", ["Strict"]),
        ("judge", ["All", "All again"]),
    ]
    assert [label.partition(" · ")[2] for label in chart_labels(page)] == [
        *("dev split", "test split", "raw scores", "cannot assess: zero"),
        "",
    ]


def test_runs_over_different_datasets_are_never_joined(people: Cast, sign_in, graded: Graded) -> None:
    one, other = dataset(people, "one"), dataset(people, "other")
    for over, name in ((one, "a"), (other, "b"), (one, "c")):
        graded(over, name)
    page = board(people, sign_in)
    assert lines(page) == [("old", ["b"]), ("judge", ["a", "c"])]
    # From the first column to the third, past the one between them.
    drawn = page.content.decode().partition("data-chart")[2].partition("</figure>")[0]
    assert re.findall(r'plot__line--(\w+)" x1="([\d.]+)%" y1="[\d.]+" x2="([\d.]+)%"', drawn) == [
        ("judge", "20.67", "83.33")
    ]


def test_the_dataset_of_the_newest_run_is_shown_unless_another_is_asked_for(
    people: Cast, sign_in, graded: Graded
) -> None:
    one, other = dataset(people, "one"), dataset(people, "other")
    graded(one, "a")
    graded(other, "b")
    url = reverse("dashboard", args=[people.team.slug])
    newest = sign_in(people.bob).get(url)
    assert lines(newest) == [("judge", ["b"])]
    assert '<h1 class="page-head__title">other</h1>' in newest.content.decode()
    assert lines(board(people, sign_in, dataset=one.pk)) == [("judge", ["a"])]
    assert lines(board(people, sign_in)) == [("old", ["a"]), ("judge", ["b"])]
    rows = list(csv.DictReader(io.StringIO(sign_in(people.bob).get(url, {"format": "csv"}).content.decode())))
    assert [row["run"] for row in rows] == ["b"]


def test_a_series_keeps_its_number_whatever_the_filter_and_what_came_later(
    people: Cast, sign_in, graded: Graded
) -> None:
    one, other = dataset(people, "one"), dataset(people, "other")
    graded(one, "a")
    graded(other, "b")

    def numbers(**query: object) -> list[str]:
        return [found.number for found in board(people, sign_in, **query).context["board"].series]

    assert numbers(dataset=other.pk) == ["2"]
    graded(dataset(people, "third"), "c")
    graded(other, "d")
    assert numbers(dataset=other.pk) == ["2"]
    assert numbers(series=3) == ["3"]
    assert lines(board(people, sign_in, series=3)) == [("judge", ["c"])]


def test_of_many_series_the_legend_names_the_one_in_use_and_counts_the_others(
    people: Cast, sign_in, graded: Graded
) -> None:
    for number in range(3):
        graded(dataset(people, f"data {number}", count=1), f"run {number}")
    label = "Capitals v1 · data"
    assert board(people, sign_in).context["chart"].legend == [
        ("old", f"{label} 0"),
        ("old", f"{label} 1"),
        ("judge", f"{label} 2"),
    ]
    graded(dataset(people, "data 3", count=1), "run 3")
    page = board(people, sign_in)
    assert page.context["chart"].legend == [("judge", f"{label} 3"), ("old", "3 other series")]
    # Each mark says which it is of.
    assert f'aria-label="run 1 · {label} 1: 0.00' in page.content.decode()


def test_the_headline_follows_no_try(people: Cast, sign_in, graded: Graded, version: RubricVersion) -> None:
    whole = dataset(people, "whole", count=8)
    items = list(whole.items.values_list("pk", flat=True))
    graded(whole, "dry run", item_ids=items[:3])  # 3 of 8 is fewer than half
    only_tries = board(people, sign_in).content.decode()
    assert "Nothing to draw: every run here is a try" in only_tries
    assert "data-chart" not in only_tries
    graded(whole, "all of it")
    page = board(people, sign_in)
    assert page.context["board"].newest.name == "all of it"
    assert lines(page) == [("judge", ["all of it"])]
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
    assert "κ on 2 labels: judged, over whole." in text
    # The table tells of both.
    assert [point.name for _, point in found.points] == ["broken", "judged"]
    elsewhere = factories.run(
        people.team, people.ed, dataset=dataset(people, "other"), rubric_version=version, name="alone"
    )
    grade(elsewhere, InProcessJudge(lambda requirement, response: JudgeError("bad_request", "No such model")))
    alone = board(people, sign_in, dataset=elsewhere.dataset_id)
    assert (alone.context["board"].newest, alone.context["board"].rated) == (None, None)
    text = " ".join(alone.content.decode().split())
    assert "No run over half of its dataset or more has finished with a score." in text


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
    assert chart_labels(board(people, sign_in, series=2)) == ["ours"]  # drawn alone
    asked("small", rule="majority")
    asked("small", rule="any", quorum=0.6)
    shown = FewShotSnapshot(data.pk, None, (), 1, 7, "one", (ExampleSnapshot(1, 1, "MET", ""),))
    for digest in ("one", "two"):
        asked("large")
        Run.objects.filter(pk=Run.objects.latest("pk").pk).update(few_shot=replace(shown, digest=digest))
    page = board(people, sign_in)
    ours, panel = "Capitals v1 · ours", "Capitals v1 · panel of 2"
    assert chart_labels(page) == [
        f"{ours} · small · no examples",
        f"{ours} · large · no examples",
        f"{panel} · settled by majority · however few votes",
        f"{panel} · settled by any · at least 60% of the votes",
        f"{ours} · large · 1 example, seed 7 · series 5",
        f"{ours} · large · 1 example, seed 7 · series 6",
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
    page = board(people, sign_in, dataset=one.pk).content.decode()
    assert f'href="?dataset={one.pk}&amp;format=csv"' in page
    assert f'href="?dataset={one.pk}&amp;format=svg"' in page
    menu = page.partition("Series:</span>")[2].partition("</details>")[0]
    items = re.findall(r'class="menu__item" href="([^"]*)"[^>]*?>([^<]*)</a>', menu)
    assert items == [
        (f"?dataset={one.pk}&amp;series=1", "Capitals v1"),
        (f"?dataset={one.pk}&amp;series=2", "Capitals v1 · raw scores"),
        (f"?dataset={one.pk}", "All series"),
    ]
    # Of one series there is nothing to choose.
    assert "Series:</span>" not in board(people, sign_in, dataset=other.pk).content.decode()


def test_the_chart_goes_out_as_a_picture_with_its_own_rules(people: Cast, sign_in, graded: Graded) -> None:
    one = dataset(people, "one")
    graded(one, "a <&> b")
    graded(one, "c")
    answer = board(people, sign_in, format="svg")
    assert answer["Content-Type"] == "image/svg+xml"
    assert answer["Content-Disposition"] == 'attachment; filename="scores.svg"'
    svg = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(answer.content)
    assert [title.text for title in root.iter(f"{svg}title")] == [
        "a <&> b: 0.00, 0.00 to 0.49",
        "c: 0.00, 0.00 to 0.49",
    ]
    assert ".plot__mark--judge" in (root.findtext(f"{svg}style") or "")


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
