"""Labels: what answers a criterion, and files of people's labels."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import Count, Q

from rubricweb import engine
from rubricweb.engine.errors import Fault, FaultList, InvalidFile, InvalidText
from rubricweb.engine.formats.formulas import restored
from rubricweb.engine.formats.label_files import RATER_KINDS, LabelRecord, read_labels
from rubricweb.engine.formats.label_files import RaterKind as FileRaterKind
from rubricweb.engine.formats.limited_reading import read_limited
from rubricweb.engine.formats.records import MAX_FILE_BYTES, csv_records, format_of, jsonl_records
from rubricweb.engine.number_format import counted
from rubricweb.engine.parsers.plain_text import decode
from rubricweb.engine.scoring.outcomes import own_label
from rubricweb.engine.verdict import Label
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    Blind,
    Criterion,
    Dataset,
    Item,
    Judgement,
    QueueState,
    Rater,
    RaterKind,
    Review,
    ReviewQueue,
    ReviewState,
    RubricVersion,
    Team,
    User,
)
from rubricweb.selectors.labels.ground_truth import SETTLED_RATERS
from rubricweb.services.shared.journal import record

STRANGE_ITEMS_BYTES = 2_000_000


def checked_label(criterion: Criterion, label: Label) -> str:
    """A label as the criterion itself writes it. Raises Invalid, naming what is allowed, for any other."""
    if criterion.kind == "check":
        fault = Fault("verdict", f"a label for the check {criterion.name}", "no label: it answers for itself")
        raise Invalid(f"{criterion.name} is a check: it is computed from the submission.", [fault])
    try:
        return str(own_label(criterion.to_engine(), label))
    except ValueError:
        allowed = allowed_answers(criterion)
        fault = Fault("verdict", repr(label), allowed)
        raise Invalid(f"{label!r} is no answer to {criterion.name}. Allowed: {allowed}.", [fault]) from None


def allowed_answers(criterion: Criterion) -> str:
    """The labels a person can give, as a sentence for refusals."""
    if criterion.kind == "choice":
        return ", ".join(option["label"] for option in criterion.options)
    return "MET, UNMET or CANNOT_ASSESS"


def require_rubric(dataset: Dataset, rubric_version: RubricVersion | None) -> None:
    """Refuses a dataset in which some items would have no rubric at all."""
    items = Item.objects.filter(dataset=dataset)
    if not items.exists():
        raise refused("dataset", f"{dataset} has no items.")
    if rubric_version is None:
        missing = items.filter(rubric_version=None).count()
        if missing:
            raise refused(
                "rubric_version",
                f"{missing} items of {dataset} bring no rubric of their own; choose a rubric version.",
            )


def refused(place: str, message: str) -> Invalid:
    """A refusal about one argument, named as the fault's place so that a form can answer beside it."""
    return Invalid(message, [Fault(place, "this value", message)])


def import_labels(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    queue_name: str = "",
    rater_kind: str = RaterKind.HUMAN,
) -> ReviewQueue:
    """Reads a file of labels (item_id, criterion, rater, verdict, reason, rater_kind) into a closed queue.

    `rater_kind` says whether raters are people, machines or a settled ground truth where a line does not.
    The verdict column holds an option's label where the criterion is a choice. Raises Invalid with every
    fault: unknown items, criteria or labels, labels for checks, doubled labels.
    """
    rubric = None if rubric_version is None else rubric_version.to_engine()
    own = _own_rubrics(dataset)
    kind = _known_kind(rater_kind)
    try:
        labels = read_limited(
            read_labels, data, filename=filename, rubric=rubric, own_rubrics=own, rater_kind=kind
        )
    except InvalidFile as error:
        faults = sorted([*error.faults, *_strange_items(dataset, data, filename)], key=_line_of)
        count = len(faults)
        raise Invalid(f"{filename}: {counted(count, 'fault')}, nothing was imported.", faults) from error
    stem = filename.rsplit("/", 1)[-1].rsplit(".", 1)[0]
    return store_labels(
        dataset, rubric_version, labels, by=by, queue_name=queue_name or stem, filename=filename
    )


@dataclass(frozen=True)
class RaterInFile:
    """A rater of a file of labels, what they would count as, and how many labels they gave."""

    name: str
    rater_kind: str
    labels: int


