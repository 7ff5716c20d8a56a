"""Panels, examples and every kind of criterion through the API."""

import pytest

from rubricweb.judges.base import JudgeConfig, JudgeError
from rubricweb.models import Run
from rubricweb.selectors.runs.votes import run_votes
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.judging import LabelJudge, grade

CRITERIA = [
    {"name": "paris", "weight": 4.0, "requirement": "Names Paris.", "group": "Facts"},
    {
        "name": "tone",
        "weight": 4.0,
        "requirement": "How friendly is the tone?",
        "options": [
            {"label": "Cold", "value": 0.0},
            {"label": "Neutral", "value": 0.5},
            {"label": "Warm", "value": 1.0},
            {"label": "No tone", "na": True},
        ],
    },
    {"name": "short", "weight": 2.0, "check": "length_between", "params": {"max": 10}},
]
ITEMS = [{"id": "one", "submission": "Paris, my friend."}, {"id": "two", "submission": "Paris."}]


def judge_called(name: str) -> PanelMember:
    return PanelMember(
        "command-line", name=name, config=JudgeConfig(name, "http://127.0.0.1:9/v1", f"{name}-1")
    )


def split(name: str, requirement: str, response: str) -> str:
    """paris: MET but for c; tone: Warm but for a, which says Neutral."""
    if "Paris" in requirement:
        return "UNMET" if name == "c" else "MET"
    return "Neutral" if name == "a" else "Warm"


@pytest.fixture
def ed(people: Cast, as_member) -> ApiClient:
    return as_member(people.ed)


@pytest.fixture
def voted(people: Cast) -> Run:
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=ITEMS),
        rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA),
        judge_id="",
        panel=Panel([judge_called(name) for name in "abc"]),
    )
    return grade(run, LabelJudge(split))


@pytest.fixture
def body(people: Cast) -> dict:
    """A new run over the same kind of rubric, without a judge yet."""
    return {
        "dataset_id": factories.dataset(people.team, people.ed, name="new", items=ITEMS).pk,
        "rubric_version_id": factories.version(people.team, people.ed, criteria=CRITERIA).pk,
    }


def test_a_run_by_a_panel_is_started_and_says_who_votes(ed: ApiClient, body) -> None:
    members = [{"judge": "offline", "weight": 2}, {"judge": "offline", "stage": 1, "name": "second"}]
    panel = {"members": members, "repeats": [3, 1], "escalate_on": ["disagreement"], "rule": "unanimous"}
    run = ed.send("POST", "/runs", body | {"panel": panel, "option_seed": 11})
    assert run["judge"]["name"] == "cascade of 2 stages"
    assert run["option_seed"] == 11
    shown = run["panel"]
    assert [(one["name"], one["weight"], one["stage"]) for one in shown["members"]] == [
        ("offline judge (not an LLM)", 2.0, 0),
        ("second", 1.0, 1),
    ]
    assert (shown["repeats"], shown["rule"], shown["escalate_on"]) == ([3, 1], "unanimous", ["disagreement"])
    assert ed.get(f"/runs/{run['id']}")["panel"] == shown


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"panel": {"members": []}}, "panel.members"),
        ({"panel": {"members": [{"judge": "nobody"}]}}, "panel.members[0].judge"),
        ({"panel": {"members": [{"judge": "offline"}], "repeats": 0}}, "panel"),
        ({"panel": {"members": [{"judge": "offline"}]}, "judge": "offline"}, "judge"),
        ({"panel": {"members": [{"judge": "offline", "stage": 1}]}}, "panel.members"),
        ({"judge": "offline", "few_shot": {}}, "few_shot"),
        ({"judge": "offline", "few_shot": {"n": 0}}, "few_shot.n"),
    ],
)
def test_a_panel_that_cannot_be_is_refused_with_its_place(ed: ApiClient, body, change, place) -> None:
    problem = ed.refused(422, "POST", "/runs", body | change)
    assert [fault["place"] for fault in problem["faults"]] == [place]
    assert not Run.objects.exists()


