"""Items that are retired and restored: what stays, what is withdrawn, and which version held what."""

import json
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    NOT_RETIRED,
    ChangeKind,
    Dataset,
    Item,
    JournalEntry,
    Judgement,
    QueueItem,
    ReviewQueue,
    RubricVersion,
)
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.datasets import items as listed
from rubricweb.selectors.datasets.new_items import new_items
from rubricweb.selectors.datasets.versions import changes, items_of_cases
from rubricweb.selectors.exports.bundles import item_records
from rubricweb.selectors.exports.ground_truth import settled_labels
from rubricweb.selectors.runs.results import result
from rubricweb.services.datasets import answers, columns, splits
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.reviews import queue_changes, queues, reviews
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge, grade
from tests.worlds.versions import label


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1])


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def pk(dataset: Dataset, key: str) -> int:
    return dataset.items.get(key=key).pk


def keys(items: Any) -> list[str]:
    return list(items.order_by("position").values_list("key", flat=True))


def history(dataset: Dataset) -> list[tuple[int, str, int]]:
    found = changes(dataset, viewer=dataset.created_by)
    return [(one.version, one.kind, one.items) for one in found]


def opened(people: Cast, dataset: Dataset, version: RubricVersion, **options: Any) -> ReviewQueue:
    options.setdefault("raters", [people.ann, people.rae])
    return factories.queue(people.team, people.ed, dataset=dataset, rubric_version=version, **options)


def test_every_change_of_the_items_makes_the_next_version(people: Cast, dataset: Dataset) -> None:
    assert history(dataset) == [(1, "append", 3)]
    factories.add_items(dataset, by=people.ed, data=b'{"id": "new", "submission": "N."}', filename="n.jsonl")
    retirement.retire(dataset, [pk(dataset, "bad"), pk(dataset, "new")], by=people.ed, note="wrong")
    retirement.restore(dataset, [pk(dataset, "bad")], by=people.ed)
    dataset.refresh_from_db()
    assert dataset.version == 4
    assert history(dataset) == [(4, "restore", 1), (3, "retire", 2), (2, "append", 1), (1, "append", 3)]
    assert dataset.changes.get(version=3).note == "wrong"
    assert dataset.changes.get(version=2).created_by == people.ed


def test_each_version_holds_what_it_held(people: Cast, dataset: Dataset) -> None:
    factories.add_items(dataset, by=people.ed, data=b'{"id": "new", "submission": "N."}', filename="n.jsonl")
    retirement.retire(dataset, [pk(dataset, "bad")], by=people.ed)
    retirement.restore(dataset, [pk(dataset, "bad")], by=people.ed)
    retirement.retire(dataset, [pk(dataset, "good")], by=people.ed)
    held = {number: keys(dataset.items.in_version(number)) for number in range(1, 6)}
    assert held == {
        1: ["good", "bad", "empty-ish"],
        2: ["good", "bad", "empty-ish", "new"],
        3: ["good", "empty-ish", "new"],
        4: ["good", "bad", "empty-ish", "new"],
        5: ["bad", "empty-ish", "new"],
    }
    assert keys(dataset.items.current()) == held[5]


