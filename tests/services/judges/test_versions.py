"""Judges have versions: one that is picked finds or makes its own, a person keeps others."""

from collections.abc import Iterable, Iterator
from threading import Event

import pytest
from django.utils import timezone

from rubricweb.engine.autograders import FormTexts, JudgeWording
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.judges.base import JudgeConfig, Question, Reply
from rubricweb.models import Judge, JudgeCall, Judgement, JudgeVersion, Run, VersionOrigin
from rubricweb.selectors.runs.diff.diff import run_diff
from rubricweb.selectors.runs.over_time import score_series
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.judges.definitions import definition_of, resolved
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.shared import archiving
from tests.factories import Cast, dataset, run, version
from tests.judging import InProcessJudge, grade

pytestmark = pytest.mark.django_db

CRITERIA = [
    {"name": "paris", "weight": 1.0, "requirement": "Names Paris."},
    {"name": "short", "weight": 1.0, "requirement": "Is short."},
]
ITEMS = [{"id": "a", "submission": "Paris."}, {"id": "b", "submission": "Rome."}]
STRICT = "{{frame}}\n\nDecide UNMET when in doubt."


class ObedientJudge(InProcessJudge):
    """Says UNMET where it is told to when in doubt, MET otherwise."""

    def __init__(self) -> None:
        self.systems: list[str] = []

    def __call__(
        self, config: JudgeConfig, questions: Iterable[Question], *, stop: Event | None = None
    ) -> Iterator[Reply]:
        for question in questions:
            self.systems.append(question.prompt.system)
            says = "UNMET" if "UNMET when in doubt" in question.prompt.system else "MET"
            yield self._reply(config, question, says)


class Room:
    def __init__(self, people: Cast) -> None:
        self.people, self.team = people, people.team
        self.dataset = dataset(people.team, people.ed, items=ITEMS)
        self.version = version(people.team, people.ed, criteria=CRITERIA)

    def run(self, judge_id: str = "offline", **options: object) -> Run:
        return run(
            self.team,
            self.people.ed,
            dataset=self.dataset,
            rubric_version=self.version,
            judge_id=judge_id,
            use_cache=True,
            **options,
        )

    def endpoint(self, name: str = "gpt-5-mini", **options: object) -> str:
        row = endpoints.add_endpoint(
            self.team, by=self.people.alice, name=name, base_url="http://127.0.0.1:9/v1", model="m", **options
        )
        return row.judge_id

    def change(self, **options: object) -> None:
        """Changes the team's only endpoint."""
        endpoint = endpoints.endpoints_of(self.team)[0]
        endpoints.change_endpoint(endpoint, by=self.people.alice, now=timezone.now(), **options)


@pytest.fixture
def room(people: Cast) -> Room:
    return Room(people)


def strict(of: JudgeVersion) -> JudgeDefinition:
    wording = JudgeWording(instructions=FormTexts(without_options=STRICT))
    return of.definition.model_copy(update={"wording": wording})


def test_picking_a_model_finds_its_judge_or_makes_it(room: Room) -> None:
    model = room.endpoint()
    first, again = room.run(model), room.run(model)
    assert first.judge_version == again.judge_version
    made = first.judge_version
    assert (str(made), made.judge.name) == (
        "gpt-5-mini-criterion-by-criterion@v1",
        "gpt-5-mini, criterion by criterion",
    )
    assert (made.origin, made.judge.current, made.created_by) == ("picked", made, room.people.ed)
    dotted = versions.create_judge(room.team, strict(made), by=room.people.ed, name="qwen2.5:0.5b, strict")
    assert str(dotted) == "qwen2-5-0-5b-strict@v1"
    other = room.run(model, autograder="one_shot").judge_version
    assert other.judge.name == "gpt-5-mini, all at once"
    # Another temperature is the next version of the same judge; one with another name is the same.
    room.change(temperature=1.0)
    warm = room.run(model).judge_version
    assert (warm.judge, warm.number, warm.parent) == (made.judge, 2, made)
    room.change(name="mini")
    assert room.run(model).judge_version == warm


