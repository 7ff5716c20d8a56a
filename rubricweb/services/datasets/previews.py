"""What a file of items comes to before it is stored: duplicates, and what is new by name."""

import difflib
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rubricweb.engine.formats.content_ids import given_key, name_of
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Case, Dataset, Duplicates, SystemVersion, Team, User
from rubricweb.selectors.blinding import what_hides
from rubricweb.selectors.datasets.systems import blinded_answers
from rubricweb.services.datasets.intake import CheckedItems, Intake

NAME_KINDS = ("system", "version", "case")
CASES_NAMED = 20
"""So many new cases are named; the others are counted."""
COMPARED_CASES = 2_000
"""With more cases in the dataset, only those that differ in case, spaces and marks are near a new one."""
NEAR, LIKELY_MEANT = 0.6, 0.8
"""Shares of equal letters, by difflib: so alike is the nearest name, so alike is likely the one meant."""


@dataclass(frozen=True)
class NewName:
    """A name that a file brings: of a system, of a version of one there is, or of a case.

    `nearest` is the existing name it resembles, "" for none. `is_doubtful`: that one may be meant, so it is
    asked about.
    """

    what: str
    name: str
    nearest: str = ""
    is_doubtful: bool = False

    def __str__(self) -> str:
        there = f" (there is {self.nearest})" if self.nearest else ""
        return f"new {self.what} {self.name}{there}"


@dataclass(frozen=True)
class DuplicateItem:
    """An item of a file and the earlier one, of the file or the dataset, that says the same.

    `words` are the first of their submission.
    """

    key: str
    same_as: str
    words: str = ""

    @property
    def name(self) -> str:
        return name_of(self.key, self.words)

    @property
    def earlier(self) -> str:
        """The earlier one, which has the same words."""
        return given_key(self.same_as) or "an earlier item"


@dataclass(frozen=True)
class ItemsPreview:
    """What `items` of a file come to: `duplicates` of them say what an earlier one says, and with
    `new_cases` something is asked that the dataset does not ask yet. Of either the first are named.
    """

    items: int
    duplicates: int = 0
    first_duplicates: tuple[DuplicateItem, ...] = ()
    new_cases: int = 0
    new_names: tuple[NewName, ...] = ()

    @property
    def doubtful(self) -> list[NewName]:
        return [one for one in self.new_names if one.is_doubtful]

    @property
    def says(self) -> list[str]:
        """The same in short lines, for people."""
        lines = [str(one) for one in self.new_names]
        if more := self.new_cases - sum(one.what == "case" for one in self.new_names):
            lines.append(f"{counted(more, 'new case')}{' more' if self.new_names else ''}")
        lines += [f"{one.name} says the same as {one.earlier}" for one in self.first_duplicates]
        if more := self.duplicates - len(self.first_duplicates):
            lines.append(f"{counted(more, 'item')} more with the words of an earlier one")
        return lines


@dataclass(frozen=True)
class ImportChoices:
    """What a sender says beforehand: what becomes of `duplicates`, that doubtful `new_names` are meant, and
    whether what has no counterpart here in another program's file is a fault (`strict`), or left out.
    """

    duplicates: str = Duplicates.ASK
    new_names: bool = False
    strict: bool = True

    def __post_init__(self) -> None:
        if self.duplicates not in Duplicates.values:
            raise Invalid.at("duplicates", repr(self.duplicates[:40]), ", ".join(Duplicates.values))


AS_ASKED = ImportChoices()
"""Nothing is said beforehand: what has to be asked is asked."""
AS_IT_IS = ImportChoices(Duplicates.KEEP, new_names=True)
"""For a file that is named to be graded: all of it is."""


def preview_of(intake: Intake, team: Team) -> ItemsPreview:
    """What all that the intake has taken comes to. Three queries, two more for a dataset there is."""
    names = _new_versions(team, intake.systems)
    if intake.dataset is not None:
        given = [key for key in intake.new_cases if given_key(key)]  # the others are counted
        names += _new_cases(intake.dataset, given[:CASES_NAMED], nearest=intake.compares)
    return ItemsPreview(
        intake.taken,
        intake.duplicate_count,
        tuple(DuplicateItem(*pair) for pair in intake.duplicates),
        len(intake.new_cases),
        tuple(names),
    )


def preview_from(stored: Mapping[str, Any] | None) -> ItemsPreview:
    """What was stored of a preview as plain data; None, by an earlier release, is of nothing."""
    if stored is None:
        return ItemsPreview(0)
    fields = dict(stored)
    fields["first_duplicates"] = tuple(DuplicateItem(**one) for one in fields["first_duplicates"])
    fields["new_names"] = tuple(NewName(**one) for one in fields["new_names"])
    return ItemsPreview(**fields)


