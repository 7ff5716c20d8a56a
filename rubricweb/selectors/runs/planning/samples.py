"""A few items of a dataset, spread over it, and what a run would ask about them."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Max, Min, Q, QuerySet

from rubricweb import engine
from rubricweb.engine.autograders.base import Prompt
from rubricweb.engine.conversations.unseen_parts import unseen_parts, unseen_words
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.content import content_key, first_repeats
from rubricweb.models import Dataset, Item, RubricVersion, Run, SystemVersion, User, unarchived
from rubricweb.selectors.blinding import is_hidden
from rubricweb.selectors.datasets.halves import of_half
from rubricweb.selectors.datasets.systems import blinded_answers, require_unblinded
from rubricweb.selectors.runs.graders import PER_ITEM, Graders


def sampled(items: QuerySet[Item], count: int, size: int) -> list[Item]:
    """At most `size` of the `count` items, spread over the dataset, with their rubrics; three queries."""
    chosen = items if count <= size else items.filter(position__in=_evenly_spaced(items, size))
    return list(
        chosen.select_related("dataset", "rubric_version")
        .prefetch_related("rubric_version__criteria")
        .order_by("position")
    )


def sample_ids(
    dataset: Dataset,
    size: int,
    *,
    viewer: User | None,
    half: str = "",
    systems: Collection[SystemVersion] = (),
    among: Collection[int] | None = None,
) -> list[int]:
    """`spread_ids` of the items a run over the dataset would grade: of its half, of these system versions
    alone, of the ids `among`. Without `systems` none is of an archived system, unless all are.

    Of answers whose versions must not be told the viewer none is taken: which one it is would tell. Raises
    Withheld where no others are left.
    """
    items = of_half(Item.objects.current().filter(dataset=dataset), half)
    if among is not None:
        items = items.filter(pk__in=among)
    if systems:
        items = items.filter(system_version__in=systems)
    untold = blinded_answers(dataset, viewer)
    if viewer is not None and untold:
        items = items.filter(~Q(is_hidden(viewer, dataset.team)))
    listed = items if systems else items.filter(unarchived("system_version__system__"))
    found = spread_ids(listed, size) or spread_ids(items, size)
    if not found:
        require_unblinded(dataset, untold, viewer)
    return found


def spread_ids(items: QuerySet[Item], size: int) -> list[int]:
    """The ids of `size` of the items, fewer where there are fewer, spread evenly over the dataset."""
    count = items.count()
    if count <= size:
        return list(items.order_by("position").values_list("pk", flat=True))
    ids = list(
        items.filter(position__in=_evenly_spaced(items, size))
        .order_by("position")
        .values_list("pk", flat=True)
    )
    if len(ids) < size:  # positions are missing where items were chosen: fill up from the front
        more = items.exclude(pk__in=ids).order_by("position").values_list("pk", flat=True)
        ids += more[: size - len(ids)]
    return ids


@dataclass(frozen=True, slots=True)
class SampledQuestion:
    """One question about one sampled item: its bytes, and how many answers its reply has to give."""

    item: int
    judge: str
    size: int
    answers: int
    key: UUID


def asked_about(
    sample: Iterable[Item], run: Run, judges: Mapping[str, JudgeConfig], repeats: Mapping[str, int]
) -> Iterator[SampledQuestion]:
    """Every question the run would put to its judges about these items, as if each stage were reached.

    `repeats` is how often each judge, by its name in `judges`, is asked the same.
    """
    return _PromptBuilder(run, judges, repeats).read(sample)


@dataclass
class _PromptBuilder:
    """Puts the prompts of items together, each rubric read once."""

    run: Run
    judges: Mapping[str, JudgeConfig]
    repeats: Mapping[str, int]
    rubrics: dict[int, engine.Rubric] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.graders = Graders(self.run)
        self.first = first_repeats(self.judges, self.repeats, self.graders.member_words)

    def read(self, sample: Iterable[Item]) -> Iterator[SampledQuestion]:
        holistic = self.run.autograder == PER_ITEM
        for item in sample:
            # Members that are told the same are asked the same.
            usual = self._prompts(item)
            for name, config in self.judges.items():
                own = name in self.graders.member_words
                for prompt in self._prompts(item, name) if own else usual:
                    size = len((prompt.system + prompt.user).encode("utf-8", "surrogatepass"))
                    answers = 1 if holistic else len(prompt.criteria)
                    for repeat in range(self.first[name], self.first[name] + self.repeats[name]):
                        yield SampledQuestion(
                            item.pk, name, size, answers, content_key(config, prompt, repeat)
                        )

    def _prompts(self, item: Item, member: str = "") -> Sequence[Prompt]:
        version = item.rubric_version or self.run.rubric_version
        if version is None or not self.judges:
            return ()
        rubric = self._rubric(version)
        unasked = [index for index, criterion in enumerate(rubric.criteria) if not criterion.is_check]
        if not unasked:
            return ()
        grader = self.graders.single(version.pk, member)
        if self.run.autograder == PER_ITEM:
            return grader.prompts(item.to_engine(), rubric)
        return grader.prompts(item.to_engine(), rubric, only=unasked)

    def _rubric(self, version: RubricVersion) -> engine.Rubric:
        if version.pk not in self.rubrics:
            self.rubrics[version.pk] = version.to_engine()
        return self.rubrics[version.pk]


def _evenly_spaced(items: QuerySet[Item], size: int) -> list[int]:
    """The middle of each of `size` equal parts of the positions: of 0 to 99 in 4 parts 12, 37, 62 and 87."""
    ends = items.order_by().aggregate(first=Min("position"), last=Max("position"))
    span = ends["last"] - ends["first"] + 1
    return [ends["first"] + int((part + 0.5) * span / size) for part in range(size)]


def unseen_in_sample(items: Sequence[Item], of: int) -> str:
    """In how many of the items looked at, `of` so many, no judge is shown all of the prompt; "" in none."""
    found = sum(unseen_parts(item.to_engine().query) > 0 for item in items)
    return unseen_words(found, f" of {len(items):,} that were looked at" if len(items) < of else "")
