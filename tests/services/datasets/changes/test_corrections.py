"""Corrected answers and cases: new words beside the old ones, which keep what was said of them."""

import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.engine import Rubric
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import NOT_RETIRED, Dataset, Item, JournalEntry, Judgement, RubricVersion
from rubricweb.selectors.blinding import hidden_items, hidden_of, shown
from rubricweb.selectors.datasets.versions import changes
from rubricweb.selectors.exports.bundles import dataset_file, item_records
from rubricweb.selectors.exports.ground_truth import settled_labels
from rubricweb.selectors.runs.diff.diff import run_diff
from rubricweb.services.datasets import answers, splits
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.versions import label


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1])


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def cases(people: Cast) -> Dataset:
    """Two cases, answered by a@1 and a@2."""
    rows = [
        {"case_id": case, "system": system, "submission": f"{case} {system}.", "prompt": f"{case}?"}
        for case in ("one", "two")
        for system in ("a@1", "a@2")
    ]
    return factories.dataset(people.team, people.ed, items=rows, name="cases")


def current(dataset: Dataset, key: str) -> Item:
    return dataset.items.current().select_related("dataset__team", "case").get(key=key)


def add(people: Cast, dataset: Dataset, system: str, *rows: dict[str, Any]) -> None:
    data = "\n".join(map(json.dumps, rows)).encode()
    answers.add_answers(dataset, by=people.ed, data=data, filename="more.jsonl", system=system)


def test_a_corrected_answer_takes_the_place_of_the_one_before(people: Cast, dataset: Dataset) -> None:
    before = current(dataset, "bad")
    plan = corrections.correct_item(before, Correction(submission="Paris."), by=people.ed, note="typo")
    before.refresh_from_db()
    after = current(dataset, "bad")
    assert (plan.version, plan.replacement) == (2, after.pk)
    assert (before.retired_in, after.added_in, after.retired_in) == (2, 2, NOT_RETIRED)
    assert (after.replaces_id, after.position, after.case_id) == (before.pk, before.position, before.case_id)
    assert (after.submission, after.prompt) == ("Paris.", before.prompt)
    assert after.content_hash != before.content_hash
    newest = changes(dataset, viewer=people.ed)[0]
    assert (newest.version, newest.kind, newest.note) == (2, "correct", "typo")
    keys = list(dataset.items.current().order_by("position").values_list("key", flat=True))
    assert keys == ["good", "bad", "empty-ish"]
    entry = JournalEntry.objects.get(verb="corrected an item of")
    assert entry.detail == {"version": 2, "note": "typo", "item": before.pk, "replacement": after.pk}


