"""What leaves the house can be read again, and says what was said."""

import csv
import io
import json
from collections.abc import Iterable
from datetime import datetime

import pytest

from rubricweb.engine.formats.bundle.bundle import read_bundle, verify_bundle
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.engine.formats.labels.reading import read_label_table
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Review, ReviewQueue, Run
from rubricweb.services import adjudications, exports
from rubricweb.services.exports import EXPORT_FORMATS
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade
from tests.worlds.remembered import remembered

CRITERIA = [
    {
        "name": "tone",
        "weight": 2,
        "requirement": "How friendly is it?",
        "options": [{"label": "Rude", "value": 0}, {"label": "Warm", "value": 1}],
    },
    {"name": "said", "weight": 1, "requirement": "Says it."},
    {"name": "short", "weight": 1, "check": "length_between", "params": {"unit": "words", "max": 5}},
]
ITEMS = [{"id": key, "submission": f"Text {key}"} for key in "abc"]
LABELS = (
    "item_id,criterion,rater,verdict,reason\n"
    "a,tone,x,Warm,kind\na,tone,y,Warm,\na,said,x,MET,\n"
    "b,tone,x,Rude,\nb,tone,y,Warm,\nb,said,x,CANNOT_ASSESS,\n"
)


@pytest.fixture
def labelled(people: Cast) -> tuple[Run, ReviewQueue]:
    """a is warm and said; b's tone is tied until decided; c nobody labelled. The judge says Warm and MET."""
    return remembered(("labelled exports", people.team.pk), lambda: label(people))


def label(people: Cast) -> tuple[Run, ReviewQueue]:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    queue = factories.import_labels(
        dataset, version, by=people.ed, data=LABELS.encode(), filename="labels.csv"
    )
    adjudications.adjudicate(
        dataset.items.get(key="b"),
        version.criteria.get(name="tone"),
        by=people.rae,
        verdict="Rude",
        cause="human_wrong",
        reason="It swears.",
    )
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="first")
    return grade(
        run, LabelJudge(lambda judge, text, response: "Warm" if "friendly" in text else "MET")
    ), queue


def exported(people: Cast, labelled: tuple[Run, ReviewQueue], what: str, format: str) -> bytes:
    run, queue = labelled
    made = exports.export(
        people.team, viewer=people.bob, what=what, format=format, dataset=run.dataset, queues=[queue], run=run
    )
    pieces: Iterable[str | bytes] = made.chunks
    return b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in pieces)


@pytest.mark.parametrize(
    "format", [name for name, one in EXPORT_FORMATS.items() if "ground_truth" in one.contents]
)
def test_ground_truth_of_every_kind_is_read_again(people: Cast, labelled, format: str) -> None:
    data = exported(people, labelled, "ground_truth", format)
    if format == "csv":
        rows = list(csv.DictReader(io.StringIO(data.decode())))
        assert [(row["item_id"], row["criterion"], row["verdict"]) for row in rows] == [
            ("a", "tone", "Warm"),
            ("a", "said", "MET"),
            ("b", "tone", "Rude"),
            ("b", "said", "CANNOT_ASSESS"),
        ]
        return
    if format == "wide":
        assert list(csv.reader(io.StringIO(data.decode()))) == [
            ["item_id", "tone", "said", "short"],
            ["a", "Warm", "MET", ""],
            ["b", "Rude", "CANNOT_ASSESS", ""],
        ]
        return
    file = read_dataset(data, filename=f"back{EXPORT_FORMATS[format].suffix}")
    rubric = file.rubric_for(file.items[0])
    assert rubric is not None
    assert rubric.criteria == labelled[0].rubric_version.to_engine().criteria
    assert {item.id: item.ground_truth for item in file.items} == {
        "a": ("Warm", Verdict.MET, None),
        "b": ("Rude", Verdict.CANNOT_ASSESS, None),
    }
    assert file.items[1].ground_truth_reasons == ("adjudicated: It swears.", "single of 1", None)


def test_ground_truth_carries_where_each_label_comes_from(people: Cast, labelled) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(people, labelled, "ground_truth", "csv").decode())))
    found = {(row["item_id"], row["criterion"]): row for row in rows}
    assert (found["a", "tone"]["rule"], found["a", "tone"]["decided_by"]) == ("unanimous", "")
    same = {"is_judge": False, "verdict": "Warm", "rubric_version": 1, "counts_by": "same words"}
    same["origin"] = "person_imported"
    assert json.loads(found["a", "tone"]["labels"]) == [{"rater": "x", **same}, {"rater": "y", **same}]
    decided = found["b", "tone"]
    assert (decided["rule"], decided["decided_by"]) == ("adjudicated", "rae")
    assert datetime.fromisoformat(decided["decided_at"]).tzinfo is not None
    assert [one["verdict"] for one in json.loads(decided["labels"])] == ["Rude", "Warm"]
    data = exported(people, labelled, "ground_truth", "jsonl")
    [first, second] = map(json.loads, data.decode().splitlines())
    assert [one and one["rule"] for one in first["ground_truth_provenance"]] == [
        "unanimous",
        "single",
        None,
    ]
    assert second["ground_truth_provenance"][0]["decided_by"] == "rae"
    # It is about the labels, not about the item: read again, it is no metadata.
    assert [item.metadata for item in read_dataset(data, filename="back.jsonl").items] == [{}, {}]


