"""A run, and a run against another, answer first: the sentence, the lowest items, what moved the score."""

import html
import re

import pytest
from django.urls import reverse

from rubricweb.models import Run, RunState
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade

CRITERIA = [
    {"name": "right", "weight": 3, "requirement": "Is right."},
    {"name": "kind", "weight": 1, "requirement": "Is kind."},
    {"name": "invented", "weight": -2, "requirement": "Invents a fact."},
]
PASS = {"min_score": 0.5}


@pytest.fixture
def world(people: Cast):
    version = factories.version(people.team, people.ed, title="Replies", criteria=CRITERIA, pass_rule=PASS)
    items = [{"id": str(key), "submission": f"Text {key}"} for key in range(12)]
    return version, factories.dataset(people.team, people.ed, items=items, name="replies")


def run(people: Cast, world, right: set[int], name: str = "First", **options: bool) -> Run:
    """Right on these items, kind on all, nothing invented: 1 or (0 + 1) / 4 = 0.25; raw 4 or 1."""
    version, data = world

    def judge(requirement: str, response: str) -> str:
        key = int(response.strip().split()[-1])
        met = "kind" in requirement or ("right" in requirement and key in right)
        return "MET" if met else "UNMET"

    started = factories.run(
        people.team, people.ed, dataset=data, rubric_version=version, name=name, **options
    )
    return grade(started, InProcessJudge(judge))


def page(client, people: Cast, name: str, *ids: int) -> str:
    answer = client.get(reverse(name, args=[people.team.slug, *ids]))
    assert answer.status_code == 200
    words = re.sub(r"<[^>]+>", " ", answer.content.decode())
    return re.sub(r"\s+", " ", html.unescape(words))


def test_a_run_says_its_mean_what_passes_and_the_lowest(people: Cast, sign_in, world) -> None:
    # Nine of twelve at 1, three at 0.25: 9.75 / 12 = 0.8125.
    shown = page(sign_in(people.bob), people, "run", run(people, world, set(range(9))).pk)
    assert "Mean score 0.81. 9 of 12 items pass; the lowest has 0.25." in shown
    assert "all answered, no errors." in shown
    assert "Read the 3 that fail" in shown
    assert "pass 0.50" in shown  # beside the line in the drawing


def test_a_run_that_was_cancelled_says_on_how_many_items_it_rests(people: Cast, sign_in, world) -> None:
    graded = run(people, world, set(range(9)))
    bob = sign_in(people.bob)
    assert "items graded." not in page(bob, people, "run", graded.pk)
    Run.objects.filter(pk=graded.pk).update(state=RunState.CANCELLED)
    assert "all answered, no errors. This is of the 12 items graded." in page(bob, people, "run", graded.pk)


def test_an_option_between_the_best_and_the_worst_costs_points_too(people: Cast, sign_in) -> None:
    options = [
        {"label": "good", "value": 1},
        {"label": "fair", "value": 0.5},
        {"label": "poor", "value": 0},
    ]
    tone = {"name": "tone", "kind": "choice", "weight": 4, "requirement": "The tone is …", "options": options}
    version = factories.version(people.team, people.ed, title="Tone", criteria=[CRITERIA[1], tone])
    data = factories.dataset(people.team, people.ed, items=[{"id": "1", "submission": "Text 1"}], name="one")
    started = factories.run(people.team, people.ed, dataset=data, rubric_version=version)
    grade(started, LabelJudge(lambda judge, asked, response: "fair" if "tone" in asked else "UNMET"))
    lowest = page(sign_in(people.bob), people, "run", started.pk).partition("Lowest 1")[2]
    # Tone loses 4 · 0.5 = 2 points, kind 1: most points first.
    assert re.search(r" tone kind ", lowest.partition("Criteria, most points lost")[0])