@dataclass(frozen=True)
class LabelsPlan:
    """What a file of labels would become: a queue of this name, with `labels` on `items` by these raters."""

    queue_name: str
    labels: int
    items: int
    raters: tuple[RaterInFile, ...]


@transaction.atomic
def plan_labels(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    *,
    by: User | None,
    data: bytes,
    filename: str,
    queue_name: str = "",
    rater_kind: str = RaterKind.HUMAN,
) -> LabelsPlan:
    """What `import_labels` would store, refused as it would be; nothing stays.

    It is the import itself, taken back: what the plan says of a file cannot be another thing.
    """
    mark = transaction.savepoint()
    queue = import_labels(
        dataset,
        rubric_version,
        by=by,
        data=data,
        filename=filename,
        queue_name=queue_name,
        rater_kind=rater_kind,
    )
    said = Judgement.objects.in_reviews(machines=True, queue=queue).order_by()
    per_rater = said.values_list("review__rater__name", "review__rater__kind").annotate(n=Count("pk"))
    found = LabelsPlan(
        queue.name,
        said.count(),
        said.values("item").distinct().count(),
        tuple(RaterInFile(*row) for row in per_rater.order_by("review__rater__name", "review__rater__kind")),
    )
    transaction.savepoint_rollback(mark)
    return found


def _known_kind(rater_kind: str) -> FileRaterKind:
    found = RATER_KINDS.get(rater_kind)
    if found is None:
        raise Invalid.at("rater_kind", repr(rater_kind[:40]), ", ".join(RaterKind.values))
    return found


def _strange_items(dataset: Dataset, data: bytes, filename: str) -> list[Fault]:
    """Lines about items the dataset does not have, for a file that is refused for other faults already; none
    for one above STRANGE_ITEMS_BYTES, which would be read at length once more.
    """
    ignored = FaultList()
    if len(data) > STRANGE_ITEMS_BYTES:
        return []
    try:
        text = decode(data, max_bytes=MAX_FILE_BYTES)
        is_csv = format_of(filename) == "csv"
        records = list(csv_records(text, ignored, InvalidFile) if is_csv else jsonl_records(text, ignored))
    except (InvalidText, InvalidFile):
        return []
    keys = set(Item.objects.filter(dataset=dataset).values_list("key", flat=True))
    named = [(record.place, str(record.data.get("item_id") or "").strip()) for record in records]
    return [_strange_item(place, key) for place, key in named if key and restored(key) not in keys]


def _strange_item(place: str, key: str) -> Fault:
    return Fault(f"{place}: item_id", repr(key), "the id of an item in the dataset")


def _line_of(fault: Fault) -> int:
    number = re.match(r"line (\d+)", fault.place)
    return int(number[1]) if number else 0


def _own_rubrics(dataset: Dataset) -> dict[str, engine.Rubric]:
    """Item key → the rubric that item brought along."""
    keys = dict(
        Item.objects.filter(dataset=dataset, rubric_version__isnull=False).values_list(
            "key", "rubric_version"
        )
    )
    versions = RubricVersion.objects.filter(pk__in=set(keys.values())).prefetch_related("criteria")
    rubrics = {version.pk: version.to_engine() for version in versions}
    return {key: rubrics[version_id] for key, version_id in keys.items()}