def test_the_report_shows_votes_options_values_and_groups(ed: ApiClient, voted: Run) -> None:
    item = voted.dataset.items.get(key="one")
    report = ed.get(f"/runs/{voted.pk}/items/{item.pk}")
    paris, tone, short = report["verdicts"]
    assert (paris["verdict"], paris["value"], paris["agreement"]) == ("MET", 1.0, pytest.approx(2 / 3))
    assert [(vote["judge"], vote["verdict"], vote["model"]) for vote in paris["votes"]] == [
        ("a", "MET", "a-1"),
        ("b", "MET", "b-1"),
        ("c", "UNMET", "c-1"),
    ]
    # tone: mean (0.5 + 1 + 1) / 3 = 0.83, nearest Warm.
    assert (tone["verdict"], tone["value"], tone["contribution"]) == ("Warm", 1.0, 4.0)
    # 17 characters, at most 10 are allowed.
    assert (short["verdict"], short["value"], short["votes"], short["model"]) == (None, 0.0, [], "check")
    # (4 + 4 + 0) / 10.
    assert report["score"] == pytest.approx(0.8)
    assert {one["name"]: one["score"] for one in report["groups"]} == {
        "Facts": 1.0,
        None: pytest.approx(4 / 6),
    }


def test_a_run_shows_shares_means_and_agreement_by_criterion(ed: ApiClient, voted: Run) -> None:
    run = ed.get(f"/runs/{voted.pk}")
    paris, tone, short = run["criteria"]
    assert (paris["met"], paris["rate"]["value"], paris["options"]) == (2, 1.0, [])
    assert [(one["label"], one["count"], one["share"]["value"]) for one in tone["options"]] == [
        ("Cold", 0, 0.0),
        ("Neutral", 0, 0.0),
        ("Warm", 2, 1.0),
        ("No tone", 0, 0.0),
    ]
    assert tone["rate"]["value"] == 1.0
    # one has 17 characters, two has 6: mean of 0 and 1.
    assert (short["rate"]["value"], short["rate"]["n"]) == (0.5, 2)
    # Both criteria: 2 of 3 votes equal the verdict, on both items.
    assert run["votes"]["overall"]["agreement"]["value"] == pytest.approx(2 / 3)
    flips = run["votes"]["overall"]["flips"]
    assert (flips["value"], flips["low"], flips["n"]) == (None, None, 0)
    assert [(one["criterion"]["name"], one["votes"]) for one in run["votes"]["criteria"]] == [
        ("paris", 6),
        ("tone", 6),
    ]
    # c says UNMET where MET stands, and Warm like the verdict; a is right about paris alone; b about both.
    judges = {one["judge"]: one["votes"]["agreement"]["value"] for one in run["votes"]["judges"]}
    assert judges == {"a": 0.5, "b": 1.0, "c": 0.5}
    assert {one["failure"] for one in run["votes"]["judges"]} == {None}
    assert run["pass_rate"]["value"] is None
    assert run["progress"]["errors"] == 0


def test_repeats_show_how_often_a_judge_differs_from_itself(ed: ApiClient, people: Cast) -> None:
    said = {"one": iter(["MET", "MET", "UNMET"]), "two": iter(["MET", "MET", "MET"])}
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=ITEMS),
        rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA[:1]),
        judge_id="",
        panel=Panel([judge_called("a")], repeats=3),
    )
    grade(run, LabelJudge(lambda name, requirement, text: next(said["one" if "friend" in text else "two"])))
    votes = ed.get(f"/runs/{run.pk}")["votes"]["overall"]
    # one: 2 of 3 pairs differ, two: none: (2/3 + 0) / 2.
    assert (votes["flips"]["value"], votes["votes"]) == (pytest.approx(1 / 3), 6)
    item = run.dataset.items.get(key="one")
    [verdict] = ed.get(f"/runs/{run.pk}/items/{item.pk}")["verdicts"]
    assert verdict["flips"] == pytest.approx(2 / 3)