def test_the_lowest_three_say_what_cost_them_points(people: Cast, sign_in, world) -> None:
    shown = page(sign_in(people.bob), people, "run", run(people, world, set(range(9))).pk)
    lowest = shown.partition("Lowest 3")[2].partition("Criteria, most points lost")[0]
    assert lowest.count("0.25") == 3
    assert lowest.count(" right ") == 3
    assert " kind " not in lowest


def test_criteria_stand_by_the_points_they_lose(people: Cast, sign_in, world) -> None:
    shown = page(sign_in(people.bob), people, "run", run(people, world, set(range(9))).pk)
    table = shown.partition("Criteria, most points lost first")[2].partition("Items worst first")[0]
    # right loses 3 · 3/12, the others nothing: kind passes throughout, nothing is invented.
    assert re.findall(r"(right|kind|invented) [+−]\d (\d+%)", table) == [
        ("right", "75%"),
        ("kind", "100%"),
        ("invented", "0%"),
    ]


def test_a_run_whose_items_are_hidden_says_no_score(people: Cast, sign_in, world) -> None:
    graded = run(people, world, set(range(9)))
    factories.queue(
        people.team,
        people.ed,
        dataset=graded.dataset,
        rubric_version=graded.rubric_version,
        raters=[people.ann],
    )
    shown = page(sign_in(people.ann), people, "run", graded.pk)
    assert "Mean score" not in shown
    assert "Lowest 3" not in shown
    assert "12 items of this run are hidden from you" in shown


def test_two_runs_say_whether_scores_differ(people: Cast, sign_in, world) -> None:
    before, after = run(people, world, set(), "Before"), run(people, world, set(range(12)), "After")
    bob = sign_in(people.bob)
    shown = page(bob, people, "run_diff", after.pk, before.pk)
    assert "After scores higher than Before: 1.00 against 0.25." in shown
    assert "12 items. 12 up, 0 down, 0 the same." in shown
    back = page(bob, people, "run_diff", before.pk, after.pk)
    assert "Before scores lower than After: 0.25 against 1.00." in back
    assert "See 12 regressions" in back
    # All of it by one criterion: 3 of the 4 points that can be earned.
    moved = shown.partition("What changed the score")[2].partition("All figures")[0]
    assert re.search(r"right \+3 .*? \+75\.0 Better", moved)
    assert "Change of mean score +75.0" in moved


def test_points_that_a_new_weight_moved_are_not_called_worse_answers(people: Cast, sign_in, world) -> None:
    before = run(people, world, set(range(4)), "Before")
    weights = {"right": 1, "kind": 5, "invented": -2}
    criteria = [{**one, "weight": weights[one["name"]]} for one in CRITERIA]
    newer = factories.version(people.team, people.ed, title="Newer", criteria=criteria)
    after = run(people, (newer, world[1]), set(range(12)), "After")
    shown = page(sign_in(people.bob), people, "run_diff", after.pk, before.pk)
    moved = shown.partition("What changed the score")[2].partition("All figures")[0]
    # Right went from 4 to 12 of 12, and gave 3/4 · 4/12 = 25 points of 100, of a smaller weight 1/6 = 16.7.
    assert re.search(r"right \+1 .*? −8\.3 Not clear", moved)


def test_raw_scores_are_told_on_their_own_scale(people: Cast, sign_in, world) -> None:
    before = run(people, world, set(), "Before", normalize=False)
    after = run(people, world, set(range(9)), "After", normalize=False)
    bob = sign_in(people.bob)
    shown = page(bob, people, "run", after.pk)
    # Nine of 4 and three of 1. The rule asks for half of a normalised score: none is drawn as a bar.
    assert "Mean score 3.25; the lowest of 12 items has 1.00." in shown
    assert shown.partition("Lowest 3")[2].partition("Criteria, most points lost")[0].count(" right ") == 3
    assert "pass 0.50" not in shown
    moved = page(bob, people, "run_diff", after.pk, before.pk).partition("What changed the score")[2]
    # 9 of 12 more right of 3 points: 2.25, which is no 225.
    assert re.search(r"points of the raw score; .*? right \+3 .*? \+2\.[23] Better", moved)


