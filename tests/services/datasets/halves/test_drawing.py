"""Cases marked dev or test."""

import json
from collections import Counter

import pytest

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Case, Dataset, Item, JournalEntry
from rubricweb.selectors.datasets.halves import halves
from rubricweb.services.datasets import answers, splits
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.datasets.halves import drawing
from tests import factories
from tests.factories import Cast

CRITERIA = [{"name": "only", "weight": 1, "requirement": "Is right."}]


def answer(case: int, version: str) -> dict[str, str]:
    return {
        "case_id": f"c{case}",
        "prompt": f"Question {case}?",
        "system": f"assistant@{version}",
        "submission": f"{version} answers {case}.",
    }


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """Ten cases, answered by v1 and v2 each. v1 is MET on cases 0 to 3, UNMET on 4 to 7; no other label."""
    rows = [answer(case, version) for version in ("v1", "v2") for case in range(10)]
    dataset = factories.dataset(people.team, people.ed, name="asked", items=rows)
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    keys = {item.case.key: item.key for item in dataset.items.filter(system_version__label="v1")}
    lines = ["item_id,criterion,rater,verdict,reason"]
    lines += [f"{keys[f'c{case}']},only,x,{'MET' if case < 4 else 'UNMET'},so" for case in range(8)]
    data = "\n".join(lines).encode()
    factories.import_labels(dataset, version, by=people.ed, data=data, filename="labels.csv")
    return dataset


def of(dataset: Dataset, half: str) -> set[int]:
    return {int(key[1:]) for key in dataset.cases.filter(half=half).values_list("key", flat=True)}


def test_whole_cases_are_marked_and_every_label_is_spread_alike(people: Cast, dataset: Dataset) -> None:
    drawn = drawing.split_cases(dataset, n_dev=5, by=people.ed, seed=3)
    assert (drawn.number, drawn.n_dev, drawn.n_test, drawn.seed) == (1, 5, 5, 3)
    dev, test = of(dataset, "dev"), of(dataset, "test")
    assert (len(dev), len(test), dev & test) == (5, 5, set())
    # Of four MET, four UNMET and two unlabelled cases half goes to each side.
    for half in (dev, test):
        assert Counter("MET" if case < 4 else "UNMET" if case < 8 else "" for case in half) == {
            "MET": 2,
            "UNMET": 2,
            "": 1,
        }
    # Both answers to a case are in its half.
    assert dataset.items.filter(case__half="dev").count() == 10
    report = drawn.report
    assert report["labels"] == [
        {"criterion": "only", "label": "MET", "dev": 2, "test": 2},
        {"criterion": "only", "label": "UNMET", "dev": 2, "test": 2},
    ]
    assert (report["largest_difference"], report["labelled_dev"], report["labelled_test"]) == (0.0, 4, 4)
    entry = JournalEntry.objects.get(verb="split the cases of")
    assert (entry.actor, entry.detail) == (people.ed, {"dev": 5, "test": 5, "seed": 3})


def test_the_same_seed_draws_the_same_halves_and_another_another(people: Cast, dataset: Dataset) -> None:
    drawn = []
    for seed in (1, 1, 2):
        drawing.split_cases(dataset, n_dev=5, by=people.ed, seed=seed)
        drawn.append(of(dataset, "dev"))
        dataset.cases.update(half="")
        dataset.case_splits.all().delete()
    assert drawn[0] == drawn[1] != drawn[2]


