"""Scores of a system's versions: in their order, joined over the cases all of them answered."""

import csv
import io
import re
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Item, Run, RunCriterionSummary, RunItem, RunSummary, User
from rubricweb.selectors.dashboard import dashboard
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.selectors.runs.over_time import shared_cases
from rubricweb.services.endpoints import endpoints
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.sampled import label, opened
from tests.worlds.systems import answer, versions


def board(people: Cast, sign_in, **query: object) -> Any:
    return sign_in(people.bob).get(reverse("dashboard", args=[people.team.slug]), query)


def test_versions_are_one_series_joined_over_the_cases_all_of_them_answered(people: Cast, sign_in) -> None:
    world = versions(people, answer("v4", "c1", attempt=2, submission="v4 c1 again"))
    # The newer version is graded first: it stands behind the older one all the same.
    newer, older = world.run_over("v4"), world.run_over("v3")
    page = board(people, sign_in)
    [series] = page.context["board"].series
    assert (series.system, [point.run_id for point in series.points]) == ("assistant", [older.pk, newer.pk])
    # c1, c2 and c3 of six: c4 was asked in other words, c5 and c6 have one answer.
    # v3: (1 + 0.75 + 0.25) / 3, v4 with two attempts at c1: (0.625 + 1 + 0.25) / 3.
    assert (series.shared.cases, series.shared.every) == (3, 6)
    chart = page.context["chart"]
    assert [column.name for column in chart.columns] == ["v3", "v4"]
    [line] = chart.lines
    assert [(one.column, one.figure.value) for one in line.path] == [
        (0, pytest.approx(2 / 3)),
        (1, pytest.approx(1.875 / 3)),
    ]
    # Among runs of other datasets, in order of time, no line goes back from v4 to v3.
    apart = factories.dataset(people.team, people.ed, name="no system")
    alone = factories.run(people.team, people.ed, dataset=apart, rubric_version=world.rubric_version)
    grade(alone, InProcessJudge(lambda requirement, response: "MET"))
    both = board(people, sign_in, dataset="all")
    assert [len(one.path) for one in both.context["chart"].lines] == [0, 1]
    assert "not graded in their order" in both.content.decode()
    alone.delete()
    text = " ".join(page.content.decode().split())
    assert "assistant over the 3 of 6 cases that all its versions answered" in text
    rows = list(csv.DictReader(io.StringIO(board(people, sign_in, format="csv").content.decode())))
    assert [row["system_version"] for row in rows] == ["assistant@v3", "assistant@v4"]
    assert [row["shared_cases"] for row in rows] == ["3", "3"]
    assert float(rows[0]["mean_over_shared_cases"]) == pytest.approx(2 / 3)
    # Over its own five cases v3 has (1 + 0.75 + 0.25 + 1 + 1) / 5.
    assert float(rows[0]["mean_score"]) == pytest.approx(0.8)


def test_versions_stand_in_their_order_whichever_judge_graded_which(people: Cast, sign_in) -> None:
    """One series has v3 and v5, the other v4 alone: it stands between them."""
    world = versions(people, answer("v5", "c1", submission="v4 c1"))
    world.run_over("v5")
    world.run_over("v3", item_ids=[item.pk for item in world.answers("v3")])
    world.run_over("v4", normalize=False)
    chart = board(people, sign_in).context["chart"]
    assert chart.by_version
    assert [column.name for column in chart.columns] == ["v3", "v4", "v5"]
    assert [[point.column for point in line.points] for line in chart.lines] == [[0, 2], [1]]


def test_an_earlier_run_of_a_version_is_joined_too_and_a_partial_one_is_not(people: Cast, sign_in) -> None:
    world = versions(people)
    first = world.run_over("v3")
    whole = world.run_over("v4")
    of_v4 = world.answers("v4")
    partial = world.run_over("v3", item_ids=[item.pk for item in world.answers("v3")[:3]])
    assert len(of_v4) == 5
    [series] = board(people, sign_in).context["board"].series
    # The newest run of v3 has c1, c2 and c3, which v4 has as well: all three runs are joined over them.
    assert (series.shared.cases, set(series.shared.means)) == (3, {first.pk, whole.pk, partial.pk})
    newest = world.run_over("v3")
    few = world.run_over("v4", item_ids=[item.pk for item in of_v4[1:]])
    # Now the newest of v4 lacks c1: c2 and c3 are shared, and everybody has them.
    [series] = board(people, sign_in).context["board"].series
    assert (series.shared.cases, set(series.shared.means)) == (
        2,
        {first.pk, whole.pk, partial.pk, newest.pk, few.pk},
    )


