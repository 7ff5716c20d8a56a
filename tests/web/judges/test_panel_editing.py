"""Members, votes, stages and examples of a judge, changed on its page as browsers without scripts do."""

import re
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from rubricweb.engine.autograders.instructions import FormTexts, JudgeWording
from rubricweb.engine.judging.definition import JudgeDefinition, JudgeExample, Voting
from rubricweb.models import JudgeVersion, Run
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.runs import control
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.shared.archiving import archive
from tests import factories
from tests.factories import Cast
from tests.web.judges.test_judge_editing import STRICT, current, fields, text, url, version_of

KIND = "{{frame}}\n\nBe kind."
EXAMPLE = JudgeExample(
    uid="capital", requirement="Names the capital.", label="MET", reason="It does.", key="k1", output="Oslo."
)


def model_called(people: Cast, name: str) -> str:
    row = endpoints.add_endpoint(
        people.team, by=people.alice, name=name, base_url=f"http://127.0.0.1:9/{name}", model=f"m-{name}"
    )
    return row.judge_id


@pytest.fixture
def models(people: Cast) -> list[str]:
    return [model_called(people, "a"), model_called(people, "b")]


class FilledForm:
    """A judge's page, filled in and sent again and again."""

    def __init__(self, client: Client, people: Cast, version: JudgeVersion) -> None:
        self.client, self.version = client, version
        self.where = url("judge_edit", people, version.judge_id)
        self.answer: Any = client.get(self.where)

    @property
    def fields(self) -> dict[str, Any]:
        return fields(self.answer)

    def send(self, action: str, **changes: Any) -> Any:
        sent = self.fields | {name.replace("__", "-"): value for name, value in changes.items()}
        self.answer = self.client.post(self.where, sent | {"action": action})
        return self.answer

    def keep(self, **changes: Any) -> JudgeDefinition:
        answer = self.send("keep", **changes)
        assert answer.status_code == 302, text(answer)
        return current(self.version.judge)

    def tag(self, name: str, holds: str) -> str:
        """The one element of this name on the page whose attributes hold these words."""
        [found] = [tag for tag in re.findall(rf"<{name}[^>]*>", self.answer.content.decode()) if holds in tag]
        return found

    def wrong(self) -> dict[str, list[str]]:
        """What is said at which field, by its name in the form."""
        return {
            one.add_prefix(name): [str(error) for error in errors]
            for one in self.answer.context["form"].parts
            for name, errors in one.errors.items()
        }


@pytest.fixture
def single(people: Cast, models: list[str], sign_in: Any) -> FilledForm:
    return FilledForm(sign_in(people.ed), people, version_of(people, models[0]))


@pytest.fixture
def panel(people: Cast, models: list[str], sign_in: Any) -> FilledForm:
    members = [PanelMember(models[0], weight=2.0), PanelMember(models[1], stage=1)]
    asked = Panel(members, rule="unanimous", repeats=[1, 3], quorum=0.5, escalate_on=["error"])
    return FilledForm(sign_in(people.ed), people, version_of(people, "", panel=asked))


# ── Members ──────────────────────────────────────────────────────────────────────────────────────


def test_a_judge_of_one_model_keeps_its_panel_folded(single: FilledForm) -> None:
    page = single.answer.content.decode()
    assert '<details class="card disclosure">' in page  # closed
    assert 'name="member0-weight"' not in page
    assert 'name="member0-name"' not in page
    assert 'name="member0-own"' not in page


def test_a_second_model_is_added_and_both_vote(single: FilledForm) -> None:
    single.send("add-member", note="Two of them.")
    for name in ("member0-model", "member1-model"):
        assert 'list="model-names"' in single.tag("input", f'name="{name}"')
    assert single.answer.content.decode().count('<datalist id="model-names">') == 1
    assert '<option value="m-a">' in single.answer.content.decode()
    # It begins with a model that nobody asks yet, and the focus goes there.
    assert single.fields["member1-model"] == "m-b"
    assert "autofocus" in single.tag("select", 'name="member1-endpoint"')
    assert single.fields["note"] == "Two of them."
    kept = single.keep(
        member1__weight="0.5",
        member1__own="on",
        member1__text_without_options=STRICT,
        repeats="2",
        quorum="0.6",
        rule_binary="weighted",
    )
    a, b = kept.members
    assert (a.name, a.weight, a.stage, a.wording) == ("a", 1.0, 0, None)
    assert (b.name, b.endpoint, b.address, b.model) == ("b", "b", "http://127.0.0.1:9/b", "m-b")
    assert (b.weight, b.wording) == (0.5, JudgeWording(instructions=FormTexts(without_options=STRICT)))
    assert kept.voting == Voting(rule={"binary": "weighted"}, repeats=(2,), quorum=0.6)


