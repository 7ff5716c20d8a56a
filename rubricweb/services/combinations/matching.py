"""Which items of several datasets answer the same case. Only ids and numbers of items are kept in memory."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from rubricweb.engine.errors import Fault
from rubricweb.engine.formats.content_ids import given_key, name_of
from rubricweb.engine.formats.dataset_values import MAX_ID
from rubricweb.engine.formats.datasets.case_tags import MAX_TAGS
from rubricweb.engine.formats.datasets.cases import AnsweredCase, asked_words
from rubricweb.engine.parsers.plain_text import first_words
from rubricweb.engine.rubric import Rubric
from rubricweb.models import Dataset, Item, RubricVersion
from rubricweb.selectors.datasets.systems import items_name_systems
from rubricweb.selectors.datasets.tags import dataset_tags

MATCHES = ("cases", "ids")
SHOWN_CONFLICTS = 200
SHOWN_IDS = 50


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One dataset and the version its items become answers of; "" keeps the versions they name."""

    dataset: Dataset
    system: str = ""


@dataclass(frozen=True, slots=True)
class Placed:
    """An item's place in the combined dataset: which case it answers, by its number, and under which id."""

    item_id: int
    case: int
    system: str
    attempt: int
    key: str


@dataclass(slots=True)
class _MatchedCase:
    words: str
    key: str
    # Whether the key is a case id of a file; else it is the id of the first item.
    named: bool
    # The places of the datasets that have it.
    parts: set[int]