def test_versions_without_a_case_in_common_are_not_joined(people: Cast, sign_in) -> None:
    world = versions(people)
    by_key = {item.case.key: item.pk for item in world.answers("v3")}
    world.run_over("v3", item_ids=[by_key["c4"], by_key["c5"], by_key["c1"]])
    by_key = {item.case.key: item.pk for item in world.answers("v4")}
    world.run_over("v4", item_ids=[by_key["c4"], by_key["c6"], by_key["c2"]])
    page = board(people, sign_in)
    assert [line.path for line in page.context["chart"].lines] == [[]]
    assert "is not joined, its versions share no case with a score" in " ".join(page.content.decode().split())


def test_too_many_answers_are_not_read_for_a_line(people: Cast, sign_in, monkeypatch) -> None:
    world = versions(people)
    world.run_over("v3")
    world.run_over("v4")
    monkeypatch.setattr(shared_cases, "ANSWERS", 9)  # five and five
    page = board(people, sign_in)
    assert [line.path for line in page.context["chart"].lines] == [[]]
    assert "their 10 answers are too many to be read here" in page.content.decode()


def test_of_a_withheld_version_nothing_is_joined_or_said(people: Cast, sign_in) -> None:
    world = versions(people)
    world.run_over("v3")
    run = world.run_over("v4")
    world.queue(source=Source(kind="items", item_ids=tuple(item.pk for item in world.answers("v4"))))
    page = sign_in(people.ann).get(reverse("dashboard", args=[people.team.slug]))
    [series] = page.context["board"].series
    assert series.shared is None
    assert [point.mean is None for point in series.points] == [False, True]
    assert series.points[1].run_id == run.pk


def test_what_a_withheld_run_says_changes_nothing_that_its_rater_is_shown(people: Cast, sign_in) -> None:
    """Two worlds, in which v4 passed all and nothing: page, table and picture are the same for ann."""
    world = versions(people)
    run = world.run_over("v4")
    world.run_over("v3")
    world.queue(source=Source(kind="items", item_ids=tuple(item.pk for item in world.answers("v4"))))
    url = reverse("dashboard", args=[people.team.slug])

    def told(user: User) -> list[str]:
        pages = [sign_in(user).get(url, {"format": format}) for format in ("", "csv", "svg")]
        return [re.sub(r"csrf\w+\" value=\"\w+", "", page.content.decode()) for page in pages]

    def say(share: float) -> None:
        RunSummary.objects.filter(run=run).update(score_mean=share, score_low=share, score_high=share)
        RunCriterionSummary.objects.filter(run=run).update(met=5 * share, unmet=5 - 5 * share)
        RunItem.objects.filter(run=run).update(score=share)

    say(1.0)
    before, seen_before = told(people.ann), told(people.bob)
    assert "assistant@v3 scores 0.80." in before[0]
    # One drawing for each of the two criteria, of v3 alone: a mark, and no line to it.
    drawings = before[0].partition('id="trends-title"')[2].partition("</section>")[0]
    assert (drawings.count("plot__mark--judge"), drawings.count("plot__line")) == (2, 0)
    say(0.0)
    assert told(people.ann) == before
    # To somebody who reviews nothing each of the three says it.
    for was, now in zip(seen_before, told(people.bob), strict=True):
        assert was != now


def test_a_criterion_is_drawn_over_the_versions_that_share_their_cases(people: Cast, sign_in) -> None:
    world = versions(people)
    world.run_over("v3")
    world.run_over("v4")
    page = board(people, sign_in)
    # v3 has the fact in four of five and v4 in one, which weighs 3: 3 · 4/5 is lost. Kind: 4 and 3 of 5.
    found = [(one.rate.criterion.name, one.values, one.at) for one in page.context["board"].trends]
    assert found == [("fact", (0.8, 0.2), 1), ("kind", (0.8, 0.6), 1)]
    text = page.content.decode()
    assert "Weakest: fact, 20% pass." in text
    drawings = text.partition('id="trends-title"')[2].partition("</section>")[0]
    # From 40 − 36 · 0.8 to 40 − 36 · 0.2, a quarter and three quarters across.
    assert 'x1="25%" y1="11.2" x2="75%" y2="32.8"' in drawings


