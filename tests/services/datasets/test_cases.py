"""Cases and systems of what comes into a dataset."""

import json
from functools import partial
from typing import Any

import pytest

from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.errors import Invalid
from rubricweb.models import Case, Dataset, Item, ReviewQueue, SystemVersion
from rubricweb.services.datasets.answers import AnswersPlan, add_answers, plan_answers
from rubricweb.services.datasets.changes import corrections
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.datasets.previews import ItemsPreview, NewName
from rubricweb.services.exports import export
from tests import factories
from tests.factories import Cast

V3 = [
    {"case_id": "fr", "system": "assistant@v3", "prompt": "Capital of France?", "submission": "Lyon."},
    {"case_id": "pe", "system": "assistant@v3", "prompt": "Capital of Peru?", "submission": "Lima."},
]
V4 = [
    {"case_id": "pe", "system": "assistant@v4", "submission": "Lima!"},
    {"case_id": "fr", "system": "assistant@v4", "prompt": "Capital of France?", "submission": "Paris."},
]


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, items=V3)


def add(dataset: Dataset, people: Cast, rows: list[dict[str, Any]]) -> int:
    data = "\n".join(map(json.dumps, rows)).encode()
    return factories.add_items(dataset, by=people.ed, data=data, filename="more.jsonl")


def answers(dataset: Dataset) -> list[tuple[str, str, str, Any]]:
    rows = dataset.items.select_related("case", "system_version__system").order_by("position")
    return [(row.case.key, str(row.system_version), row.submission, row.prompt) for row in rows]


def test_every_item_of_a_file_without_cases_is_a_case_of_its_own(people: Cast) -> None:
    plain = factories.dataset(people.team, people.ed)
    rows = plain.items.select_related("case", "system_version__system").order_by("position")
    assert [(row.case.key, str(row.system_version), row.attempt) for row in rows] == [
        (row.key, "", 1) for row in rows
    ]
    assert list(plain.cases.values_list("position", flat=True)) == [0, 1, 2]


def test_answers_of_the_next_version_join_the_cases_and_take_their_words(
    dataset: Dataset, people: Cast
) -> None:
    assert add(dataset, people, V4) == 2
    assert answers(dataset) == [
        ("fr", "assistant@v3", "Lyon.", "Capital of France?"),
        ("pe", "assistant@v3", "Lima.", "Capital of Peru?"),
        ("pe", "assistant@v4", "Lima!", "Capital of Peru?"),
        ("fr", "assistant@v4", "Paris.", "Capital of France?"),
    ]
    assert Case.objects.count() == 2
    versions = SystemVersion.objects.filter(system__name="assistant").values_list("label", "position")
    assert list(versions) == [("v3", 0), ("v4", 1)]


def test_another_dataset_of_the_team_shares_systems_and_no_cases(dataset: Dataset, people: Cast) -> None:
    other = factories.dataset(people.team, people.ed, name="Other", items=V3)
    assert SystemVersion.objects.filter(system__name="assistant").count() == 1
    assert Case.objects.count() == 4
    assert {item.case.dataset_id for item in other.items.select_related("case")} == {other.pk}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [V4[1] | {"prompt": "Capital of Italy?"}],
            "items[0].case_id: found case 'fr' with another prompt, reference or rubric; "
            "allowed: the words the dataset has for the case, or none",
        ),
        ([V3[0] | {"id": "again"}], "items[0].system: found a second answer of assistant@v3 to case 'fr'"),
        ([{"id": "fr", "submission": "Nice."}], "items[0].id: found 'fr'; allowed: an id that no case"),
    ],
)
def test_what_is_no_answer_to_the_case_is_refused_and_nothing_stored(
    dataset: Dataset, people: Cast, rows: list[dict[str, Any]], said: str
) -> None:
    with pytest.raises(Invalid) as error:
        add(dataset, people, [V4[0], *rows])
    assert said.replace("items[0]", "items[1]") in str(error.value.faults[0])
    assert Item.objects.count() == 2


def test_another_attempt_is_another_answer(dataset: Dataset, people: Cast) -> None:
    assert add(dataset, people, [V3[0] | {"attempt": 2, "submission": "Nice."}]) == 1
    again = dataset.items.get(attempt=2)
    assert (again.key, again.case.key) == ("fr@assistant@v3#2", "fr")


@pytest.mark.parametrize("format", ["jsonl", "autorubric", "yaml"])
def test_cases_and_systems_survive_an_export(people: Cast, format: str) -> None:
    rubric = {"rubric": [{"name": "right", "weight": 1, "requirement": "Is right."}], "ground_truth": ["MET"]}
    dataset = factories.dataset(people.team, people.ed, items=[row | rubric for row in V3])
    add(dataset, people, [row | rubric for row in V4])
    made = export(
        people.team,
        viewer=people.ed,
        what="ground_truth",
        format=format,
        dataset=dataset,
        queues=list(ReviewQueue.objects.filter(dataset=dataset)),
    )
    data = b"".join(one if isinstance(one, bytes) else one.encode() for one in made.chunks)
    read = read_dataset(data, filename=f"a.{'json' if format == 'autorubric' else format}")
    assert [(item.case_id, item.system) for item in read.items] == [
        ("fr", "assistant@v3"),
        ("pe", "assistant@v3"),
        ("pe", "assistant@v4"),
        ("fr", "assistant@v4"),
    ]


