"""Two sealed halves of labelled items."""

import pytest

from rubricweb.engine.datasets import RubricDataset
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Case, CaseText, Dataset, Item, Judgement
from rubricweb.selectors.datasets.cases import words_of
from rubricweb.selectors.datasets.halves import split_is_withheld
from rubricweb.selectors.exports.bundles import dataset_file, item_records
from rubricweb.selectors.exports.ground_truth import ground_truth_items, settled_labels
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.services import adjudications
from rubricweb.services.datasets import splits
from rubricweb.services.datasets.changes import corrections
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.reviews import queues
from tests import factories
from tests.factories import Cast
from tests.services.datasets.test_imported_runs import while_uncommitted

ITEMS = [{"id": f"i{number}", "submission": f"Text {number}"} for number in range(8)]


@pytest.fixture
def labelled(people: Cast) -> Dataset:
    """Items 0 to 3 are MET, 4 to 7 UNMET by two raters each; a ninth nobody labelled."""
    version = factories.version(
        people.team, people.ed, criteria=[{"name": "only", "weight": 1, "requirement": "Is right."}]
    )
    dataset = factories.dataset(
        people.team, people.ed, items=[*ITEMS, {"id": "unlabelled", "submission": "Nothing"}]
    )
    lines = ["item_id,criterion,rater,verdict,reason"]
    for number in range(8):
        lines += [f"i{number},only,{rater},{'MET' if number < 4 else 'UNMET'},so" for rater in "xy"]
    factories.import_labels(
        dataset, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )
    item, criterion = dataset.items.get(key="i7"), version.criteria.get()
    adjudications.adjudicate(
        item, criterion, by=people.rae, verdict=Verdict.CANNOT_ASSESS, cause="item_broken", reason="Cut off."
    )
    return dataset


def truth(dataset: Dataset) -> dict[str, str | None]:
    found = ground_truth_items(dataset, settled_labels(list(labelled_queues(dataset.pk, team=dataset.team))))
    return {item.id: item.ground_truth[0] for item in found if item.ground_truth}


def test_the_halves_share_no_item_and_spread_every_label_alike(people: Cast, labelled: Dataset) -> None:
    made = splits.split_dataset(labelled, n_dev=4, by=people.ed, seed=3)
    dev, test = truth(made.dev), truth(made.test)
    assert (made.dev.sealed_as, made.test.sealed_as) == ("dev", "test")
    assert set(dev) | set(test) == {f"i{number}" for number in range(8)}
    assert not set(dev) & set(test)
    # Four MET over two halves of four: two each.
    assert [list(half.values()).count("MET") for half in (dev, test)] == [2, 2]
    # Before the adjudication of i7 there were four UNMET: three are left, and one CANNOT_ASSESS.
    assert sorted([*dev.values(), *test.values()], key=str).count("CANNOT_ASSESS") == 1
    assert {**dev, **test} == truth(labelled)


def test_the_halves_keep_items_labels_and_where_they_came_from(people: Cast, labelled: Dataset) -> None:
    made = splits.split_dataset(labelled, n_dev=3, by=people.ed)
    for half in (made.dev, made.test):
        [queue] = labelled_queues(half.pk, team=half.team)
        assert (queue.state, queue.imported, queue.blind) == ("closed", True, "none")
        assert sorted(rater.name for rater in queue.raters.all()) == ["x", "y"]
        assert half.split_of == labelled
        assert half.split_report["n_dev"] == 3
        for item in half.items.all():
            original = Item.objects.get(dataset=labelled, key=item.key)
            assert (item.submission, item.content_hash) == (original.submission, original.content_hash)
            assert item.reviews.count() == 2
    assert made.dev.seal != made.test.seal