def test_one_model_asked_three_times_is_a_judge_that_votes(single: FilledForm) -> None:
    kept = single.keep(repeats="3")
    assert len(kept.members) == 1
    assert kept.voting == Voting(repeats=(3,))


def test_a_model_is_added_beside_another_way_of_asking_which_is_laid_out_next(single: FilledForm) -> None:
    single.send("add-member", way="one_shot json", text_without_options=STRICT)
    assert single.fields["member1-model"] == "m-b"
    assert single.fields["text_without_options"] == STRICT
    single.send("keep")
    assert "our instructions for it stand in the fields now" in text(single.answer)
    assert single.fields["beside_without_options"] == STRICT
    assert single.keep().autograder == "one_shot"


def test_two_of_one_endpoint_are_told_apart(single: FilledForm) -> None:
    single.send("add-member")
    single.send("way", member1__endpoint=single.fields["member0-endpoint"])
    kept = single.keep(member1__model="m-a", member1__temperature="0.7")
    assert [member.name for member in kept.members] == ["a", "a (2)"]
    assert [member.model for member in kept.members] == ["m-a", "m-a"]


def test_what_stands_there_is_kept_where_nothing_was_changed(panel: FilledForm) -> None:
    shown = panel.fields
    assert (shown["repeats"], shown["quorum"], shown["member1-stage"]) == ("1, 3", "0.5", "2")
    assert (shown["rule_binary"], shown["rule_nominal"], "rule_ordinal" in shown) == (
        "unanimous",
        "unanimous",
        False,
    )
    assert panel.send("keep").status_code == 422
    assert "Nothing is changed" in text(panel.answer)
    kept = panel.keep(quorum="0.75")
    assert kept.voting == Voting(rule="unanimous", repeats=(1, 3), quorum=0.75, escalate_on=("error",))


def test_members_are_moved_with_all_that_is_typed(panel: FilledForm) -> None:
    panel.send("down-member 0", member0__temperature="0.3", member0__stage="2", member1__stage="1")
    assert (panel.fields["member1-model"], panel.fields["member1-temperature"]) == ("m-a", "0.3")
    # Down it cannot go further: the focus is on the button that moves it back.
    assert "autofocus" in panel.tag("button", 'value="up-member 1"')
    b, a = panel.keep(repeats="2").members
    assert (b.name, b.stage, b.weight) == ("b", 0, 1.0)
    assert (a.name, a.stage, a.weight, a.sampling.temperature) == ("a", 1, 2.0, 0.3)
    assert current(panel.version.judge).voting.repeats == (2, 2)


def test_a_member_is_removed_and_a_stage_closes_up(panel: FilledForm) -> None:
    panel.send("remove-member 0")
    assert "member1-endpoint" not in panel.fields
    refused = panel.send("keep", repeats="1")
    # With one stage there is nothing to go on to.
    assert refused.status_code == 422
    assert list(panel.wrong()) == ["escalate_on"]
    kept = panel.keep(escalate_on=[], quorum="0", rule_binary="", rule_nominal="")
    [b] = kept.members
    assert (b.name, b.stage, kept.voting) == ("b", 0, None)


