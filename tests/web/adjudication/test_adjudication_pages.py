"""The pages of adjudication: the inbox, one unit at a time, undo, two adjudicators at once."""

import html
import re

import pytest
from django.urls import reverse

from rubricweb.models import Adjudication, Criterion, JournalEntry, Review, Revision, Run, SystemVersion
from rubricweb.services.rubrics import rubrics
from rubricweb.services.runs.launching import launch_runs
from rubricweb.services.runs.starting import RunOptions
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.remembered import remembered

# What Xenia and Yusuf said; the judge says MET to all. To decide: 2, where people differ, then 3 and 4.
SAID = {"1": "MET MET", "2": "MET UNMET", "3": "UNMET UNMET", "4": "UNMET UNMET"}


@pytest.fixture
def run(people: Cast) -> Run:
    return remembered(("adjudication pages", people.team.pk), lambda: label_and_grade(people))


def label_and_grade(people: Cast) -> Run:
    version = factories.version(
        people.team, people.ed, criteria=[{"name": "only", "weight": 1, "requirement": "Is right."}]
    )
    items = [{"id": key, "submission": f"Text {key}"} for key in SAID]
    data = factories.dataset(people.team, people.ed, items=items)
    lines = ["item_id,criterion,rater,verdict,reason"]
    for key, said in SAID.items():
        for rater, verdict in zip(("Xenia", "Yusuf"), said.split(), strict=True):
            lines.append(f"{key},only,{rater},{verdict},because {rater[0]} thinks so")
    factories.import_labels(
        data, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )
    run = factories.run(people.team, people.ed, dataset=data, rubric_version=version)
    return grade(run, InProcessJudge(lambda requirement, response: "MET"))