def test_what_is_decided_beside_no_label_that_is_copied_is_no_ground_truth_of_a_half(people: Cast) -> None:
    criteria = [{"name": name, "weight": 1, "requirement": f"Is {name}."} for name in ("right", "kind")]
    version = factories.version(people.team, people.ed, criteria=criteria)
    dataset = factories.dataset(people.team, people.ed, items=ITEMS[:3])
    first, _ = (
        factories.import_labels(
            dataset,
            version,
            by=people.ed,
            data=f"item_id,criterion,rater,verdict\ni0,{name},x,MET\ni1,{name},x,UNMET".encode(),
            filename=f"{name}.csv",
        )
        for name in ("right", "kind")
    )
    # In the other queue, and where nobody labelled at all.
    for key in ("i1", "i2"):
        item, criterion = dataset.items.get(key=key), version.criteria.get(name="kind")
        adjudications.adjudicate(
            item, criterion, by=people.rae, verdict="MET", cause="human_wrong", reason="It is."
        )
    made = splits.split_dataset(dataset, n_dev=1, by=people.ed, queues=[first])
    for half in (made.dev, made.test):
        settled = settled_labels(list(labelled_queues(half.pk, team=half.team)), datasets=[half.pk])
        records = tuple(item_records(half, settled, labelled_only=True))
        assert [None in (record.ground_truth or ()) for record in records] == [True]
        there = dataset_file(half, version, records)
        assert half.seal == RubricDataset.from_dataset_file(there).seal(half.seal_salt)


def test_the_same_seed_gives_the_same_halves_and_another_need_not(people: Cast, labelled: Dataset) -> None:
    first = splits.split_dataset(labelled, n_dev=4, by=people.ed, seed=1)
    keys = set(truth(first.dev))
    first.dev.halves.all().delete()
    for half in (first.dev, first.test):
        half.name += " of before"
        half.save()
        half.queues.update(name=f"Labels of {half.name}")
    again = splits.split_dataset(labelled, n_dev=4, by=people.ed, seed=1)
    assert set(truth(again.dev)) == keys
    # The same labels, and yet nothing can be told from equal seals: each has a salt of its own.
    salts = {half.seal_salt for half in (first.dev, first.test, again.dev, again.test)}
    assert (len(salts), {len(salt) for salt in salts}) == (4, {32})
    assert again.dev.seal != first.dev.seal


@pytest.mark.parametrize("n_dev", [0, 8, 9])
def test_a_half_without_items_is_refused(people: Cast, labelled: Dataset, n_dev: int) -> None:
    with pytest.raises(Invalid) as refusal:
        splits.split_dataset(labelled, n_dev=n_dev, by=people.ed)
    [fault] = refusal.value.faults
    assert (fault.place, fault.allowed) == ("n_dev", "1 to 7, with 8 labelled items")
    assert Dataset.objects.count() == 1


def test_a_dataset_nobody_labelled_is_refused(people: Cast) -> None:
    with pytest.raises(Invalid, match="Nobody has labelled"):
        splits.split_dataset(factories.dataset(people.team, people.ed), n_dev=1, by=people.ed)


def test_a_split_waits_for_blind_queues_because_the_halves_show_labels(
    people: Cast, labelled: Dataset
) -> None:
    version = labelled.queues.get().rubric_version
    queue = factories.queue(
        people.team, people.ed, dataset=labelled, rubric_version=version, raters=[people.ann], name="Blind"
    )
    with pytest.raises(Conflict, match="blind queue Blind"):
        splits.split_dataset(labelled, n_dev=4, by=people.ed)
    queues.close_queue(queue, by=people.ed)
    assert splits.split_dataset(labelled, n_dev=4, by=people.ed).dev.items.count() == 4


def test_who_is_to_review_the_same_words_elsewhere_blind_cannot_split(
    people: Cast, labelled: Dataset
) -> None:
    version = labelled.queues.get().rubric_version
    elsewhere = factories.dataset(people.team, people.ed, name="elsewhere", items=ITEMS[:2])
    queue = factories.queue(
        people.team, people.ed, dataset=elsewhere, rubric_version=version, raters=[people.alice], name="Blind"
    )
    with pytest.raises(
        Withheld, match="2 items of this dataset are hidden from you, and which split an item"
    ):
        splits.split_dataset(labelled, n_dev=4, by=people.alice)
    assert not labelled.halves.exists()
    made = splits.split_dataset(labelled, n_dev=4, by=people.ed)
    # Both words may be in one half: what the other half counts tells of them all the same.
    assert [split_is_withheld(half, people.alice) for half in (made.dev, made.test)] == [True, True]
    assert [split_is_withheld(half, people.bob) for half in (made.dev, made.test)] == [False, False]
    queues.close_queue(queue, by=people.ed)
    assert [split_is_withheld(half, people.alice) for half in (made.dev, made.test)] == [False, False]


