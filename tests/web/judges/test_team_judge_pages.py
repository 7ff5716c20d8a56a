"""Judges and their versions, on the pages where a browser finds them."""

import html
import re
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.autograders.instructions import FormTexts, JudgeWording
from rubricweb.engine.judging.definition import JudgeExample, Voting
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.models import Judge, JudgeVersion, Run
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast

STRICT = "{{frame}}\n\nDecide UNMET when in doubt."


def url(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def text(answer: Any) -> str:
    """The page with its white space as a browser shows it."""
    return " ".join(answer.content.decode().split())


def facts(page: str) -> str:
    """What a page of two versions says changed, as one reads it."""
    changed = page.partition("<main")[2].replace("</dt>", ":")
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", changed)).split()).replace(" :", ":")


@pytest.fixture
def picked(people: Cast) -> Run:
    """A run by a model that somebody picked, which made the first version of its judge."""
    row = endpoints.add_endpoint(
        people.team, by=people.alice, name="gpt-5-mini", base_url="http://127.0.0.1:9/v1", model="m"
    )
    made = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
        judge_id=row.judge_id,
    )
    assert isinstance(made, Run)
    return made


def kept(run: Run, people: Cast, instructions: str = STRICT) -> JudgeVersion:
    """The next version of the judge of a run, with words of its own."""
    v1 = run.judge_version
    assert v1 is not None
    wording = JudgeWording(instructions=FormTexts(without_options=instructions))
    return versions.keep_version(
        v1.judge,
        v1.definition.model_copy(update={"wording": wording}),
        by=people.ed,
        parent=v1,
        note="Stricter.",
    )


# ── The list ─────────────────────────────────────────────────────────────────────────────────────


def test_a_team_without_judges_is_told_how_to_begin(people: Cast, sign_in) -> None:
    page = text(sign_in(people.ed).get(url("judges", people)))
    assert "Grade once" in page
    assert url("run_new", people) in page
    assert url("judge_new", people) in page
    assert "when an editor of this team grades" in text(sign_in(people.bob).get(url("judges", people)))


def test_the_list_says_what_each_judge_is_and_how_much_it_was_used(people: Cast, sign_in, picked) -> None:
    kept(picked, people)
    page = text(sign_in(people.bob).get(url("judges", people)))
    assert "gpt-5-mini, criterion by criterion" in page
    assert "gpt-5-mini-criterion-by-criterion@v2" in page
    assert 'data-label="Runs">1</td>' in page
    assert f'href="{url("judges", people)}">Judges' in text(sign_in(people.bob).get(url("runs", people)))


def test_an_archived_judge_is_behind_a_link_and_comes_back(people: Cast, sign_in, picked) -> None:
    judge = picked.judge_version.judge
    client = sign_in(people.ed)
    refused = client.post(url("judge_archive", people, judge.pk), {"action": "archive"})
    assert refused.status_code == 409  # its run has not ended
    lifecycle.cancel_run(picked, by=people.ed, now=timezone.now())
    client.post(url("judge_archive", people, judge.pk), {"action": "archive"})
    assert url("judge", people, judge.pk) not in text(client.get(url("judges", people)))
    assert judge.name in text(client.get(url("judges", people) + "?archived=1"))
    assert "Use in a run" not in text(client.get(url("judge", people, judge.pk)))
    client.post(url("judge_archive", people, judge.pk), {"action": "restore"})
    assert judge.name in text(client.get(url("judges", people)))


def test_the_number_of_queries_does_not_grow_with_judges(
    people: Cast, sign_in, picked, django_assert_max_num_queries, django_assert_num_queries
) -> None:
    client = sign_in(people.bob)
    client.get(url("judges", people))
    with django_assert_max_num_queries(40) as one:
        client.get(url("judges", people))
    for name in ("A", "B", "C"):
        versions.create_judge(people.team, picked.judge_version.definition, by=people.ed, name=name)
    with django_assert_num_queries(len(one.captured_queries)):
        client.get(url("judges", people))


# ── One judge ────────────────────────────────────────────────────────────────────────────────────


