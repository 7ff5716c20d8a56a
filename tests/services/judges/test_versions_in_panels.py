"""Versions of judges as members of panels, and asked several times: each is told its own words."""

import pytest
from django.utils import timezone

from rubricweb.engine.autograders import FormTexts, JudgeWording
from rubricweb.engine.judging.definition import JudgeExample, Voting
from rubricweb.errors import Invalid, NotFound, Withheld
from rubricweb.models import JudgeVersion
from rubricweb.selectors.judges import is_withheld_judge
from rubricweb.selectors.runs.planning.forecasts import Range
from rubricweb.services.judges import versions
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.runs.planning import plan_run
from rubricweb.services.runs.starting import RunOptions
from tests import factories
from tests.factories import Cast
from tests.judging import grade
from tests.services.judges.test_versions import STRICT, ObedientJudge, Room, strict

pytestmark = pytest.mark.django_db

TOLD = JudgeWording(instructions=FormTexts(without_options=STRICT))


@pytest.fixture
def room(people: Cast) -> Room:
    return Room(people)


@pytest.fixture
def model(room: Room) -> str:
    return room.endpoint()


@pytest.fixture
def named(room: Room, model: str) -> JudgeVersion:
    """strict-judge@v1, which says UNMET when in doubt."""
    usual = room.run(model).judge_version
    return versions.create_judge(room.team, strict(usual), by=room.people.ed, name="Strict judge")


def test_a_version_votes_in_its_words_beside_a_model_that_has_ours(
    room: Room, model: str, named: JudgeVersion
) -> None:
    judge = ObedientJudge()
    grade(room.run(model), judge)
    judge.systems.clear()
    asked = Panel([PanelMember(model), PanelMember("strict-judge", weight=2.0)])
    started = grade(room.run("", panel=asked), judge)
    votes = started.votes.values_list("judge", "verdict", "weight").distinct()
    assert set(votes) == {("gpt-5-mini", "MET", 1.0), ("strict-judge@v1", "UNMET", 2.0)}
    # What the model was asked before it is not asked again.
    assert len(judge.systems) == 4
    definition = started.judge_version.definition
    assert [member.wording for member in definition.members] == [None, TOLD]
    assert definition.wording.is_shipped
    assert (started.judge_version.origin, definition.voting) == ("picked", Voting())
    # Picked again it is the same judge.
    assert room.run("", panel=asked).judge_version == started.judge_version


def test_a_version_asked_several_times_is_a_judge_of_its_own_with_the_same_words(
    room: Room, named: JudgeVersion
) -> None:
    judge = ObedientJudge()
    asked = Panel([PanelMember("strict-judge@v1")], repeats=3)
    started = grade(room.run("", panel=asked), judge)
    assert set(started.votes.values_list("judge", "verdict")) == {("strict-judge@v1", "UNMET")}
    assert len(judge.systems) == 12  # two items, two criteria, three times
    made = started.judge_version
    assert (made.definition.wording, made.definition.members[0].wording) == (TOLD, None)
    assert made.judge.name == "strict-judge@v1 × 3, criterion by criterion"
    assert room.run("", panel=asked).judge_version == made
    # Another version of the judge is another judge then too.
    other = named.definition.model_copy(
        update={"wording": JudgeWording(instructions=FormTexts(without_options="{{frame}} Be kind."))}
    )
    versions.keep_version(named.judge, other, by=room.people.ed, parent=named)
    again = room.run("", panel=Panel([PanelMember("strict-judge")], repeats=3))
    assert again.judge_version.definition.wording == other.wording
    assert room.run("", panel=asked).judge_version == made


def test_what_it_would_come_to_is_counted_in_its_words(room: Room, named: JudgeVersion) -> None:
    grade(room.run("strict-judge"), ObedientJudge())
    asked = RunOptions(panel=Panel([PanelMember("strict-judge")], repeats=2), use_cache=True)
    planned = plan_run(
        room.team,
        dataset=room.dataset,
        rubric_version=room.version,
        viewer=room.people.ed,
        now=timezone.now(),
        options=asked,
    )
    # Four questions, twice; the first time of each was answered by the run before.
    assert (planned.forecast.calls, planned.forecast.cached) == (Range(8, 8), Range(4, 4))


