"""Breaks valid files in many ways: every reader must read what comes out, or refuse it as it promises.

    python -m tests.engine.formats.fuzz_readers --seconds 60 --seed 1

What a dataset reader accepts must also be writable and read back equal. Prints how many files of each kind
were tried, and for a failure the kind, the error and where the broken file was kept.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from rubricweb.engine.errors import InvalidFile, InvalidRubric
from rubricweb.engine.formats.bundle.archives import read_zip, zip_stream
from rubricweb.engine.formats.bundle.bundle import CONTENTS, MANIFEST, BundledRows, read_bundle, write_bundle
from rubricweb.engine.formats.bundle.records import BundledAdjudication, BundledJudgement, BundledNote
from rubricweb.engine.formats.dataset_values import ALIASES, DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.files import preview, read_dataset
from rubricweb.engine.formats.datasets.writers import write_dataset
from rubricweb.engine.formats.label_provenance import LabelProvenance
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.engine.formats.rubric_files import read_rubric, write_rubric
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.verdict import Verdict
from tests.engine.formats.foreign import samples

RUBRIC = Rubric.from_dict(
    {
        "title": "Replies",
        "pass_rule": {"min_score": 0.5},
        "criteria": [
            {"name": "polite", "weight": 2, "requirement": "Is polite", "group": "tone"},
            {
                "name": "clear",
                "weight": 3,
                "requirement": "How clear?",
                "options": [
                    {"label": "Not", "value": 0},
                    {"label": "Very", "value": 1},
                    {"label": "N/A", "na": True},
                ],
            },
            {"check": "length_between", "params": {"min": 1, "max": 100}},
        ],
    }
)
DATASET = DatasetFile(
    "replies",
    "Reply.",
    RUBRIC,
    "A reference.",
    (
        ItemRecord(
            "1",
            "Dear you",
            "hm",
            [{"role": "user", "content": "Hi"}],
            metadata={"topic": ["x", {"y": 1.5}], "group": "g"},
            ground_truth=(Verdict.MET, "Very", None),
            ground_truth_reasons=("r", None, None),
            ground_truth_provenance=(
                LabelProvenance("adjudicated", "ed", "2026-01-02T03:04:05+00:00"),
                LabelProvenance("majority", labels=({"rater": "ann", "is_judge": False, "verdict": "Very"},)),
                None,
            ),
            labels={"ann": (Verdict.UNMET, "N/A", None)},
            label_reasons={"ann": (None, "why", None)},
        ),
        ItemRecord("2", "=Go away", rubric=Rubric.from_dict([{"requirement": "Is short"}]), description="d"),
    ),
)
LABELS = "item_id,criterion,rater,verdict,reason\n1,polite,ann,MET,yes\n1,clear,ben,UNMET,\n"
JUDGED = BundledJudgement("1", "polite", "ann", "human", Verdict.MET, evidence=("Dear",), confidence=0.5)
SETTLED = BundledAdjudication("1", "clear", "ed", option="Very", reason="Agreed.")
NOTED = BundledNote("1", "ann", "Queue", "Odd.", flagged=True)

TOKENS = [
    *(
        b"null",
        b"NaN",
        b"-Infinity",
        b"1e999",
        b"9" * 400,
        b"true",
        b'""',
        b'"\\ud800"',
        b'"\\u0000"',
        b"\0",
        b"\xff",
    ),
    *(
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b'"',
        b"\n",
        b"\r\n",
        b"\t",
        b"'",
        b"- ",
        b"&a ",
        b"*a",
        b"!!python/name:x ",
        b"<<: ",
    ),
    *(
        b"[" * 60,
        b'{"a":' * 60,
        b"\xef\xbb\xbf",
        b"\xe2\x80\xa8",
        b"=1+1",
        b"../",
        b"attachment://",
        b"{{x}}",
        b"file://x",
    ),
]
VALUES: list[object] = [
    None,
    True,
    0,
    -1,
    1.5,
    float("nan"),
    10**30,
    10**400,
    "",
    " ",
    "x",
    "MET",
    "\0",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    {"": 1},
]


@dataclass(frozen=True)
class Target:
    """One kind of valid file and the reader it goes to."""

    name: str
    data: bytes
    read: Callable[[bytes, random.Random], object]
    is_json: bool = False


@dataclass
class Outcome:
    """How many files of each kind were read, refused, and what went wrong."""

    read: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[str, bytes, str]] = field(default_factory=list)


def targets() -> list[Target]:
    """A valid file of every kind a reader takes."""
    found = [
        Target(
            f"dataset.{format}",
            b"".join(write_dataset(DATASET, format)),
            dataset(f"x.{format}"),
            format == "json",
        )
        for format in ("json", "jsonl", "csv", "yaml", "parquet")
    ]
    for filename, value in samples.FOREIGN:
        lines = filename.endswith(".jsonl")
        text = "\n".join(map(json.dumps, value)) if lines else json.dumps(value)
        found.append(Target(f"foreign {filename}", text.encode(), dataset(filename), not lines))
    found += [
        Target("labels.csv", LABELS.encode(), lambda data, _: read_labels(data, filename="x.csv")),
        Target("rubric.json", write_rubric(RUBRIC, "json").encode(), rubric("x.json"), True),
        Target("rubric.yaml", write_rubric(RUBRIC, "yaml").encode(), rubric("x.yaml")),
        Target(
            "bundle",
            b"".join(write_bundle(DATASET, rubrics=[RUBRIC], said=BundledRows([JUDGED], [SETTLED], [NOTED]))),
            lambda data, _: read_bundle(data),
        ),
    ]
    whole = read_zip(found[-1].data)
    return found + [Target(f"bundle {name}", whole[name], bundle_with(whole, name)) for name in CONTENTS]


def bundle_with(files: dict[str, bytes], name: str) -> Callable[[bytes, random.Random], object]:
    """Reads a bundle in which one file was changed and the manifest agrees."""

    def read(data: bytes, _: random.Random) -> object:
        changed_files = files | {name: data}
        manifest = json.loads(changed_files[MANIFEST])
        manifest["files"][name]["sha256"] = hashlib.sha256(data).hexdigest()
        changed_files[MANIFEST] = json.dumps(manifest).encode()
        return read_bundle(b"".join(zip_stream((one, [content]) for one, content in changed_files.items())))

    return read


def dataset(filename: str) -> Callable[[bytes, random.Random], object]:
    """Reads a dataset, now and then with columns named, and checks that what was read can be written."""

    def read(data: bytes, rng: random.Random) -> object:
        columns = (
            {rng.choice([*ALIASES, "oops"]): rng.choice(["", "id", "text", "submission"])}
            if rng.random() < 0.1
            else None
        )
        name = filename if rng.random() < 0.9 else "unnamed"
        refused = None
        try:
            preview(data, name)
        except InvalidFile as error:
            refused = error
        file = read_dataset(data, filename=name, columns=columns)
        assert refused is None, f"the preview refused what was read: {refused}"
        again = read_dataset(b"".join(write_dataset(file, "json")), filename="again.json")
        assert again == file, "what was read is not what was written again"
        assert file.labels == again.labels
        return file

    return read


def rubric(filename: str) -> Callable[[bytes, random.Random], object]:
    """Reads a rubric and checks that it is read back equal."""

    def read(data: bytes, _: random.Random) -> object:
        found = read_rubric(data, filename=filename)
        assert read_rubric(write_rubric(found, "json"), filename="x.json") == found
        return found

    return read


def fuzz(seconds: float, seed: int) -> Outcome:
    """Mutate and read for so many seconds; the same seed tries the same files in the same order."""
    rng = random.Random(seed)
    outcome = Outcome()
    everything = targets()
    for target in everything:
        target.read(target.data, random.Random(1))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        target = rng.choice(everything)
        data = mutated(target, rng)
        begun = time.monotonic()
        try:
            target.read(data, rng)
            outcome.read[target.name] += 1
        except (InvalidFile, InvalidRubric):
            outcome.refused[target.name] += 1
        except Exception:
            outcome.failures.append((target.name, data, traceback.format_exc()))
        if time.monotonic() - begun > 10:
            outcome.failures.append((target.name, data, "more than ten seconds for one small file"))
    return outcome


def mutated(target: Target, rng: random.Random) -> bytes:
    """The target's file after one to four changes, of its values where it is JSON, else of its bytes."""
    data = target.data
    if target.is_json and rng.random() < 0.6:
        whole = json.loads(data)
        for _ in range(rng.randint(1, 3)):
            whole = changed(whole, rng)
        return json.dumps(whole).encode()
    if b"\n" in data and rng.random() < 0.4 and not data.startswith((b"PAR1", b"PK")):
        lines = data.split(b"\n")
        position = rng.randrange(len(lines))
        try:
            lines[position] = json.dumps(changed(json.loads(lines[position]), rng)).encode()
        except ValueError:
            lines[position] = rng.choice(lines)
        return b"\n".join(lines)
    broken = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        position = rng.randrange(len(broken) + 1)
        kind = rng.randrange(5)
        if kind == 0:
            broken[position:position] = rng.choice(TOKENS)
        elif kind == 1:
            del broken[position : position + rng.randint(1, 30)]
        elif kind == 2 and broken:
            broken[min(position, len(broken) - 1)] = rng.randrange(256)
        elif kind == 3:
            start = rng.randrange(len(broken) + 1)
            broken[position:position] = broken[start : start + rng.randint(1, 200)]
        else:
            broken[position : position + rng.randint(1, 8)] = rng.choice(TOKENS)
    return bytes(broken)


