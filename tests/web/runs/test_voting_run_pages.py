"""Runs with options, checks, several votes and examples: starting them, and reading what came out."""

import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Criterion, Dataset, RubricVersion, Run, User
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from rubricweb.services.runs import panels
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

CRITERIA: list[dict[str, Any]] = [
    {"name": "capital", "weight": 6, "requirement": "Names Paris.", "group": "Facts"},
    {
        "name": "depth",
        "weight": 3,
        "requirement": "How deep is it?",
        "options": [
            {"label": "thin", "value": 0},
            {"label": "fair", "value": 0.5},
            {"label": "deep", "value": 1},
        ],
    },
    {"name": "short", "weight": 1, "check": "length_between", "params": {"max": 31}},
]


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def said(name: str, requirement: str, response: str) -> str:
    """The first judge finds everything, the second, "(2)", only half of it."""
    if "deep" in requirement:
        return "thin" if name.endswith("(2)") else "deep"
    return "MET"


@pytest.fixture
def voted(people: Cast, version: RubricVersion, dataset: Dataset) -> Run:
    panel = panels.Panel(
        [panels.PanelMember("offline"), panels.PanelMember("offline")], rule={"ordinal": "min"}
    )
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, judge_id="", panel=panel, name="Two"
    )
    return grade(run, LabelJudge(said))


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def read(client: Any, address: str, **query: object) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200, answer.content.decode()[:2000]
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


def sent(dataset: Dataset, version: RubricVersion, **more: Any) -> dict[str, Any]:
    return {
        "dataset": dataset.pk,
        "rubric_version": version.pk,
        "judge": "offline",
        "autograder": "per_criterion",
        "reply_format": "json",
    } | more


def test_a_run_of_one_overall_score_shows_rates_of_checks_alone(
    people: Cast, sign_in, version: RubricVersion, dataset: Dataset
) -> None:
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, autograder="rubric_as_judge"
    )
    grade(run, LabelJudge(lambda name, requirement, response: 70.0))
    page = read(sign_in(people.bob), at("run", people, run.pk))
    criteria = page[page.index("Criterion Weight") : page.index("Scores")]
    assert "short" in criteria
    assert not [name for name in ("capital", "depth", "undefined") if name in criteria]
    assert "Options chosen" not in page


def test_a_cascade_says_how_much_went_past_its_first_stage(
    people: Cast, sign_in, version: RubricVersion, dataset: Dataset
) -> None:
    panel = panels.Panel([panels.PanelMember("offline"), panels.PanelMember("offline", stage=1)])
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, judge_id="", panel=panel
    )

    def unsure_at_first(name: str, requirement: str, response: str) -> str:
        if "deep" in requirement:
            return "deep"
        return "MET" if name.endswith("(2)") else "CANNOT_ASSESS"

    grade(run, LabelJudge(unsure_at_first))
    page = read(sign_in(people.bob), at("run", people, run.pk))
    votes = page[page.index("Votes that agree") :].partition("worst first")[0]
    # 3 items × the 2 criteria that are asked; the first judge abstains from one of them every time.
    went_on = re.findall(r"(All of them|capital|depth) .*?(\d of \d)", votes)
    assert went_on == [("All of them", "3 of 6"), ("capital", "3 of 3"), ("depth", "0 of 3")]


# ── Starting ─────────────────────────────────────────────────────────────────────────────────────


