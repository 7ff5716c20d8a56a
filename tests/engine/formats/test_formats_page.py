"""The page about formats: complete, and every example on it is read by its reader."""

import re
from pathlib import Path

import pytest

from rubricweb.engine import RubricDataset
from rubricweb.engine.errors import FaultList
from rubricweb.engine.formats.bundle.records import BundledJudgement, read_rows
from rubricweb.engine.formats.dataset_values import ALIASES
from rubricweb.engine.formats.datasets.files import read_dataset
from rubricweb.engine.formats.foreign import DOCUMENTS, RECORDS
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.engine.formats.labels.reading import read_label_table
from rubricweb.engine.formats.rubric_files import read_rubric
from rubricweb.engine.rubric import Rubric

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "formats.md").read_text()

EXAMPLES = dict(re.findall(r"`([a-z]+\.[a-z]+)`:\n\n```[a-z]+\n(.*?)```", PAGE, re.DOTALL))

RECOGNISED = {
    "log.json": "inspect-log",
    "tests.yaml": "promptfoo",
    "export.json": "label-studio",
    "rollouts.jsonl": "verifiers",
    "traces.jsonl": "verifiers-traces",
    "samples.jsonl": "openai-evals",
    "events.jsonl": "openai-evals-log",
}

SHAPES_OF_LABELS = {"criteria.csv": ("criteria", 4), "raters.csv": ("raters", 4), "both.csv": ("both", 3)}
WARMTH = [{"label": "Cold"}, {"label": "Warm", "value": 1}, {"label": "Cannot tell", "na": True}]
LABELLED = Rubric.from_dict(
    [
        {"name": "polite", "requirement": "Is polite"},
        {"name": "final_tone", "requirement": "How warm?", "options": WARMTH},
    ]
)


@pytest.mark.parametrize("filename", EXAMPLES)
def test_every_example_is_read(filename):
    data = EXAMPLES[filename].encode()
    if filename == "rubric.yaml":
        assert [criterion.kind for criterion in read_rubric(data, filename=filename).criteria] == [
            "binary",
            "binary",
            "choice",
            "check",
        ]
    elif filename in ("rubric.csv", "grid.csv"):
        kinds = {criterion.kind for criterion in read_rubric(data, filename=filename).criteria}
        assert kinds == {"binary" if filename == "rubric.csv" else "choice"}
    elif filename == "labels.csv":
        assert len(read_labels(data, filename=filename)) == 2
    elif filename in SHAPES_OF_LABELS:
        read = read_label_table(data, filename=filename, rubric=LABELLED, items={"r1"})
        assert (read.found.shape, len(read.labels), read.left_out) == (*SHAPES_OF_LABELS[filename], ())
    elif filename == "judgements.jsonl":
        faults = FaultList()
        assert len(read_rows(BundledJudgement, data.decode(), filename, faults)) == 1
        assert not faults
    else:
        formats = {**DOCUMENTS, **RECORDS}
        title = formats[RECOGNISED[filename]].title if filename in RECOGNISED else ""
        assert read_dataset(data, filename=filename).recognised == title


def test_there_is_an_example_of_everything():
    assert set(EXAMPLES) == {
        *RECOGNISED,
        *SHAPES_OF_LABELS,
        "rubric.yaml",
        "rubric.csv",
        "grid.csv",
        "replies.json",
        "items.jsonl",
        "items.csv",
        "items.yaml",
        "settled.jsonl",
        "carried.json",
        "labels.csv",
        "judgements.jsonl",
    }


def test_every_foreign_format_has_a_heading():
    headings = re.findall(r"^### `(.+)`$", PAGE, re.MULTILINE)
    assert {*DOCUMENTS, *RECORDS} <= set(headings)


def test_every_field_and_alias_is_named():
    for name, aliases in ALIASES.items():
        for word in (name, *aliases):
            assert re.search(rf"\b{word}\b", PAGE), word


def test_the_python_example_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names: dict[str, object] = {}
    exec(code, names)
    train, test = names["train"], names["test"]
    assert isinstance(train, RubricDataset)
    # Five MET and five UNMET of ten: four for training are two of each.
    assert sorted(str(item.ground_truth[0]) for item in train) == ["MET", "MET", "UNMET", "UNMET"]
    assert (len(train), len(test)) == (4, 6)