def test_labels_stay_with_the_words_they_were_given_to(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = label(people, dataset, version, "Labels")
    before = current(dataset, "bad")
    assert corrections.plan_item(before, Correction(submission="Paris."), None).behind.labels == 2
    corrections.correct_item(before, Correction(submission="Paris."), by=people.ed)
    after = current(dataset, "bad")
    of = Judgement.objects.in_reviews(queue=queue)
    assert (of.filter(item=before).count(), of.filter(item=after).count()) == (2, 0)


def test_open_queues_over_the_whole_dataset_ask_about_the_right_words(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    before = current(dataset, "bad")
    corrections.correct_item(before, Correction(submission="Paris."), by=people.ed)
    after = current(dataset, "bad")
    assert queue.queue_items.get(item=before).withdrawn
    assert queue.queue_items.get(item=after).room == 1
    hidden = hidden_of(people.ann, people.team, dataset.pk)
    # Whoever may see what the wrong words are called, and whose they are, knows it of the right ones.
    assert (before.pk in hidden, after.pk in hidden) == (True, True)
    # So do those that were opened while the item was away.
    retirement.retire(dataset, [after.pk], by=people.ed)
    later = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="Later"
    )
    assert retirement.restore(dataset, [after.pk], by=people.ed).version == 4
    assert queue.queue_items.get(item=after).room == later.queue_items.get(item=after).room == 1
    later.refresh_from_db()
    assert later.dataset_version == 4


def test_wrong_words_are_hidden_by_every_rule_until_the_right_ones_are_reviewed(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    first = current(dataset, "bad")
    corrections.correct_item(first, Correction(submission="Lyon."), by=people.ed)
    second = current(dataset, "bad")
    corrections.correct_item(second, Correction(submission="Paris."), by=people.ed)
    third = current(dataset, "bad")
    chain = {first.pk, second.pk, third.pk}

    def hidden() -> tuple[set[int], ...]:
        one_by_one = {pk for pk in chain if hidden_items(people.ann, people.team, item=pk).exists()}
        together = set(
            hidden_items(people.ann, people.team).filter(pk__in=chain).values_list("pk", flat=True)
        )
        rows = run.run_items.filter(shown(people.ann, people.team, dataset.pk))
        of_run = {first.pk} - set(rows.values_list("item", flat=True))
        return one_by_one, together, hidden_of(people.ann, people.team, dataset.pk) & chain, of_run

    assert hidden() == (chain, chain, chain, {first.pk})
    review = queues.start_review(queue, third, people.ann)
    reviews.save_verdict(review, version.criteria.get().pk, verdict="MET")
    reviews.submit(review, now=timezone.now())
    assert hidden() == (set(), set(), set(), set())


def test_the_words_of_a_case_are_corrected_along_with_its_only_answer(people: Cast, dataset: Dataset) -> None:
    corrections.correct_item(current(dataset, "bad"), Correction(prompt="Capital of Spain?"), by=people.ed)
    after = current(dataset, "bad")
    assert (after.prompt, after.wording, after.case.wording) == ("Capital of Spain?", 2, 2)
    corrections.correct_item(after, Correction(submission="Madrid."), by=people.ed)
    after = current(dataset, "bad")
    assert (after.prompt, after.submission, after.wording) == ("Capital of Spain?", "Madrid.", 2)


def test_a_case_that_others_answer_is_corrected_as_a_case(people: Cast, cases: Dataset) -> None:
    with pytest.raises(Conflict, match="Other answers share the case id:"):
        corrections.correct_item(current(cases, "one@a@1"), Correction(prompt="Other?"), by=people.ed)
    assert cases.items.current().count() == 4


def test_words_written_with_others_in_view_are_refused(people: Cast, cases: Dataset) -> None:
    case = current(cases, "one@a@1").case
    corrections.correct_case(case, Correction(prompt="One, please?"), by=people.alice, expected_wording=1)
    with pytest.raises(Conflict, match="corrected since you opened this"):
        corrections.correct_case(case, Correction(reference="1"), by=people.ed, expected_wording=1)
    corrections.correct_case(case, Correction(reference="1"), by=people.ed, expected_wording=2)
    assert case.texts.get(number=3).prompt == "One, please?"
    alone = current(factories.dataset(people.team, people.ed), "bad")
    corrections.correct_case(alone.case, Correction(prompt="Which city?"), by=people.alice)
    with pytest.raises(Conflict, match="corrected since you opened this"):
        corrections.correct_item(alone, Correction(reference="Paris"), by=people.ed, expected_wording=1)
    # Of the answer's own words nobody else changed any.
    corrections.correct_item(alone, Correction(submission="Paris."), by=people.ed, expected_wording=1)


def test_later_answers_take_the_new_words_and_those_there_keep_theirs(people: Cast, cases: Dataset) -> None:
    case = current(cases, "one@a@1").case
    plan = corrections.correct_case(case, Correction(prompt="One, please?"), by=people.ed)
    assert (plan.version, plan.items, plan.cases) == (2, 2, 1)
    add(people, cases, "a@3", {"case_id": "one", "submission": "Three."})
    assert (current(cases, "one@a@3").prompt, current(cases, "one@a@3").wording) == ("One, please?", 2)
    assert (current(cases, "one@a@1").prompt, current(cases, "one@a@1").wording) == ("one?", 1)
    old = {"case_id": "one", "submission": "Four.", "prompt": "one?"}
    with pytest.raises(Invalid) as refused:
        add(people, cases, "a@4", old)
    assert "another prompt" in refused.value.faults[0].found
    add(people, cases, "a@4", old | {"prompt": "One,  please?"})
    assert current(cases, "one@a@4").wording == 2


def test_a_version_answers_the_new_words_of_a_case_beside_the_old_ones(people: Cast, cases: Dataset) -> None:
    corrections.correct_case(current(cases, "one@a@1").case, Correction(prompt="One, please?"), by=people.ed)
    add(people, cases, "a@1", {"case_id": "one", "submission": "Anew."})
    new = current(cases, "one@a@1 (wording 2)")
    assert (new.submission, new.wording, new.attempt) == ("Anew.", 2, 1)
    assert current(cases, "one@a@1").submission == "one a@1."
    with pytest.raises(Invalid, match="1 fault"):
        add(people, cases, "a@1", {"case_id": "one", "submission": "Again."})


def test_answers_to_other_words_are_not_paired(people: Cast, cases: Dataset, version: RubricVersion) -> None:
    corrections.correct_case(current(cases, "one@a@1").case, Correction(prompt="One, please?"), by=people.ed)
    add(people, cases, "a@3", *({"case_id": case, "submission": "Three."} for case in ("one", "two")))
    runs = []
    for system in ("a@1", "a@3"):
        [found] = [item.system_version for item in cases.items.filter(key=f"two@{system}")]
        run = factories.run(
            people.team, people.ed, dataset=cases, rubric_version=version, systems=[found], use_cache=False
        )
        runs.append(grade(run, InProcessJudge(lambda requirement, response: "MET")))
    diff = run_diff(runs[1], runs[0], viewer=people.bob)
    # An answer on each side, to words that the other was not asked.
    assert diff.without_pair.reworded.n == 2


def test_an_own_rubric_of_a_case_is_corrected_too(people: Cast) -> None:
    own = [{"name": "n", "weight": 1.0, "requirement": "Names it."}]
    rows = [{"id": "a", "case_id": "a", "system": "s@1", "submission": "A.", "rubric": own}]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="own")
    rubric = Rubric.from_dict({"criteria": [{"name": "n", "weight": 1.0, "requirement": "Names it well."}]})
    corrections.correct_case(current(dataset, "a").case, Correction(rubric=rubric), by=people.ed)
    add(people, dataset, "s@2", {"case_id": "a", "submission": "B."})
    [asked] = [one.requirement for one in current(dataset, "a@s@2").rubric_version.criteria.all()]
    assert asked == "Names it well."
    [kept] = [one.requirement for one in current(dataset, "a").rubric_version.criteria.all()]
    assert kept == "Names it."


def test_nothing_changed_retired_sealed_and_unstorable_are_refused(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    item = current(dataset, "bad")
    with pytest.raises(Invalid, match="the words there are"):
        corrections.correct_item(item, Correction(submission=item.submission), by=people.ed)
    with pytest.raises(Invalid, match="the words there are"):
        corrections.correct_case(item.case, Correction(), by=people.ed)
    for nothing in ("", " \n"):
        with pytest.raises(Invalid, match="submission: found an empty text"):
            corrections.correct_item(item, Correction(submission=nothing), by=people.ed)
    with pytest.raises(Invalid):
        corrections.correct_item(item, Correction(prompt=[{"role": 1}]), by=people.ed)
    with pytest.raises(Invalid, match="an answer"):
        corrections.correct_case(item.case, Correction(submission="S."), by=people.ed)
    label(people, dataset, version, "Labels")
    half = splits.split_dataset(dataset, n_dev=1, by=people.ed).test
    held_out = half.items.select_related("dataset", "case").all()[0]
    for refused in (
        lambda: corrections.correct_item(held_out, Correction(submission="S."), by=people.ed),
        lambda: corrections.correct_case(held_out.case, Correction(prompt="P?"), by=people.ed),
    ):
        with pytest.raises(Conflict, match="the seal covers"):
            refused()
    retirement.retire(dataset, [item.pk], by=people.ed)
    with pytest.raises(Conflict, match="was retired in version 2"):
        corrections.correct_item(item, Correction(submission="S."), by=people.ed)
    assert dataset.version == 2


def test_the_wrong_words_come_back_once_the_right_ones_are_retired(people: Cast, dataset: Dataset) -> None:
    before = current(dataset, "bad")
    corrections.correct_item(before, Correction(submission="Paris."), by=people.ed)
    with pytest.raises(Conflict, match="cannot be restored"):
        retirement.restore(dataset, [before.pk], by=people.ed)
    retirement.retire(dataset, [current(dataset, "bad").pk], by=people.ed)
    retirement.restore(dataset, [before.pk], by=people.ed)
    assert current(dataset, "bad").pk == before.pk


def test_a_bundle_of_corrected_answers_and_cases_can_be_read_again(
    people: Cast, cases: Dataset, version: RubricVersion
) -> None:
    corrections.correct_item(current(cases, "one@a@1"), Correction(submission="Right."), by=people.ed)
    corrections.correct_case(current(cases, "two@a@1").case, Correction(prompt="Two, please?"), by=people.ed)
    add(people, cases, "a@3", {"case_id": "two", "submission": "Three."})
    records = tuple(item_records(cases, settled_labels([]), labelled_only=False))
    file = dataset_file(cases, None, records)
    assert {item.id: item.case_id for item in file.items} == {
        "one@a@1 (until version 1)": "one (until version 1)",
        "one@a@1": "one",
        "one@a@2": "one",
        "two@a@1": "two (wording 1)",
        "two@a@2": "two (wording 1)",
        "two@a@3": "two",
    }


def test_a_draft_of_the_wrong_words_is_kept_but_not_submitted(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )
    now = timezone.now()
    draft = queues.next_review(queue, people.ann, now=now)
    assert draft is not None
    reviews.save_verdict(draft, version.criteria.get().pk, verdict="MET")
    corrections.correct_item(draft.item, Correction(submission="Other."), by=people.ed)
    with pytest.raises(Conflict, match="retired"):
        reviews.submit(draft, now=now)
    factories.add_items(dataset, by=people.ed, data=b'{"id": "z", "submission": "Z."}', filename="z.jsonl")
    dataset.refresh_from_db()
    assert dataset.version == 3