@pytest.mark.parametrize(
    ("changes", "place", "says"),
    [
        ({"member0__weight": "-1"}, "member0-weight", "a finite number from 0"),
        ({"member1__name": "a"}, "member1-name", "a name no other member has"),
        ({"repeats": "0, 3"}, "repeats", "1 to 100"),
        ({"repeats": "1, 2, 3"}, "repeats", "a number for each of 2 stages"),
        ({"repeats": "often"}, "repeats", "Whole numbers"),
        ({"quorum": "2"}, "quorum", "less than or equal to 1"),
        ({"escalate_on": ["low_confidence"]}, "min_confidence", "both or neither"),
        ({"min_confidence": "0.8"}, "min_confidence", "both or neither"),
        ({"member1__stage": "0"}, "member1-stage", "greater than or equal to 1"),
        ({"member1__temperature": "9"}, "member1-temperature", "0 to 2"),
        ({"member1__own": "on", "member1__text_with_options": "x"}, "member1-text_with_options", "{{frame}}"),
        ({"rule_binary": "loudest"}, "rule_binary", "loudest"),
        ({"way": "rubric_as_judge json", "texts_for": "rubric_as_judge json"}, "way", "every criterion"),
    ],
)
def test_each_fault_is_said_at_its_field_and_nothing_typed_is_lost(
    panel: FilledForm, changes: dict[str, Any], place: str, says: str
) -> None:
    typed = {"note": "Mine.", "text_without_options": STRICT}
    answer = panel.send("keep", **typed, **changes)
    assert answer.status_code == 422
    assert list(panel.wrong()) == [place]
    assert says in " ".join(panel.wrong()[place])
    assert f'href="#id_{place}' in answer.content.decode()  # the list of what is wrong leads there
    for name, value in (typed | changes).items():
        assert panel.fields[name.replace("__", "-")] == value
    assert JudgeVersion.objects.count() == 1


def test_no_row_but_those_on_the_page_is_moved_or_removed(panel: FilledForm) -> None:
    for action in ("remove-member 2", "up-member -1", "down-member x", "change-example 0"):
        assert panel.send(action).status_code == 400
        panel.answer = panel.client.get(panel.where)


def test_a_new_judge_is_a_panel_from_the_start(people: Cast, models: list[str], sign_in: Any) -> None:
    client = sign_in(people.ed)
    where = f"{url('judge_new', people)}?name=Two&model={models[0]}&way=per_criterion+json"
    answer = client.post(where, fields(client.get(where)) | {"action": "add-member"})
    assert fields(answer)["name"] == "Two"
    answer = client.post(where, fields(answer) | {"repeats": "2", "quorum": "7"})
    assert (answer.status_code, list(answer.context["form"].errors)) == (422, ["quorum"])
    assert client.post(where, fields(answer) | {"quorum": "0.5"}).status_code == 302
    [kept] = JudgeVersion.objects.all()
    assert [member.name for member in kept.definition.members] == ["a", "b"]
    assert kept.definition.voting == Voting(repeats=(2,), quorum=0.5)


def test_a_member_goes_by_its_address_when_its_endpoint_is_renamed_meanwhile(
    people: Cast, panel: FilledForm
) -> None:
    row = next(one for one in endpoints.endpoints_of(people.team) if one.name == "b")
    endpoints.change_endpoint(row, by=people.alice, now=timezone.now(), name="c")
    kept = panel.keep(text_without_options=STRICT)
    assert [(member.name, member.address) for member in kept.members] == [
        (member.name, member.address) for member in panel.version.definition.members
    ]


# ── Examples ─────────────────────────────────────────────────────────────────────────────────────


def test_an_example_is_added_shown_to_its_criterion_and_removed(people: Cast, single: FilledForm) -> None:
    rubric = factories.version(people.team, people.ed).rubric
    single.send("add-example", examples_from=str(rubric.pk))
    assert "Example 1" in text(single.answer)
    choices = single.answer.context["form"].examples[0].fields["criterion"].choices
    criterion = choices[0][0]
    refused = single.send("keep", example0__label="perhaps", example0__criterion=criterion)
    assert refused.status_code == 422
    wrong = single.wrong()
    assert set(wrong) == {"example0-label", "example0-output"}
    assert "Allowed: MET, UNMET." in wrong["example0-label"][0]
    said = {"label": "unmet", "reason": "It names\r\nnone.", "output": "I do not know.", "query": "Capital?"}
    [shown] = single.keep(**{f"example0__{name}": value for name, value in said.items()}).examples
    asked = rubric.versions.get().criteria.get(pk=int(criterion))
    assert (shown.uid, shown.requirement) == (asked.uid, asked.requirement)
    assert (shown.label, shown.reason, shown.output) == ("UNMET", "It names\nnone.", "I do not know.")
    assert (shown.query, shown.reference, shown.key) == ("Capital?", None, "example 1")
    again = FilledForm(single.client, people, single.version)
    assert "example0-output" not in again.fields  # it is read, and changed once somebody asks for that
    again.send("change-example 0")
    assert again.fields["example0-reason"] == "It names\nnone."
    again.keep(example0__reason="Nothing is named.")
    [changed] = current(single.version.judge).examples
    assert changed == shown.model_copy(update={"reason": "Nothing is named."})
    gone = FilledForm(single.client, people, single.version)
    gone.send("remove-example 0")
    assert "autofocus" in gone.tag("button", 'value="add-example"')
    assert gone.send("keep").status_code == 422  # v1 asked just so
    assert "v1 asks just so" in text(gone.answer)


