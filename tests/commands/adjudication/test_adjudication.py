"""`rubricweb adjudication` and `comments`: differences listed, read, talked about and decided."""

import io
import json
from dataclasses import dataclass

import pytest
from django.utils import timezone

from rubricweb.api.adjudication.schemas import InboxUnit
from rubricweb.engine.verdict import Verdict
from rubricweb.management.arguments import discussion, team
from rubricweb.models import Adjudication, Cause, Criterion, Item, JournalEntry, ReviewQueue, Role, User
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.web.test_blinding import MARKERS, Stage, staged
from tests.worlds.remembered import remembered


@dataclass(frozen=True)
class Place:
    """rae and ann reviewed `item`, not blind: rae finds it all MET; ann and the judge find concise UNMET."""

    people: Cast
    queue: ReviewQueue
    item: Item
    concise: Criterion

    @property
    def unit(self) -> tuple[str, str]:
        return f"id:{self.item.pk}", "concise"


@pytest.fixture
def place(people: Cast) -> Place:
    return remembered(("adjudication commands", people.team.pk), lambda: make_place(people))


def make_place(people: Cast) -> Place:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed, items=factories.ITEMS[:1])
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, _: "UNMET" if "sentences" in requirement else "MET"))
    raters = [people.rae, people.ann]
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=raters,
        raters_per_item=2,
        run=run,
        blind="none",
    )
    item = dataset.items.get()
    for rater in raters:
        _review(queue, item, rater, concise=Verdict.MET if rater == people.rae else Verdict.UNMET)
    return Place(people, queue, item, version.criteria.get(name="concise"))


def _review(queue: ReviewQueue, item: Item, rater: User, *, concise: Verdict) -> None:
    review = queues.start_review(queue, item, rater)
    for criterion in reviews.criteria_of(review):
        verdict = concise if criterion.name == "concise" else Verdict.MET
        reviews.save_verdict(review, criterion.pk, verdict=verdict, reason=f"{rater}'s reason")
    reviews.submit(review, now=timezone.now())


# ── Adjudication ─────────────────────────────────────────────────────────────────────────────────


def test_what_people_differ_on_is_listed_shown_without_names_and_decided(place: Place, at_terminal) -> None:
    rae = at_terminal(place.people.rae)
    printed = rae("adjudication", "list", "--json").out
    assert misfits(InboxUnit, printed, many=True) == []
    [row] = map(json.loads, printed.splitlines())
    assert (row["item_key"], row["criterion"]["name"]) == ("good", "concise")
    assert row["kinds"] == ["people differ"]
    assert sorted((one["verdict"], one["count"]) for one in row["votes"]) == [("MET", 1), ("UNMET", 1)]
    assert row["judged"] == ["UNMET"]
    assert "people differ" in rae("adjudication", "list").out
    shown = rae("adjudication", "show", "good", "concise")
    assert "Paris is the capital of France." in shown.out
    assert "Rater A" in shown.out
    assert not JournalEntry.objects.filter(verb="looked at the names on").exists()
    unit = json.loads(rae("adjudication", "show", *place.unit, "--json").out)
    assert {answer["name"] for answer in unit["answers"]} == {"Rater A", "Rater B", "Judge"}
    named = json.loads(rae("adjudication", "show", *place.unit, "--names", "--json").out)
    assert {answer["name"] for answer in named["answers"]} >= {"Rae", "Ann"}
    assert JournalEntry.objects.filter(verb="looked at the names on", actor=place.people.rae).count() == 1
    decided = rae("adjudication", "decide", *place.unit, "unmet", "--cause", "human_wrong")
    assert decided.out == "UNMET (hurt) stands for concise of good: human wrong.\n"
    empty = rae("adjudication", "list")
    assert (empty.out, "Nothing of that waits" in empty.err) == ("", True)
    assert json.loads(rae("adjudication", "list", "--decided", "--json").out)["decided"]["verdict"] == "UNMET"
    assert json.loads(rae("adjudication", "list", "--cause", "human_wrong", "--json").out)
    assert rae("adjudication", "list", "--cause", "judge_wrong", "--json").out == ""
    assert "Nothing is decided" in rae("adjudication", "withdraw", *place.unit).out
    assert not Adjudication.objects.exists()


def test_the_list_is_narrowed_to_criteria_by_name_or_number(place: Place, at_terminal) -> None:
    rae = at_terminal(place.people.rae)
    for named in ("concise", "CONCISE", f"id:{place.concise.pk}"):
        listed = rae("adjudication", "list", "--criterion", named, "--json")
        assert (listed.code, json.loads(listed.out)["criterion"]["name"]) == (0, "concise")
    assert rae("adjudication", "list", "--criterion", "capital", "--json").out == ""
    both = rae("adjudication", "list", "--criterion", "capital", "--criterion", "concise", "--json")
    assert len(both.out.splitlines()) == 1