@dataclass
class Matching:
    """The cases of the combined dataset and the item for every place in it, in the order of the datasets.

    By case id where items have one, else by equal prompt, reference and own rubric, white space aside; with
    `match` "ids" by the ids of items. `conflicts` are the first of what keeps them from being combined.
    """

    parts: Sequence[AskedPart]
    as_attempts: bool = False
    match: str = "cases"
    cases: list[_MatchedCase] = field(default_factory=list)
    placed: list[Placed] = field(default_factory=list)
    conflicts: list[Fault] = field(default_factory=list)
    conflict_count: int = 0
    by_id: int = 0
    # Ids that items of several datasets have whose words differ: each is a case of its own.
    other_words: list[str] = field(default_factory=list)
    _by_key: dict[str, int] = field(default_factory=dict)
    _by_words: dict[str, int] = field(default_factory=dict)
    _attempts: dict[tuple[int, str], set[int]] = field(default_factory=dict)
    _rubrics: dict[int, Rubric] = field(default_factory=dict)
    _tags: dict[int, set[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found: list[tuple[int, int, str, int]] = []
        for place, part in enumerate(self.parts):
            found += self._of_part(place, part)
        self._name_cases()
        seen: set[str] = set()
        for item_id, case, system, attempt in found:
            key = _free(AnsweredCase(self.cases[case].key, system, attempt).item_id, seen)
            self.placed.append(Placed(item_id, case, system, attempt, key))

    @property
    def shared(self) -> list[tuple[int, int]]:
        """How many cases are in how many of the datasets: (datasets, cases), the most datasets first."""
        return sorted(Counter(len(case.parts) for case in self.cases).items(), reverse=True)

    def alone(self, place: int) -> int:
        """How many cases are in this dataset only."""
        return sum(case.parts == {place} for case in self.cases)

    def _of_part(self, place: int, part: AskedPart) -> Iterator[tuple[int, int, str, int]]:
        items = Item.objects.current().filter(dataset=part.dataset).order_by("position")
        rows = items.select_related("case", "system_version__system").defer(
            "submission", "thinking", "metadata"
        )
        tags = dataset_tags(part.dataset)
        for item in rows.iterator(chunk_size=500):
            system = part.system or str(item.system_version)
            if not system:
                self._refuse(part, item, "no system version", "a name of one for the items of this dataset")
                continue
            case = self._case(part, item, place)
            if case is None:
                continue
            taken = self._attempts.setdefault((case, system), set())
            attempt = item.attempt
            if attempt in taken:
                if not self.as_attempts:
                    found = f"a second answer of {system} to {_case_words(self.cases[case].key)}"
                    allowed = "one, or further ones as attempts; or match by the ids of items"
                    self._refuse(part, item, found, allowed)
                    continue
                attempt = max(taken) + 1
            taken.add(attempt)
            self._tag(part, item, case, tags.get(item.case_id, ()))
            yield item.pk, case, system, attempt

    def _case(self, part: AskedPart, item: Item, place: int) -> int | None:
        """The number of the item's case, made where nobody asked the same yet."""
        prompt = item.prompt if item.prompt is not None else part.dataset.prompt
        reference = item.reference if item.reference is not None else part.dataset.reference
        rubric = self._rubric(item.rubric_version_id)
        words = asked_words(prompt, reference, rubric)
        of_now = item.wording == item.case.wording
        asks_nothing = not prompt and not reference and rubric is None
        named = of_now and (item.case.key != item.key or self.match == "ids" or asks_nothing)
        key = item.case.key if of_now else f"{item.case.key} (wording {item.wording})"
        case = self._by_key.get(key) if named else self._by_words.get(words)
        if case is not None and self.cases[case].words != words:
            found = f"{_case_words(key)} with another prompt, reference or rubric"
            self._refuse(part, item, found, "one of each for a case: correct the case in one of them first")
            return None
        if case is None and named and not asks_nothing and self.match == "cases":
            same = self._by_words.get(words)
            if same is not None and not self.cases[same].named:
                case = same  # it had the id of an item; from now on the case's own
                self.cases[case].key, self.cases[case].named = key, True
                self._by_key[key] = case
        if case is None:
            case = len(self.cases)
            self.cases.append(_MatchedCase(words, key, named, set()))
            self._by_words.setdefault(words, case)
            if named:
                self._by_key[key] = case
        self.by_id += named
        self.cases[case].parts.add(place)
        return case

    def _tag(self, part: AskedPart, item: Item, case: int, tags: Sequence[str]) -> None:
        """A case has the tags of all cases it is made of, as long as they are not too many."""
        together = self._tags.setdefault(case, set())
        before = len(together)
        together.update(tags)
        if before <= MAX_TAGS < len(together):
            self._refuse(part, item, f"{len(together)} tags of one case", f"at most {MAX_TAGS}")

    def _rubric(self, version_id: int | None) -> Rubric | None:
        if version_id is None:
            return None
        if version_id not in self._rubrics:
            version = RubricVersion.objects.prefetch_related("criteria").get(pk=version_id)
            self._rubrics[version_id] = version.to_engine()
        return self._rubrics[version_id]

    def _refuse(self, part: AskedPart, item: Item, found: str, allowed: str) -> None:
        self.conflict_count += 1
        if len(self.conflicts) < SHOWN_CONFLICTS:
            # The words of an item are read for those alone that nobody gave a key.
            given = given_key(item.key)
            name = repr(given) if given else name_of("", first_words(item.submission), id=item.pk)
            self.conflicts.append(Fault(f"{part.dataset.name}: item {name}"[:300], found, allowed))

    def _name_cases(self) -> None:
        """Cases without an id of their own go by the id of their first item, where no other case does."""
        taken = {case.key for case in self.cases if case.named}
        for case in self.cases:
            if not case.named:
                wanted = case.key
                case.key = _free(wanted, taken)
                if case.key != wanted and given_key(wanted) and len(self.other_words) < SHOWN_IDS:
                    self.other_words.append(wanted)
            taken.add(case.key)


def _case_words(key: str) -> str:
    return f"case {key!r}" if given_key(key) else "its case"


def suggested(datasets: Sequence[Dataset], system: str = "") -> list[str]:
    """What the datasets' items are probably answers of: "Support replies v3" → support-replies@v3.

    "" for a dataset whose items name their systems already.
    """
    read = [_read_name(dataset.name) for dataset in datasets]
    names = {name for name, _ in read}
    system = system.strip() or (names.pop() if len(names) == 1 else "") or "assistant"
    return [
        "" if items_name_systems(dataset) else f"{system}@{label}"
        for dataset, (_, label) in zip(datasets, read, strict=True)
    ]


def _read_name(name: str) -> tuple[str, str]:
    """The name of a dataset as a system and the label of its version."""
    found = list(re.finditer(r"(?<![A-Za-z0-9])[vV]?[0-9][A-Za-z0-9._-]*", name))
    label = found[-1].group().rstrip("._-") if found else name
    rest = name[: found[-1].start()] if found else ""
    system = re.sub(r"[^\w]+", "-", rest).strip("-_").lower()
    return system[:100], re.sub(r"[@/\s]+", "-", label.strip())[:100] or "v1"


def _free(wanted: str, taken: set[Any]) -> str:
    """The id, or one like it that is none of those taken no longer than an id may be; it is taken then."""
    id, n = wanted, 1
    if len(id) > MAX_ID:
        id = f"{wanted[: MAX_ID - 20]}~{hashlib.sha256(wanted.encode()).hexdigest()[:16]}"
    base = id
    while id in taken:
        n += 1
        id = f"{base[: MAX_ID - 12]} ({n})"
    taken.add(id)
    return id