# Long because rows of reviews and of labels are written side by side, in one transaction.
@transaction.atomic
def store_labels(
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    labels: Sequence[LabelRecord],
    *,
    by: User | None,
    queue_name: str,
    filename: str = "",
) -> ReviewQueue:
    """Labels as submitted reviews of a closed queue, one review per (item, rater); all or nothing."""
    team = dataset.team
    queue_name = queue_name.strip()[:200] or "Imported labels"
    if ReviewQueue.objects.filter(team=team, name=queue_name).exists():
        raise Conflict(f"The team already has a queue called {queue_name!r}; give these labels another name.")
    require_rubric(dataset, rubric_version)
    items = {item.key: item for item in Item.objects.filter(dataset=dataset).only("key", "rubric_version_id")}
    versions = {
        item.rubric_version_id or (rubric_version.pk if rubric_version else None) for item in items.values()
    }
    criteria: dict[tuple[int | None, str], Criterion] = {
        (criterion.version_id, criterion.name.strip().casefold()): criterion
        for criterion in Criterion.objects.filter(version_id__in=versions)
    }
    # One person may stand under a rater's name and a user name: from here on, only who it is counts.
    named = sorted({(label.rater, label.rater_kind) for label in labels})
    raters = {(name, kind): _named_rater(team, name, kind) for name, kind in named}
    resolved = _resolve(labels, items, criteria, rubric_version, raters)
    per_item: dict[int, set[int]] = defaultdict(set)
    for label, item, _ in resolved:
        per_item[item.pk].add(raters[label.rater, label.rater_kind].pk)
    queue = ReviewQueue.objects.create(
        team=team,
        name=queue_name,
        dataset=dataset,
        rubric_version=rubric_version,
        raters_per_item=max((len(several) for several in per_item.values()), default=1),
        blind=Blind.NONE,
        imported=True,
        state=QueueState.CLOSED,
        created_by=by,
    )
    queue.raters.set(set(raters.values()))
    now = queue.created_at
    pairs = sorted({(item.pk, raters[label.rater, label.rater_kind].pk) for label, item, _ in resolved})
    reviews = Review.objects.bulk_create(
        [
            Review(
                queue=queue,
                item_id=item_id,
                rater_id=rater_id,
                state=ReviewState.SUBMITTED,
                submitted_at=now,
                imported=True,
            )
            for item_id, rater_id in pairs
        ],
        batch_size=500,
    )
    by_pair = dict(zip(pairs, reviews, strict=True))
    Judgement.objects.bulk_create(
        [
            Judgement(
                review=by_pair[item.pk, raters[label.rater, label.rater_kind].pk],
                item_id=item.pk,
                criterion=criterion,
                verdict=str(label.verdict),
                reason=label.reason,
            )
            for label, item, criterion in resolved
        ],
        batch_size=500,
    )
    record(team, by, "imported labels", queue, labels=len(resolved), raters=len(raters), file=filename)
    return queue


def _resolve(
    labels: Iterable[LabelRecord],
    items: dict[str, Item],
    criteria: dict[tuple[int | None, str], Criterion],
    rubric_version: RubricVersion | None,
    raters: Mapping[tuple[str, FileRaterKind], Rater],
) -> list[tuple[LabelRecord, Item, Criterion]]:
    """Each label, as its criterion writes it, with the rows it is about; refuses all faults at once."""
    resolved: list[tuple[LabelRecord, Item, Criterion]] = []
    faults: list[Fault] = []
    seen: dict[tuple[int, int, int], int] = {}
    for label in labels:
        place = f"line {label.line}"
        item = items.get(label.item_id)
        if item is None:
            faults.append(_strange_item(place, label.item_id))
            continue
        version_id = item.rubric_version_id or (rubric_version.pk if rubric_version else None)
        criterion = criteria.get((version_id, label.criterion.strip().casefold()))
        if criterion is None:
            faults.append(
                Fault(f"{place}: criterion", repr(label.criterion), "the name of a criterion of the rubric")
            )
            continue
        try:
            said = checked_label(criterion, label.verdict)
        except Invalid as error:
            faults += [Fault(f"{place}: verdict", fault.found, fault.allowed) for fault in error.faults]
            continue
        first = seen.setdefault((item.pk, criterion.pk, raters[label.rater, label.rater_kind].pk), label.line)
        if first != label.line:
            faults.append(
                Fault(place, f"the same item, criterion and rater as line {first}", "one label each")
            )
            continue
        resolved.append((replace(label, verdict=said), item, criterion))
    if faults:
        raise Invalid(f"{len(faults)} labels do not fit the dataset; nothing was imported.", faults[:200])
    if not resolved:
        raise Invalid("The file holds no labels.")
    return resolved


def _named_rater(team: Team, name: str, kind: FileRaterKind) -> Rater:
    """The rater of this name and kind; a member is found by rater name, user name or shown name.

    Who is called like the ground truth of a dataset file, or of our exports, is that.
    """
    name = name[:120]
    if name in SETTLED_RATERS:
        kind = "settled"
    raters = Rater.objects.filter(team=team, kind=kind)
    found = raters.filter(Q(name=name) | Q(user__username=name)).first()
    return found or Rater.objects.create(team=team, name=name, kind=kind)