def test_examples_that_nobody_touched_stay_word_for_word(people: Cast, single: FilledForm) -> None:
    asked = EXAMPLE.model_copy(update={"query": [{"role": "user", "content": "Capital?"}]})
    begun = single.version.definition.model_copy(update={"examples": (asked, EXAMPLE)})
    second = versions.keep_version(single.version.judge, begun, by=people.ed, parent=single.version)
    form = FilledForm(single.client, people, second)
    assert "Names the capital." in text(form.answer)
    assert form.keep(text_without_options=STRICT).examples == (asked, EXAMPLE)
    form = FilledForm(single.client, people, second)
    form.send("change-example 0")
    assert "example0-query" not in form.fields  # a conversation is no text
    kept = form.keep(example0__label="UNMET").examples
    assert kept == (asked.model_copy(update={"label": "UNMET"}), EXAMPLE)


def test_an_example_is_of_a_criterion_of_the_team(people: Cast, single: FilledForm) -> None:
    theirs = factories.version(people.other_team, people.charlie).rubric
    single.send("add-example", examples_from=str(theirs.pk))
    assert single.answer.context["form"].examples[0].fields["criterion"].choices == []
    single.send("keep", example0__label="MET", example0__output="Oslo.", example0__criterion="1")
    assert list(single.wrong()) == ["example0-criterion"] or "examples_from" in single.wrong()


# ── Two people ───────────────────────────────────────────────────────────────────────────────────


def test_a_version_kept_meanwhile_loses_neither_my_rows_nor_theirs(people: Cast, panel: FilledForm) -> None:
    mine = {"member0__temperature": "0.4", "member0__own": "on", "member0__text_without_options": STRICT}
    panel.send("add-member")
    a, b = panel.version.definition.members
    kind = JudgeWording(instructions=FormTexts(without_options=KIND))
    theirs = panel.version.definition.model_copy(
        update={
            # Turned round: my rows must not be taken for theirs.
            "members": (
                b.model_copy(update={"stage": 0}),
                a.model_copy(update={"stage": 1, "wording": kind}),
            ),
            "examples": (EXAMPLE,),
        }
    )
    versions.keep_version(panel.version.judge, theirs, by=people.alice, parent=panel.version)
    answer = panel.send("keep", **mine)
    page = text(answer)
    assert answer.status_code == 409
    assert f"{people.alice} kept v2 meanwhile" in page
    assert "Be kind." in page  # what their member a is told, beside mine
    assert "Names the capital. – MET: It does." in page  # their example
    assert "v2, b: Stage" not in page
    assert "a: Stage" in page or "a: stage" in page  # their change of a member
    kept = panel.keep()
    assert [member.name for member in kept.members][:2] == ["a", "b"]
    assert (kept.members[0].sampling.temperature, kept.members[0].address) == (0.4, a.address)
    assert kept.members[0].wording == JudgeWording(instructions=FormTexts(without_options=STRICT))
    assert JudgeVersion.objects.get(number=3).parent.number == 2


def test_an_endpoint_that_is_archived_meanwhile_is_named_and_nothing_is_lost(
    people: Cast, panel: FilledForm
) -> None:
    row = next(one for one in endpoints.endpoints_of(people.team) if one.name == "b")
    control.cancel_run(Run.objects.get(), by=people.ed, now=timezone.now())
    archive(row, by=people.alice, now=timezone.now())
    answer = panel.send("keep", text_without_options=STRICT)
    assert answer.status_code == 422
    page = text(answer)
    assert "This is none of the team’s models any more: choose another." in page
    assert list(panel.wrong()) == ["member1-endpoint"]
    assert panel.fields["text_without_options"] == STRICT