def test_its_way_of_asking_is_that_of_the_panel(room: Room, model: str, named: JudgeVersion) -> None:
    at_once = versions.create_judge(
        room.team,
        named.definition.model_copy(update={"autograder": "one_shot", "wording": JudgeWording()}),
        by=room.people.ed,
        name="At once",
    )
    started = room.run("", panel=Panel([PanelMember(model), PanelMember(str(at_once))]))
    assert started.autograder == "one_shot"
    with pytest.raises(Invalid) as refused:
        room.run("", panel=Panel([PanelMember("strict-judge"), PanelMember("at-once")]))
    [fault] = refused.value.faults
    assert (fault.place, fault.found, fault.allowed) == (
        "panel.members[1].judge",
        "at-once@v1, which asks one_shot in json",
        "per_criterion in json, as strict-judge@v1 asks",
    )
    with pytest.raises(Invalid) as refused:
        room.run("", panel=Panel([PanelMember("at-once")]), autograder="per_criterion")
    assert str(refused.value).endswith("allowed: one_shot, as at-once@v1 asks, or nothing")


@pytest.mark.parametrize("repeats", [1, 2])
def test_a_judge_that_votes_itself_is_no_member(room: Room, model: str, repeats: int) -> None:
    panel = room.run("", panel=Panel([PanelMember(model), PanelMember("offline")])).judge_version
    thrice = room.run("", panel=Panel([PanelMember(model)], repeats=3)).judge_version
    for version in (panel, thrice):
        with pytest.raises(Invalid) as refused:
            room.run("", panel=Panel([PanelMember(model), PanelMember(str(version))], repeats=repeats))
        assert str(refused.value) == (
            f"panel.members[1].judge: found {version}, which casts several votes itself; "
            "allowed: a model, or a version that asks one model once; or that version alone, asked once"
        )


def test_words_that_name_no_version_are_refused(room: Room, model: str, named: JudgeVersion) -> None:
    with pytest.raises(NotFound):
        room.run("", panel=Panel([PanelMember(model), PanelMember("strict-judge@v7")]))
    with pytest.raises(Invalid, match="one of "):
        room.run("", panel=Panel([PanelMember(model), PanelMember("nobody")]))


def test_examples_belong_to_a_panel_whose_members_all_have_them(
    room: Room, model: str, named: JudgeVersion
) -> None:
    criterion = room.version.criteria.get(name="paris")
    shown = JudgeExample(
        uid=criterion.uid, requirement="Names Paris.", label="MET", key="k", output="In Paris."
    )
    with_one = named.definition.model_copy(update={"examples": (shown,)})
    second = versions.keep_version(named.judge, with_one, by=room.people.ed, parent=named)
    started = room.run("", panel=Panel([PanelMember(str(second))], repeats=2))
    assert started.judge_version.definition.examples == (shown,)
    assert [one.label for one in started.few_shot.examples] == ["MET"]
    with pytest.raises(Invalid) as refused:
        room.run("", panel=Panel([PanelMember(model), PanelMember(str(second))]))
    assert refused.value.faults[0].place == "panel.members[1].judge"
    assert "strict-judge@v2, which is shown examples that not all members are" in str(refused.value)
    # Who rates blind makes no other judge of it, and reads the words of its versions in none.
    people = room.people
    made = room.run("", panel=Panel([PanelMember(model), PanelMember(str(named))])).judge_version
    assert made.parent == named
    assert is_withheld_judge(made.judge, people.ed) is False
    factories.queue(
        people.team, people.ed, dataset=room.dataset, rubric_version=room.version, raters=[people.ed]
    )
    for words in (str(named), str(second)):
        with pytest.raises(Withheld, match="still to review items of this team blind"):
            room.run("", panel=Panel([PanelMember(words)], repeats=2))
    assert is_withheld_judge(made.judge, people.ed) is True
    assert is_withheld_judge(room.run(model).judge_version.judge, people.ed) is False