def test_labels_are_not_needed(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    drawn = drawing.split_cases(dataset, n_dev=1, by=people.ed)
    assert (drawn.n_dev, drawn.n_test) == (1, 2)
    assert (drawn.report["labels"], drawn.report["largest_difference"]) == ([], None)


@pytest.mark.parametrize(("n_dev", "allowed"), [(0, "1 to 9"), (10, "1 to 9"), (11, "1 to 9")])
def test_a_half_without_cases_is_refused(people: Cast, dataset: Dataset, n_dev: int, allowed: str) -> None:
    with pytest.raises(Invalid) as refusal:
        drawing.split_cases(dataset, n_dev=n_dev, by=people.ed)
    [fault] = refusal.value.faults
    assert (fault.place, fault.found, fault.allowed) == ("n_dev", f"{n_dev} of 10 cases", allowed)
    assert not dataset.case_splits.exists()


def test_an_empty_dataset_and_a_seed_below_zero_are_refused(people: Cast, dataset: Dataset) -> None:
    with pytest.raises(Invalid, match="seed: found -1"):
        drawing.split_cases(dataset, n_dev=5, by=people.ed, seed=-1)
    retirement.retire(dataset, list(dataset.items.values_list("pk", flat=True)), by=people.ed)
    with pytest.raises(Invalid, match="two cases or more"):
        drawing.split_cases(dataset, n_dev=1, by=people.ed)
    assert of(dataset, "dev") == set()


def test_a_dataset_is_split_once_and_a_sealed_half_never(people: Cast, dataset: Dataset) -> None:
    with pytest.raises(Conflict, match="not split yet"):
        drawing.extend_split(dataset, by=people.ed)
    drawing.split_cases(dataset, n_dev=5, by=people.ed)
    with pytest.raises(Conflict, match="split already"):
        drawing.split_cases(dataset, n_dev=2, by=people.ed)
    copies = splits.split_dataset(dataset, n_dev=2, by=people.ed)
    with pytest.raises(Conflict, match="sealed as the test split"):
        drawing.split_cases(copies.test, n_dev=1, by=people.ed)
    assert set(copies.test.cases.values_list("half", flat=True)) == {""}


def test_later_and_corrected_answers_are_in_the_half_of_their_case(people: Cast, dataset: Dataset) -> None:
    drawing.split_cases(dataset, n_dev=5, by=people.ed)
    before = dict(dataset.cases.values_list("key", "half"))
    rows = [{"case_id": f"c{case}", "submission": f"v3 answers {case}."} for case in range(10)]
    data = "\n".join(map(json.dumps, rows)).encode()
    answers.add_answers(dataset, by=people.ed, data=data, filename="v3.jsonl", system="assistant@v3")
    wrong = dataset.items.current().filter(case__half="test").first()
    assert wrong is not None
    corrections.correct_item(wrong, Correction(submission="Put right."), by=people.ed)
    corrections.correct_case(wrong.case, Correction(prompt="Asked anew?"), by=people.ed)
    current = Item.objects.current().filter(dataset=dataset)
    for item in current.select_related("case"):
        assert item.case.half == before[item.case.key]
    assert current.get(submission="Put right.").case.half == "test"
    # Three answers to each of five cases.
    assert current.filter(case__half="test").count() == 15


def test_cases_that_come_later_have_no_half_until_the_split_is_extended(
    people: Cast, dataset: Dataset
) -> None:
    drawing.split_cases(dataset, n_dev=2, by=people.ed, seed=4)
    first = of(dataset, "dev"), of(dataset, "test")
    data = "\n".join(json.dumps(answer(case, "v1")) for case in range(10, 17)).encode()
    factories.add_items(dataset, by=people.ed, data=data, filename="more.jsonl")
    assert of(dataset, "") == set(range(10, 17))
    found = halves(dataset, viewer=people.bob)
    assert (found.dev, found.test, found.without) == (2, 8, 7)
    more = drawing.extend_split(dataset, by=people.ed)
    # Two of ten are a fifth; of 17 that is 3.4, so 3: one more.
    assert (more.number, more.n_dev, more.n_test, more.seed) == (2, 1, 6, 4)
    assert of(dataset, "dev") > first[0]
    assert of(dataset, "test") > first[1]
    assert of(dataset, "") == set()
    assert (more.report["n_dev"], more.report["n_test"]) == (3, 14)
    with pytest.raises(Invalid, match="no case of asked without a split"):
        drawing.extend_split(dataset, by=people.ed)
    assert JournalEntry.objects.filter(verb="extended the split of").count() == 1
    assert [draw.number for draw in halves(dataset, viewer=people.bob).draws] == [2, 1]


def test_equal_words_in_both_halves_are_counted(people: Cast) -> None:
    """Two cases with the very same words, so one of each half: the answer in dev leaks."""
    rows = [{"id": name, "prompt": "Where?", "submission": "Here."} for name in ("a", "b")]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    assert drawing.split_cases(dataset, n_dev=1, by=people.ed).report["same_words"] == 1


def test_how_labels_are_spread_is_hidden_from_who_is_still_blind(people: Cast, dataset: Dataset) -> None:
    version = dataset.queues.get().rubric_version
    factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="Blind"
    )
    drawing.split_cases(dataset, n_dev=5, by=people.ed)
    for viewer, labels in ((people.ann, None), (people.bob, 2)):
        report = halves(dataset, viewer=viewer).report
        assert report is not None
        assert (report["labels"] if labels is None else len(report["labels"])) == labels
        assert (report["largest_difference"] is None) == (labels is None)
        assert (report["n_dev"], report["n_test"]) == (5, 5)


def test_many_cases_are_marked_in_batches(people: Cast) -> None:
    dataset = Dataset.objects.create(team=people.team, name="many", created_by=people.ed)
    factories.many_items(dataset, 11_000, "text")
    drawing.split_cases(dataset, n_dev=5_200, by=people.ed)
    sizes = Counter(Case.objects.filter(dataset=dataset).values_list("half", flat=True))
    assert sizes == {"dev": 5_200, "test": 5_800}
