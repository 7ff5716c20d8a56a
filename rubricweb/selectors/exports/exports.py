"""What an export holds: settled labels per item, and every verdict of people and judges, streamed."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet

from rubricweb import engine
from rubricweb.engine.formats import VerdictRow
from rubricweb.engine.number_format import counted
from rubricweb.engine.scoring.outcomes import outcome_of, value_of
from rubricweb.errors import Invalid, Withheld
from rubricweb.models import (
    Adjudication,
    Criterion,
    Dataset,
    Item,
    Judgement,
    RaterKind,
    Review,
    ReviewQueue,
    ReviewState,
    Revision,
    RevisionChoice,
    RubricVersion,
    Run,
    RunState,
    Team,
    User,
    unarchived,
)
from rubricweb.selectors.blinding import hidden_of, require_nothing_hidden, with_other_answers
from rubricweb.selectors.datasets.systems import items_name_systems
from rubricweb.selectors.datasets.titles import names_of
from rubricweb.selectors.datasets.versions import case_of_item, file_keys
from rubricweb.selectors.exports.label_lineage import CountedLabels
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.selectors.labels.stored_answers import answer_of
from rubricweb.selectors.shared.judge_use import with_judge
from rubricweb.selectors.shared.unavailable import Unavailable

CHUNK = 500
BODIES = ("item__submission", "item__thinking", "item__prompt", "item__reference", "item__metadata")
"""What rows about items do not need of them."""
NAMED_MAX = 20
"""So many items are named in a sentence; a list names all."""


@dataclass(frozen=True)
class WithheldItems:
    """Items whose labels and verdicts this person is not handed yet: ids, and keys in dataset order, of the
    first as people call them in `names`.

    `everything` says that no item is left to hand out. In a dataset that names systems they go by other ids,
    `unnamed`: a key may tell who answered. `untagged` are they and all other answers to their cases, whose
    tags are withheld.
    """

    ids: frozenset[int] = frozenset()
    keys: tuple[str, ...] = ()
    everything: bool = False
    unnamed: Mapping[int, str] = field(default_factory=dict)
    untagged: frozenset[int] = frozenset()
    names: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        """What is left out and what to do, in a sentence or two; "" where nothing is."""
        if not self.keys:
            return ""
        count = counted(len(self.keys), "item")
        return (
            f"Labels and verdicts of {count} are left out, because you are still to review "
            "the same words blind. Submit your reviews, or ask somebody who is not a rater."
        )

    @property
    def named(self) -> str:
        """The names for a sentence, the first twenty of many."""
        more = len(self.keys) - NAMED_MAX
        return ", ".join(self.names) + (f" and {more} more" if more > 0 else "")


NOTHING_WITHHELD = WithheldItems()


def withheld_items(viewer: User, dataset: Dataset) -> WithheldItems:
    """What an export of the dataset leaves out for this person, whether or not anybody spoke on it."""
    hidden = hidden_of(viewer, dataset.team, dataset.pk)
    if not hidden:
        return NOTHING_WITHHELD
    rows = dataset.items.order_by("position").values_list("pk", "key")
    keys = [(pk, key) for pk, key in rows.iterator(chunk_size=CHUNK)]
    unnamed: dict[int, str] = {}
    if items_name_systems(dataset):
        unnamed = {pk: f"withheld-{number}" for number, (pk, _) in enumerate(keys, 1) if pk in hidden}
    left_out = tuple(unnamed.get(pk, key) for pk, key in keys if pk in hidden)
    first = [pk for pk, _ in keys if pk in hidden][:NAMED_MAX]
    names = names_of(Item.objects.filter(pk__in=first).order_by("position")) | unnamed
    everything = len(left_out) == len(keys)
    untagged = frozenset(with_other_answers(hidden, dataset.pk))
    named = tuple(names[pk] for pk in first if pk in names)
    return WithheldItems(frozenset(hidden), left_out, everything, unnamed, untagged, named)


def verdict_rows(
    dataset: Dataset,
    queues: Sequence[ReviewQueue],
    run: Run | None,
    counted: CountedLabels,
    *,
    withheld: Collection[int] = (),
    unnamed: Mapping[int, str] | None = None,
    judge_version: str | None = None,
) -> Iterator[VerdictRow]:
    """Submitted verdicts of people in `queues`, then the run's, by item and criterion; none on `withheld`.

    Each is about the criterion it is read as: a label of an earlier version stands under that of the version
    it counts for, with the weight and options of that one. Items `unnamed` have this id in place of their
    own, and nothing that tells who answered. `judge_version` graded the run.
    """
    criteria: dict[int, engine.Criterion] = {}
    unnamed = unnamed or {}
    keys = {**file_keys(dataset), **unnamed}
    for row in judgements(dataset, queues, run, withheld=withheld):
        read = counted.criteria.read(row)
        if read.criterion.pk not in criteria:
            criteria[read.criterion.pk] = read.criterion.to_engine()
        criterion = criteria[read.criterion.pk]
        yield VerdictRow(
            item_id=keys.get(row.item_id, row.item.key),
            criterion=read.name,
            rater=row.review.rater.name if row.review else row.judge,
            verdict=read.verdict,
            kind=read.criterion.kind,
            value=value_of(outcome_of(criterion, answer_of(criterion, read.verdict, row.value))),
            reason=row.reason,
            **who_said(row),
            error=f"{row.error_kind}: {row.error_message}" if row.error_kind else None,
            group=read.criterion.group or None,
            weight=read.criterion.weight,
            run=str(row.run) if row.run else None,
            recorded_at=row.created_at.isoformat(),
            evidence=tuple(row.evidence or ()),
            rubric_version=row.criterion.version.number,
            counts_by=counted.counts_by(row),
            **({} if row.item_id in unnamed else case_columns(row.item)),
            split=row.item.case.half or None,
            **{**final_said(row), "final_verdict": read.final},
            criterion_id=read.id,
            rubric=read.rubric,
            judge_version=version_of(row, judge_version),
        )


def case_columns(item: Item) -> dict[str, Any]:
    """Which case an item answers for which system; nothing where its file named neither."""
    system, case_id = str(item.system_version), case_of_item(item)
    return {"case_id": case_id, "system": system or None, "attempt": item.attempt} if case_id else {}


def who_said(row: Judgement) -> dict[str, Any]:
    """What the rater of a judgement is, and whether the label came in a file; None for a run graded here."""
    if row.review is not None:
        return {"rater_kind": row.review.rater.kind, "imported": row.review.imported}
    imported = row.run is not None and row.run.imported
    return {"rater_kind": RaterKind.MACHINE if imported else "judge", "imported": imported or None}


def version_of(row: Judgement, judge_version: str | None) -> str | None:
    """The version of the judge that gave the answer, in a run that `judge_version` graded; None where people
    or a check did. Reads criterion.
    """
    return None if row.review_id is not None or row.criterion.kind == "check" else judge_version


def final_said(row: Judgement) -> dict[str, Any]:
    """What a person said after the reveal: ground truth counts it. Nothing where they said nothing, or of a
    judge. Reads review and revision.
    """
    said: Revision | None = getattr(row, "revision", None) if row.review is not None else None
    return {} if said is None else {"final_verdict": said.verdict, "final_reason": said.reason}


def changed_criteria(
    dataset: Dataset, queues: Sequence[ReviewQueue], counted: CountedLabels, *, withheld: Collection[int] = ()
) -> tuple[str, ...]:
    """The names of criteria on which somebody changed their verdict after the reveal, as `verdict_rows` has
    them; of items `withheld` nothing is told.
    """
    changed = Judgement.objects.in_reviews(queue__in=queues, queue__dataset=dataset).filter(
        revision__choice=RevisionChoice.CHANGE
    )
    rows = _in_order(changed.select_related("revision"))
    read = (counted.criteria.read(row) for row in rows if row.item_id not in withheld)
    return tuple(dict.fromkeys(one.name for one in sorted(read, key=lambda one: one.criterion.position)))


def criterion_names(dataset: Dataset, versions: Sequence[int | None]) -> tuple[str, ...]:
    """The names of every criterion an export may speak of: of these versions, and the items' own rubrics."""
    shared = list(dict.fromkeys(version_id for version_id in versions if version_id))
    own = Item.objects.filter(dataset=dataset, rubric_version__isnull=False).values("rubric_version")
    rows = Criterion.objects.filter(Q(version__in=shared) | Q(version__in=own)).order_by(
        "version_id", "position"
    )
    names = sorted(
        rows.values_list("version_id", "name"),
        key=lambda row: shared.index(row[0]) if row[0] in shared else len(shared),
    )
    return tuple(dict.fromkeys(name for _, name in names))