def test_a_judge_shows_its_settings_its_words_and_its_versions(people: Cast, sign_in, picked) -> None:
    version = kept(picked, people)
    client = sign_in(people.bob)
    page = text(client.get(url("judge", people, version.judge_id)))
    for shown in (
        "gpt-5-mini-criterion-by-criterion@v2",
        '<dt>Way of asking</dt><dd class="wrap-anywhere">Criterion by criterion</dd>',
        "gpt-5-mini (127.0.0.1:9)",
        "temperature 0",
        "Decide UNMET when in doubt.",
        "Stricter.",
        "kept by a person",
        "picked with a model and a way of asking",
    ):
        assert shown in page, shown
    assert "Make current" not in page  # a viewer changes nothing
    earlier = text(client.get(url("judge", people, version.judge_id) + "?version=1"))
    assert "Decide UNMET when in doubt." not in earlier
    assert "Not the current version" in earlier
    runs = client.get(url("runs", people) + f"?judge_version={picked.judge_version_id}")
    assert [row.run for row in runs.context["page"].rows] == [picked]
    assert client.get(url("runs", people) + f"?judge_version={version.pk}").context["page"].rows == ()


def test_an_earlier_version_is_made_current_again(people: Cast, sign_in, picked) -> None:
    version = kept(picked, people)
    answer = sign_in(people.ed).post(url("judge_current", people, version.judge_id, 1), follow=True)
    assert "gpt-5-mini-criterion-by-criterion@v1 is the current version now." in text(answer)
    assert Judge.objects.get().current == picked.judge_version


def test_name_slug_and_note_are_changed_and_refused_at_their_fields(people: Cast, sign_in, picked) -> None:
    judge = picked.judge_version.judge
    versions.create_judge(people.team, picked.judge_version.definition, by=people.ed, name="Taken")
    client = sign_in(people.ed)
    where = url("judge_change", people, judge.pk)
    for sent, field in (
        ({"name": "Taken", "slug": judge.slug}, "name"),
        ({"name": "Mine", "slug": "taken"}, "slug"),
        ({"name": "Mine", "slug": "endpoint-3"}, "slug"),
        ({"name": "Mine", "slug": "mine", "note": "x" * 2_001}, "note"),
    ):
        answer = client.post(where, sent)
        assert (answer.status_code, list(answer.context["form"].errors)) == (422, [field])
    client.post(where, {"name": "Support judge", "slug": "support-judge", "note": "For tickets."})
    judge.refresh_from_db()
    assert (judge.name, judge.slug, judge.note) == ("Support judge", "support-judge", "For tickets.")


def test_the_offline_judge_says_that_it_reads_no_instructions(people: Cast, sign_in) -> None:
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed),
    )
    page = text(sign_in(people.bob).get(url("judge", people, run.judge_version.judge_id)))
    assert "It does not read instructions" in page


# ── Two versions ─────────────────────────────────────────────────────────────────────────────────


def test_two_versions_show_what_changed_in_settings_and_words(people: Cast, sign_in, picked) -> None:
    version = kept(picked, people)
    definition = version.definition
    [member] = definition.members
    warm = member.model_copy(update={"sampling": member.sampling.changed(temperature=1.0)})
    wording = JudgeWording(instructions=FormTexts(without_options=STRICT.replace("UNMET when", "MET when")))
    versions.keep_version(
        version.judge,
        definition.model_copy(update={"members": (warm,), "wording": wording}),
        by=people.ed,
        parent=version,
    )
    client = sign_in(people.bob)
    page = text(client.get(url("judge_diff", people, version.judge_id)))  # from 2, which 3 was made from
    assert "v2 → v3" in page
    assert f"{member.name}: temperature: 0 → 1" in facts(page)
    assert "Decide <del>UNMET</del> <ins >MET</ins> when in doubt." in page
    same = text(client.get(url("judge_diff", people, version.judge_id) + "?from=2&to=2"))
    assert "Nothing differs." in same
    for wrong, status in (("?from=9", 404), ("?to=x", 400)):
        assert client.get(url("judge_diff", people, version.judge_id) + wrong).status_code == status