def test_two_equal_runs_differ_in_nothing(people: Cast, sign_in, world) -> None:
    one, other = run(people, world, {1, 2}, "One"), run(people, world, {1, 2}, "Other")
    shown = page(sign_in(people.bob), people, "run_diff", one.pk, other.pk)
    assert "No difference on 12 items: 0.38 against 0.38." in shown  # (2 + 10 · 0.25) / 12 = 0.375
    assert "Better" not in shown.partition("All figures")[0]


def test_two_ticked_runs_are_compared_the_later_against_the_earlier(people: Cast, sign_in, world) -> None:
    before, after = run(people, world, {1}, "Before"), run(people, world, {1, 2}, "After")
    bob, here = sign_in(people.bob), reverse("run_pair", args=[people.team.slug])
    assert 'form="run-pair" name="run"' in bob.get(reverse("runs", args=[people.team.slug])).content.decode()
    answer = bob.get(here, {"run": [before.pk, after.pk]})
    assert answer.headers["Location"] == reverse("run_diff", args=[people.team.slug, after.pk, before.pk])
    one = bob.get(here, {"run": [before.pk]}, follow=True)
    assert "Tick two to 12 runs to compare them, not 1." in html.unescape(one.content.decode())
    assert bob.get(here, {"run": [before.pk, 10**9]}).status_code == 404


def test_many_ticked_runs_are_a_table_against_the_first(people: Cast, sign_in, world) -> None:
    right = ({1, 2}, {1, 2, 3, 4}, set(range(12)))
    runs = [run(people, world, some, name) for some, name in zip(right, ("A", "B", "C"), strict=True)]
    elsewhere = factories.dataset(people.team, people.ed, name="elsewhere")
    runs.append(
        grade(
            factories.run(people.team, people.ed, dataset=elsewhere, rubric_version=world[0], name="D"),
            InProcessJudge(lambda *_: "MET"),
        )
    )
    bob, asked = sign_in(people.bob), {"run": [one.pk for one in reversed(runs)]}
    there = bob.get(reverse("run_pair", args=[people.team.slug]), asked).headers["Location"]
    shown = text_of(bob.get(there))
    # Two more of 12 right gives 2 · 0.75 / 12 = 0.125, ten more 10 · 0.75 / 12 = 0.625.
    assert re.search(r"B .*? \+0\.1[23] .*? 12 items .*? C .*? \+0\.6[23] .*? 12 items", shown)
    assert "Another dataset: elsewhere." in shown
    rows = bob.get(there, {**asked, "format": "csv"}).content.decode().splitlines()
    assert [line.split(",")[1] for line in rows] == ["name", "A", "B", "C", "D"]
    # right passed 2 of 12 times; invented is a penalty, and absent everywhere.
    assert rows[1].endswith(f"{2 / 12},1.0,1.0")
    assert bob.get(there.partition("?")[0], {"run": runs[0].pk}).status_code == 302


def text_of(answer) -> str:
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def test_a_table_of_runs_tells_nothing_of_what_is_to_be_reviewed_blind(people: Cast, sign_in, world) -> None:
    runs = [run(people, world, some, "Same") for some in ({1}, {1, 2}, {3})]
    asked = {"run": [one.pk for one in runs]}
    factories.queue(
        people.team, people.ed, dataset=world[1], rubric_version=world[0], raters=[people.ann, people.rae]
    )
    ann = sign_in(people.ann)
    shown = text_of(ann.get(reverse("run_table", args=[people.team.slug]), asked))
    assert shown.count("Hidden until you finish your reviews.") == 5  # three κ, two differences
    rows = ann.get(reverse("run_table", args=[people.team.slug]), {**asked, "format": "csv"}).content.decode()
    assert not re.search(r"0\.\d", rows)
