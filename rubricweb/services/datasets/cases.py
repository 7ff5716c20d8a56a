"""Cases of items that come into a dataset: known ones are found, the others made."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from django.db.models import F, Max, Min

from rubricweb.engine.errors import Fault
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord
from rubricweb.engine.formats.datasets.cases import asked_words
from rubricweb.models import Case, CaseText, Dataset, Item
from rubricweb.selectors.datasets.cases import as_item
from rubricweb.selectors.datasets.tags import tags_of
from rubricweb.services.datasets.tags import tagging
from rubricweb.services.shared import bulk_rows

AT_ONCE = 5000


def case_key(record: ItemRecord) -> str:
    """The key of an item's case: its case id, else its own id."""
    return record.case_id or record.id


def known_cases(dataset: Dataset, keys: Collection[str]) -> dict[str, Item]:
    """Case key → the first item that answers the present words of the case, with its own rubric if any."""
    wanted: list[str] = list(dict.fromkeys(keys))
    found: dict[str, Item] = {}
    for begin in range(0, len(wanted), AT_ONCE):
        answers = Item.objects.filter(
            case__dataset=dataset, case__key__in=wanted[begin : begin + AT_ONCE], wording=F("case__wording")
        )
        first = answers.order_by().values("case").annotate(first=Min("pk")).values("first")
        rows = Item.objects.filter(pk__in=first).select_related("case", "dataset", "rubric_version")
        found |= {row.case.key: row for row in rows.prefetch_related("rubric_version__criteria")}
        # Corrected, and nobody has answered the new words yet.
        texts = CaseText.objects.filter(
            case__dataset=dataset, case__key__in=wanted[begin : begin + AT_ONCE], number=F("case__wording")
        ).select_related("case__dataset", "rubric_version")
        for text in texts.prefetch_related("rubric_version__criteria"):
            found.setdefault(text.case.key, as_item(text))
    return found


def case_faults(file: DatasetFile, known: Mapping[str, Item], *, first: int = 0) -> list[Fault]:
    """What keeps items of a file from becoming answers to known cases: other words, answered before, or an
    own key that is the key of a case. `first` is the place of the first item in the whole file.
    """
    answers = Item.objects.current().filter(case__in=[item.case_id for item in known.values()])
    answered = set(
        answers.filter(wording=F("case__wording"))
        .annotate(case_key=F("case__key"), name=F("system_version__system__name"))
        .values_list("case_key", "name", "system_version__label", "attempt")
    )
    # A case all of whose answers are retired may be answered under its own key again.
    current = set(answers.order_by().values_list("case__key", flat=True).distinct())
    faults = []
    for i, record in enumerate(file.items, start=first):
        asked = known.get(case_key(record))
        if asked is None:
            continue
        if not record.case_id and case_key(record) in current:
            faults.append(
                Fault(f"items[{i}].id", repr(record.id), "an id that no case of the dataset has yet")
            )
            continue
        if _words(file, record, asked) != _words(file, None, asked):
            found = f"case {case_key(record)!r} with another prompt, reference or rubric"
            allowed = (
                "the words the dataset has for the case, or none: correct the case where they have changed"
            )
            place = "case_id" if record.case_id else "id"
            faults.append(Fault(f"items[{i}].{place}", found, allowed))
        name, _, label = record.system.partition("@")
        if (record.case_id, name, label, record.attempt) in answered:
            found = f"a second answer of {record.system or 'the same system'} to case {record.case_id!r}"
            faults.append(Fault(f"items[{i}].system", found, "one, or an attempt that tells them apart"))
    return faults


def _words(file: DatasetFile, record: ItemRecord | None, asked: Item) -> str:
    """A digest of what a case asks: what the record or its file says of it, else what is known."""
    known = asked.to_engine()
    rubric = asked.rubric_version.to_engine() if asked.rubric_version else None
    prompt, reference = known.query, known.reference
    if record is not None:
        own = file.prompt_for(record), file.reference_for(record)
        prompt, reference = own[0] or prompt, own[1] or reference
        rubric = record.rubric or rubric
    return asked_words(prompt, reference, rubric)  # type: ignore[arg-type]  # as it was imported


def store_cases(dataset: Dataset, keys: Sequence[str], *, first: int) -> dict[str, int]:
    """Key → id of new cases of the dataset, in their order, from the place `first` on."""
    ids = bulk_rows.reserve_ids(Case, len(keys))
    rows = [(pk, dataset.pk, key, first + at, 1) for at, (pk, key) in enumerate(zip(ids, keys, strict=True))]
    bulk_rows.insert(Case, ("id", "dataset_id", "key", "position", "wording"), rows)
    return dict(zip(keys, ids, strict=True))


def next_position(model: type[Case | Item], dataset: Dataset) -> int:
    """The place behind all cases, or items, of the dataset."""
    last = model.objects.filter(dataset=dataset).aggregate(last=Max("position"))["last"]
    return 0 if last is None else last + 1


def copy_cases(items: Iterable[Item], dataset: Dataset) -> dict[int, Case]:
    """Case id → its copy in another dataset with its words and tags, for the cases of these items, in their
    order.
    """
    originals = Case.objects.filter(pk__in={item.case_id for item in items}).order_by("position")
    copies = [
        Case(dataset=dataset, key=case.key, position=at, wording=case.wording)
        for at, case in enumerate(originals)
    ]
    made = Case.objects.bulk_create(copies, batch_size=1000)
    copied = {case.pk: copy for case, copy in zip(originals, made, strict=True)}
    texts = CaseText.objects.filter(case__in=originals.order_by()).order_by("pk").values_list(*_TEXT)
    bulk_rows.insert(CaseText, _TEXT, [(copied[case_id].pk, *words) for case_id, *words in texts])
    tagging.give({copied[case_id].pk: tags for case_id, tags in tags_of(copied).items()})
    return copied


_TEXT = (
    "case_id",
    "number",
    "prompt",
    "reference",
    "description",
    "rubric_version_id",
    "created_by_id",
    "created_at",
)