def test_limits_prices_and_policies_make_no_version(room: Room) -> None:
    model = room.endpoint()
    first = room.run(model).judge_version
    room.change(max_concurrency=3, input_usd_per_million=1.0, output_usd_per_million=2.0)
    assert room.run(model, abstention="zero", normalize=False, option_seed=5).judge_version == first
    assert JudgeVersion.objects.count() == 1


@pytest.mark.parametrize("autograder", ["per_criterion", "one_shot", "rubric_as_judge"])
def test_what_a_run_keeps_is_what_its_version_comes_to(room: Room, autograder: str) -> None:
    started = room.run(room.endpoint(temperature=0.5), autograder=autograder)
    assert resolved(room.team, started.judge_version.definition) == (started.judge, started.panel)
    again = run(
        room.team,
        room.people.ed,
        dataset=room.dataset,
        rubric_version=room.version,
        judge_id=str(started.judge_version),
    )
    assert (again.judge, again.panel, again.judge_version) == (
        started.judge,
        started.panel,
        started.judge_version,
    )
    assert (again.autograder, again.reply_format) == (started.autograder, started.reply_format)


def test_panels_and_cascades_are_judges_too(room: Room) -> None:
    model = room.endpoint()
    panel = Panel([PanelMember(model), PanelMember("offline", weight=2.0)], repeats=2, quorum=0.5)
    cascade = Panel([PanelMember("offline"), PanelMember(model, stage=1)], repeats=[1, 3])
    for asked, name in (
        (panel, "gpt-5-mini + offline judge (not an LLM) × 2, criterion by criterion"),
        (cascade, "offline judge (not an LLM) → gpt-5-mini × 3, criterion by criterion"),
    ):
        started = room.run("", panel=asked)
        assert started.judge_version.judge.name == name
        assert resolved(room.team, started.judge_version.definition) == (started.judge, started.panel)
        assert room.run("", panel=asked).judge_version == started.judge_version
        assert room.run(str(started.judge_version)).panel == started.panel


def test_checks_alone_and_imported_grades_have_no_judge(room: Room) -> None:
    check = {"name": "short", "weight": 1.0, "check": "length_between", "params": {"unit": "words", "max": 9}}
    started = run(
        room.team,
        room.people.ed,
        dataset=room.dataset,
        rubric_version=version(room.team, room.people.ed, title="Checks", criteria=[check]),
        judge_id="",
    )
    assert started.judge_version is None
    assert not Judge.objects.exists()


def test_a_judge_that_is_told_otherwise_grades_otherwise_and_the_version_before_as_before(room: Room) -> None:
    judge = ObedientJudge()
    model = room.endpoint()
    first = grade(room.run(model), judge)
    v1 = first.judge_version
    assert set(Judgement.objects.filter(run=first).values_list("verdict", flat=True)) == {"MET"}
    v2 = versions.keep_version(v1.judge, strict(v1), by=room.people.ed, parent=v1, note="Strict in doubt.")
    assert (str(v2), v2.parent, v2.origin, Judge.objects.get().current) == (
        "gpt-5-mini-criterion-by-criterion@v2",
        v1,
        VersionOrigin.KEPT,
        v2,
    )
    told = grade(room.run(v1.judge.slug), judge)
    assert told.judge_version == v2
    assert set(Judgement.objects.filter(run=told).values_list("verdict", flat=True)) == {"UNMET"}
    asked = len(judge.systems)
    for words in (str(v1), model):  # the model itself still means what was picked
        again = grade(room.run(words), judge)
        assert set(Judgement.objects.filter(run=again).values_list("verdict", flat=True)) == {"MET"}
        assert again.judge_version == v1
    assert len(judge.systems) == asked  # every answer was known
    assert JudgeCall.objects.filter(run=again, cached_from=None).count() == 0