def test_the_estimate_leaves_checks_out_and_multiplies_by_votes(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    ed = sign_in(people.ed)
    chosen = {"dataset": dataset.pk, "rubric_version": version.pk, "autograder": "per_criterion"}

    def page(**more: str) -> str:
        return read(ed, at("run_new", people), **chosen, **more)

    assert "Calls 6 3 criteria" in page()  # 3 items × 2 criteria that are asked; the check costs nothing
    assert "Calls 18 " in page(repeats="3")
    assert "Calls 12 " in page(further="offline")  # two judges
    assert "Calls 6 – 12 " in page(further="offline", cascade="on")


def test_a_panel_is_started_with_weights_repeats_and_rules(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    form = sent(dataset, version, repeats="2", weight="2", further=["offline"], further_weights="0.5")
    sign_in(people.ed).post(at("run_new", people), form | {"rule_ordinal": "median"})
    panel = Run.objects.get().panel
    assert panel is not None
    assert [(member.weight, member.stage) for member in panel.members] == [(2.0, 0), (0.5, 0)]
    assert (panel.repeats, panel.rule, panel.cascade) == (2, {"ordinal": "median"}, None)


def test_a_cascade_asks_the_further_judges_in_a_second_stage(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    form = sent(dataset, version, further=["offline"], cascade="on", escalate_on=["disagreement"])
    sign_in(people.ed).post(at("run_new", people), form)
    panel = Run.objects.get().panel
    assert panel is not None
    assert [member.stage for member in panel.members] == [0, 1]
    assert panel.cascade.escalate_on == ("disagreement",)


def test_one_judge_asked_once_stays_a_run_without_a_panel(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    sign_in(people.ed).post(at("run_new", people), sent(dataset, version, repeats="1", weight="1"))
    assert Run.objects.get().panel is None


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ({"further": ["offline"], "further_weights": "1 2"}, "2 weights for 1 further judges"),
        ({"further": ["offline"], "further_weights": "much"}, "Numbers from 0"),
        ({"further": ["offline"], "further_weights": "-1"}, "A weight is a number from 0"),
        ({"repeats": "0"}, "greater than or equal to 1"),
        ({"repeats": "2", "autograder": "rubric_as_judge"}, "a panel votes on every criterion"),
    ],
)
def test_votes_that_cannot_be_are_refused_with_the_form_kept(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion, typed: dict[str, Any], words: str
) -> None:
    answer = sign_in(people.ed).post(at("run_new", people), sent(dataset, version, **typed))
    assert answer.status_code == 422
    assert words in answer.content.decode()
    assert not Run.objects.exists()


def test_examples_from_an_unlabelled_dataset_are_refused_beside_their_field(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    form = sent(dataset, version, examples_from=dataset.pk)
    answer = sign_in(people.ed).post(at("run_new", people), form)
    assert answer.status_code == 422
    assert "a dataset that people have labelled" in answer.content.decode()
    assert answer.context["form"].errors.keys() == {"examples_from"}


def test_examples_of_another_labelled_dataset_are_drawn_and_shown_with_the_run(
    people: Cast, sign_in, dataset: Dataset, version: RubricVersion
) -> None:
    other = factories.dataset(
        people.team,
        people.ed,
        name="labelled",
        items=[{"id": "elsewhere", "submission": "Paris, of course."}],
    )
    label(people, other, version, people.rae)
    form = sent(dataset, version, examples_from=other.pk, n_examples="2", examples_seed="5")
    answer = sign_in(people.ed).post(at("run_new", people), form)
    run = Run.objects.get()
    assert run.few_shot is not None
    page = read(sign_in(people.bob), answer["Location"])
    assert "up to 2 per criterion, from 1 item of another dataset" in page
    assert "seed 5" in page


def test_a_rubric_of_checks_needs_no_judge(people: Cast, sign_in, dataset: Dataset, settings) -> None:
    settings.OFFLINE_JUDGE_URL = ""
    checks = factories.version(people.team, people.ed, title="Checks", criteria=CRITERIA[2:])
    ed = sign_in(people.ed)
    assert "Only rubrics made of checks can be graded" in read(ed, at("run_new", people))
    answer = ed.post(at("run_new", people), sent(dataset, checks, judge=""))
    assert answer.status_code == 302, answer.content.decode()[:3000]
    assert Run.objects.get().judge.id == "none"


def label(people: Cast, dataset: Dataset, version: RubricVersion, user: User) -> None:
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[user], name="Labels"
    )
    for item in dataset.items.all():
        review = queues.start_review(queue, item, user)
        for criterion in Criterion.objects.filter(version=version).exclude(kind="check"):
            label = "fair" if criterion.kind == "choice" else "MET"
            reviews.save_verdict(review, criterion.pk, verdict=label)
        reviews.submit(review, now=timezone.now())
    queues.close_queue(queue, by=people.ed)


# ── What came out ────────────────────────────────────────────────────────────────────────────────


def test_the_run_shows_options_checks_and_how_far_votes_agree(people: Cast, sign_in, voted: Run) -> None:
    page = read(sign_in(people.bob), at("run", people, voted.pk))
    assert "Options chosen" in page
    assert re.search(r"short check .*? mean of 3", page)
    assert "Votes that agree" in page
    assert "undefined" in page  # nobody was asked the same twice: no flip rate
    assert "panel of 2" in page.lower()


def test_a_report_says_who_voted_what(people: Cast, sign_in, voted: Run) -> None:
    item = voted.dataset.items.get(key="good")
    page = read(sign_in(people.bob), at("run_item", people, voted.pk, item.pk))
    assert page.count("2 votes") >= 2  # capital and depth; the check has none
    assert "31 characters" in page
    assert "By group" in page


def test_votes_are_hidden_from_a_rater_who_is_still_blind(
    people: Cast, sign_in, voted: Run, version: RubricVersion
) -> None:
    factories.queue(
        people.team,
        people.ed,
        dataset=voted.dataset,
        rubric_version=version,
        raters=[people.rae],
        blind="both",
    )
    item = voted.dataset.items.get(key="good")
    rae = sign_in(people.rae)
    page = read(rae, at("run_item", people, voted.pk, item.pk))
    assert "Hidden until you finish your reviews" in page
    assert "2 votes" not in page
    assert "Votes that agree" not in read(rae, at("run", people, voted.pk))


def test_length_and_pass_rule_stand_beside_the_score(people: Cast, sign_in, dataset: Dataset) -> None:
    draft = {
        "title": "Strict",
        "criteria": CRITERIA[:1],
        "pass_rule": {"min_score": 0.6},
        "length_penalty": {"free_budget": 1, "max_cap": 3, "penalty_at_cap": 0.5},
    }
    strict = rubrics.publish(
        rubrics.create_rubric(people.team, by=people.ed, title="Strict", draft=draft), by=people.ed
    )
    run = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=strict), LabelJudge(said)
    )
    item = dataset.items.get(key="good")
    page = read(sign_in(people.bob), at("run_item", people, run.pk, item.pk))
    # MET for 1.0, less 0.5 for six words with a cap of three: 0.5, below the 0.6 that pass.
    assert "Score 0.500 after 0.500 off for its length" in page
    assert "Failed by the rubric’s pass rule" in page
    listed = read(sign_in(people.bob), at("run", people, run.pk))
    assert "Passed 0%" in listed
