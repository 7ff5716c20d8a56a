"""What of the labels of a file was not imported before."""

import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from django.db.models import Count

from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.formats.labels.left_out import NAMES_SHOWN, LeftOut
from rubricweb.errors import Conflict
from rubricweb.models import Criterion, Dataset, Item, Judgement, Rater, ReviewQueue, Run
from rubricweb.services import imported_runs
from rubricweb.services.read_labels.named_raters import Named

Unit = tuple[int, int, int]
"""What a rater gives one label on, by ids: item, rater, criterion."""


@dataclass(frozen=True)
class ResolvedLabels:
    """Labels with the rows they are about, and the raters of the team behind the names of a file."""

    labels: list[tuple[LabelRecord, Item, Criterion]]
    raters: Mapping[Named, Rater]

    def by_people(self) -> list[tuple[tuple[int, int], LabelRecord, Criterion]]:
        """What people said and what the file settled, each under its item and rater."""
        return [
            ((item.pk, self.raters[label.rater, label.rater_kind].pk), label, criterion)
            for label, item, criterion in self.labels
            if label.rater_kind != "machine"
        ]

    def by_machines(self) -> dict[Rater, list[imported_runs.Grade]]:
        """What each machine said."""
        found: dict[Rater, list[imported_runs.Grade]] = defaultdict(list)
        for label, item, criterion in self.labels:
            if label.rater_kind == "machine":
                rater = self.raters[label.rater, label.rater_kind]
                found[rater].append((item, criterion, *_last(label)))
        return found


def _last(label: LabelRecord) -> tuple[str, str]:
    """Label and reason in the end: of a machine only those are kept."""
    if label.final_verdict is None:
        return str(label.verdict), label.reason
    return str(label.final_verdict), label.final_reason


@dataclass(frozen=True)
class NewLabels:
    """Labels of a file that were not imported before, in its order, and parted into those of people and of
    each machine; digests by which they are stored once.
    """

    labels: tuple[LabelRecord, ...]
    people: list[tuple[tuple[int, int], LabelRecord, Criterion]]
    people_digest: str
    machines: list[tuple[Rater, list[imported_runs.Grade], str]]
    known: tuple[LeftOut, ...]

    def require_some(self, left_out: str = "") -> None:
        """Raises Conflict where all was imported before; `left_out` is what the file has beside it."""
        if not self.known or self.people or self.machines:
            return
        places = " and ".join(place for one in self.known for place in one.names)
        more = sum(one.distinct - len(one.names) for one in self.known)
        where = f"{places} and {more} more" if more else places
        which, beside = ("All other labels", f" Left out: {left_out}.") if left_out else ("All labels", "")
        raise Conflict(
            f"{which} in this file were imported before, as {where}. Nothing was imported.{beside}"
        )


def new_labels(dataset: Dataset, resolved: ResolvedLabels, queue_name: str) -> NewLabels:
    """What of a file was not imported before into this dataset. People's labels are looked at one by one: one
    that the newest import has as well is left out. A machine's are where a run has just the same.

    Raises Conflict for a queue name that is taken.
    """
    everybody, people, said = resolved.by_people(), [], []
    imported = _imported(dataset, {(*pair, criterion.pk) for pair, _, criterion in everybody})
    queues: Counter[str] = Counter()
    for pair, label, criterion in everybody:
        unit, answer = (*pair, criterion.pk), _answer(label)
        before = imported.get(unit)
        if before is not None and before.answer == answer:
            queues[f"the queue {before.queue}"] += 1
            continue
        people.append((pair, label, criterion))
        # With what it is said after: who goes back to an earlier label says something new.
        said.append((*unit, *answer, before.judgement_id if before else 0))
    known = [_known(queues.total(), tuple(queues))] if queues else []
    machines = []
    by_machines = resolved.by_machines()
    runs = _runs(dataset, by_machines)
    for rater, grades in by_machines.items():
        run = _same_run(runs.get(rater.pk, ()), grades)
        if run is not None:
            known.append(_known(len(grades), (f"the run {run}",)))
            continue
        texts = [(rater.pk, item.pk, criterion.pk, *text) for item, criterion, *text in grades]
        machines.append((rater, grades, digest(texts)))
    if people and ReviewQueue.objects.filter(team=dataset.team, name=queue_name).exists():
        raise Conflict(taken(queue_name))
    of_people, of_machines = {label for _, label, _ in people}, {rater for rater, *_ in machines}
    labels = tuple(
        label
        for label, *_ in resolved.labels
        if label in of_people or resolved.raters[label.rater, label.rater_kind] in of_machines
    )
    return NewLabels(labels, people, digest(said), machines, tuple(known))


def digest(said: Iterable[Sequence[Any]]) -> str:
    """The same for the same labels in whatever order: no dataset has two queues, or two runs, of one."""
    return hashlib.sha256(json.dumps(sorted(said), ensure_ascii=True).encode()).hexdigest()


def taken(queue_name: str) -> str:
    return f"The team already has a queue called {queue_name!r}; give these labels another name."


def _answer(label: LabelRecord) -> tuple[str, ...]:
    """Label and reason at first, and in the end: empty where nothing was said then."""
    final = "" if label.final_verdict is None else str(label.final_verdict)
    return str(label.verdict), label.reason, final, label.final_reason


class _ImportedLabel(NamedTuple):
    judgement_id: int
    queue: str
    answer: tuple[str, ...]


def _imported(dataset: Dataset, units: Collection[Unit]) -> dict[Unit, _ImportedLabel]:
    """The label of the newest import on each of these units: the one that counts. Others have none."""
    raters = {rater_id for _, rater_id, _ in units}
    rows = Judgement.objects.in_reviews(queue__dataset=dataset, imported=True, rater__in=raters)
    columns = ["item", "review__rater", "criterion", "pk", "review__queue__name"]
    columns += ["verdict", "reason", "revision__verdict", "revision__reason"]
    found: dict[Unit, _ImportedLabel] = {}
    for item_id, rater_id, criterion_id, pk, queue, *said in (
        rows.order_by("pk").values_list(*columns).iterator()
    ):
        if (item_id, rater_id, criterion_id) in units:
            answer = tuple(text or "" for text in said)
            found[item_id, rater_id, criterion_id] = _ImportedLabel(pk, queue, answer)
    return found


def _runs(dataset: Dataset, raters: Collection[Rater]) -> dict[int | None, list[tuple[Run, int]]]:
    """Rater id → their imported runs, each with the number of its judgements."""
    found: dict[int | None, list[tuple[Run, int]]] = defaultdict(list)
    if raters:
        runs = Run.objects.filter(dataset=dataset, rater__in={rater.pk for rater in raters})
        for run in runs.annotate(n=Count("judgements")).order_by("pk"):
            found[run.rater_id].append((run, run.n))
    return found


def _same_run(runs: Iterable[tuple[Run, int]], grades: Sequence[imported_runs.Grade]) -> Run | None:
    """The imported run of just these grades.

    More, fewer or others are another run, and whole: without what both have in common, it would be scored,
    and compared, over the rest.
    """
    wanted = {(item.pk, criterion.pk, label, reason) for item, criterion, label, reason in grades}
    for run, count in runs:
        if count != len(wanted):
            continue
        if set(run.judgements.values_list("item", "criterion", "verdict", "reason")) == wanted:
            return run
    return None


def _known(labels: int, places: tuple[str, ...]) -> LeftOut:
    return LeftOut("known", labels, places[:NAMES_SHOWN], len(places))
