"""Marking cases dev or test: one half to draw examples from, one to judge the judge on (decision 0030)."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from django.db import transaction
from django.utils import timezone

from rubricweb.engine.datasets.split_report import LabelBalance, largest_difference
from rubricweb.engine.datasets.stratification import stratified_halves
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Case, CaseSplit, Criterion, Dataset, Item, User
from rubricweb.selectors.blinding import require_nothing_hidden
from rubricweb.selectors.datasets.halves import DEV, TEST, same_words, without_half
from rubricweb.selectors.exports.exports import newest_version
from rubricweb.selectors.labels.comparable import counting_queues
from rubricweb.selectors.labels.ground_truth import ground_truth
from rubricweb.services import dataset_versions
from rubricweb.services.datasets.datasets import require_unsealed
from rubricweb.services.datasets.halves.salts import new_salt
from rubricweb.services.reviews import queues
from rubricweb.services.shared.journal import record

AT_ONCE = 5000
SEED_LIMIT = 2**63

_Label = tuple[str, str, str]
"""(criterion, its requirement, what stands there)."""
_UNLABELLED: _Label = ("", "", "")


@transaction.atomic
def split_cases(dataset: Dataset, *, n_dev: int, by: User | None, seed: int = 0) -> CaseSplit:
    """Marks `n_dev` cases of the dataset dev and all others test, every label spread alike over both.

    A case is on one side with all its answers, and those that come later are in its half. Cases nobody
    labelled are spread alike as well. The same `seed` gives the same halves. Nothing is copied, so blind
    queues may be open, for others to rate in: raises Withheld where verdicts on items are hidden from whoever
    draws. Raises Invalid for an `n_dev` that leaves a half empty, Conflict for a dataset that is split
    already or is itself a sealed half.
    """
    dataset_versions.hold(dataset)
    require_unsealed(dataset)
    if dataset.case_splits.exists():
        raise Conflict(
            f"The cases of {dataset} are split already, and stay in their splits. "
            "Extend the split by the cases that came later."
        )
    cases = list(without_half(dataset))
    if not 1 <= n_dev < len(cases):
        few = len(cases) < 2
        allowed = "a dataset with two cases or more" if few else f"1 to {len(cases) - 1}"
        raise Invalid.at("n_dev", f"{n_dev} of {len(cases)} cases", allowed)
    drawn = _draw(dataset, cases, n_dev, number=1, seed=seed, by=by)
    record(dataset.team, by, "split the cases of", dataset, dev=drawn.n_dev, test=drawn.n_test, seed=seed)
    return drawn


@transaction.atomic
def extend_split(dataset: Dataset, *, by: User | None, seed: int | None = None) -> CaseSplit:
    """Marks the cases that have no half yet; those that have one keep it.

    Both halves together have then, to the nearest case, the share of dev cases that the first draw had.
    Without a `seed` that of the first draw. Raises Invalid where no case is without a half, Conflict for a
    dataset that is not split, Withheld as `split_cases` does.
    """
    dataset_versions.hold(dataset)
    require_unsealed(dataset)
    draws = list(dataset.case_splits.order_by("number"))
    if not draws:
        raise Conflict(f"The cases of {dataset} are not split yet. Split them first.")
    cases = list(without_half(dataset))
    if not cases:
        raise Invalid.at("cases", f"no case of {dataset} without a split", "cases that came after the split")
    first = draws[0]
    n_dev, n = sum(draw.n_dev for draw in draws), sum(draw.n_dev + draw.n_test for draw in draws)
    # Whole numbers throughout: half a case more or less would differ from machine to machine.
    size = first.n_dev + first.n_test
    wanted = (2 * (n + len(cases)) * first.n_dev + size) // (2 * size) - n_dev
    seed = first.seed if seed is None else seed
    wanted = min(max(wanted, 0), len(cases))
    drawn = _draw(dataset, cases, wanted, number=draws[-1].number + 1, seed=seed, by=by)
    # Queues over a half ask about the answers to cases that are in it from now on.
    queues.take_in(dataset, Item.objects.current().filter(dataset=dataset).exclude(case__half=""))
    record(dataset.team, by, "extended the split of", dataset, dev=drawn.n_dev, test=drawn.n_test, seed=seed)
    return drawn


def _draw(
    dataset: Dataset, cases: Sequence[int], n_dev: int, *, number: int, seed: int, by: User | None
) -> CaseSplit:
    if not 0 <= seed < SEED_LIMIT:
        raise Invalid.at("seed", str(seed), "a whole number from 0")
    if by is not None:
        why = "and which split a case falls into would tell of them"
        require_nothing_hidden(by, dataset.team, dataset.pk, why=why)
    labels = _labels(dataset)
    rows = [sorted(set(labels.get(case, ()))) or [_UNLABELLED] for case in cases]
    dev, test = stratified_halves(rows, n_dev, Random(seed))  # noqa: S311 - a repeatable draw, nothing secret
    now = timezone.now()
    if not dataset.seal_salt:
        # Seals of looks at the test half need it.
        dataset.seal_salt = new_salt()
        dataset.save(update_fields=["seal_salt"])
    for half, places in ((DEV, dev), (TEST, test)):
        for begin in range(0, len(places), AT_ONCE):
            ids = [cases[place] for place in places[begin : begin + AT_ONCE]]
            Case.objects.filter(pk__in=ids).update(half=half, half_since=now)
    return CaseSplit.objects.create(
        dataset=dataset,
        number=number,
        dataset_version=dataset.version,
        seed=seed,
        n_dev=len(dev),
        n_test=len(test),
        report=_report(dataset, labels),
        created_by=by,
    )


def _labels(dataset: Dataset) -> dict[int, list[_Label]]:
    """Case id → the labels that stand for its current answers."""
    queues = counting_queues(dataset)
    truths = ground_truth(queues, version=newest_version(queues)) if queues else {}
    stands = [(unit, truth.verdict) for unit, truth in truths.items() if truth.verdict is not None]
    asked = Criterion.objects.in_bulk({criterion for (_, criterion), _ in stands})
    current = Item.objects.current().filter(dataset=dataset).order_by()
    case_of = dict(current.values_list("pk", "case_id")) if stands else {}
    found: dict[int, list[_Label]] = defaultdict(list)
    for (item, criterion_id), verdict in stands:
        if item in case_of:
            criterion = asked[criterion_id]
            found[case_of[item]].append((str(criterion.name), criterion.requirement, str(verdict)))
    return found


def _report(dataset: Dataset, labels: Mapping[int, Sequence[_Label]]) -> dict[str, Any]:
    """How alike the halves are, as it is stored: answers counted by label, sizes in cases."""
    halves = dict(Case.objects.filter(dataset=dataset).exclude(half="").values_list("pk", "half"))
    counts: dict[str, Counter[tuple[str, str]]] = {DEV: Counter(), TEST: Counter()}
    for case, half in halves.items():
        counts[half].update((name, label) for name, _, label in labels.get(case, ()))
    balance = [
        LabelBalance(name, label, counts[DEV][name, label], counts[TEST][name, label])
        for name, label in sorted({*counts[DEV], *counts[TEST]})
    ]
    labelled = Counter(half for case, half in halves.items() if case in labels)
    sizes = Counter(halves.values())
    return {
        "n_dev": sizes[DEV],
        "n_test": sizes[TEST],
        "labelled_dev": labelled[DEV],
        "labelled_test": labelled[TEST],
        "largest_difference": largest_difference(balance),
        "labels": [
            {"criterion": row.criterion, "label": row.label, "dev": row.train, "test": row.test}
            for row in balance
        ],
        "same_words": same_words(dataset),
    }
