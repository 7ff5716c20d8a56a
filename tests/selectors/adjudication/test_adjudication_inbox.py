"""The inbox: which units wait, in which order, and what nobody needs to look at, worked out by hand."""

import pytest
from django.utils import timezone

from rubricweb.models import (
    ACCEPTED,
    Adjudication,
    Criterion,
    Item,
    JournalEntry,
    ReviewQueue,
    Run,
    Vote,
)
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.adjudication.units import aliases, unit_to_decide
from rubricweb.selectors.labels.provenance import item_provenance
from rubricweb.services import adjudications
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

# Two criteria: heavy (weight 5) and light (1). What x, y said of heavy; the judge said MET to all.
HEAVY = {"1": "MET MET", "2": "MET UNMET", "3": "UNMET UNMET", "4": "CANNOT_ASSESS CANNOT_ASSESS"}


@pytest.fixture
def labelled(people: Cast) -> tuple[Run, ReviewQueue]:
    version = factories.version(
        people.team,
        people.ed,
        criteria=[
            {"name": "light", "weight": 1, "requirement": "Is light."},
            {"name": "heavy", "weight": -5, "requirement": "Is heavy."},
        ],
    )
    items = [{"id": key, "submission": f"Text {key}"} for key in HEAVY]
    data = factories.dataset(people.team, people.ed, items=items)
    lines = ["item_id,criterion,rater,verdict,reason"]
    for key, said in HEAVY.items():
        lines += [
            f"{key},heavy,{rater},{verdict},r" for rater, verdict in zip("xy", said.split(), strict=True)
        ]
    lines += ["1,light,x,UNMET,r", "1,light,y,MET,r"]
    queue = factories.import_labels(
        data, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )
    run = factories.run(people.team, people.ed, dataset=data, rubric_version=version)
    return grade(run, InProcessJudge(lambda requirement, response: "MET")), queue


def listed(people: Cast, **asked) -> list[tuple[str, str, tuple[str, ...]]]:
    where = inbox.scope(people.team, people.bob)
    rows = inbox.shown(where, inbox.inbox(where, **asked))
    return [(row.item_key, row.criterion.name, row.kinds) for row in rows]


def test_the_most_telling_units_come_first(people: Cast, labelled) -> None:
    # People differ on 2 heavy and 1 light, the heavier first; they agree against the judge on 3, and on 4,
    # which nobody could assess. On 1 heavy everybody says MET: nothing to decide.
    assert listed(people) == [
        ("2", "heavy", ("people differ",)),
        ("1", "light", ("people differ",)),
        ("4", "heavy", ("judge differs", "cannot assess")),
        ("3", "heavy", ("judge differs",)),
    ]
    assert listed(people, kind="cannot assess") == [("4", "heavy", ("judge differs", "cannot assess"))]


def test_votes_that_differ_bring_a_unit_in(people: Cast, labelled) -> None:
    run, queue = labelled
    unit = {
        "item": run.dataset.items.get(key="1"),
        "criterion": queue.rubric_version.criteria.get(name="heavy"),
    }
    for judge, verdict in (("a", "MET"), ("b", "UNMET"), ("c", "MET")):
        Vote.objects.create(run=run, judge=judge, verdict=verdict, **unit)
    assert listed(people)[-1] == ("1", "heavy", ("judge flips",))
    seen = unit_to_decide(**unit, viewer=people.bob)
    assert seen.judges[0].votes == (("MET", 2), ("UNMET", 1))


def test_only_judges_that_said_something_are_numbered(people: Cast, labelled) -> None:
    run, queue = labelled
    unit = {
        "item": run.dataset.items.get(key="1"),
        "criterion": queue.rubric_version.criteria.get(name="heavy"),
    }
    # Another queue labels the item beside a run of its own, which has not come to the item yet.
    later = factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=queue.rubric_version)
    line = b"item_id,criterion,rater,verdict\n1,heavy,z,MET\n"
    other = factories.import_labels(
        run.dataset, queue.rubric_version, by=people.ed, data=line, filename="more.csv"
    )
    for labelling, beside in ((queue, run), (other, later)):
        ReviewQueue.objects.filter(pk=labelling.pk).update(run=beside)
    seen = unit_to_decide(**unit, viewer=people.bob)
    assert ([one.name for one in seen.judges], len(seen.runs)) == (["Judge"], 2)
    grade(later, InProcessJudge(lambda requirement, response: "UNMET"))
    seen = unit_to_decide(**unit, viewer=people.bob)
    assert sorted(one.name for one in seen.judges) == ["Judge 1", "Judge 2"]