V5 = [{"id": "pe", "submission": "Lima, Peru."}, {"case_id": "fr", "submission": "Paris, France."}]


def answer(dataset: Dataset, people: Cast, rows: list[dict[str, Any]], **more: Any) -> AnswersPlan:
    data = "\n".join(map(json.dumps, rows)).encode()
    given = {"data": data, "filename": "v5.jsonl", "system": "assistant@v5"} | more
    return add_answers(dataset, by=people.ed, **given)


def test_answers_of_one_version_need_case_ids_and_submissions_only(dataset: Dataset, people: Cast) -> None:
    planned = plan_answers(
        dataset, data=json.dumps(V5[0]).encode(), filename="v5.jsonl", system="assistant@v5"
    )
    fifth = NewName("version", "assistant@v5", "assistant@v3")
    of_one = ItemsPreview(1, new_names=(fifth,))
    assert planned == AnswersPlan("assistant@v5", 1, ("fr",), unknown=(), answered=(), preview=of_one)
    assert Item.objects.count() == 2
    of_two = ItemsPreview(2, new_names=(fifth,))
    assert answer(dataset, people, V5) == AnswersPlan("assistant@v5", 2, (), (), (), of_two)
    assert answers(dataset)[2:] == [
        ("pe", "assistant@v5", "Lima, Peru.", "Capital of Peru?"),
        ("fr", "assistant@v5", "Paris, France.", "Capital of France?"),
    ]
    assert list(dataset.items.order_by("position").values_list("key", flat=True))[2:] == [
        "pe@assistant@v5",
        "fr@assistant@v5",
    ]


@pytest.mark.parametrize(
    ("rows", "more", "said"),
    [
        (
            [{"id": "it", "submission": "Rome."}],
            {},
            "items[0].case_id: found 'it'; allowed: the id of a case",
        ),
        (
            V5[:1],
            {"system": "assistant@v3"},
            "items[0].case_id: found 'pe'; allowed: a case that assistant@v3",
        ),
        (
            V4[:1],
            {},
            "items[0].system: found 'assistant@v4'; allowed: assistant@v5, the version of the whole",
        ),
        (V5, {"system": ""}, "system: found nothing; allowed: a system and its version"),
        (V5, {"system": "@v5"}, "a system and its version, as assistant@v4"),
    ],
)
def test_answers_to_no_case_and_second_answers_are_refused_whole(
    dataset: Dataset, people: Cast, rows: list[dict[str, Any]], more: dict[str, str], said: str
) -> None:
    with pytest.raises(Invalid) as error:
        answer(dataset, people, rows, **more)
    assert said in str(error.value.faults[0])
    assert Item.objects.count() == 2


def test_an_id_made_of_case_and_system_is_not_longer_than_one_in_a_file(people: Cast) -> None:
    case = "c" * 180
    dataset = factories.dataset(people.team, people.ed, items=[{"id": case, "submission": "A."}])
    row = {"case_id": case, "submission": "B."}
    for ask in (plan_answers, partial(add_answers, by=people.ed)):
        with pytest.raises(Invalid) as refused:
            ask(dataset, data=json.dumps(row).encode(), filename="v5.jsonl", system="assistant@v5")
        # 180 characters, an @ and twelve of the version.
        assert str(refused.value.faults[0]) == (
            "items[0].id: found an id of 193 characters, made of case and system; "
            "allowed: at most 190, or an id of its own"
        )
    assert answer(dataset, people, [row | {"id": "mine"}]).answers == 1
    # Nor is one that tells answers to corrected words from those before: "@bot@v5" makes 187 of 180.
    answer(dataset, people, [row], system="bot@v5")
    corrections.correct_case(dataset.cases.get(), Correction(prompt="Again?"), by=people.ed)
    with pytest.raises(Invalid, match="1 fault") as refused:
        answer(dataset, people, [row], system="bot@v5")
    assert "an id of 199 characters" in str(refused.value.faults[0])


def test_a_second_answer_is_taken_as_the_next_attempt_where_that_is_said(
    dataset: Dataset, people: Cast
) -> None:
    answer(dataset, people, V5)
    answer(dataset, people, V5[:1], as_attempt=True)
    [again] = dataset.items.filter(attempt=2)
    assert (again.key, again.case.key) == ("pe@assistant@v5#2", "pe")


@pytest.mark.parametrize(
    "rows",
    [
        [{"case_id": "fr"}, {"case_id": "fr"}],
        [{"case_id": "fr"}, {"case_id": "fr", "system": "assistant@v9"}],
        [{"id": "fr"}, {"id": "z", "case_id": "fr"}],
    ],
)
def test_two_answers_of_a_file_to_one_case_are_refused(people: Cast, rows: list[dict[str, Any]]) -> None:
    asked = [{"id": "fr-v1", "case_id": "fr", "system": "assistant@v1", "submission": "Paris."}]
    dataset = factories.dataset(people.team, people.ed, items=asked)
    data = "\n".join(json.dumps(row | {"submission": "Lyon."}) for row in rows).encode()
    with pytest.raises(Invalid) as refused:
        add_answers(dataset, by=people.ed, data=data, filename="v9.jsonl", system="assistant@v9")
    [fault] = refused.value.faults
    assert fault.place in ("line 2: case_id", "items[1].case_id")
    assert dataset.items.count() == 1
