"""Wording a judge's next version, and making a new judge, as a browser does it."""

import re
from html import unescape
from typing import Any

import pytest
from django.urls import reverse

from rubricweb.engine.autograders.instructions import FormTexts, JudgeWording, shipped_instructions
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.models import Judge, JudgeVersion
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast

STRICT = "{{frame}}\n\nDecide UNMET when in doubt."
KIND = "{{frame}}\n\nBe kind."
OURS = shipped_instructions("per_criterion")


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def text(answer: Any) -> str:
    return " ".join(unescape(answer.content.decode()).split())


def fields(answer: Any) -> dict[str, Any]:
    """What a browser would send of the form on the page."""
    form = answer.context["form"]
    sent: dict[str, Any] = {}
    for one in form.parts:
        for field in one:
            value = field.value()
            if value is not None and value is not False and value not in ("", []):
                several = value if isinstance(value, list) else str(value)
                sent[field.html_name] = "on" if value is True else several
    return sent


@pytest.fixture
def model(people: Cast) -> str:
    row = endpoints.add_endpoint(
        people.team, by=people.alice, name="gpt-5-mini", base_url="http://127.0.0.1:9/v1", model="m"
    )
    return row.judge_id


@pytest.fixture
def first(people: Cast, model: str) -> JudgeVersion:
    """The first version of a judge, which a run made."""
    return version_of(people, model)


def version_of(people: Cast, model: str, **options: Any) -> JudgeVersion:
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        judge_id=model,
        **options,
    )
    version = run.judge_version
    assert isinstance(version, JudgeVersion)
    return version


def current(judge: Judge) -> JudgeDefinition:
    judge.refresh_from_db()
    assert judge.current is not None
    return judge.current.definition


# ── A next version ───────────────────────────────────────────────────────────────────────────────


def test_the_form_begins_with_ours_and_shows_what_is_sent_around_it(people: Cast, sign_in, first) -> None:
    answer = sign_in(people.ed).get(url("judge_edit", people, first.judge_id))
    page = text(answer)
    assert fields(answer)["text_without_options"] == OURS
    assert "How to treat the material - Everything between tags is material to judge" in page  # the frame
    assert "How to reply Reply with one JSON object and nothing else" in page
    assert "Keep as v2" in page
    assert "are then yours" in page  # of a whole message
    # No field is left to scripts: every button sends the form.
    assert set(re.findall(r'name="action" value="([^"]+)"', answer.content.decode())) == {
        "keep",
        "try",
        "way",
        "ours without_options",
        "ours with_options",
        "add-member",
        "add-example",
    }


def test_words_model_sampling_and_note_are_kept_as_the_next_version(people: Cast, sign_in, first) -> None:
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    sent = fields(client.get(where)) | {
        "text_without_options": STRICT.replace("\n", "\r\n"),
        "member0-model": "m-large",
        "member0-temperature": "0.7",
        "member0-logprobs": "on",
        "note": "Stricter in doubt.",
    }
    answer = client.post(where, sent, follow=True)
    assert "@v2 is kept, and is the current version." in text(answer)
    kept = JudgeVersion.objects.get(number=2)
    assert (kept.parent, kept.note, kept.created_by, kept.origin) == (
        first,
        "Stricter in doubt.",
        people.ed,
        "kept",
    )
    # The text for questions with options was left as it was: it is ours, and stays ours.
    assert kept.definition.wording == JudgeWording(instructions=FormTexts(without_options=STRICT))
    [member] = kept.definition.members
    assert (member.model, member.sampling.temperature, member.sampling.logprobs) == ("m-large", 0.7, True)