def test_members_of_a_panel_are_told_their_own_and_share_what_was_answered(room: Room) -> None:
    judge = ObedientJudge()
    model = room.endpoint()
    alone = grade(room.run(model), judge)
    pair = Panel([PanelMember(model, name="usual"), PanelMember(model, name="strict")])
    definition = room.run("", panel=pair).judge_version.definition
    usual, other = definition.members
    own = other.model_copy(update={"wording": JudgeWording(instructions=FormTexts(without_options=STRICT))})
    made = versions.create_judge(
        room.team,
        definition.model_copy(update={"members": (usual, own)}),
        by=room.people.ed,
        name="Two minds",
    )
    judge.systems.clear()
    told = grade(room.run("two-minds"), judge)
    assert told.judge_version == made
    votes = told.votes.values_list("judge", "verdict").distinct()
    assert set(votes) == {("usual", "MET"), ("strict", "UNMET")}
    # Four questions to the strict one; the other was asked by the run before.
    assert len(judge.systems) == 4
    assert all("UNMET when in doubt" in system for system in judge.systems)
    assert alone.judge_version != made


def test_two_people_who_keep_a_version_at_once_are_told_and_lose_nothing(room: Room) -> None:
    v1 = room.run(room.endpoint()).judge_version
    versions.keep_version(v1.judge, strict(v1), by=room.people.ed, parent=v1)
    other = v1.definition.model_copy(
        update={"wording": JudgeWording(instructions=FormTexts(without_options="{{frame}} Be kind."))}
    )
    with pytest.raises(Conflict, match=r"kept gpt-5-mini-criterion-by-criterion@v2 meanwhile"):
        versions.keep_version(v1.judge, other, by=room.people.alice, parent=v1)
    assert JudgeVersion.objects.filter(judge=v1.judge).count() == 2


def test_the_same_definition_is_no_other_version_but_can_be_current_again(room: Room) -> None:
    v1 = room.run(room.endpoint()).judge_version
    v2 = versions.keep_version(v1.judge, strict(v1), by=room.people.ed, parent=v1)
    with pytest.raises(Conflict, match=r"@v1 asks just so"):
        versions.keep_version(v1.judge, v1.definition, by=room.people.ed, parent=v2)
    versions.make_current(v1, by=room.people.ed)
    assert versions.version_called(room.team, v1.judge.slug) == v1
    # From the one that is current, though it is not the newest.
    third = versions.keep_version(
        v1.judge,
        v1.definition.model_copy(
            update={
                "wording": JudgeWording(whole_messages=FormTexts(without_options="Judge. Answer in JSON."))
            }
        ),
        by=room.people.ed,
        parent=v1,
    )
    assert (third.number, third.parent) == (3, v1)


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (
            {"wording": JudgeWording(instructions=FormTexts(without_options="No frame."))},
            "wording.instructions",
        ),
        ({"autograder": "by_heart"}, "autograder"),
        ({"members": ()}, "members"),
        ({"reply_format": "yes_no", "autograder": "one_shot"}, "reply_format"),
    ],
)
def test_a_definition_that_cannot_be_is_refused_with_its_place(
    room: Room, change: dict[str, object], place: str
) -> None:
    v1 = room.run(room.endpoint()).judge_version
    with pytest.raises(Invalid) as refused:
        versions.keep_version(v1.judge, v1.definition.model_copy(update=change), by=room.people.ed, parent=v1)
    assert refused.value.faults[0].place.startswith(place)
    assert JudgeVersion.objects.count() == 1


@pytest.mark.parametrize("slug", ["offline", "environment", "endpoint-3", "panel", "Big", "a b", "a--b"])
def test_a_slug_names_no_other_judge(room: Room, slug: str) -> None:
    v1 = room.run(room.endpoint()).judge_version
    with pytest.raises(Invalid) as refused:
        versions.create_judge(room.team, strict(v1), by=room.people.ed, name="Strict", slug=slug)
    assert refused.value.faults[0].place == "slug"
    assert Judge.objects.count() == 1


def test_a_slug_stays_taken_and_a_name_does_not_when_a_judge_is_archived(room: Room) -> None:
    v1 = room.run(room.endpoint()).judge_version
    kept = versions.create_judge(room.team, strict(v1), by=room.people.ed, name="Support judge")
    with pytest.raises(Conflict, match="already has a judge called 'support JUDGE'"):
        versions.create_judge(room.team, strict(v1), by=room.people.ed, name="support JUDGE")
    archiving.archive(kept.judge, by=room.people.ed, now=timezone.now())
    with pytest.raises(Conflict, match="archived"):
        room.run("support-judge@v1")
    again = versions.create_judge(room.team, strict(v1), by=room.people.ed, name="Support judge")
    assert again.judge.slug == "support-judge-2"
    with pytest.raises(Conflict, match="rename that one first"):
        archiving.restore(kept.judge, by=room.people.ed)