def test_lists_new_runs_and_new_queues_leave_retired_items_out(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    columns.declare(dataset, ["kind"], by=people.ed)
    retirement.retire(dataset, [pk(dataset, "bad")], by=people.ed)
    page = listed.items(dataset, viewer=people.bob)
    assert [item.key for item in page.rows] == ["good", "empty-ish"]
    retired = listed.items(dataset, viewer=people.bob, listed=listed.Listed(listed.RETIRED))
    assert [item.key for item in retired.rows] == ["bad"]
    assert [item.key for item in listed.items(dataset, viewer=people.bob, listed=listed.Listed(1)).rows] == [
        *("good", "bad", "empty-ish")
    ]
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    queue = opened(people, dataset, version)
    for rows in (run.run_items, queue.queue_items):
        assert keys(Item.objects.filter(pk__in=rows.values("item"))) == ["good", "empty-ish"]
    assert (run.dataset_version, queue.dataset_version) == (2, 2)
    with pytest.raises(Invalid, match="the id of an item"):
        factories.run(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            item_ids=[pk(dataset, "bad")],
        )


def test_finished_runs_keep_their_figures_and_labels_stay(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET" if "Paris" in response else "UNMET"))
    label(people, dataset, version, "Labels")
    before = result(run, viewer=people.bob)
    labels = Judgement.objects.in_reviews(queue__dataset=dataset).count()
    retirement.retire(dataset, [pk(dataset, "bad")], by=people.ed)
    assert result(run, viewer=people.bob) == before
    assert Judgement.objects.in_reviews(queue__dataset=dataset).count() == labels
    run.refresh_from_db()
    assert run.dataset_version == 1
    assert run.run_items.count() == 3


def test_a_run_is_extended_by_new_items_but_by_no_retired_one(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    more = b'{"id": "x", "submission": "X."}\n{"id": "y", "submission": "Y."}\n'
    factories.add_items(dataset, by=people.ed, data=more, filename="more.jsonl")
    retirement.retire(dataset, [pk(dataset, "x")], by=people.ed)
    assert keys(new_items(run)) == ["y"]
    assert lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps()) == 1
    run.refresh_from_db()
    assert run.dataset_version == 3


def test_open_reviews_are_withdrawn_and_drafts_can_be_read(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version, raters_per_item=2)
    now = timezone.now()
    draft = queues.next_review(queue, people.ann, now=now)
    assert draft is not None
    reviews.save_verdict(draft, version.criteria.get().pk, verdict="MET")
    done = queues.start_review(queue, draft.item, people.rae, now=now)
    reviews.save_verdict(done, version.criteria.get().pk, verdict="UNMET")
    reviews.submit(done, now=now)
    plan = retirement.plan_retirement(dataset, [draft.item_id], None)
    # Of two places one is submitted and one is ann's draft.
    assert (plan.behind.open_reviews, plan.behind.begun_reviews, plan.behind.queues) == (1, 1, 1)
    assert plan.behind.labels == 1  # what a draft says is no label yet
    retirement.retire(dataset, [draft.item_id], by=people.ed)
    place = queue.queue_items.get(item=draft.item_id)
    assert (place.withdrawn, place.wanted, place.room) == (True, 1, 0)
    with pytest.raises(Conflict, match="retired"):
        reviews.submit(draft, now=now)
    assert Judgement.objects.filter(review=draft).count() == 1
    following = queues.next_review(queue, people.ann, now=now)
    assert following is not None
    assert following.item_id != draft.item_id


def test_nobody_is_blind_to_an_item_nobody_is_asked_about(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    opened(people, dataset, version)
    everything = set(dataset.items.values_list("pk", flat=True))
    assert hidden_of(people.ann, people.team, dataset.pk) == everything
    gone = pk(dataset, "bad")
    retirement.retire(dataset, [gone], by=people.ed)
    assert hidden_of(people.ann, people.team, dataset.pk) == everything - {gone}


def test_restored_items_are_asked_about_again(people: Cast, dataset: Dataset, version: RubricVersion) -> None:
    queue = opened(people, dataset, version, raters_per_item=2)
    gone = pk(dataset, "good")
    retirement.retire(dataset, [gone], by=people.ed)
    retirement.restore(dataset, [gone], by=people.ed)
    place = queue.queue_items.get(item=gone)
    assert (place.withdrawn, place.wanted, place.room) == (False, 2, 2)


def test_more_raters_extra_raters_and_gold_ask_nobody_about_a_retired_item(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version)
    retirement.retire(dataset, [pk(dataset, "good")], by=people.ed)
    queue_changes.extend_queue(queue, by=people.ed, raters_per_item=2)
    rooms = {place.item.key: place.room for place in queue.queue_items.select_related("item")}
    assert rooms == {"good": 0, "bad": 2, "empty-ish": 2}


def test_a_queue_that_is_reopened_follows_what_became_of_its_items(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version)
    queues.close_queue(queue, by=people.ed)
    retirement.retire(dataset, [pk(dataset, "good")], by=people.ed)
    assert queue.queue_items.get(item__key="good").room == 1  # closed, it stays as it was
    queue_changes.reopen_queue(queue, by=people.ed)
    assert queue.queue_items.get(item__key="good").withdrawn
    queues.close_queue(queue, by=people.ed)
    retirement.restore(dataset, [pk(dataset, "good")], by=people.ed)
    queue_changes.reopen_queue(queue, by=people.ed)
    assert queue.queue_items.get(item__key="good").room == 1


def test_the_database_gives_no_place_to_a_withdrawn_item(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version)
    retirement.retire(dataset, [pk(dataset, "good")], by=people.ed)
    with pytest.raises(IntegrityError), transaction.atomic():
        QueueItem.objects.filter(queue=queue).update(wanted=2, room=1)


def test_the_key_of_a_retired_item_is_free_and_it_cannot_come_back_beside_another(
    people: Cast, dataset: Dataset
) -> None:
    gone = pk(dataset, "bad")
    words = dataset.items.get(pk=gone).submission
    retirement.retire(dataset, [gone], by=people.ed)
    again = json.dumps({"id": "bad", "submission": "Now right.", "prompt": "Other words?"}).encode()
    with pytest.raises(Invalid) as refused:
        factories.add_items(dataset, by=people.ed, data=again, filename="again.jsonl")
    assert "another prompt" in refused.value.faults[0].found
    same = json.dumps({"id": "bad", "submission": "Now right."}).encode()
    factories.add_items(dataset, by=people.ed, data=same, filename="again.jsonl")
    assert dataset.items.current().get(key="bad").submission != words
    assert retirement.plan_restoration(dataset, [gone], None).taken == (f"id:{gone}",)
    with pytest.raises(Conflict, match=f"cannot be restored: id:{gone}"):
        retirement.restore(dataset, [gone], by=people.ed)
    retirement.retire(dataset, [dataset.items.current().get(key="bad").pk], by=people.ed)
    retirement.restore(dataset, [gone], by=people.ed)
    assert dataset.items.current().get(key="bad").submission == words


def test_of_several_items_at_one_place_one_comes_back(people: Cast, dataset: Dataset) -> None:
    wrong = dataset.items.select_related("case", "dataset").get(key="bad")
    corrections.correct_item(wrong, Correction(submission="Paris."), by=people.ed)
    right = dataset.items.current().get(key="bad")
    retirement.retire(dataset, [right.pk], by=people.ed)
    gone, more, cursor = [], True, None
    while more:
        page = listed.items(
            dataset, viewer=people.bob, listed=listed.Listed(listed.RETIRED), cursor=cursor, size=1
        )
        gone += [item.pk for item in page.rows]
        more, cursor = page.next_cursor is not None, page.next_cursor
    assert gone == [wrong.pk, right.pk]
    with pytest.raises(Conflict, match=f"2 items cannot be restored: id:{wrong.pk}, id:{right.pk}"):
        retirement.restore(dataset, gone, by=people.ed)
    # Of a case the newest words.
    assert items_of_cases(dataset, [wrong.case_id], retired=True) == [right.pk]
    assert retirement.restore(dataset, [right.pk], by=people.ed).items == 1


def test_a_version_may_answer_a_case_anew_once_its_answer_is_retired(people: Cast) -> None:
    rows = [
        {"case_id": case, "system": "a@1", "submission": f"{case}.", "prompt": f"{case}?"}
        for case in ("one", "two")
    ]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="cases")
    asked = {"data": b'{"case_id": "one", "submission": "Anew."}', "filename": "new.jsonl", "system": "a@1"}
    assert answers.plan_answers(dataset, **asked).answered == ("one",)
    retirement.retire(dataset, [pk(dataset, "one@a@1")], by=people.ed)
    plan = answers.add_answers(dataset, by=people.ed, **asked)
    assert (plan.answers, plan.answered) == (1, ())
    assert dataset.items.current().get(key="one@a@1").submission == "Anew."


def test_cases_without_a_current_answer_are_counted_and_not_missed(people: Cast) -> None:
    rows = [
        {"case_id": case, "system": system, "submission": f"{case} {system}.", "prompt": f"{case}?"}
        for case in ("one", "two")
        for system in ("a@1", "a@2")
    ]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="cases")
    both = list(dataset.items.filter(case__key="one").values_list("pk", flat=True))
    assert retirement.plan_retirement(dataset, both[:1], None).cases == 0
    assert retirement.plan_retirement(dataset, both, None).cases == 1
    retirement.retire(dataset, both, by=people.ed)
    assert retirement.plan_restoration(dataset, both[:1], None).cases == 1
    asked = {"data": b'{"case_id": "two", "submission": "Three."}', "filename": "new.jsonl"}
    assert answers.plan_answers(dataset, system="a@3", **asked).missing == ()


def test_what_was_retired_before_stays_as_it_is(people: Cast, dataset: Dataset) -> None:
    gone = pk(dataset, "bad")
    retirement.retire(dataset, [gone], by=people.ed)
    again = retirement.retire(dataset, [gone], by=people.ed)
    assert (again.items, again.unchanged, again.version) == (0, 1, 2)
    assert history(dataset)[0] == (2, ChangeKind.RETIRE, 1)
    with pytest.raises(Invalid, match="at least one"):
        retirement.retire(dataset, [], by=people.ed)


def test_items_of_another_dataset_and_halves_of_a_split_are_refused(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    other = factories.dataset(people.team, people.ed, name="other")
    with pytest.raises(NotFound):
        retirement.retire(dataset, [pk(dataset, "bad"), pk(other, "bad")], by=people.ed)
    assert dataset.items.current().count() == 3
    label(people, dataset, version, "Labels")
    halves = splits.split_dataset(dataset, n_dev=1, by=people.ed)
    held_out = list(halves.test.items.values_list("key", flat=True))
    plan = retirement.plan_retirement(dataset, list(dataset.items.values_list("pk", flat=True)), None)
    assert plan.behind.held_out == len(held_out) == 2
    with pytest.raises(Conflict, match="the seal covers its items"):
        retirement.retire(halves.test, [halves.test.items.all()[0].pk], by=people.ed)


def test_a_bundle_names_retired_items_apart_from_those_that_took_their_key(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = label(people, dataset, version, "Labels")
    retirement.retire(dataset, [pk(dataset, "bad"), pk(dataset, "good")], by=people.ed)
    same = b'{"id": "bad", "submission": "Now right."}'
    factories.add_items(dataset, by=people.ed, data=same, filename="again.jsonl")
    settled = settled_labels([queue])
    everything = [item.id for item in item_records(dataset, settled, labelled_only=False)]
    assert everything == ["good", "bad (until version 1)", "empty-ish", "bad"]
    assert [item.id for item in item_records(dataset, settled, labelled_only=True)] == ["empty-ish"]


def test_columns_count_current_items_alone(people: Cast) -> None:
    rows = [{"id": key, "submission": "So.", "language": key[0]} for key in ("d1", "d2", "e1")]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="told")
    columns.declare(dataset, ["language"], by=people.ed)
    retirement.retire(dataset, [pk(dataset, "d1")], by=people.ed)
    assert dataset.columns == [{"name": "language", "values": ["d", "e"], "counts": [1, 1]}]
    found = listed.items(dataset, viewer=people.bob, where=[("language", "d")])
    assert [item.key for item in found.rows] == ["d2"]
    retirement.restore(dataset, [pk(dataset, "d1")], by=people.ed)
    found = listed.items(dataset, viewer=people.bob, where=[("language", "d")])
    assert [item.key for item in found.rows] == ["d1", "d2"]


def test_the_audit_log_says_who_retired_how_many_and_why(people: Cast, dataset: Dataset) -> None:
    retirement.retire(dataset, [pk(dataset, "bad")], by=people.ed, note=" a duplicate ")
    entry = JournalEntry.objects.get(verb="retired items of")
    assert entry.actor == people.ed
    assert entry.detail == {"items": 1, "version": 2, "note": "a duplicate"}


def test_an_item_is_current_until_a_version_says_otherwise(dataset: Dataset) -> None:
    assert set(dataset.items.values_list("added_in", "retired_in")) == {(1, NOT_RETIRED)}