def test_members_votes_and_examples_that_changed_are_told_by_their_names(
    people: Cast, sign_in, picked
) -> None:
    first = picked.judge_version
    [member] = first.definition.members
    strict = JudgeWording(instructions=FormTexts(without_options=STRICT))
    other = member.model_copy(update={"name": "other", "weight": 2.0, "wording": strict})
    shown = JudgeExample(uid="", requirement="Is right.", label="MET", key="k", output="Paris.")
    update = {"members": (member, other), "voting": Voting(repeats=(3,), quorum=0.5), "examples": (shown,)}
    panel = versions.create_judge(
        people.team, first.definition.model_copy(update=update), by=people.ed, name="Panel"
    )
    lighter = other.model_copy(update={"weight": 0.5, "wording": None, "sampling": Sampling(top_p=0.25)})
    update = {
        "reply_format": "yes_no",
        "members": (lighter, member),
        "voting": Voting(repeats=(1,), quorum=0.5, rule="weighted_mean"),
        "examples": (),
    }
    second = versions.keep_version(
        panel.judge, panel.definition.model_copy(update=update), by=people.ed, parent=panel
    )
    alone = {"members": (member,), "voting": None}
    versions.keep_version(
        panel.judge, second.definition.model_copy(update=alone), by=people.ed, parent=second
    )
    client, where = sign_in(people.bob), url("judge_diff", people, panel.judge_id)
    told = facts(text(client.get(f"{where}?from=1&to=2")))
    for one in (
        "Form of the reply: JSON → prose",
        "other: weight: 2 → 0.5",
        "other: top p: none → 0.25",
        "Times each is asked: 3 → 1",
        "Votes are settled by: binary majority, ordinal mean, nominal mode → weighted mean",
        f"Order of the members: {member.name}, other → other, {member.name}",
        "Example k · Is right.: MET → none",
    ):
        assert one in told
    # What the member was told beside what it is told now: the shipped text, as all others.
    assert "other: Criteria without options" in told
    assert "Decide UNMET when in doubt." in told
    gone = facts(text(client.get(f"{where}?from=2&to=3")))
    assert f"other: {member.model} → none" in gone
    assert (
        "Votes: times each is asked 1, votes are settled by weighted mean, minimum share of votes 0.5 → none"
        in gone
    )


# ── Who reviews blind ────────────────────────────────────────────────────────────────────────────


def test_who_is_still_to_review_blind_sees_no_history_of_a_judge_with_examples(
    people: Cast, sign_in, picked
) -> None:
    criterion = picked.rubric_version.criteria.all()[0]
    shown = JudgeExample(
        uid=criterion.uid, requirement=criterion.requirement, label="MET", key="k", output="Paris."
    )
    v1 = picked.judge_version
    version = versions.create_judge(
        people.team, v1.definition.model_copy(update={"examples": (shown,)}), by=people.ed, name="Taught"
    )
    versions.keep_version(
        version.judge,
        version.definition.model_copy(update={"examples": (shown, shown)}),
        by=people.ed,
        parent=version,
        note="Zebrafinch.",
    )
    where = url("judge", people, version.judge_id)
    told = text(sign_in(people.ed).get(where))
    assert "2 labelled answers" in told
    assert "Zebrafinch." in told
    factories.queue(
        people.team,
        people.alice,
        dataset=picked.dataset,
        rubric_version=picked.rubric_version,
        raters=[people.ed],
    )
    client = sign_in(people.ed)
    page = text(client.get(where))
    assert '<dd class="wrap-anywhere">withheld while you review blind</dd>' in page
    assert "Zebrafinch." not in page
    assert "2 labelled answers" not in page
    assert [one.number for one in client.get(where).context["versions"]] == [2]
    for refused in (
        f"{where}?version=1",
        url("judge_diff", people, version.judge_id),
        url("judge_edit", people, version.judge_id),
        url("runs", people) + f"?judge_version={version.pk}",
    ):
        assert client.get(refused).status_code == 403
    assert client.post(url("judge_current", people, version.judge_id, 1)).status_code == 403
    # Of a judge without examples nothing is withheld, and nothing from who does not review.
    assert client.get(url("judge_diff", people, v1.judge_id)).status_code == 200
    assert "Zebrafinch." in text(sign_in(people.bob).get(where))