def test_an_endpoint_that_is_no_more_is_said_by_name(room: Room) -> None:
    v1 = room.run(room.endpoint()).judge_version
    endpoint = endpoints.endpoints_of(room.team)[0]
    for one in Run.objects.all():
        end(one)
    archiving.archive(endpoint, by=room.people.alice, now=timezone.now())
    with pytest.raises(Conflict, match="The endpoint gpt-5-mini that gpt-5-mini is asked at is archived"):
        room.run(str(v1))
    archiving.restore(endpoint, by=room.people.alice)
    endpoints.remove_endpoint(endpoint, by=room.people.alice, now=timezone.now())
    with pytest.raises(
        Conflict, match=r"asked at 127\.0\.0\.1:9 \(gpt-5-mini\), which is none of the team's"
    ):
        room.run(str(v1))


def end(one: Run) -> None:
    """So that nothing asks its endpoint any more."""
    lifecycle.cancel_run(one, by=None, now=timezone.now())


def test_words_that_name_no_version_are_refused(room: Room) -> None:
    v1 = room.run(room.endpoint()).judge_version
    for words in (f"{v1.judge.slug}@v9", f"{v1.judge.slug}@3", "nobody@v1"):
        with pytest.raises(NotFound):
            room.run(words)
    with pytest.raises(Invalid, match="There is no judge 'nobody' here"):
        room.run("nobody")
    with pytest.raises(Invalid) as refused:
        room.run(str(v1), autograder="one_shot")
    assert refused.value.faults[0].place == "autograder"


def test_a_digest_moves_with_what_is_asked_alone(room: Room) -> None:
    started = room.run(room.endpoint())
    v1 = started.judge_version
    assert (
        definition_of(started.judge, None, autograder="per_criterion", reply_format="json") == v1.definition
    )
    renamed = v1.definition.members[0].model_copy(update={"name": "x", "endpoint": "y"})
    assert v1.definition.model_copy(update={"members": (renamed,)}).digest == v1.digest
    for change in (
        {"autograder": "one_shot"},
        {"reply_format": "yes_no"},
        {"wording": JudgeWording(whole_messages=FormTexts(with_options="x"))},
        {"members": (v1.definition.members[0].model_copy(update={"model": "n"}),)},
        {"members": (v1.definition.members[0].model_copy(update={"address": "http://other/v1"}),)},
        {"members": (v1.definition.members[0].model_copy(update={"fallback_model": "n"}),)},
    ):
        assert v1.definition.model_copy(update=change).digest != v1.digest
    assert JudgeDefinition.model_validate_json(v1.definition.model_dump_json()) == v1.definition


def test_a_version_in_other_words_is_another_series_and_the_difference_of_two_runs_says_so(
    room: Room,
) -> None:
    judge = ObedientJudge()
    first = grade(room.run(room.endpoint()), judge)
    v1 = first.judge_version
    v2 = versions.keep_version(v1.judge, strict(v1), by=room.people.ed, parent=v1)
    told = grade(room.run(str(v2)), judge)
    again = grade(room.run(str(v1)), judge)
    assert (v1.words_digest, len(v2.words_digest)) == ("", 64)
    runs = score_series.finished_runs(Run.objects.all())
    series = score_series.series_of(room.team, runs, frozenset(), frozenset())
    assert [{point.run_id for point in one.points} for one in series] == [{first.pk, again.pk}, {told.pk}]
    assert [one.place for one in series] == [(1, 1), (1, 2)]  # of one judge, asked in two ways
    found = run_diff(told, first, viewer=room.people.ed)
    assert [(one.name, one.run, one.baseline) for one in found.settings] == [
        ("Instructions", f"those of {v2}", f"those of {v1}")
    ]