def judgements(
    dataset: Dataset, queues: Sequence[ReviewQueue], run: Run | None, *, withheld: Collection[int] = ()
) -> Iterator[Judgement]:
    """Submitted judgements in `queues` and the run's, by item and criterion, without bodies; none on
    items `withheld`, by id.

    Two queries: "of these reviews or of this run" in one would read the judgements of all runs.
    """
    people = Judgement.objects.in_reviews(queue__in=queues, queue__dataset=dataset)
    parts = [_in_order(people.select_related("revision"))]
    if run is not None and run.dataset_id == dataset.pk:
        parts.append(_in_order(Judgement.objects.filter(run=run)))
    rows = merge(*parts, key=lambda row: (row.item.position, row.item_id, row.criterion.position))
    yield from (row for row in rows if row.item_id not in withheld)


def _in_order(rows: QuerySet[Judgement]) -> Iterator[Judgement]:
    return (
        rows.select_related(
            "item__case", "item__system_version__system", "criterion__version", "review__rater", "run"
        )
        .defer(*BODIES)
        # A corrected item has the position of the one before.
        .order_by("item__position", "item_id", "criterion__position", "review__rater__name", "repeat", "pk")
        .iterator(chunk_size=CHUNK)
    )


def shared_version(queues: Sequence[ReviewQueue], run: Run | None) -> RubricVersion | None:
    """The rubric version an export's items share unless they bring their own: the run's, as people's labels
    are read by it, where the queues have another rubric or there is no run the newest of the queues.
    """
    versions = RubricVersion.objects.prefetch_related("criteria")
    newest = newest_version(queues)
    of_run = None if run is None else run.rubric_version
    of_queues = None if newest is None else versions.get(pk=newest)
    if of_run is None or (of_queues is not None and of_queues.rubric_id != of_run.rubric_id):
        return of_queues
    return of_queues if of_queues == of_run else versions.get(pk=of_run.pk)