def test_what_waits_in_a_queue_is_piped_into_a_second_look(
    people: Cast, at_terminal, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = factories.version(people.team, people.ed)
    ed = at_terminal(people.ed)
    for name, items in (("Doubtful", 25), ("Elsewhere", 3)):
        answers = [{"id": f"{n}", "submission": f"Answer {n} of {name}."} for n in range(items)]
        factories.dataset(people.team, people.ed, items=answers, name=name)
        rows = [f"{n},concise,{said}" for n in range(items) for said in ("ann,MET", "ben,UNMET")]
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["item_id,criterion,rater,verdict", *rows]))
        assert ed("import-labels", path, "--dataset", name, "--rubric", f"id:{version.pk}").code == 0
    doubtful = people.team.datasets.get(name="Doubtful")
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=doubtful,
        rubric_version=version,
        raters=[people.ann],
        source=Source("items", item_ids=(doubtful.items.get(key="0").pk,)),
        name="Second look",
    )
    listed = ed("adjudication", "list", "--queue", "Doubtful", "--limit", "10000", "--json").out
    ids = {f"id:{json.loads(line)['item_id']}\n" for line in listed.splitlines()}
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(ids)))
    extended = ed("queues", "extend", "Second look", "--items-from", "-")
    assert (extended.code, queue.queue_items.count()) == (0, 25)
    assert "24 items added" in extended.out


def test_somebody_elses_decision_is_replaced_by_who_has_seen_it(place: Place, at_terminal) -> None:
    rae, ed = at_terminal(place.people.rae), at_terminal(place.people.ed)
    decide = ("adjudication", "decide", *place.unit)
    first = json.loads(rae(*decide, "MET", "--cause", "judge_wrong", "--json").out)
    refused = ed(*decide, "UNMET", "--cause", "human_wrong")
    assert (refused.code, "Somebody else has decided MET (judge wrong)" in refused.err) == (1, True)
    assert f"--seen {first['decided_at'].removesuffix('Z')}" in ed("adjudication", "show", *place.unit).out
    assert "by Rae" not in ed("adjudication", "show", *place.unit).out
    assert "by Rae" in ed("adjudication", "show", *place.unit, "--names").out
    assert ed(*decide, "UNMET", "--cause", "human_wrong", "--seen", first["decided_at"]).code == 0
    for when in ("yesterday", "2026-03-01"):
        wrong = ed(*decide, "MET", "--cause", "judge_wrong", "--seen", when)
        assert (wrong.code, "adjudication show" in wrong.err) == (1, True)
    late = rae("adjudication", "withdraw", *place.unit)
    assert (late.code, "has decided UNMET" in late.err) == (1, True)


def test_what_all_say_is_counted_and_accepted_at_once(place: Place, at_terminal) -> None:
    rae = at_terminal(place.people.rae)
    # Of three criteria people and judge differ on one.
    counted = rae("adjudication", "agreed", place.queue.pk)
    assert counted.out.startswith("2 units of ")
    assert "1 unit to be decided" in counted.out
    assert json.loads(rae("adjudication", "agreed", place.queue.name, "--json").out)["units"] == 2
    assert rae("adjudication", "accept", place.queue.name).out.startswith("2 units of ")
    assert json.loads(rae("adjudication", "accept", place.queue.name, "--json").out) == {"accepted": 0}
    stands = json.loads(rae("adjudication", "truth", "good", "--json").out)
    rows = {row["criterion"]["name"]: row for row in stands["criteria"]}
    assert (rows["capital"]["verdict"], rows["capital"]["rule"]) == ("MET", "unanimous")
    assert rows["concise"]["verdict"] is None
    assert {label["rater"] for row in rows.values() for label in row["labels"]} == {None}
    told = rae("adjudication", "truth", "good").out
    assert "people are tied" in told
    assert "here" not in told  # that they are people of this team needs no word
    assert "Ann: UNMET" in rae("adjudication", "truth", "good", "--names").out