def test_what_was_split_off_a_deleted_dataset_is_withheld_while_anything_is(
    people: Cast, labelled: Dataset
) -> None:
    version = labelled.queues.get().rubric_version
    made = splits.split_dataset(labelled, n_dev=4, by=people.ed)
    Dataset.objects.filter(pk__in=[made.dev.pk, made.test.pk]).update(split_of=None)
    made.dev.refresh_from_db()
    assert not split_is_withheld(made.dev, people.alice)
    factories.queue(
        people.team, people.ed, dataset=made.test, rubric_version=version, raters=[people.alice], name="Blind"
    )
    assert split_is_withheld(made.dev, people.alice)


def test_a_second_split_needs_the_names_of_the_first(people: Cast, labelled: Dataset) -> None:
    splits.split_dataset(labelled, n_dev=4, by=people.ed)
    with pytest.raises(Conflict, match="was split before"):
        splits.split_dataset(labelled, n_dev=2, by=people.ed)
    assert Dataset.objects.filter(split_of=labelled).count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_split_waits_for_a_correction_and_seals_what_it_copies(people: Cast, labelled: Dataset) -> None:
    wrong = labelled.items.get(key="i0")

    def correct() -> None:
        corrections.correct_item(wrong, Correction(submission="Right."), by=people.ed)

    made = while_uncommitted(correct, lambda: splits.split_dataset(labelled, n_dev=4, by=people.ed))
    keys = set()
    for half in (made.dev, made.test):
        queues = list(labelled_queues(half.pk, team=half.team))
        items = tuple(item_records(half, settled_labels(queues), labelled_only=True))
        there = dataset_file(half, queues[0].rubric_version, items)
        assert half.seal == RubricDataset.from_dataset_file(there).seal(half.seal_salt)
        keys |= {item.key for item in half.items.all()}
    # Nobody has labelled the right words yet.
    assert keys == {f"i{number}" for number in range(1, 8)}


@pytest.mark.parametrize("what", ["decides", "labels"])
def test_nothing_is_split_where_somebody_labels_while_it_is_copied(
    people: Cast, labelled: Dataset, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    item, whole = labelled.items.get(key="i1"), splits.describe_split
    criterion = labelled.queues.get().rubric_version.criteria.get()

    def meanwhile(*parts: RubricDataset) -> object:
        # Between the reading that is sealed and the copy: another transaction is committed.
        if what == "decides":
            given = {"verdict": "UNMET", "cause": "human_wrong", "reason": "No."}
            adjudications.adjudicate(item, criterion, by=people.rae, **given)
        else:
            Judgement.objects.filter(item=item, criterion=criterion).update(verdict="UNMET")
        return whole(*parts)

    with monkeypatch.context() as patched:
        patched.setattr(splits, "describe_split", meanwhile)
        with pytest.raises(Conflict, match=r"Somebody labelled .* meanwhile"):
            splits.split_dataset(labelled, n_dev=4, by=people.ed)
    assert Dataset.objects.count() == 1
    assert splits.split_dataset(labelled, n_dev=4, by=people.ed).dev.items.count() == 4


@pytest.mark.django_db(transaction=True)
def test_a_name_that_is_taken_while_a_split_is_made_is_a_conflict(people: Cast, labelled: Dataset) -> None:
    name = f"{labelled.name} (dev)"
    refused = while_uncommitted(
        lambda: factories.dataset(people.team, people.ed, name=name),
        lambda: splits.split_dataset(labelled, n_dev=4, by=people.ed),
    )
    assert isinstance(refused, Conflict)
    assert "was split before" in str(refused)
    assert not Dataset.objects.exclude(split_of=None).exists()


def test_the_words_of_a_corrected_case_come_along(people: Cast, labelled: Dataset) -> None:
    case = labelled.cases.get(key="i0")
    corrections.correct_case(case, Correction(prompt="Which?", reference="That."), by=people.ed, note="so")
    made = splits.split_dataset(labelled, n_dev=4, by=people.ed)
    copy = Case.objects.get(key="i0", dataset__in=[made.dev, made.test])
    told = ("number", "prompt", "reference", "description", "rubric_version", "created_by", "created_at")
    assert list(copy.texts.values_list(*told)) == list(case.texts.values_list(*told))
    assert (words_of(copy).prompt, words_of(copy).wording) == ("Which?", 2)
    # Halves of earlier releases have no such words: those their answers were given to are shown.
    CaseText.objects.filter(case=copy).delete()
    assert (words_of(copy).prompt, words_of(copy).wording) == (None, 1)
