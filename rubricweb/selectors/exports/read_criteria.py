"""As which criterion each verdict of an export is read, and what the file calls that criterion."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rubricweb.models import Criterion, Judgement, ReviewQueue, RubricVersion, Run
from rubricweb.selectors.labels.people import LabelMapping, readings


class ReadVerdict(NamedTuple):
    """A verdict as it is read: the criterion with the name, id and rubric the file gives it, and what was
    said, before and after the reveal, in that criterion's options.
    """

    criterion: Criterion
    name: str
    id: str | None
    rubric: str | None
    verdict: str | None
    final: str | None


@dataclass(frozen=True)
class ReadCriteria:
    """The criteria of the rubric versions of queues and run by id, those first that labels are read by.

    A file calls those by their own names and ids. The others, asked in other words, have their version
    behind it: `C1 (v1)`. So have names and ids that several rubrics use: `C1 (Manners v2)`. Rubrics that
    items brought are not here: theirs keep their names. `rubrics` are by version; `columns` are the names a
    table has columns for, `mappings` say by dataset how labels are read.
    """

    criteria: Mapping[int, Criterion]
    names: Mapping[int, str]
    ids: Mapping[int, str]
    rubrics: Mapping[int, str]
    columns: tuple[str, ...]
    mappings: Mapping[int, LabelMapping]

    def read(self, row: Judgement) -> ReadVerdict:
        """As which criterion a verdict is read; a judge's as its own."""
        read, verdict, final = row.criterion_id, row.verdict, None
        if row.review is not None and verdict is not None:
            revised: str | None = row.revision.verdict if hasattr(row, "revision") else None
            mapping = self.mappings[row.item.dataset_id]
            read, verdict, last = mapping.labels(read, verdict, revised or verdict)
            final = None if revised is None else last
        if read not in self.criteria:
            own = row.criterion
            return ReadVerdict(own, own.name, own.uid or None, None, verdict, final)
        criterion = self.criteria[read]
        rubric = self.rubrics[criterion.version_id]
        return ReadVerdict(criterion, self.names[read], self.ids[read] or None, rubric, verdict, final)


def versions_read_by(queues: Sequence[ReviewQueue], run: Run | None) -> set[int]:
    """The version labels are read by, of each rubric its own: the run's, else the newest of the queues."""
    newest: dict[int, int] = {}
    rows = RubricVersion.objects.filter(pk__in=_asked(queues, run), rubric__isnull=False).order_by("number")
    for pk, rubric_id in rows.values_list("pk", "rubric_id"):
        if run is None or newest.get(rubric_id) != run.rubric_version_id:
            newest[rubric_id] = pk
    return set(newest.values())


def read_criteria(
    queues: Sequence[ReviewQueue], run: Run | None, *, labelled: Collection[int]
) -> ReadCriteria:
    """`labelled` are the criteria people's labels are read as, by id: of other words only these have a
    column.
    """
    read_by = versions_read_by(queues, run)
    order = _asked(queues, run)
    rows = sorted(
        Criterion.objects.filter(version__in=order, version__rubric__isnull=False).select_related("version"),
        key=lambda one: (one.version_id not in read_by, order.index(one.version_id), one.position),
    )
    criteria = {one.pk: one for one in rows}
    versions = {one.version_id: one.version for one in criteria.values()}
    rubrics = _labels_of(versions)
    several = len({version.rubric_id for version in versions.values()}) > 1
    behind = {pk: rubrics[pk] if several else f"v{version.number}" for pk, version in versions.items()}
    names = _unique({pk: one.name for pk, one in criteria.items()}, criteria, read_by, behind)
    return ReadCriteria(
        criteria=criteria,
        names=names,
        ids=_unique({pk: one.uid for pk, one in criteria.items()}, criteria, read_by, behind),
        rubrics=rubrics,
        columns=tuple(
            names[pk] for pk, one in criteria.items() if one.version_id in read_by or pk in labelled
        ),
        mappings=readings(queues, runs=[run] if run is not None else []),
    )


def _asked(queues: Sequence[ReviewQueue], run: Run | None) -> list[int]:
    """The ids of the versions of queues and run, in this order."""
    sources: list[ReviewQueue | Run] = [*queues, *([run] if run else [])]
    return [one.rubric_version_id for one in sources if one.rubric_version_id is not None]


def _labels_of(versions: Mapping[int, RubricVersion]) -> dict[int, str]:
    """Version id → `Manners v2`; where two rubrics have one title, with the id of the rubric."""
    titles = Counter(title for title, _ in {(one.title, one.rubric_id) for one in versions.values()})
    return {
        pk: f"{one} (id:{one.rubric_id})" if titles[one.title] > 1 else str(one)
        for pk, one in versions.items()
    }


def _unique(
    texts: Mapping[int, str],
    criteria: Mapping[int, Criterion],
    read_by: Collection[int],
    behind: Mapping[int, str],
) -> dict[int, str]:
    """Criterion id → a text that no other criterion has, by what stands behind those of each version."""
    shared = Counter(text for pk, text in texts.items() if criteria[pk].version_id in read_by)
    taken = {text for text, times in shared.items() if times == 1}
    found: dict[int, str] = {}
    for pk, text in texts.items():
        version = criteria[pk].version_id
        alone = version in read_by and shared[text] == 1
        found[pk] = text if alone else f"{text} ({behind[version]})"
        while not alone and found[pk] in taken:
            found[pk] += f" ({behind[version]})"
        taken.add(found[pk])
    return found