def test_a_label_stays_decided_when_the_account_of_who_decided_it_is_deleted(people: Cast) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    data = b"item_id,criterion,rater,verdict\na,said,x,MET\n"
    queue = factories.import_labels(dataset, version, by=people.ed, data=data, filename="labels.csv")
    item, criterion = dataset.items.get(key="a"), version.criteria.get(name="said")
    decision = {"verdict": "UNMET", "cause": "human_wrong", "reason": "It does not."}
    adjudications.adjudicate(item, criterion, by=people.rae, **decision)
    people.rae.delete()
    given = {"what": "ground_truth", "format": "jsonl", "dataset": dataset, "queues": [queue]}
    made = exports.export(people.team, viewer=people.bob, **given)
    [found] = [json.loads(line)["ground_truth_provenance"][1] for line in made.chunks if line.strip()]
    assert (found["rule"], found["decided_by"]) == ("adjudicated", None)
    # As of every decision: what x said then, without the version it was given to and by what it counts.
    said = {"rater": "x", "is_judge": False, "verdict": "MET", "origin": "person_imported"}
    assert found["labels"] == [said]


@pytest.mark.parametrize("format", ["jsonl", "autorubric", "yaml", "parquet", "bundle"])
def test_where_labels_come_from_is_read_back_from_every_dataset(people: Cast, labelled, format: str) -> None:
    if format == "bundle":
        items = read_bundle(exported(people, labelled, "verdicts", format)).dataset.items
    else:
        data = exported(people, labelled, "ground_truth", format)
        items = read_dataset(data, filename=f"back{EXPORT_FORMATS[format].suffix}").items
    found = {item.id: item.ground_truth_provenance for item in items}
    assert found.get("c") is None  # nobody labelled it
    assert [one and one.rule for one in found["a"]] == ["unanimous", "single", None]
    [tone, said, short] = found["b"]
    assert (tone.rule, tone.decided_by, said.decided_by, short) == ("adjudicated", "rae", None, None)
    decided = labelled[0].dataset.items.get(key="b").adjudications.get()
    assert datetime.fromisoformat(tone.decided_at) == decided.decided_at
    assert tone.labels == (
        {"rater": "x", "is_judge": False, "verdict": "Rude", "origin": "person_imported"},
        {"rater": "y", "is_judge": False, "verdict": "Warm", "origin": "person_imported"},
    )


def test_verdicts_say_their_kind_and_what_they_count_as(people: Cast, labelled) -> None:
    rows = list(csv.DictReader(io.StringIO(exported(people, labelled, "verdicts", "csv").decode())))
    judged = {
        (row["item_id"], row["criterion"]): (row["verdict"], row["kind"], row["value"])
        for row in rows
        if row["rater_kind"] == "judge"
    }
    assert judged["a", "tone"] == ("Warm", "choice", "1.0")
    assert judged["a", "short"] == ("", "check", "1.0")


def test_a_wide_table_has_a_line_per_item_and_rater(people: Cast, labelled) -> None:
    [header, *lines] = csv.reader(io.StringIO(exported(people, labelled, "verdicts", "wide").decode()))
    assert header == ["item_id", "rater", "rater_kind", "run", "tone", "said", "short"]
    people_said = [line for line in lines if line[2] == "human"]
    assert ["a", "x", "human", "", "Warm", "MET", ""] in people_said
    # Three items by one judge.
    assert [line[0] for line in lines if line[2] == "judge"] == ["a", "b", "c"]


def test_the_long_export_of_people_is_imported_again(people: Cast, labelled) -> None:
    run, queue = labelled
    made = exports.export(
        people.team, viewer=people.bob, what="verdicts", format="csv", dataset=run.dataset, queues=[queue]
    )
    data = "".join(map(str, made.chunks)).encode()
    given = {"by": people.ed, "data": data, "filename": "back.csv"}
    with pytest.raises(Conflict, match=f"imported before, as the queue {queue}"):
        factories.import_labels(run.dataset, run.rubric_version, **given)
    # As if somebody had labelled them here.
    ReviewQueue.objects.update(labels_digest="")
    Review.objects.update(imported=False)
    back = factories.import_labels(run.dataset, run.rubric_version, **given)
    said = [
        sorted(one.reviews.values_list("rater__name", "judgements__criterion__name", "judgements__verdict"))
        for one in (queue, back)
    ]
    assert said[0] == said[1]
    assert said[0]
    # Of two queues in one file the newer label of a rater counts; the other is left out.
    changed = LABELS.splitlines()[0] + "\na,tone,x,Rude,"
    given |= {"data": changed.encode(), "filename": "later.csv"}
    later = factories.import_labels(run.dataset, run.rubric_version, **given)
    made = exports.export(
        people.team,
        viewer=people.bob,
        what="verdicts",
        format="csv",
        dataset=run.dataset,
        queues=[queue, later],
    )
    both = "".join(map(str, made.chunks)).encode()
    read = read_label_table(both, filename="both.csv", rubric=run.rubric_version.to_engine())
    assert not read.refused
    found = {(one.item_id, one.criterion, one.rater): one.verdict for one in read.labels}
    assert found["a", "tone", "x"] == "Rude"
    assert len(found) == len(LABELS.splitlines()) - 1
    assert list(map(str, read.left_out)) == ["1 label that does not count beside another of the same rater"]