def test_a_decided_unit_leaves_and_is_found_again_by_its_cause(people: Cast, labelled) -> None:
    run, queue = labelled
    item, heavy = run.dataset.items.get(key="2"), queue.rubric_version.criteria.get(name="heavy")
    adjudications.adjudicate(item, heavy, by=people.rae, verdict="MET", cause="human_wrong")
    assert ("2", "heavy", ("people differ",)) not in listed(people)
    assert ("2", "heavy", ("people differ",)) in listed(people, decided=True)
    assert listed(people, cause="human_wrong") == [("2", "heavy", ("people differ",))]
    assert listed(people, cause="item_broken") == []


def test_pages_go_on_where_the_last_one_ended_whatever_was_decided(people: Cast, labelled) -> None:
    run, queue = labelled
    where = inbox.scope(people.team, people.bob)
    first = inbox.inbox_page(where, inbox.inbox(where), size=2)
    assert [row.item_key for row in first.rows] == ["2", "1"]
    assert (first.total, first.kinds[0], first.kinds[1]) == (4, ("people differ", 2), ("judge differs", 2))
    heavy = queue.rubric_version.criteria.get(name="heavy")
    adjudications.adjudicate(
        run.dataset.items.get(key="2"), heavy, by=people.rae, verdict="MET", cause="human_wrong"
    )
    second = inbox.inbox_page(where, inbox.inbox(where), size=2, cursor=first.next_cursor or "")
    assert [row.item_key for row in second.rows] == ["4", "3"]
    assert second.next_cursor is None


def test_the_number_of_queries_does_not_grow(people: Cast, labelled, django_assert_max_num_queries) -> None:
    with django_assert_max_num_queries(23):
        where = inbox.scope(people.team, people.bob)
        inbox.inbox_page(where, inbox.inbox(where))


def test_what_somebody_decides_meanwhile_is_not_accepted(people: Cast, labelled, monkeypatch) -> None:
    _, queue = labelled
    agreed = adjudications.agreed

    def meanwhile(*asked):
        [unit] = agreed(*asked)
        item, criterion = Item.objects.get(pk=unit.item_id), Criterion.objects.get(pk=unit.criterion_id)
        adjudications.adjudicate(item, criterion, by=people.ed, verdict="MET", cause="item_broken")
        return [unit]

    monkeypatch.setattr(adjudications, "agreed", meanwhile)
    assert adjudications.accept_agreed(queue, by=people.rae) == 0
    assert not JournalEntry.objects.filter(verb=ACCEPTED).exists()


def test_where_all_agree_is_accepted_at_once_and_stays_unanimous(people: Cast, labelled) -> None:
    run, queue = labelled
    assert [unit.label for unit in inbox.agreed(queue, people.rae)] == ["MET"]  # item 1, heavy
    assert adjudications.accept_agreed(queue, by=people.rae) == 1
    assert adjudications.accept_agreed(queue, by=people.rae) == 0
    stored = Adjudication.objects.get()
    assert (stored.cause, stored.verdict, stored.decided_by) == ("", "MET", people.rae)
    assert [(one["is_judge"], one["verdict"]) for one in stored.labels] == [
        (False, "MET"),
        (False, "MET"),
        (True, "MET"),
    ]
    assert [one["rater"] for one in stored.labels][:2] == ["x", "y"]
    found = {
        criterion.name: row
        for criterion, row in item_provenance(run.dataset.items.get(key="1"), viewer=people.bob)
    }
    assert (found["heavy"].rule, found["heavy"].decided_by) == ("unanimous", "rae")
    assert (found["light"].rule, found["light"].verdict, found["light"].decided_by) == ("majority", None, "")
    assert found["light"].decided_at is not None


def test_an_open_queue_waits_for_all_its_raters_before_accepting(people: Cast) -> None:
    version = factories.version(people.team, people.ed)
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=version,
        raters=[people.ann, people.ed],
        raters_per_item=2,
    )
    for count, user in ((0, people.ann), (3, people.ed)):
        review = queues.start_review(queue, queue.dataset.items.get(key="good"), user)
        for criterion in version.criteria.all():
            reviews.save_verdict(review, criterion.pk, verdict="MET")
        reviews.submit(review, now=timezone.now())
        assert len(inbox.agreed(queue, people.rae)) == count


def test_items_still_to_review_blind_are_left_out_and_counted(people: Cast, labelled) -> None:
    run, queue = labelled
    factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=queue.rubric_version,
        raters=[people.ann],
        name="Blind",
    )
    where = inbox.scope(people.team, people.ann)
    page = inbox.inbox_page(where, inbox.inbox(where))
    assert (page.rows, page.hidden_items) == ((), 4)
    assert inbox.agreed(queue, people.ann) == []


def test_letters_are_the_same_on_one_item_and_mixed_between_items(people: Cast, labelled) -> None:
    run, _ = labelled
    given = [aliases(item) for item in Item.objects.filter(dataset=run.dataset).order_by("pk")]
    assert all(sorted(letters.values()) == ["Rater A", "Rater B"] for letters in given)
    assert given == [aliases(item) for item in Item.objects.filter(dataset=run.dataset).order_by("pk")]