def test_a_judge_whose_settings_were_changed_is_another_series(people: Cast, sign_in) -> None:
    """v3 and v4 were judged by House at temperature 0 and 1: nothing is joined, and no mean is shared."""
    world = versions(people)
    house = endpoints.add_endpoint(
        people.team, by=people.alice, name="House", base_url="https://judge.example/v1", model="m-1"
    )
    before = world.run_over("v3", judge_id=house.judge_id)
    raw = world.run_over("v3", normalize=False)
    changes: Any = {"temperature": 1.0, "reasoning_effort": "high", "base_url": "https://other.example/v1"}
    endpoints.edit_endpoint(house, by=people.alice, **changes)
    after = world.run_over("v4", judge_id=house.judge_id)
    page = board(people, sign_in)
    series = page.context["board"].series
    assert [one.shared for one in series] == [None, None, None]
    # The address of a series is what it was before its judge was changed.
    assert [(one.number, one.points[0].run_id) for one in series] == [
        ("1", before.pk),
        ("1.2", after.pk),
        ("2", raw.pk),
    ]
    # The judge in use, that of the newest run, is drawn last.
    lines = page.context["chart"].lines
    assert [(line.kind, len(line.points), len(line.path)) for line in lines] == [
        ("old", 1, 1),
        ("old", 1, 1),
        ("judge", 1, 1),
    ]
    here, there = (lines[at].label.partition(" · House · ")[2] for at in (0, 2))
    assert here == "asked at https://judge.example/v1 · temperature 0 · reasoning effort not set"
    assert there == "asked at https://other.example/v1 · temperature 1 · reasoning effort high"
    assert there in " ".join(page.content.decode().split())
    for number, run in (("1", before), ("1.2", after)):
        chosen = board(people, sign_in, series=number)
        assert [point.run_id for _, point in chosen.context["board"].points] == [run.pk]
        assert f'href="?series={number}" aria-current="true"' in chosen.content.decode()
    [row] = csv.DictReader(io.StringIO(board(people, sign_in, series="1.2", format="csv").content.decode()))
    assert (row["series"], "temperature 1; " in row["settings"]) == ("1.2", True)


def test_a_panel_with_a_member_asked_otherwise_is_another_series(people: Cast, sign_in) -> None:
    world = versions(people)
    for version, temperature in (("v3", 0.0), ("v4", 0.5)):
        judges = [
            JudgeConfig(name=name, base_url="http://127.0.0.1:9/v1", model="m", temperature=degrees)
            for name, degrees in (("one", 0.0), ("two", temperature))
        ]
        panel = Panel([PanelMember("offline", config=judge) for judge in judges])
        world.run_over(version, judge_id=None, panel=panel)
    page = board(people, sign_in)
    assert [one.number for one in page.context["board"].series] == ["1", "1.2"]
    labels = [line.label.partition(" · ")[2] for line in page.context["chart"].lines]
    assert labels == ["two: temperature 0", "two: temperature 0.5"]


def test_people_stand_beside_the_run_whose_answers_they_labelled(people: Cast, sign_in) -> None:
    world = versions(people)
    older, newer = world.launched()
    queue = opened(people, older, Source("sample", size=5), systems=[older.system_version])
    label(queue, people.ann, 5, lambda item, name: "UNMET" if item.case.key == "c1" else "MET")
    answered = board(people, sign_in)
    found = answered.context["board"]
    assert (found.agreement.run, found.rated) == (older, older)
    # Of v3's five answers: fact MET on four by the judge and by people, kind alike.
    rates = [(row.criterion.name, row.judge.value, row.people.value) for row in found.pass_rates]
    assert rates == [("fact", 0.8, 0.8), ("kind", 0.8, 0.8)]
    page = " ".join(answered.content.decode().split())
    # Of v3 (1 + 0.75 + 0.25) / 3, of v4 (0.25 + 1 + 0.25) / 3.
    assert "Over the 3 shared cases: assistant@v3 0.67, assistant@v4 0.50." in page
    assert f"κ within criteria on 10 labels: {older} and 1 started with it, over questions." in page
    [judge_line, people_line] = answered.context["chart"].lines
    assert (people_line.kind, people_line.label) == ("people", "People")
    assert [(one.column, one.figure.value) for one in people_line.points] == [(0, 0.8)]
    assert len(judge_line.points) == 2
    assert "From 5 labelled of the 5 answers of assistant@v3 in questions, all of which people were" in page
    # Nobody has labelled a run that was started alone: that is said of it.
    alone = world.run_over("v4")
    assert board(people, sign_in).context["board"].rated == alone
    alone.delete()
    of_newer = opened(people, newer, Source("all"), systems=[newer.system_version], name="Of v4")
    label(of_newer, people.ann, 5, met)
    assert board(people, sign_in).context["board"].agreement.run == newer


def test_labels_hidden_from_a_blind_rater_do_not_choose_the_run_beside_people(people: Cast) -> None:
    world = versions(people)
    older, newer = world.launched()
    of_older = opened(people, older, Source("all"), systems=[older.system_version], raters=[people.rae])
    label(of_older, people.rae, 1, met)

    def chosen(viewer: User) -> Run | None:
        return dashboard(people.team, viewer).rated

    raters = {"raters": [people.ann, people.rae], "raters_per_item": 2}
    blind = opened(people, newer, Source("all"), systems=[newer.system_version], name="Blind", **raters)
    assert (chosen(people.ann), chosen(people.bob)) == (older, older)
    # Only who need not label them blind learns that the newer version's answers have labels.
    label(blind, people.rae, 1, met)
    assert (chosen(people.ann), chosen(people.bob)) == (older, newer)
    # Her own label is no secret to her.
    label(blind, people.ann, 1, met)
    assert chosen(people.ann) == newer


def met(item: Item, name: str) -> str:
    return "MET"