def changed(value: object, rng: random.Random) -> object:
    """The value with one node somewhere replaced, removed, repeated or renamed."""
    if isinstance(value, dict) and value and rng.random() < 0.85:
        key = rng.choice(list(value))
        change = rng.random()
        if change < 0.1:
            return {name: inner for name, inner in value.items() if name != key}
        if change < 0.2:
            return {
                (rng.choice(["", "x", "id", "items"]) if name == key else name): inner
                for name, inner in value.items()
            }
        return {name: changed(inner, rng) if name == key else inner for name, inner in value.items()}
    if isinstance(value, list) and value and rng.random() < 0.85:
        position = rng.randrange(len(value))
        change = rng.random()
        if change < 0.1:
            return value[:position] + value[position + 1 :]
        if change < 0.2:
            return [*value, value[position]]
        return [changed(inner, rng) if i == position else inner for i, inner in enumerate(value)]
    return rng.choice(VALUES)


def main() -> int:
    """The command line: 1 when any reader failed otherwise than by refusing."""
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--seconds", type=float, default=60)
    arguments.add_argument("--seed", type=int, default=1)
    chosen = arguments.parse_args()
    outcome = fuzz(chosen.seconds, chosen.seed)
    for target in targets():
        print(
            f"{target.name:24} read {outcome.read[target.name]:6}  refused {outcome.refused[target.name]:6}"
        )
    folder = Path(tempfile.mkdtemp(prefix="fuzz-")) if outcome.failures else None
    for number, (name, data, trace) in enumerate(outcome.failures):
        assert folder is not None
        path = folder / f"{number:03}"
        path.write_bytes(data)
        print(f"\n{name}: kept as {path}\n{trace}")
    tried = sum(outcome.read.values()) + sum(outcome.refused.values())
    print(f"{tried:,} files, {len(outcome.failures)} failures")
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