def require_confirmed(preview: ItemsPreview, choices: ImportChoices) -> None:
    """Raises Conflict where something has to be asked that the sender did not say: one rule at every door."""
    asks = []
    if preview.duplicates and choices.duplicates == Duplicates.ASK:
        first = preview.first_duplicates[0]
        asks.append(
            f"{preview.duplicates:,} of {preview.items:,} items have the words of an earlier item, as "
            f"{first.name} says what {first.earlier} says: say duplicates skip or keep (--duplicates skip)."
        )
    if preview.doubtful and not choices.new_names:
        named = "; ".join(map(str, preview.doubtful[:5]))
        asks.append(f"Mend the name or say new_names (--new-names) if it is meant: {named}.")
    if asks:
        raise Conflict(f"{' '.join(asks)} Nothing was stored.")


def without_skipped(batches: Iterable[CheckedItems], choices: ImportChoices) -> Iterator[CheckedItems]:
    """The batches as they are to be stored."""
    for batch in batches:
        yield batch.without_duplicates() if choices.duplicates == Duplicates.SKIP else batch


# ── Who may be told ──────────────────────────────────────────────────────────────────────────────


def require_untold(dataset: Dataset | None, duplicates: str, viewer: User | None) -> None:
    """Refuses whatever depends on which items are duplicates to whom that would tell who answered."""
    if dataset is None or viewer is None or duplicates == Duplicates.KEEP:
        return
    if tells_who_answered(dataset, viewer):
        raise Withheld(
            "Which items say what an earlier one of the same system version says would tell who gave the "
            "answers you are still to review blind. Keep all items (duplicates: keep). "
            f"{what_hides(viewer, dataset.team, dataset.pk)} Or ask somebody who is not a rater."
        )


def tells_who_answered(dataset: Dataset | None, viewer: User | None) -> bool:
    """Whether duplicates of the dataset's items would: this person reads the words of some without a version,
    and could send them in again with one.
    """
    return dataset is not None and bool(blinded_answers(dataset, viewer))


# ── Names ────────────────────────────────────────────────────────────────────────────────────────


def _new_versions(team: Team, names: Collection[str]) -> list[NewName]:
    """Of these system versions those that the team does not have."""
    known: dict[str, list[str]] = defaultdict(list)
    rows = SystemVersion.objects.filter(system__team=team).exclude(system__name="").order_by("position")
    for system, label in rows.values_list("system__name", "label"):
        known[system].append(label)
    found = []
    for name in sorted(set(names) - {""}):
        system, _, label = name.partition("@")
        if system not in known:
            nearest, is_likely = nearest_name(system, list(known))
            found.append(NewName("system", name, nearest, is_likely))
        elif label not in known[system]:
            found.append(_new_version(system, label, known[system]))
    return found


def _new_version(system: str, label: str, known: Sequence[str]) -> NewName:
    """A version more is nothing to ask about, unless its label is one of the others written otherwise, or
    was forgotten.
    """
    if not label:
        return NewName("version", system, f"{system}@{known[-1]}", is_doubtful=True)
    nearest = next((one for one in known if _plain(one) == _plain(label)), "")
    name = f"{system}@{label}"
    if nearest:
        return NewName("version", name, f"{system}@{nearest}", is_doubtful=True)
    return NewName("version", name, f"{system}@{known[-1]}" if known[-1] else system)


def _new_cases(dataset: Dataset, keys: Sequence[str], *, nearest: bool) -> list[NewName]:
    """New cases by name; the `nearest` one is told to nobody from whom keys are withheld."""
    if not keys:
        return []
    cases = Case.objects.filter(dataset=dataset).order_by("position")
    known = list(cases.values_list("key", flat=True)) if nearest else []
    by_plain = {_plain(key): key for key in known}
    return [
        NewName(
            "case",
            key,
            by_plain.get(_plain(key)) or nearest_name(key, known if len(known) <= COMPARED_CASES else ())[0],
        )
        for key in keys
    ]


def nearest_name(name: str, known: Collection[str]) -> tuple[str, bool]:
    """The known name that this one resembles, "" for none, and whether it is likely the one meant.

    Names that differ in their numbers alone are different: model-2 is not model-1 misspelt.
    """
    plain = {_plain(one): one for one in known}
    if same := plain.get(_plain(name)):
        return same, True
    for cutoff in (LIKELY_MEANT, NEAR):
        close = difflib.get_close_matches(_plain(name), plain, n=1, cutoff=cutoff)
        if close:
            return plain[close[0]], cutoff == LIKELY_MEANT and _words(name) != _words(plain[close[0]])
    return "", False


def _plain(name: str) -> str:
    """The name without what is written one way or another: case, spaces and marks."""
    return "".join(mark for mark in name.casefold() if mark.isalnum()) or name


def _words(name: str) -> str:
    return "".join(mark for mark in _plain(name) if not mark.isdigit())
