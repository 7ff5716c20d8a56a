"""Examples for a run's judge: drawn from what people decided about other items, frozen with the run."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from django.db.models import Q, QuerySet

from rubricweb.engine.autograders import AUTOGRADERS, PromptedAutograder
from rubricweb.engine.autograders.examples.few_shot import (
    Candidate,
    Example,
    Examples,
    ExamplesOverlap,
    draw_examples,
)
from rubricweb.engine.autograders.prompted import VerdictAutograder
from rubricweb.engine.judging.definition import JudgeExample
from rubricweb.engine.number_format import counted
from rubricweb.engine.rubric import Rubric
from rubricweb.engine.submission import Submission
from rubricweb.errors import Invalid
from rubricweb.models import (
    Criterion,
    Dataset,
    ExampleSnapshot,
    ExampleWords,
    FewShotSnapshot,
    Item,
    Judgement,
    ReviewQueue,
    Revision,
    RevisionChoice,
    RubricVersion,
    User,
)
from rubricweb.selectors.blinding import hidden_of
from rubricweb.selectors.datasets.titles import names_of
from rubricweb.selectors.labels.comparable import counting_queues
from rubricweb.selectors.labels.ground_truth import ground_truth
from rubricweb.selectors.labels.people import decisions, people_labels
from rubricweb.services.labels import NO_REASON

MAX_EXAMPLES = 20
TEST = "test"


@dataclass(frozen=True)
class FewShot:
    """Where examples come from: a labelled dataset or one of its queues, how many per criterion, a seed."""

    dataset: Dataset
    queue: ReviewQueue | None = None
    n: int = 3
    seed: int = 0


def snapshot(
    asked: FewShot,
    *,
    graded: QuerySet[Item],
    rubric_version: RubricVersion | None,
    grader: PromptedAutograder,
    viewer: User | None,
) -> FewShotSnapshot:
    """The examples as `Run.few_shot` keeps them, for a run over the items `graded`.

    Labels are adjudications, else the majority of submitted reviews; where people are tied nothing is shown.
    None is drawn from a test case, nor from a case of which the run grades some answer, by whichever system
    version; nor of which the viewer is still to review some answer blind: what is drawn, and how long that
    is, tells the labels. Raises Invalid with the place: a sealed test half, items of another dataset that
    share an id or their words with those to be graded, or nothing to draw.
    """
    if not isinstance(grader, VerdictAutograder):
        allowed = ", ".join(name for name, kind in AUTOGRADERS.items() if issubclass(kind, VerdictAutograder))
        raise Invalid.at("autograder", f"examples for {type(grader).__name__}", allowed)
    if rubric_version is None:
        raise Invalid.at(
            "rubric_version", "no rubric version", "one: labels of items' own rubrics fit no others"
        )
    if not 1 <= asked.n <= MAX_EXAMPLES:
        raise Invalid.at("few_shot.n", str(asked.n), f"1 to {MAX_EXAMPLES} examples per criterion")
    if not 0 <= asked.seed < 2**63:
        raise Invalid.at("few_shot.seed", str(asked.seed), "a whole number from 0")
    if asked.dataset.sealed_as == TEST:
        raise Invalid.at(
            "few_shot.dataset", f"{asked.dataset}, sealed as a test split", "a dev split, or another dataset"
        )
    if asked.queue is not None and asked.queue.dataset_id != asked.dataset.pk:
        raise Invalid.at("few_shot.queue", f"{asked.queue}", f"a queue over {asked.dataset}")
    return _drawn(asked, graded, rubric_version, viewer)


def of_judge(examples: Sequence[JudgeExample], version: RubricVersion | None) -> FewShotSnapshot | None:
    """The examples that a version of a judge brings along, for the criteria of a rubric version that mean
    what they were labelled for; None where there are none.
    """
    criteria = list(version.criteria.order_by("position")) if version and examples else []
    shown = [
        (criterion, one)
        for one in examples
        for criterion in [one_of for one_of in criteria if _means_the_same(one_of, one)][:1]
    ]
    if not shown:
        return None
    by_criterion: dict[int, tuple[Example, ...]] = defaultdict(tuple)
    for criterion, one in shown:
        by_criterion[criterion.position] += (Example(one.key, one.submission(), one.label, one.reason),)
    return FewShotSnapshot(
        dataset_id=None,
        queue_id=None,
        item_ids=(),
        n=max(map(len, by_criterion.values())),
        seed=0,
        digest=Examples(by_criterion, seed=0).digest,
        examples=tuple(
            ExampleSnapshot(
                criterion.pk, None, one.label, one.reason, ExampleWords.of(one.key, one.submission())
            )
            for criterion, one in sorted(shown, key=lambda pair: pair[0].position)
        ),
    )


def by_place(shown: Sequence[JudgeExample], rubric: Rubric) -> dict[int, tuple[Example, ...]]:
    """The same of a rubric that is not published, by the place of the criterion: where it asks in the words
    that the example was labelled for.
    """
    found: dict[int, tuple[Example, ...]] = {}
    for one in shown:
        for place, criterion in enumerate(rubric.criteria):
            if (criterion.id, criterion.requirement) == (one.uid, one.requirement):
                example = Example(one.key, one.submission(), one.label, one.reason)
                found[place] = (*found.get(place, ()), example)
                break
    return found


def _means_the_same(criterion: Criterion, shown: JudgeExample) -> bool:
    """Whether the criterion asks what the example was labelled for, in the same words or in words that people
    decided to mean it.
    """
    if criterion.uid != shown.uid:
        return False
    if criterion.requirement == shown.requirement:
        return True
    worded = Criterion.objects.filter(uid=shown.uid, requirement=shown.requirement)
    return criterion.meaning_id is not None and worded.filter(meaning=criterion.meaning_id).exists()


def in_words(shown: FewShotSnapshot | None) -> list[JudgeExample]:
    """The same examples as the definition of a judge keeps them; those whose item is gone without its words
    are left out, as judges are not shown them either.
    """
    drawn = shown.examples if shown else ()
    items = Item.objects.select_related("dataset").in_bulk({one.item for one in drawn if one.item})
    criteria = Criterion.objects.in_bulk({one.criterion for one in drawn})
    found = []
    for one in drawn:
        item, criterion = items.get(one.item or 0), criteria[one.criterion]
        words = one.words or (ExampleWords.of(item.key, item.to_engine()) if item else None)
        if words is None:
            continue
        found.append(
            JudgeExample(
                uid=criterion.uid,
                requirement=criterion.requirement,
                label=one.label,
                reason=one.reason,
                **asdict(words),
            )
        )
    return found


def among_examples(shown: FewShotSnapshot, items: QuerySet[Item]) -> list[str]:
    """What people call those items that share id, case or words with what `Run.few_shot` shows the judge."""
    examples = Item.objects.filter(pk__in=shown.item_ids)
    same_key = Q(key__in=examples.values("key"))
    same_words = Q(content_hash__in=examples.exclude(content_hash="").values("content_hash"))
    same_case = Q(case__in=examples.values("case"))
    shared = items.filter(same_key | same_case | same_words).order_by("position")
    return list(names_of(shared).values())


def _drawn(
    asked: FewShot, graded: QuerySet[Item], version: RubricVersion, viewer: User | None
) -> FewShotSnapshot:
    criteria = list(version.criteria.order_by("position"))
    queues = [asked.queue] if asked.queue is not None else counting_queues(asked.dataset)
    hidden = set() if viewer is None else hidden_of(viewer, asked.dataset.team, asked.dataset.pk)
    labels = _labels(queues, version, [criterion.pk for criterion in criteria], hidden)
    reasons = _reasons(queues, version, labels)
    items = _free(Item.objects.current().filter(pk__in=labels), graded)
    candidates = {
        item.key: (
            item.pk,
            Candidate(
                item_id=item.key,
                submission=item.to_engine(),
                labels=tuple(labels[item.pk].get(criterion.pk) for criterion in criteria),
                reasons=tuple(reasons.get((item.pk, criterion.pk), "") for criterion in criteria),
            ),
        )
        for item in items.select_related("dataset").order_by("position")
    }
    try:
        examples = draw_examples(
            version.to_engine(),
            [candidate for _, candidate in candidates.values()],
            asked.n,
            seed=asked.seed,
            exclude=_words(graded),
        )
    except ExamplesOverlap as error:
        raise _overlap(error, {key: pk for key, (pk, _) in candidates.items()}) from error
    if not examples.by_criterion and len(candidates) < len(labels):
        raise Invalid.at(
            "few_shot.dataset",
            f"{asked.dataset}, whose labelled cases are all of a test split or graded by the run",
            "labelled cases that are neither: a run over the test split alone, or another dataset",
        )
    if not examples.by_criterion:
        raise Invalid.at(
            "few_shot.dataset",
            f"{asked.dataset} without a decided label for this rubric version{_but_for(len(hidden))}",
            "a dataset that people have labelled against it",
        )
    return FewShotSnapshot(
        dataset_id=asked.dataset.pk,
        queue_id=asked.queue.pk if asked.queue is not None else None,
        item_ids=tuple(sorted(candidates[key][0] for key in examples.item_ids)),
        n=asked.n,
        seed=asked.seed,
        digest=examples.digest,
        examples=tuple(
            ExampleSnapshot(criteria[index].pk, candidates[example.item_id][0], example.label, example.reason)
            for index, shown in sorted(examples.by_criterion.items())
            for example in shown
        ),
    )


def _but_for(hidden: int) -> str:
    """How many items were not looked at, whatever their labels are; "" for none."""
    return f", apart from {counted(hidden, 'item')} of cases you are still to review blind" if hidden else ""


def _free(labelled: QuerySet[Item], graded: QuerySet[Item]) -> QuerySet[Item]:
    """Those a judge may be shown: neither of a test case, nor of a case that is to be graded.

    Nor, in the same dataset, with the words of what is to be graded: of another one these are refused, since
    then most likely all of its items are the same.
    """
    graded = graded.order_by()
    words = graded.exclude(content_hash="").values("content_hash")
    same_words = Q(content_hash__in=words, dataset__in=graded.values("dataset"))
    return labelled.exclude(case__half=TEST).exclude(case__in=graded.values("case")).exclude(same_words)


def _overlap(error: ExamplesOverlap, ids: Mapping[str, int]) -> Invalid:
    first = Item.objects.filter(pk__in=[ids[key] for key in error.item_ids[:5]]).order_by("position")
    return Invalid.at(
        "few_shot.dataset",
        f"{len(error.item_ids)} items that are to be graded ({', '.join(names_of(first).values())})",
        "items with other ids and other words than those of the run",
    )


def _labels(
    queues: Sequence[ReviewQueue], version: RubricVersion, criteria: Sequence[int], hidden: set[int]
) -> dict[int, dict[int, str]]:
    """Item id → criterion id → the label that stands; tied ones left out, and all of `hidden` items."""
    wanted = set(criteria)
    labels: dict[int, dict[int, str]] = defaultdict(dict)
    for (item_id, criterion_id), truth in ground_truth(queues, version=version.pk).items():
        if item_id not in hidden and criterion_id in wanted and truth.verdict is not None:
            labels[item_id][criterion_id] = str(truth.verdict)
    return labels


def _reasons(
    queues: Sequence[ReviewQueue], version: RubricVersion, labels: Mapping[int, Mapping[int, str]]
) -> dict[tuple[int, int], str]:
    """The adjudicator's reason, else the first one a rater gave for the label that stands: for changing to it
    after the reveal, or at once."""
    given = [
        label
        for label in people_labels(queues, version=version.pk, items=labels)
        if labels[label.item_id].get(label.criterion_id) == label.final
    ]
    pks = [label.judgement_id for label in given]
    first = dict(Judgement.objects.filter(pk__in=pks).exclude(reason="").values_list("pk", "reason"))
    revisions = Revision.objects.filter(judgement__in=pks, choice=RevisionChoice.CHANGE)
    changed = dict(revisions.values_list("judgement_id", "reason"))
    reasons = {
        unit: decision.reason
        for unit, decision in decisions(queues, version=version.pk, items=labels).items()
        if decision.reason and labels[unit[0]].get(unit[1]) == decision.verdict
    }
    for label in sorted(given, key=lambda one: (one.judgement_id not in changed, one.judgement_id)):
        reason = changed.get(label.judgement_id, first.get(label.judgement_id))
        if reason and reason != NO_REASON:
            reasons.setdefault(label.unit, reason)
    return reasons


def _words(graded: QuerySet[Item]) -> Iterator[tuple[str, Submission]]:
    """Key and words of every item that will be graded, a few at a time."""
    for item in graded.select_related("dataset").iterator(chunk_size=500):
        yield item.key, item.to_engine()