@pytest.mark.parametrize(
    ("said", "code", "why"),
    [
        (["show", "nowhere", "concise"], 1, "There is no item 'nowhere' in Capital quality"),
        (["show", "good", "polite"], 1, "Known: capital, concise, wrong_country."),
        (["show", "good", "id:99999"], 1, "no such criterion"),
        (["decide", "good", "concise", "PERHAPS", "--cause", "judge_wrong"], 1, "Allowed: MET, UNMET"),
        (["decide", "good", "concise", "MET", "--cause", "fate"], 2, "judge_wrong"),
        (["decide", "good", "capital", "UNMET", "--cause", "human_wrong"], 1, "Most raters said MET"),
        (["list", "--kind", "boredom"], 2, "people differ"),
        (["list", "--limit", "0"], 2, "not a whole number from 1"),
        (["list", "--queue", "None"], 1, "There is no review queue"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(place: Place, at_terminal, said, code, why) -> None:
    ended = at_terminal(place.people.rae)("adjudication", *said)
    assert (ended.code, ended.out) == (code, "")
    assert why in ended.err


def test_an_item_whose_key_two_datasets_have_is_named_by_its_number(place: Place, at_terminal) -> None:
    twin = factories.dataset(place.people.team, place.people.ed, items=factories.ITEMS[:2], name="Twins")
    ended = at_terminal(place.people.rae)("adjudication", "show", "good", "concise")
    assert ended.code == 1
    other = twin.items.get(key="good").pk
    assert f"id:{place.item.pk} in {place.item.dataset}, id:{other} in Twins" in ended.err


def test_the_lists_the_command_line_knows_are_those_of_the_app() -> None:
    assert discussion.KINDS == inbox.KINDS
    assert list(discussion.CAUSES) == Cause.values
    assert list(team.ROLES) == [role.label for role in Role]


# ── Comments ─────────────────────────────────────────────────────────────────────────────────────


def test_people_talk_about_an_item_and_settle_it(
    place: Place, at_terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    rae, ann = at_terminal(place.people.rae), at_terminal(place.people.ann)
    empty = rae("comments", "list", "good")
    assert (empty.out, "Nobody has said anything" in empty.err) == ("", True)
    asked = json.loads(
        rae("comments", "add", "good", "Is **one** long, @ann?", "--criterion", "concise", "--json").out
    )
    assert (asked["author"], asked["criterion_id"]) == ("rae", place.concise.pk)
    assert place.people.ann.notices.get(kind="mention").comment_id == asked["id"]
    monkeypatch.setattr("sys.stdin", io.StringIO("It is.\nTwo would be.\n"))
    assert ann("comments", "add", "good", "-").code == 0
    listed = ann("comments", "list", "good").out
    assert "Rae" in listed
    assert "about concise" in listed
    assert "    It is.\n    Two would be.\n" in listed
    number = asked["id"]
    assert "is resolved" in ann("comments", "resolve", number).out
    assert json.loads(ann("comments", "list", "good", "--json", "--limit", "1").out)["resolved"]
    assert "--limit says how many are shown, now 1" in ann("comments", "list", "good", "--limit", "1").err
    assert "open again" in ann("comments", "reopen", number).out
    others = ann("comments", "edit", number, "Mine.")
    assert (others.code, "your own comments only" in others.err) == (1, True)
    assert json.loads(rae("comments", "edit", number, "Is it?", "--json").out)["text"] == "Is it?"
    assert "gone for good" in rae("comments", "remove", number).out
    assert "(removed)" in rae("comments", "list", "good").out
    nothing = rae("comments", "add", "good", " ")
    assert (nothing.code, "Write something first." in nothing.err) == (1, True)
    both = rae("comments", "add", "good", "Hm.", "--criterion", "concise", "--judgement", "1")
    assert (both.code, "use one of them" in both.err) == (1, True)


# ── Blind ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def stage(people: Cast) -> Stage:
    """One item that a judge, a peer and an adjudicator have spoken on, hidden from all but the viewer."""
    return staged(people)


def reads(stage: Stage) -> list[list[str]]:
    item, criterion = f"id:{stage.ids['item_id']}", f"id:{stage.ids['criterion_id']}"
    comment = str(stage.ids["comment_id"])
    return [
        *([*look, *form] for look in _looks(item, criterion) for form in ([], ["--json"])),
        ["comments", "resolve", comment],
        ["comments", "edit", comment, "Mine."],
        ["comments", "remove", comment],
        ["adjudication", "decide", item, criterion, "UNMET", "--cause", "judge_wrong"],
        ["adjudication", "withdraw", item, criterion],
        ["adjudication", "agreed", str(stage.queue.pk)],
    ]


def _looks(item: str, criterion: str) -> list[list[str]]:
    return [
        ["adjudication", "list", "--decided"],
        ["adjudication", "list", "--cause", "human_wrong"],
        ["adjudication", "show", item, criterion],
        ["adjudication", "show", item, criterion, "--names"],
        ["adjudication", "truth", item],
        ["comments", "list", item],
        ["audit-log", "--limit", "500"],
        ["audit-log", "--limit", "500", "--kind", "item"],
    ]


def test_a_blind_rater_is_told_nothing_of_others_before_submitting(stage: Stage, at_terminal) -> None:
    for person in (stage.cast.alice, stage.cast.rae):
        run = at_terminal(person)
        for said in reads(stage):
            ended = run(*said)
            text = ended.out + ended.err
            assert not [word for word in MARKERS if factories.tells(text, word)], f"{person}: {said}"
            assert "adjudicated" not in text, said
            assert ended.code in (0, 1)
            if said[1] == "show":
                assert (ended.code, ended.out) == (1, "")
    assert not JournalEntry.objects.filter(verb="looked at the names on").exists()


def test_who_is_not_blind_reads_all_of_it(stage: Stage, at_terminal) -> None:
    run = at_terminal(stage.cast.bob)
    item, criterion = f"id:{stage.ids['item_id']}", f"id:{stage.ids['criterion_id']}"
    told = "".join(run(*look).out for look in _looks(item, criterion))
    for word in ("zebrafinch", "marmoset", "axolotl", "quokka", "adjudicated"):
        assert word in told
