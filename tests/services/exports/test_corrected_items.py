"""Files of datasets whose answers or cases were corrected: old words stand beside new ones, and are read."""

import csv
import io
import json

import pytest

from rubricweb.engine.formats.bundle.bundle import read_bundle, verify_bundle
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.models import Dataset, ReviewQueue, RubricVersion
from rubricweb.services import exports
from rubricweb.services.datasets import answers
from rubricweb.services.datasets.changes import corrections
from rubricweb.services.datasets.changes.corrections import Correction
from tests import factories
from tests.factories import Cast

LONG = "r" * 180


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=factories.CRITERIA[:2])


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    items = [{"id": key, "prompt": f"{key[:2]}?", "submission": f"{key[:2]}."} for key in ("r1", "r2", LONG)]
    return factories.dataset(people.team, people.ed, items=items)


def corrected(people: Cast, dataset: Dataset, key: str) -> None:
    item = dataset.items.select_related("dataset__team", "case").get(key=key)
    corrections.correct_item(item, Correction(submission="Right."), by=people.ed)


def labelled(people: Cast, dataset: Dataset, version: RubricVersion, file: str) -> ReviewQueue:
    """ann says MET to every criterion of every current item."""
    rows = [
        f"{item.key},{one.name},ann,MET"
        for item in dataset.items.current()
        for one in version.criteria.order_by("position")
    ]
    data = "\n".join(["item_id,criterion,rater,verdict", *rows]).encode()
    return factories.import_labels(dataset, version, by=people.ed, data=data, filename=file)


def exported(people: Cast, queues: list[ReviewQueue], what: str, format: str) -> bytes:
    made = exports.export(
        people.team, viewer=people.bob, what=what, format=format, dataset=queues[0].dataset, queues=queues
    )
    return b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in made.chunks)


def test_an_answer_and_its_correction_have_one_wide_line_each(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    before = labelled(people, dataset, version, "before.csv")
    corrected(people, dataset, "r1")
    queues = [before, labelled(people, dataset, version, "after.csv")]
    [header, *lines] = csv.reader(io.StringIO(exported(people, queues, "verdicts", "wide").decode()))
    assert header == ["item_id", "rater", "rater_kind", "run", "capital", "concise"]
    found = [(line[0], *line[4:]) for line in lines]
    assert found[:2] == [("r1 (until version 1)", "MET", "MET"), ("r1", "MET", "MET")]
    assert len(found) == 4


def test_an_answer_to_earlier_words_and_a_new_one_are_read_as_two_cases(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    case = dataset.cases.get(key="r1")
    corrections.correct_case(case, Correction(prompt="r1, please?"), by=people.ed)
    data = json.dumps({"case_id": "r1", "submission": "Anew."}).encode()
    answers.add_answers(dataset, by=people.ed, data=data, filename="new.jsonl", system="a@1")
    queues = [labelled(people, dataset, version, "labels.csv")]
    bundle = exported(people, queues, "verdicts", "bundle")
    assert verify_bundle(bundle) == ()
    files = [
        read_bundle(bundle).dataset,
        read_dataset(exported(people, queues, "ground_truth", "yaml"), filename="back.yaml"),
    ]
    for file in files:
        assert {(item.id, item.case_id) for item in file.items} >= {
            ("r1", "r1 (wording 1)"),
            ("r1@a@1", "r1"),
            ("r2", ""),
        }


def test_the_longest_ids_are_read_again_after_a_correction(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queues = [labelled(people, dataset, version, "labels.csv")]
    corrected(people, dataset, LONG)
    bundle = exported(people, queues, "verdicts", "bundle")
    assert verify_bundle(bundle) == ()
    ids = [item.id for item in read_bundle(bundle).dataset.items]
    assert len(ids) == len(set(ids)) == 4
    [shortened] = [id for id in ids if id.endswith(" (until version 1)")]
    # 190 are allowed: ~, 16 of a digest and " (until version 1)", which has 18, leave 155.
    assert (len(shortened), shortened[:156]) == (190, "r" * 155 + "~")
    assert {row.item_id for row in read_bundle(bundle).judgements} == {"r1", "r2", shortened}