def test_a_judge_that_failed_says_how(ed: ApiClient, people: Cast) -> None:
    def answer(name: str, requirement: str, text: str) -> str | JudgeError:
        return JudgeError("timeout", "late") if name == "b" else "MET"

    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=ITEMS),
        rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA[:1]),
        judge_id="",
        panel=Panel([judge_called("a"), judge_called("b")]),
    )
    grade(run, LabelJudge(answer))
    a, b = ed.get(f"/runs/{run.pk}")["votes"]["judges"]
    assert (a["failure"], a["votes"]["failed"], a["votes"]["agreement"]["value"]) == (None, 0, 1.0)
    assert (b["failure"], b["votes"]["failed"], b["votes"]["agreement"]["value"]) == ("timeout", 2, None)


def test_a_single_judge_has_no_votes(ed: ApiClient, world) -> None:
    run = ed.get(f"/runs/{world.run.pk}")
    assert (run["panel"], run["votes"], run["few_shot"]) == (None, None, None)


def test_examples_are_drawn_from_a_queue_and_their_labels_are_not_told(
    ed: ApiClient, people: Cast, body
) -> None:
    labelled = factories.dataset(
        people.team, people.ed, name="labelled", items=[{"id": "dev", "submission": "Rome."}]
    )
    labels = b"item_id,criterion,rater,verdict,reason\ndev,paris,x,UNMET,SECRET-OF-A-PEER\n"
    version = people.team.rubrics.order_by("-pk")[0].versions.get()
    queue = factories.import_labels(labelled, version, by=people.ed, data=labels, filename="l.csv")
    run = ed.send("POST", "/runs", body | {"judge": "offline", "few_shot": {"queue_id": queue.pk, "n": 2}})
    assert run["few_shot"]["item_ids"] == [labelled.items.get().pk]
    assert (run["few_shot"]["n"], run["few_shot"]["seed"], run["few_shot"]["queue_id"]) == (2, 0, queue.pk)
    assert "SECRET" not in str(run)


def test_policies_are_the_runs_own_and_shown(ed: ApiClient, body) -> None:
    asked = body | {"judge": "offline", "abstention": "zero", "on_error": "fail_item"}
    run = ed.send("POST", "/runs", asked)
    assert (run["abstention"], run["on_error"]) == ("zero", "fail_item")
    [fault] = ed.refused(422, "POST", "/runs", asked | {"abstention": "guess"})["faults"]
    assert fault["place"] == "abstention"


def test_checks_alone_need_no_judge(ed: ApiClient, people: Cast, body) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA[2:])
    run = ed.send("POST", "/runs", body | {"rubric_version_id": version.pk})
    assert run["judge"]["id"] == "none"
    ed.refused(422, "POST", "/runs", body)


def test_votes_are_withheld_with_the_verdicts(people: Cast, as_member, voted: Run) -> None:
    factories.queue(
        people.team,
        people.ed,
        dataset=voted.dataset,
        rubric_version=voted.rubric_version,
        raters=[people.ann],
        run=voted,
    )
    ann = as_member(people.ann)
    item = voted.dataset.items.get(key="one")
    ann.refused(403, "GET", f"/runs/{voted.pk}/items/{item.pk}")
    seen = ann.get(f"/runs/{voted.pk}")
    assert seen["votes"]["overall"]["votes"] == 0
    assert seen["pass_rate"]["n"] == 0
    assert [one["options"][2]["count"] for one in seen["criteria"][1:2]] == [0]


def test_the_votes_of_a_run_take_as_many_queries_however_many_items(
    people: Cast, voted: Run, django_assert_num_queries
) -> None:
    assert voted.team == people.team
    with django_assert_num_queries(5):  # the summary, blind queues, verdicts, votes, criteria
        found = run_votes(voted, viewer=people.bob)
    assert found is not None
    assert (found.overall.votes, found.overall.went_on) == (12, 0)
