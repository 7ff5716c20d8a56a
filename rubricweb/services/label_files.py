"""Files of labels: looked at, then stored as closed queues and imported runs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import PurePath
from typing import Any

from django.db import transaction

from rubricweb import engine
from rubricweb.engine.errors import Fault, InvalidFile
from rubricweb.engine.formats.datasets.known_keys import AnswerOfCase, KnownItems
from rubricweb.engine.formats.label_files import RATER_KINDS, SHAPES, LabelChoices, LabelRecord, RaterKind
from rubricweb.engine.formats.labels.left_out import LeftOut
from rubricweb.engine.formats.labels.reading import LabelsReading, read_label_table
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.models import Dataset, Item, Rater, ReviewQueue, RubricVersion, Run, Team, User
from rubricweb.models import RaterKind as StoredKind
from rubricweb.selectors.datasets.systems import blinded_answers
from rubricweb.selectors.labels.ground_truth import SETTLED_RATERS
from rubricweb.services.file_reading import read_limited
from rubricweb.services.labels import require_rubric, resolve_labels, store_labels
from rubricweb.services.read_labels.hidden_items import require_shown
from rubricweb.services.read_labels.named_raters import require_few_raters, too_many_raters
from rubricweb.services.read_labels.new_labels import new_labels
from rubricweb.services.shared import archiving

FIRST_LABELS = 10
"""So many labels a plan shows as they would be read."""


@dataclass(frozen=True)
class RaterInFile:
    """A rater of a file of labels: what they count as, how many labels they gave, which member they are."""

    name: str
    rater_kind: str
    labels: int
    member: str = ""


@dataclass(frozen=True)
class LabelsPlan:
    """What a file of labels would become: `labels` on `items` by these raters, people's in a queue of this
    name, each machine's in a run. `first` are the first of them.

    `left_out` is what the reading leaves out, and what was imported before: that is not among the others.
    """

    queue_name: str
    labels: int
    items: int
    criteria: int
    raters: tuple[RaterInFile, ...]
    reading: LabelsReading
    first: tuple[LabelRecord, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def becomes(self) -> str:
        """What the labels become, in a sentence or two."""
        kinds = Counter(one.rater_kind == StoredKind.MACHINE for one in self.raters)
        sentences = []
        if kinds[False]:
            whose = "Labels of people and of the file" if kinds[True] else "They"
            sentences.append(f"{whose} become the closed review queue {self.queue_name}.")
        if kinds[True]:
            whose = counted(kinds[True], "machine")
            sentences.append(f"Grades of {whose} become imported runs, one each.")
        return " ".join(sentences)


@dataclass(frozen=True)
class ImportedLabels:
    """The queue that people's labels of a file became, a run for each machine's, and what was left out."""

    queue: ReviewQueue | None
    runs: tuple[Run, ...]
    left_out: tuple[LeftOut, ...]


def import_label_file(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    queue_name: str = "",
    choices: LabelChoices | None = None,
    strict: bool = True,
) -> ImportedLabels:
    """Reads a file of labels, in any of the usual shapes: people's into a closed queue, those of each machine
    into a run.

    `choices` say what its columns, values and raters are. Raises Invalid where the columns say
    nothing; for anything else that does not fit (unknown items, criteria or values, labels for checks, labels
    that are there twice or contradict each other) when `strict`, with every fault. Otherwise that is left
    out, and the audit log says what. Labels that were imported before are left out either way; raises
    Conflict where all of them were. Nothing is hidden from a person at the server itself: see
    `import_sent_labels`.
    """
    reading = _read(dataset, rubric_version, data, filename, _with_settled(choices))
    named = {"filename": filename, "queue_name": queue_name}
    history = choices is not None and choices.history
    return _import(dataset, rubric_version, reading, by=by, strict=strict, history=history, **named)


def import_sent_labels(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    *,
    by: User,
    data: bytes,
    filename: str,
    queue_name: str = "",
    choices: LabelChoices | None = None,
    strict: bool = True,
) -> ImportedLabels:
    """`import_label_file` for who sent the file to a page or the API. Raises Withheld as well, for labels on
    items on which verdicts are hidden from them.
    """
    reading = _read(dataset, rubric_version, data, filename, _with_settled(choices), viewer=by)
    require_shown(dataset, reading.labels, by)
    named = {"filename": filename, "queue_name": queue_name}
    history = choices is not None and choices.history
    return _import(dataset, rubric_version, reading, by=by, strict=strict, history=history, **named)


def _import(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    reading: LabelsReading,
    *,
    by: User | None,
    filename: str,
    queue_name: str,
    strict: bool,
    history: bool,
) -> ImportedLabels:
    _refuse(reading, filename, strict=strict)
    left_out = "; ".join(map(str, reading.left_out))[:2000]
    with transaction.atomic():
        # Here and not where labels are stored: what comes with a dataset's file has that on hold already.
        if rubric_version is not None and rubric_version.rubric is not None:
            archiving.hold_rubric(rubric_version.rubric)  # an archived one may be used
        stored = store_labels(
            dataset,
            rubric_version,
            reading.labels,
            by=by,
            queue_name=queue_name_of(queue_name, filename),
            filename=filename,
            detail={"left_out": left_out} if left_out else {},
            history=history,
        )
    return ImportedLabels(stored.queue, stored.runs, (*reading.left_out, *stored.known))


def plan_labels(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    *,
    data: bytes,
    filename: str,
    queue_name: str = "",
    choices: LabelChoices | None = None,
    strict: bool = True,
    viewer: User | None = None,
) -> LabelsPlan:
    """What `import_label_file` would store, or with a `viewer` `import_sent_labels`, refused as it would be;
    nothing is stored.
    """
    plan = look_at_labels(
        dataset,
        rubric_version,
        data=data,
        filename=filename,
        queue_name=queue_name,
        choices=choices,
        viewer=viewer,
    )
    _refuse(plan.reading, filename, strict=strict)
    return plan


def plan_as_data(plan: LabelsPlan) -> dict[str, Any]:
    """The plan as API and command line tell it."""
    reading = plan.reading
    columns = reading.found
    return {
        "queue_name": plan.queue_name,
        "labels": plan.labels,
        "items": plan.items,
        "criteria": plan.criteria,
        "raters": [asdict(one) for one in plan.raters],
        "shape": columns.shape if columns else None,
        "columns": [
            {"column": column, "field": reading.fields.get(column, "")} for column in reading.columns
        ],
        "left_out": left_out_as_data(plan.left_out),
        "unknown_values": [
            {**asdict(one), "criteria": list(one.criteria), "allowed": list(one.allowed)}
            for one in reading.unknown_values
        ],
        "first": [_label_as_data(label) for label in plan.first],
    }


def left_out_as_data(left_out: Iterable[LeftOut]) -> list[dict[str, Any]]:
    return [{"why": one.why, "rows": one.rows, "says": str(one)} for one in left_out]


def _label_as_data(label: LabelRecord) -> dict[str, Any]:
    fields = asdict(label)
    del fields["line"]
    final = label.final_verdict
    return fields | {"verdict": str(label.verdict), "final_verdict": None if final is None else str(final)}


def look_at_labels(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    *,
    data: bytes,
    filename: str,
    queue_name: str = "",
    choices: LabelChoices | None = None,
    viewer: User | None = None,
) -> LabelsPlan:
    """The same, whatever is wrong with the columns, rows and values: that stands in the plan's reading.

    Raises Invalid for what is no table, Conflict for a queue name that is taken and for a file all of whose
    labels were imported before, unless it has values that are no answers, and Withheld as the import does.
    """
    queue_name = queue_name_of(queue_name, filename)
    reading = _read(dataset, rubric_version, data, filename, _with_settled(choices), viewer=viewer)
    require_shown(dataset, reading.labels, viewer)
    many = too_many_raters(reading.labels)
    if many is not None:
        # Another column may be the raters', which can still be said.
        reading = replace(reading, refused=(*reading.refused, many))
    given = reading.labels
    members: dict[tuple[str, str], str] = {}
    known: tuple[LeftOut, ...] = ()
    if reading.labels and not reading.refused:
        # Raters are found as the import finds them. Nothing is written, so that nobody waits for a look.
        resolved = resolve_labels(dataset, rubric_version, reading.labels, make=False)
        new = new_labels(dataset, resolved, queue_name)
        if not reading.unknown_values:  # what they mean can still be said
            new.require_some()
        known, given = new.known, new.labels
        members = {key: rater.user.username for key, rater in resolved.raters.items() if rater.user}
    per_rater = Counter((one.rater, one.rater_kind) for one in given)
    return LabelsPlan(
        queue_name,
        len(given),
        len({one.item_id for one in given}),
        len({one.criterion for one in given}),
        tuple(RaterInFile(*key, n, members.get(key, "")) for key, n in sorted(per_rater.items())),
        reading,
        given[:FIRST_LABELS],
        (*reading.left_out, *known),
    )


def said_choices(
    *,
    columns: Iterable[str] = (),
    values: Iterable[str] = (),
    rater_kinds: Iterable[str] = (),
    **plain: Any,
) -> LabelChoices:
    """Choices as a command line and the API say them: FIELD=COLUMN, VALUE=ANSWER, RATER=KIND, and plainly.

    =COLUMN is a column that is not read.
    """
    shape = plain.pop("shape", None) or None
    if shape is not None and shape not in SHAPES:
        raise Invalid.at("shape", repr(shape), ", ".join(SHAPES))
    columns = list(columns)
    unread = [text[1:].strip() for text in columns if text.startswith("=")]
    kind = plain.pop("rater_kind", None)
    plain["rater_kind"] = _known_kind(kind) if kind else None
    kinds = _pairs("rater_kinds", rater_kinds, "gpt-4=machine")
    return LabelChoices(
        shape=shape,
        columns=_pairs("columns", [text for text in columns if text[:1] != "="], "item_id=example"),
        unread=frozenset(unread),
        # What people answer may hold "=", and so may what they wrote: an answer is one of ours.
        values=_pairs("values", values, "good=MET", last=True),
        rater_kinds={rater: _known_kind(kind) for rater, kind in kinds.items()},
        **plain,
    )


def _pairs(field: str, texts: Iterable[str], example: str, *, last: bool = False) -> dict[str, str]:
    pairs = {}
    for text in texts:
        left, equals, right = text.rpartition("=") if last else text.partition("=")
        if not equals or not left.strip() or (last and not right.strip()):
            raise Invalid.at(field, repr(text[:80]), f"two texts with = between them, as in {example}")
        pairs[left.strip()] = right.strip()
    return pairs


def queue_name_of(queue_name: str, filename: str) -> str:
    """What the labels of a file are called among the review queues: as somebody said, else like the file."""
    # Without blanks at its ends, as forms send a text back: else the name would count as changed there.
    names = (name.strip()[:200].rstrip() for name in (queue_name, PurePath(filename).stem))
    return next(filter(None, names), "Imported labels")


def _with_settled(choices: LabelChoices | None) -> LabelChoices:
    """Choices with who is settled by name."""
    choices = choices or LabelChoices()
    kinds: Mapping[str, RaterKind] = dict.fromkeys(SETTLED_RATERS, "settled")
    return replace(choices, rater_kinds={**choices.rater_kinds, **kinds})


def _known_kind(rater_kind: str) -> RaterKind:
    kind = RATER_KINDS.get(rater_kind)
    if kind is None:
        raise Invalid.at("rater_kind", repr(rater_kind[:40]), ", ".join(StoredKind.values))
    return kind


def _read(
    dataset: Dataset,
    version: RubricVersion | None,
    data: bytes,
    filename: str,
    choices: LabelChoices,
    *,
    viewer: User | None = None,
) -> LabelsReading:
    require_rubric(dataset, version)
    try:
        return read_limited(
            read_label_table,
            data,
            filename=filename,
            choices=replace(choices, known_kinds=_known_kinds(dataset.team)),
            rubric=None if version is None else version.to_engine(),
            own_rubrics=_own_rubrics(dataset),
            items=_known_items(dataset, viewer),
        )
    except InvalidFile as error:
        raise Invalid(f"{filename} cannot be read; nothing was imported.", error.faults) from error


def _known_items(dataset: Dataset, viewer: User | None) -> KnownItems:
    """The items by their ids; by case and system too, unless that tells this person whose answers they are
    still to review blind.
    """
    rows = Item.objects.current().filter(dataset=dataset).order_by("position")
    if blinded_answers(dataset, viewer):
        return KnownItems(rows.values_list("key", flat=True))
    version = ("system_version__system__name", "system_version__label")
    answers = [
        AnswerOfCase(key, case, f"{name}@{label}" if label else name or "", attempt)
        for key, case, name, label, attempt in rows.values_list("key", "case__key", *version, "attempt")
    ]
    return KnownItems((one.item_id for one in answers), answers)


def _known_kinds(team: Team) -> dict[str, RaterKind]:
    """Who is known here as a machine, or as settled labels, and as no person, is that again."""
    raters = Rater.objects.filter(team=team)
    people = set(
        chain.from_iterable(raters.filter(kind=StoredKind.HUMAN).values_list("name", "user__username"))
    )
    others = raters.exclude(kind=StoredKind.HUMAN).order_by("kind").values_list("name", "kind")
    return {name: RATER_KINDS[kind] for name, kind in others if name not in people}


def _refuse(reading: LabelsReading, filename: str, *, strict: bool) -> None:
    """Raises what keeps this file from being imported."""
    require_few_raters(reading.labels)
    if reading.found is None:
        said = f"{filename}: what its columns are is not clear, nothing was imported."
        raise Invalid(said, reading.refused)
    faults: tuple[Fault, ...] = reading.faults if strict or not reading.labels else reading.refused
    if faults:
        total = len(faults) + (reading.more if faults is reading.faults else 0)
        raise Invalid(f"{filename}: {counted(total, 'fault')}, nothing was imported.", faults)


def _own_rubrics(dataset: Dataset) -> dict[str, engine.Rubric]:
    """Item key → the rubric that item brought along."""
    rows = Item.objects.current().filter(dataset=dataset, rubric_version__isnull=False)
    items: dict[int, list[str]] = defaultdict(list)
    for key, version_id in rows.values_list("key", "rubric_version"):
        items[version_id].append(key)
    versions = RubricVersion.objects.filter(pk__in=items).prefetch_related("criteria")
    rubrics = {version.pk: version.to_engine() for version in versions}
    return {key: rubrics[version_id] for version_id, keys in items.items() for key in keys}