def text(answer) -> str:
    words = re.sub(r"<title>.*?</title>", " ", answer.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", words)))


def unit_url(people: Cast, run, key: str, name: str = "adjudication_unit") -> str:
    item, criterion = run.dataset.items.get(key=key), run.rubric_version.criteria.get()
    return reverse(name, args=[people.team.slug, item.pk, criterion.pk])


def inbox_url(people: Cast) -> str:
    return reverse("adjudication", args=[people.team.slug])


def rows(answer) -> list[str]:
    return [row.item_key for row in answer.context["page"].rows]


def test_the_inbox_of_a_run_that_was_launched_with_others_names_it(people: Cast, sign_in) -> None:
    items = [
        {"case_id": "q", "system": f"bot@{label}", "prompt": "Q?", "submission": label}
        for label in ("v1", "v2")
    ]
    dataset = factories.dataset(people.team, people.ed, items=items)
    version = factories.version(
        people.team, people.ed, criteria=[{"name": "only", "weight": 1, "requirement": "Is right."}]
    )
    systems = list(SystemVersion.objects.filter(system__team=people.team, system__name="bot").order_by("pk"))
    runs = launch_runs(
        people.team,
        by=people.ed,
        dataset=dataset,
        rubric_version=version,
        enqueue=factories.WakeUps(),
        options=RunOptions(judge_id="offline", systems=systems, name="Nightly"),
    )
    for run in runs:
        grade(run, InProcessJudge(lambda requirement, response: "MET"))
    for run in runs:
        told = text(sign_in(people.rae).get(inbox_url(people), {"run": run.pk}))
        assert f"Only the judge of {run} , over the answers of all runs started with it," in told


class TestInbox:
    def test_it_lists_the_most_telling_first_with_every_count(self, people, sign_in, run) -> None:
        bob = sign_in(people.bob)
        answer = bob.get(inbox_url(people))
        assert rows(answer) == ["2", "3", "4"]
        assert "People differ 1" in text(answer)
        assert "Judge differs 2" in text(answer)
        assert rows(bob.get(inbox_url(people), {"kind": "judge differs"})) == ["3", "4"]
        assert rows(bob.get(inbox_url(people), {"criterion": 10**9})) == []
        assert "Nothing fits this filter" in text(bob.get(inbox_url(people), {"criterion": 10**9}))

    @pytest.mark.parametrize(
        "query", [{"kind": "mood"}, {"item__key": "1"}, {"cause": "fate"}, {"cursor": "x"}, {"queue": "a"}]
    )
    def test_what_it_does_not_know_is_refused(self, people, sign_in, run, query) -> None:
        assert sign_in(people.bob).get(inbox_url(people), query).status_code == 400

    def test_htmx_gets_the_list_alone(self, people, sign_in, run) -> None:
        answer = sign_in(people.bob).get(inbox_url(people), headers={"HX-Request": "true"})
        assert "<html" not in answer.content.decode()
        assert rows(answer) == ["2", "3", "4"]

    def test_a_team_without_labels_is_told_what_to_do(self, people, sign_in) -> None:
        assert "No labels of people yet" in text(sign_in(people.bob).get(inbox_url(people)))


class TestDeciding:
    def test_the_next_unit_follows_and_the_decision_can_be_undone(self, people, sign_in, run) -> None:
        rae = sign_in(people.rae)
        answer = rae.post(unit_url(people, run, "2"), {"verdict": "MET", "cause": "human_wrong"})
        assert answer.status_code == 302
        assert answer["Location"].startswith(unit_url(people, run, "3"))
        page = rae.get(answer["Location"])
        assert re.search(r"only: decided\s+Met", text(page))
        assert rows(rae.get(inbox_url(people))) == ["3", "4"]
        back = rae.post(page.context["undo"]["url"])
        assert back["Location"].startswith(unit_url(people, run, "2"))
        assert not Adjudication.objects.exists()
        assert rows(rae.get(inbox_url(people))) == ["2", "3", "4"]
        verbs = JournalEntry.objects.order_by("pk").values_list("verb", flat=True)
        assert list(verbs)[-2:] == ["adjudicated", "withdrew a decision on"]

    def test_the_last_decision_leads_back_to_the_inbox(self, people, sign_in, run) -> None:
        rae = sign_in(people.rae)
        asked = "?kind=people+differ"
        answer = rae.post(unit_url(people, run, "2") + asked, {"verdict": "MET", "cause": "human_wrong"})
        assert answer["Location"].startswith(inbox_url(people) + "?kind=people+differ")
        assert "Undo" in text(rae.get(answer["Location"]))

    def test_deciding_against_the_majority_asks_for_a_reason_and_keeps_what_was_chosen(
        self, people, sign_in, run
    ) -> None:
        rae = sign_in(people.rae)
        answer = rae.post(unit_url(people, run, "3"), {"verdict": "MET", "cause": "human_wrong"})
        assert answer.status_code == 422
        assert "Most raters said UNMET" in text(answer)
        assert 'value="MET" data-label-key="m" checked' in answer.content.decode()
        sent = {"verdict": "MET", "cause": "human_wrong", "reason": "Line 2."}
        assert rae.post(unit_url(people, run, "3"), sent).status_code == 302

    def test_who_comes_second_is_told_what_the_first_decided(self, people, sign_in, run) -> None:
        rae, ed = sign_in(people.rae), sign_in(people.ed)
        page = ed.get(unit_url(people, run, "2"))
        rae.post(unit_url(people, run, "2"), {"verdict": "MET", "cause": "human_wrong"})
        mine = {"verdict": "UNMET", "cause": "rubric_unclear", "seen": ""}
        assert 'name="seen" value=""' in page.content.decode()
        answer = ed.post(unit_url(people, run, "2"), mine)
        assert answer.status_code == 409
        assert (
            "Somebody else has decided MET (human wrong) meanwhile; you were about to decide UNMET."
            in text(answer)
        )
        assert Adjudication.objects.get().decided_by == people.rae
        # What was typed is still there; sent again with what is known now, it replaces the first decision.
        content = answer.content.decode()
        assert 'value="UNMET" data-label-key="u" checked' in content
        seen = re.search(r'name="seen" value="([^"]+)"', content)
        assert seen is not None
        assert ed.post(unit_url(people, run, "2"), mine | {"seen": html.unescape(seen[1])}).status_code == 302
        assert Adjudication.objects.get().decided_by == people.ed
        said = JournalEntry.objects.filter(verb="adjudicated").order_by("pk")
        assert [(entry.actor.username, entry.detail["verdict"]) for entry in said] == [
            ("rae", "MET"),
            ("ed", "UNMET"),
        ]
        undone = ed.post(unit_url(people, run, "2", "adjudication_undo"), follow=True)
        assert "MET, decided before, stands again." in text(undone)
        stands = Adjudication.objects.get()
        assert (stands.verdict, stands.cause, stands.decided_by) == ("MET", "human_wrong", people.rae)

    def test_a_script_is_told_where_to_go_on_and_gets_what_is_refused_with_what_was_typed(
        self, people, sign_in, run
    ) -> None:
        script = {"headers": {"HX-Request": "true"}}
        rae, unit = sign_in(people.rae), unit_url(people, run, "3")
        mine = {"verdict": "MET", "cause": "human_wrong"}
        refused = rae.post(unit, mine, **script)
        assert refused.status_code == 422
        assert "Most raters said UNMET" in text(refused)
        answer = rae.post(unit, mine | {"reason": "Line 2."}, **script)
        assert answer.status_code == 200
        assert answer["HX-Redirect"].startswith(unit_url(people, run, "4"))
        second = sign_in(people.ed).post(unit, {"verdict": "UNMET", "cause": "judge_wrong"}, **script)
        assert second.status_code == 409
        assert "Decided meanwhile" in text(second)

    def test_somebody_elses_decision_is_not_undone_unseen(self, people, sign_in, run) -> None:
        sign_in(people.rae).post(unit_url(people, run, "2"), {"verdict": "MET", "cause": "human_wrong"})
        assert sign_in(people.ed).post(unit_url(people, run, "2", "adjudication_undo")).status_code == 409
        assert Adjudication.objects.exists()

    def test_the_labels_it_was_decided_from_are_kept(self, people, sign_in, run) -> None:
        sign_in(people.rae).post(unit_url(people, run, "2"), {"verdict": "MET", "cause": "human_wrong"})
        kept = [(one["rater"], one["is_judge"], one["verdict"]) for one in Adjudication.objects.get().labels]
        assert kept[:2] == [("Xenia", False, "MET"), ("Yusuf", False, "UNMET")]
        assert [one[1:] for one in kept[2:]] == [(True, "MET")]


class TestNames:
    def test_people_are_letters_until_somebody_asks_which_is_written_down(self, people, sign_in, run) -> None:
        bob = sign_in(people.bob)
        page = text(bob.get(unit_url(people, run, "2")))
        assert "Rater A" in page
        assert "Rater B" in page
        assert "Xenia" not in page
        assert not JournalEntry.objects.filter(verb="looked at the names on").exists()
        item = run.dataset.items.get(key="2")
        names, there = reverse("item_names", args=[people.team.slug, item.pk]), unit_url(people, run, "2")
        for _ in range(2):
            assert bob.post(names, {"names": "1", "next": there}).headers["Location"] == there
            assert "Xenia" in text(bob.get(there))
        entry = JournalEntry.objects.get(verb="looked at the names on")
        assert (entry.actor, entry.target_label) == (people.bob, "2")
        assert "Xenia" not in text(sign_in(people.ed).get(there))
        bob.post(names, {"next": there})
        assert "Xenia" not in text(bob.get(there))

    def test_no_address_that_is_only_opened_shows_names(self, people, sign_in, run) -> None:
        bob, item = sign_in(people.bob), run.dataset.items.get(key="2")
        names = reverse("item_names", args=[people.team.slug, item.pk])
        assert bob.get(names).status_code == 405
        assert bob.get(unit_url(people, run, "2"), {"names": "1"}).status_code == 400
        page = bob.get(reverse("item", args=[people.team.slug, item.pk]), {"names": "1"})
        assert "xenia" not in page.content.decode().lower()
        assert not JournalEntry.objects.filter(verb="looked at the names on").exists()

    def test_nobody_is_sent_to_another_address_by_looking(self, people, sign_in, run) -> None:
        bob, item = sign_in(people.bob), run.dataset.items.get(key="2")
        names = reverse("item_names", args=[people.team.slug, item.pk])
        for there in ("https://example.org/", "//example.org/t/", "/t/other-team/", ""):
            answer = bob.post(names, {"names": "1", "next": there})
            assert answer.headers["Location"] == reverse("item", args=[people.team.slug, item.pk])


class TestAcceptingAll:
    def test_the_number_is_shown_before_and_after(self, people, sign_in, run) -> None:
        queue = people.team.queues.get()
        url = reverse("queue_accept", args=[people.team.slug, queue.pk])
        rae = sign_in(people.rae)
        page = text(rae.get(url))
        assert "1 unit to accept" in page
        assert "3 units on which somebody differs stay in the inbox." in page
        answer = rae.post(url, follow=True)
        assert "1 unit of labels accepted." in text(answer)
        assert rows(answer) == ["2", "3", "4"]
        assert "0 units to accept" in text(rae.get(url))
        assert Adjudication.objects.get().cause == ""

    @pytest.mark.parametrize(("cal", "dee"), [("UNMET", "UNMET"), ("MET", "UNMET"), ("MET", "MET")])
    def test_people_of_another_queue_over_the_items_have_to_agree_too(
        self, people, sign_in, run, cal: str, dee: str
    ) -> None:
        queue = people.team.queues.get()
        lines = ["item_id,criterion,rater,verdict", f"1,only,Cal,{cal}", f"1,only,Dee,{dee}"]
        factories.import_labels(
            run.dataset, run.rubric_version, by=people.ed, data="\n".join(lines).encode(), filename="more.csv"
        )
        accepted = int((cal, dee) == ("MET", "MET"))
        url = reverse("queue_accept", args=[people.team.slug, queue.pk])
        rae = sign_in(people.rae)
        assert len(rae.get(url).context["agreed"]) == accepted
        rae.post(url)
        kept = [[one["rater"] for one in decided.labels][:4] for decided in Adjudication.objects.all()]
        assert kept == [["Xenia", "Yusuf", "Cal", "Dee"]] * accepted

    def test_it_takes_an_adjudicator(self, people, sign_in, run) -> None:
        url = reverse("queue_accept", args=[people.team.slug, people.team.queues.get().pk])
        assert sign_in(people.ann).post(url).status_code == 403
        assert not Adjudication.objects.exists()


def test_a_label_changed_after_the_reveal_is_shown_with_the_first_one(people, sign_in, run) -> None:
    review = Review.objects.get(item__key="2", rater__name="Yusuf")
    judgement = review.judgements.get()
    Revision.objects.create(judgement=judgement, choice="change", verdict="MET", reason="I see it now.")
    page = text(sign_in(people.bob).get(unit_url(people, run, "2")))
    assert re.search(r"Met\s+first\s+Unmet", page)
    assert "After seeing the others: I see it now." in page
    # Nobody differs any more: the unit has left the inbox.
    assert rows(sign_in(people.bob).get(inbox_url(people))) == ["3", "4"]


def test_a_unit_shows_the_guidelines_its_criterion_was_published_with(people, sign_in, run) -> None:
    rubric = run.rubric_version.rubric
    draft = rubric.draft | {"guidelines": "Judge **only** what is said."}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    newer = rubrics.publish(rubric, by=people.ed)
    item, older = run.dataset.items.get(key="2"), run.rubric_version.criteria.get()
    bob = sign_in(people.bob)

    def guidelines(criterion: Criterion, query: str = "") -> list[str]:
        url = reverse("adjudication_unit", args=[people.team.slug, item.pk, criterion.pk])
        page = bob.get(url + query).content.decode()
        return re.findall(r'<details[^>]* id="guidelines">(.*?)</details>', page, flags=re.DOTALL)

    assert guidelines(older) == []
    [shown] = guidelines(newer.criteria.get())
    assert "Judge <strong>only</strong> what is said." in shown

    # Instructions are a queue's: they are shown in its own list.
    people.team.queues.update(instructions="Two at most.")
    queue = people.team.queues.get()
    assert ["Two at most." in one for one in guidelines(older, f"?queue={queue.pk}")] == [True]
    [both] = guidelines(newer.criteria.get(), f"?queue={queue.pk}")
    assert both.index("Two at most.") < both.index("only")
    assert "Two at most." not in guidelines(newer.criteria.get())[0]


def test_criteria_of_one_title_are_told_apart_by_their_version(people, sign_in, run) -> None:
    def offered() -> list[str]:
        page = sign_in(people.bob).get(inbox_url(people)).content.decode()
        [chooser] = re.findall(r'<select id="by-criterion".*?</select>', page, flags=re.DOTALL)
        return [
            " ".join(name.split()) for name in re.findall(r"<option[^>]*>(.*?)</option>", chooser, re.DOTALL)
        ]

    assert offered() == ["All criteria", "only (3)"]
    # Reworded, and labelled again: nobody differs on item 1 of the second version.
    rubric = run.rubric_version.rubric
    [criterion] = rubric.draft["criteria"]
    draft = rubric.draft | {"criteria": [criterion | {"requirement": "Is quite right."}]}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    newer = rubrics.publish(rubric, by=people.ed)
    said = ("1,only,Xenia,MET", "1,only,Yusuf,MET", "2,only,Xenia,MET", "2,only,Yusuf,UNMET")
    lines = "\n".join(("item_id,criterion,rater,verdict", *said))
    factories.import_labels(run.dataset, newer, by=people.ed, data=lines.encode(), filename="more.csv")
    assert offered() == ["All criteria", "only (v2) (1)", "only (v1) (3)"]

    # Another rubric may have a criterion of that title too.
    other = factories.version(
        people.team,
        people.ed,
        title="Others",
        criteria=[{"name": "only", "weight": 1, "requirement": "Is another."}],
    )
    factories.import_labels(run.dataset, other, by=people.ed, data=lines.encode(), filename="others.csv")
    assert offered() == [
        "All criteria",
        "only (Others v1) (1)",
        "only (Capitals v2) (1)",
        "only (Capitals v1) (3)",
    ]


def test_all_disagreements_of_an_item_are_listed_and_decided_one_after_the_other(
    people: Cast, sign_in
) -> None:
    """Two of three criteria differ on each of two items: the second of the first item follows its first."""
    names = ("tone", "place", "length")
    version = factories.version(
        people.team,
        people.ed,
        criteria=[{"name": name, "weight": 1, "requirement": f"Has {name}."} for name in names],
    )
    items = [{"id": key, "submission": f"Text {key}"} for key in ("a", "b")]
    data = factories.dataset(people.team, people.ed, items=items, name="Two texts")
    lines = ["item_id,criterion,rater,verdict,reason"]
    for key in ("a", "b"):
        for name in names:
            other = "MET" if name == "place" else "UNMET"
            lines += [f"{key},{name},Xenia,MET,", f"{key},{name},Yusuf,{other},"]
    factories.import_labels(
        data, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )
    item, tone, length = (
        data.items.get(key="a"),
        version.criteria.get(name="tone"),
        version.criteria.get(name="length"),
    )

    def address(criterion) -> str:
        return reverse("adjudication_unit", args=[people.team.slug, item.pk, criterion.pk])

    client = sign_in(people.rae)
    assert "Two texts" in text(client.get(inbox_url(people)))
    page = client.get(address(tone)).content.decode()
    assert page.index('id="criterion-name"') < page.index(f'id="criterion-{length.pk}-name"')
    assert page.count("data-decide") == 1
    decided = client.post(address(tone), {"verdict": "MET", "cause": "human_wrong", "reason": "So it is."})
    assert decided["Location"].split("?")[0] == address(length)
    decided = client.post(address(length), {"verdict": "MET", "cause": "human_wrong", "reason": "So it is."})
    assert str(data.items.get(key="b").pk) in decided["Location"].split("/criteria/")[0]