def test_a_bundle_holds_everything_that_was_said(people: Cast, labelled) -> None:
    data = exported(people, labelled, "verdicts", "bundle")
    assert verify_bundle(data) == ()
    bundle = read_bundle(data)
    assert [item.id for item in bundle.dataset.items] == ["a", "b", "c"]
    assert [item.ground_truth for item in bundle.dataset.items] == [
        ("Warm", "MET", None),
        ("Rude", "CANNOT_ASSESS", None),
        None,
    ]
    said = {
        (row.item_id, row.criterion, row.rater): row.verdict or row.option or row.value
        for row in bundle.judgements
    }
    assert said["a", "tone", "x"] == "Warm"
    assert said["a", "said", "x"] is Verdict.MET
    judged = {(row.item_id, row.criterion): row for row in bundle.judgements if row.rater_kind == "judge"}
    assert judged["c", "short"].value == 1.0
    assert judged["b", "tone"].option == "Warm"
    # Six labels of people; three items by three criteria of the run.
    assert len(bundle.judgements) == 6 + 9
    [decided] = bundle.adjudications
    assert (decided.item_id, decided.option, decided.adjudicator) == ("b", "Rude", "rae")
    assert decided.cause == "human_wrong"
    assert [row["criterion"] for row in bundle.agreement["criteria"]] == ["tone", "said", "short"]
    # a: both Warm; b: people Rude, the judge Warm.
    assert bundle.agreement["criteria"][0]["accuracy"]["value"] == 0.5


def test_what_a_format_cannot_hold_is_refused_with_those_that_can(people: Cast, labelled) -> None:
    with pytest.raises(
        Invalid, match="export verdicts as csv, wide or jsonl, or with everything else as bundle"
    ):
        exported(people, labelled, "verdicts", "autorubric")
    with pytest.raises(Invalid, match="export that as csv, wide, jsonl, autorubric, yaml or parquet"):
        exported(people, labelled, "ground_truth", "bundle")
    with pytest.raises(Invalid, match="'xls' is not an export format"):
        exported(people, labelled, "verdicts", "xls")


@pytest.mark.parametrize("format", list(EXPORT_FORMATS))
def test_nothing_goes_out_to_somebody_still_to_review_it_blind(people: Cast, labelled, format: str) -> None:
    run, _ = labelled
    factories.queue(
        people.team,
        people.ed,
        dataset=run.dataset,
        rubric_version=run.rubric_version,
        raters=[people.ann],
        name="Blind",
    )
    for what in EXPORT_FORMATS[format].contents:
        with pytest.raises(Withheld):
            exports.export(
                people.team,
                viewer=people.ann,
                what=what,
                format=format,
                dataset=run.dataset,
                queues=[labelled[1]],
            )


def ground_truth_of(people: Cast, items: list[dict[str, object]], format: str) -> bytes:
    """The ground truth of these items, all labelled MET by x."""
    version = factories.version(people.team, people.ed, criteria=CRITERIA[1:2])
    dataset = factories.dataset(people.team, people.ed, items=items)
    data = "\n".join(["item_id,criterion,rater,verdict", *(f"{one['id']},said,x,MET" for one in items)])
    queue = factories.import_labels(dataset, version, by=people.ed, data=data.encode(), filename="l.csv")
    made = exports.export(
        people.team, viewer=people.bob, what="ground_truth", format=format, dataset=dataset, queues=[queue]
    )
    return b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in made.chunks)


def test_yaml_that_would_not_be_read_again_is_refused_and_jsonl_named(people: Cast) -> None:
    items = [{"id": str(n), "submission": "Text", "metadata": {"scores": [n] * 2000}} for n in range(100)]
    # A hundred lists of two thousand numbers, and more around them.
    with pytest.raises(Invalid, match=r"format: found 20\d,\d+ values; allowed: at most 200,000 .* JSONL"):
        ground_truth_of(people, items, "yaml")


def test_parquet_with_one_long_prompt_in_every_row_is_read_again(people: Cast) -> None:
    """Two hundred times 20,000 characters are 4 MB; packed they would be some 100 kB."""
    prompt = "Read this. " * 2_000
    items = [{"id": str(n), "prompt": prompt, "submission": f"Text {n}"} for n in range(200)]
    data = ground_truth_of(people, [*items, {"id": "other", "prompt": "?", "submission": "-"}], "parquet")
    back = read_dataset(data, filename="back.parquet").items
    assert [item.prompt for item in back] == [prompt] * 200 + ["?"]
