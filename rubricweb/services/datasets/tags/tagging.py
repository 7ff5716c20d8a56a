"""Giving cases tags and taking them away: in place, so no version of the dataset is made (decision 0033)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from rubricweb.engine.errors import Fault, FaultList
from rubricweb.engine.formats.datasets.case_tags import MAX_TAGS, read_tags
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.models import Case, CaseTag, Dataset, User
from rubricweb.selectors.datasets.tags import AT_ONCE, cases_of, require_shown, tags_of
from rubricweb.services import dataset_versions
from rubricweb.services.shared import bulk_rows
from rubricweb.services.shared.journal import record

SHOWN_FAULTS = 20


@dataclass(frozen=True)
class TagChange:
    """Which tags so many cases were given, and which were taken away from them.

    It counts the cases that were named, not those that were changed: that would tell which tags they had.
    """

    cases: int
    added: tuple[str, ...]
    removed: tuple[str, ...]

    def __str__(self) -> str:
        parts = [f"added {', '.join(self.added)}"] * bool(self.added)
        parts += [f"removed {', '.join(self.removed)}"] * bool(self.removed)
        return f"{counted(self.cases, 'case')}: {'; '.join(parts)}"


@transaction.atomic
def change_tags(
    dataset: Dataset,
    *,
    by: User | None,
    add: Sequence[str] = (),
    remove: Sequence[str] = (),
    item_ids: Collection[int] = (),
    case_ids: Collection[int] = (),
) -> TagChange:
    """Gives tags to cases, and takes others away, whether or not they have them. Safe to repeat.

    The cases are those named and those that the items answer. All of them or none: raises Invalid for what is
    no tag, for one in both lists, for none at all, and where a case would have more than twenty; NotFound for
    items and cases of another dataset.
    """
    change = _read(add, remove)
    dataset_versions.hold(dataset)
    cases = cases_of(dataset, item_ids=item_ids, case_ids=case_ids)
    before = _before(cases)
    wanted = {case_id: set(had).difference(change[1]).union(change[0]) for case_id, had in before.items()}
    _require_few(wanted)
    _store(before, wanted)
    record(dataset.team, by, "tagged cases of", dataset, cases=len(cases), added=change[0], removed=change[1])
    return TagChange(len(cases), *change)


@transaction.atomic
def set_tags(case: Case, tags: Sequence[str], *, by: User) -> tuple[str, ...]:
    """The case has these tags from now on, in place of those it had; they are given back in order.

    Raises Invalid for what is no tag and for more than twenty; Withheld where its tags are, since nobody is
    to overwrite what they may not see.
    """
    require_shown(case, by)
    faults = FaultList()
    wanted = read_tags(list(tags), "tags", faults)
    _refuse(faults)
    dataset_versions.hold(case.dataset)
    before = tags_of([case.pk]).get(case.pk, ())
    if wanted != before:
        _store({case.pk: before}, {case.pk: wanted})
        added = [tag for tag in wanted if tag not in before]
        removed = [tag for tag in before if tag not in wanted]
        record(case.dataset.team, by, "tagged cases of", case.dataset, cases=1, added=added, removed=removed)
    return wanted


def give(tags: Mapping[int, Iterable[str]]) -> None:
    """Gives cases (by id) tags they may have already, in the caller's transaction; the dataset is on `hold`,
    or new.
    """
    before = _before(list(tags))
    _store(before, {case_id: set(before[case_id]).union(more) for case_id, more in tags.items()})


def _read(add: Sequence[str], remove: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    faults = FaultList()
    added, removed = read_tags(list(add), "add", faults), read_tags(list(remove), "remove", faults)
    if both := sorted(set(added) & set(removed)):
        faults.add("remove", f"{', '.join(both)}, which is added as well", "each tag in one of the two")
    if not (added or removed or faults):
        faults.add("add", "no tag", "at least one to add or to remove")
    _refuse(faults)
    return added, removed


def _refuse(faults: FaultList) -> None:
    if faults:
        raise Invalid("; ".join(map(str, faults)), faults)


def _require_few(wanted: Mapping[int, Collection[str]]) -> None:
    many = [(case_id, len(tags)) for case_id, tags in wanted.items() if len(tags) > MAX_TAGS]
    if many:
        # By number: its key may be withheld.
        faults = [
            Fault(f"case id:{case_id}", f"{n} tags", f"at most {MAX_TAGS}")
            for case_id, n in many[:SHOWN_FAULTS]
        ]
        raise Invalid(
            f"{counted(len(many), 'case')} would have more than {MAX_TAGS} tags; no tag was changed.", faults
        )


def _before(cases: Collection[int]) -> dict[int, tuple[str, ...]]:
    """The tags of these cases, of those without any too."""
    return dict.fromkeys(cases, ()) | tags_of(cases)


def _store(before: Mapping[int, Collection[str]], wanted: Mapping[int, Collection[str]]) -> None:
    """These cases have the tags wanted, and no others."""
    gone: dict[str, list[int]] = {}
    for case_id, had in before.items():
        for tag in had:
            if tag not in wanted[case_id]:
                gone.setdefault(tag, []).append(case_id)
    for tag, cases in gone.items():
        for begin in range(0, len(cases), AT_ONCE):
            CaseTag.objects.filter(tag=tag, case__in=cases[begin : begin + AT_ONCE]).delete()
    rows = [
        (case_id, tag)
        for case_id, tags in wanted.items()
        for tag in sorted(tags)
        if tag not in before[case_id]
    ]
    bulk_rows.insert(CaseTag, ("case_id", "tag"), rows)