def test_nothing_changed_is_no_version(people: Cast, sign_in, first) -> None:
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    answer = client.post(where, fields(client.get(where)))
    assert answer.status_code == 422
    assert "Nothing is changed" in text(answer)
    assert JudgeVersion.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text_without_options", "No frame."),
        ("text_with_options", "{{frame}} {{criterion}}"),
        ("text_with_options", "{{frame}}" + "x" * 20_001),
        ("whole_without_options", "y" * 20_001),
        ("note", "n" * 2_001),
        ("way", "by_heart json"),
        ("member0-temperature", "3"),
        ("member0-temperature", "warm"),
        ("member0-endpoint", "endpoint-999"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field_and_stays_typed(
    people: Cast, sign_in, first, field: str, value: str
) -> None:
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    mine = {"text_without_options": STRICT, "note": "Mine."}
    answer = client.post(where, fields(client.get(where)) | mine | {field: value})
    form = answer.context["form"]
    assert answer.status_code == 422
    bad = [one.add_prefix(name) for one in (form, *form.members) for name in one.errors]
    assert bad == [field]
    assert fields(answer)[field] == value
    assert f'href="#id_{field}"' in answer.content.decode()  # the summary leads there
    assert JudgeVersion.objects.count() == 1


def test_a_whole_message_is_kept_word_for_word_but_not_beside_instructions(
    people: Cast, sign_in, first
) -> None:
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    sent = fields(client.get(where)) | {"whole_without_options": "Judge. Answer in JSON."}
    refused = client.post(where, sent | {"text_without_options": STRICT})
    assert list(refused.context["form"].errors) == ["whole_without_options"]
    client.post(where, sent)
    assert current(first.judge).wording == JudgeWording(
        whole_messages=FormTexts(without_options="Judge. Answer in JSON.")
    )


def test_ours_come_back_and_the_text_before_stays_beside(people: Cast, sign_in, first) -> None:
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    sent = fields(client.get(where)) | {"text_without_options": STRICT, "note": "Mine."}
    answer = client.post(where, sent | {"action": "ours without_options"})
    shown = fields(answer)
    assert (shown["text_without_options"], shown["beside_without_options"]) == (OURS, STRICT)
    assert shown["note"] == "Mine."
    back = fields(client.post(where, shown | {"action": "back without_options"}))
    assert back["text_without_options"] == STRICT
    assert "beside_without_options" not in back
    assert client.post(where, shown | {"action": "ours nowhere"}).status_code == 400
    assert JudgeVersion.objects.count() == 1


def test_another_way_of_asking_puts_ours_back_says_so_and_keeps_the_text_beside(
    people: Cast, sign_in, first
) -> None:
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    sent = fields(client.get(where)) | {"text_without_options": STRICT, "way": "one_shot json"}
    # Also where "Keep" is pressed at once: nobody keeps words that were written for another question.
    answer = client.post(where, sent | {"action": "keep"})
    assert (answer.status_code, JudgeVersion.objects.count()) == (200, 1)
    assert "our instructions for it stand in the fields now" in text(answer)
    shown = fields(answer)
    assert shown["text_without_options"] == shipped_instructions("one_shot")
    assert shown["beside_without_options"] == STRICT
    assert "Rubrics without options" in text(answer)
    client.post(where, shown | {"action": "keep"})
    assert (current(first.judge).autograder, current(first.judge).wording.is_shipped) == ("one_shot", True)


def test_a_version_kept_meanwhile_shows_both_texts_and_keeps_mine(people: Cast, sign_in, first) -> None:
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    sent = fields(client.get(where)) | {"text_without_options": STRICT, "note": "Mine."}
    theirs = JudgeWording(instructions=FormTexts(without_options=KIND))
    versions.keep_version(
        first.judge,
        first.definition.model_copy(update={"wording": theirs}),
        by=people.alice,
        parent=first,
        note="Kinder.",
    )
    answer = client.post(where, sent)
    page = text(answer)
    assert answer.status_code == 409
    assert f"{people.alice} kept v2 meanwhile" in page
    assert "Be kind." in page
    assert "Kinder." in page
    assert (fields(answer)["text_without_options"], fields(answer)["note"]) == (STRICT, "Mine.")
    assert "Keep as v3" in page
    client.post(where, fields(answer))
    mine = JudgeVersion.objects.get(number=3)
    assert (mine.parent.number, mine.definition.wording.instructions.without_options) == (2, STRICT)


def test_an_earlier_version_asks_just_so_is_said_on_top(people: Cast, sign_in, first) -> None:
    wording = JudgeWording(instructions=FormTexts(without_options=STRICT))
    versions.keep_version(
        first.judge, first.definition.model_copy(update={"wording": wording}), by=people.ed, parent=first
    )
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    answer = client.post(where, fields(client.get(where)) | {"text_without_options": ""})
    assert answer.status_code == 422
    assert "@v1 asks just so. Make it the current version instead." in text(answer)


def test_another_endpoint_brings_its_own_model_and_the_offline_judge_says_that_it_reads_nothing(
    people: Cast, sign_in, first
) -> None:
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    client.post(where, fields(client.get(where)) | {"member0-endpoint": "offline"})
    [member] = current(first.judge).members
    assert (member.address, member.name, member.model) == (
        "offline",
        "offline judge (not an LLM)",
        endpoints.judges_of(people.team)["offline"].model,
    )
    assert "It does not read instructions" in text(client.get(where))


def test_an_endpoint_that_is_gone_is_named_and_another_can_be_chosen(people: Cast, sign_in, first) -> None:
    [row] = endpoints.endpoints_of(people.team)
    endpoints.remove_endpoint(row, by=people.alice, now=first.created_at)
    client = sign_in(people.ed)
    where = url("judge_edit", people, first.judge_id)
    opened = client.get(where)
    assert "which is none of the team’s models any more" in text(opened)
    sent = fields(opened) | {"text_without_options": STRICT}
    refused = client.post(where, sent)
    assert (refused.status_code, "none of the team's models any more" in text(refused)) == (422, True)
    client.post(where, sent | {"member0-endpoint": "offline"})
    assert current(first.judge).members[0].address == "offline"


def test_members_of_a_panel_are_told_their_own_texts(people: Cast, sign_in, model) -> None:
    panel = Panel([PanelMember(model), PanelMember("offline")], repeats=2)
    version = version_of(people, "", panel=panel)
    client = sign_in(people.ed)
    where = url("judge_edit", people, version.judge_id)
    opened = client.get(where)
    sent = fields(opened) | {"member0-own": "on", "member0-text_without_options": STRICT}
    # Not ticked, a text is not its own.
    sent |= {"member1-text_without_options": KIND}
    client.post(where, sent)
    strict, other = current(version.judge).members
    assert strict.wording == JudgeWording(instructions=FormTexts(without_options=STRICT))
    assert other.wording is None
    assert current(version.judge).voting == version.definition.voting
    bad = client.post(where, fields(client.get(where)) | {"member0-text_without_options": "No frame."})
    assert list(bad.context["form"].members[0].errors) == ["text_without_options"]
    shown = fields(client.post(where, sent | {"action": "ours member0-without_options"}))
    assert shown["member0-text_without_options"] == OURS
    assert shown["member0-beside_without_options"] == STRICT
    page = text(client.get(url("judge", people, version.judge_id)))
    assert "gpt-5-mini: Criteria without options" in page
    assert "Times each is asked" in page
    score = {"way": "rubric_as_judge json", "texts_for": "rubric_as_judge json"}
    score = client.post(where, fields(client.get(where)) | score)
    assert "way" in score.context["form"].errors  # nobody votes on a score


# ── A new judge ──────────────────────────────────────────────────────────────────────────────────


def test_a_new_judge_has_a_name_a_model_a_way_and_then_its_words(people: Cast, sign_in, model) -> None:
    client = sign_in(people.ed)
    where = url("judge_new", people)
    assert "Go on to its words" in text(client.get(where))
    assert client.get(where, {"name": "", "model": model, "way": "one_shot json"}).status_code == 422
    chosen = {"name": "Support judge", "model": model, "way": "per_criterion yes_no"}
    second = client.get(where, chosen)
    assert fields(second)["text_without_options"] == shipped_instructions("per_criterion_yes_no")
    there = f"{where}?name=Support+judge&model={model}&way=per_criterion+yes_no"
    sent = fields(second) | {"text_without_options": STRICT, "note": "For tickets."}
    refused = client.post(there, sent | {"text_without_options": "No frame.", "name": "Typed"})
    assert (refused.status_code, fields(refused)["name"]) == (422, "Typed")
    client.post(there, sent)
    judge = Judge.objects.get(slug="support-judge")
    assert (judge.name, judge.note, judge.created_by) == ("Support judge", "For tickets.", people.ed)
    assert current(judge).reply_format == "yes_no"
    assert current(judge).wording.instructions.without_options == STRICT
    taken = client.post(there, sent | {"text_without_options": KIND})
    assert (taken.status_code, list(taken.context["form"].errors)) == (422, ["name"])


def test_who_may_not_start_runs_words_no_judge(people: Cast, sign_in, first) -> None:
    for person in (people.bob, people.ann, people.rae):
        client = sign_in(person)
        for where in (url("judge_edit", people, first.judge_id), url("judge_new", people)):
            assert client.get(where).status_code == 403
        assert "Use in a run" not in text(client.get(url("judge", people, first.judge_id)))