def newest_version(queues: Sequence[ReviewQueue]) -> int | None:
    """The id of the newest rubric version of these queues; None where every item brings its own."""
    return max((queue.rubric_version_id for queue in queues if queue.rubric_version_id), default=None)


def other_versions(
    queues: Sequence[ReviewQueue], run: Run | None, shared: RubricVersion | None
) -> list[RubricVersion]:
    """The versions of queues and run that are not the one the items share, newest first."""
    sources: list[ReviewQueue | Run] = [*queues, *([run] if run else [])]
    ids = {one.rubric_version_id for one in sources if one.rubric_version_id is not None}
    versions = RubricVersion.objects.filter(pk__in=ids).prefetch_related("criteria").order_by("-pk")
    return [version for version in versions if version != shared]


def require_one_rubric(queues: Sequence[ReviewQueue]) -> None:
    """Labels of all versions of a rubric are read by the newest of them; those of several rubrics by none."""
    versions = RubricVersion.objects.filter(queues__in=queues)
    rubrics = set(versions.values_list("rubric_id", flat=True))
    if len(rubrics) + any(queue.rubric_version_id is None for queue in queues) > 1:
        raise Invalid("The queues label against different rubrics: take those of one rubric.")


def datasets(team: Team) -> QuerySet[Dataset]:
    """What can be exported from, newest first."""
    return Dataset.objects.filter(unarchived(), team=team).order_by("-created_at", "-pk")


def preselected(team: Team) -> Dataset | None:
    """The newest dataset that people labelled, else the newest a run has graded, else the newest."""
    found = datasets(team)
    queue = Review.objects.filter(state=ReviewState.SUBMITTED, queue__dataset=OuterRef("pk"))
    ended = Run.objects.filter(dataset=OuterRef("pk")).exclude(state=RunState.RUNNING)
    return found.filter(Exists(queue)).first() or found.filter(Exists(ended)).first() or found.first()


def only_decided(dataset: Dataset) -> bool:
    """Whether something is decided on the dataset while nobody's labels of it are left."""
    decided = Adjudication.objects.undeleted().filter(item__dataset=dataset)
    return decided.exists() and not labelled_queues(dataset.pk, team=dataset.team).exists()


def decided_version(dataset: Dataset) -> RubricVersion | None:
    """The newest version something is decided by; None where only by rubrics that items brought."""
    decided = Adjudication.objects.undeleted().filter(item__dataset=dataset).values("criterion__version")
    versions = RubricVersion.objects.filter(rubric__isnull=False, pk__in=decided).order_by("-pk")
    return versions.prefetch_related("criteria").first()


def runs(dataset: Dataset | None) -> QuerySet[Run]:
    """Runs over the dataset that are no longer under way, newest first."""
    ended = Run.objects.filter(dataset=dataset).exclude(state=RunState.RUNNING)
    return with_judge(ended).order_by("-created_at", "-pk")


def unavailable(dataset: Dataset | None, *, what: str) -> Unavailable | None:
    """Why there is nothing of the dataset to hand out, None when there is something to choose."""
    if dataset is None:
        step = "Import a dataset, grade it or have people review it; the results leave from here."
        return Unavailable("no_dataset", "There is no dataset to export from.", step, page="datasets")
    labelled = labelled_queues(dataset.pk, team=dataset.team).exists()
    if labelled or (what == "ground_truth" and only_decided(dataset)):
        return None
    if what == "ground_truth":
        why = f"Nobody has submitted labels of {dataset} yet, so there is no ground truth to export."
        return Unavailable("no_labels", why, "Have people review it, or import labels.", page="queues")
    if runs(dataset).exists():
        return None
    why = f"Neither people nor a run that has ended have said anything of {dataset} yet."
    return Unavailable("nothing_said", why, "Grade it, or have people review it.", page="runs")


def withheld_from(viewer: User, dataset: Dataset) -> str:
    """Why this person is told no figure over the whole dataset; "" when nothing stands against it."""
    try:
        require_nothing_hidden(viewer, dataset.team, dataset.pk)
    except Withheld as error:
        return str(error)
    return ""
