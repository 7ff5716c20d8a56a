"""Queues of chosen items: filters, samples with their probabilities, what a judge is unsure of."""

import json
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict, Invalid, NotFound, Withheld
from rubricweb.models import Dataset, Judgement, QueueItem, ReviewQueue, RubricVersion, Run
from rubricweb.selectors.reviews.queue_plans import queue_plan
from rubricweb.selectors.reviews.queue_sources import Source, allocated
from rubricweb.selectors.reviews.queues import source_words
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

LANGUAGES = {"fr": 6, "de": 2}


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """fr-0 … fr-5 and de-0, de-1; every second one is tagged hard."""
    items = [
        {
            "id": f"{language}-{number}",
            "submission": f"Paris, {number}.",
            "metadata": {"language": language, "tags": ["short", *["hard"] * (number % 2)], "year": 2020},
        }
        for language, count in LANGUAGES.items()
        for number in range(count)
    ]
    return factories.dataset(people.team, people.ed, items=items)


def opened(
    people: Cast, dataset: Dataset, version: RubricVersion, source: Source, **more: Any
) -> ReviewQueue:
    more.setdefault("raters", [people.ann])
    return factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, source=source, **more
    )


def keys(queue: ReviewQueue) -> list[str]:
    return list(queue.queue_items.order_by("position").values_list("item__key", flat=True))


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (Source("filter", search="de-"), ["de-0", "de-1"]),
        (Source("filter", metadata="language=de"), ["de-0", "de-1"]),
        (Source("filter", metadata="tags=hard"), ["fr-1", "fr-3", "fr-5", "de-1"]),
        (Source("filter", metadata="year=2020", search="fr-0"), ["fr-0"]),
    ],
)
def test_a_filter_matches_text_metadata_and_each_text_of_a_list(
    people: Cast, dataset: Dataset, version: RubricVersion, source: Source, expected: list[str]
) -> None:
    assert keys(opened(people, dataset, version, source)) == expected


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (Source("filter"), "search"),
        (Source("filter", metadata="language"), "metadata"),
        (Source("filter", metadata="dataset__team=1"), "source"),
        (Source("sample", size=9), "size"),
        (Source("sample", size=0), "size"),
        (Source("sample", size=1, strata_metadata="language"), "size"),
        (Source("run"), "source_run"),
        (Source("fate"), "source"),
    ],
)
def test_a_source_that_names_nothing_is_refused_at_its_place(
    people: Cast, dataset: Dataset, version: RubricVersion, source: Source, place: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        opened(people, dataset, version, source)
    assert [fault.place for fault in refusal.value.faults] == [place]
    assert not ReviewQueue.objects.exists()


def test_chosen_items_keep_the_order_of_the_dataset_and_come_from_it_alone(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    ids = {item.key: item.pk for item in dataset.items.all()}
    queue = opened(
        people, dataset, version, Source("items", item_ids=(ids["de-0"], ids["fr-2"], ids["de-0"]))
    )
    assert keys(queue) == ["fr-2", "de-0"]
    other = factories.dataset(people.team, people.ed, name="other")
    with pytest.raises(NotFound):
        opened(people, other, version, Source("items", item_ids=(ids["de-0"],)), name="Other")


def test_a_draw_is_recorded_whole(people: Cast, dataset: Dataset, version: RubricVersion) -> None:
    source = Source("sample", size=2, seed=7)
    queue = opened(people, dataset, version, source)
    draw = queue.draws.get()
    assert (draw.seed, draw.dataset_size) == (7, 8)
    stratum = draw.strata.get()
    assert (stratum.value, stratum.size, stratum.drawn) == ("", 8, 2)
    # Those that were drawn come first, in the order in which they are handed out; then all others.
    assert stratum.items[:2] == list(queue.queue_items.values_list("item_id", flat=True))
    assert sorted(stratum.items) == sorted(dataset.items.values_list("pk", flat=True))
    again = opened(people, dataset, version, source, name="The same seed")
    assert keys(again) == keys(queue)


def test_a_sample_is_handed_out_as_it_was_drawn_and_other_items_are_not(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    source = Source("sample", size=6, seed=3)
    queue = opened(people, dataset, version, source)
    assert queue.order == "drawn"
    asked = opened(people, dataset, version, source, name="As in the dataset", order="dataset")
    # Of 720 orders of six items the seed's is not that of the dataset.
    assert keys(queue) != keys(asked)
    assert sorted(keys(queue)) == sorted(keys(asked))
    with pytest.raises(Invalid, match="Only a random sample"):
        opened(people, dataset, version, Source(), name="All", order="drawn")


def test_an_item_given_back_is_the_next_one_of_a_sample_again(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(
        people, dataset, version, Source("sample", size=4, seed=3), raters=[people.ann, people.rae]
    )
    first = queues.next_review(queue, people.ann, now=timezone.now())
    second = queues.next_review(queue, people.rae, now=timezone.now())
    assert first
    assert second
    assert [first.item.key, second.item.key] == keys(queue)[:2]
    reviews.skip(first, reason="not mine")
    reviews.skip(second, reason="nor mine")
    for person, place in ((people.rae, 0), (people.ann, 1)):
        review = queues.next_review(queue, person, now=timezone.now())
        assert review
        assert review.item.key == keys(queue)[place]


@pytest.mark.parametrize("seed", [-1, 2**31])
def test_a_seed_no_database_can_keep_is_refused(
    people: Cast, dataset: Dataset, version: RubricVersion, seed: int
) -> None:
    with pytest.raises(Invalid, match="whole number from 0 to 2147483647"):
        opened(people, dataset, version, Source("sample", size=2, seed=seed))


def test_strata_are_drawn_from_evenly_each_with_its_own_probability(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    queue = opened(people, dataset, version, Source("sample", size=5, strata_metadata="language", seed=1))
    # Of 5, de gives its 2 (2 of 2), fr the other 3 (3 of 6).
    strata = {one.value: one for one in queue.draws.get().strata.all()}
    assert {value: (one.drawn, one.size) for value, one in strata.items()} == {"de": (2, 2), "fr": (3, 6)}
    handed_out = list(queue.queue_items.values_list("item_id", flat=True))
    for one in strata.values():
        assert one.items[: one.drawn] == [pk for pk in handed_out if pk in one.items[: one.drawn]]
    [words] = source_words(queue, people.bob)
    assert "2 of 2 with de, 3 of 6 with fr" in words


def test_what_small_strata_lack_the_larger_ones_give() -> None:
    assert allocated({"a": 2, "b": 10, "c": 10}, 9) == {"a": 2, "b": 3, "c": 4}
    assert allocated({"a": 5, "b": 5}, 10) == {"a": 5, "b": 5}


# ── What a judge is unsure of ────────────────────────────────────────────────────────────────────

LABELS = """item_id,criterion,rater,verdict,reason
fr-0,capital,x,MET,
fr-0,capital,y,UNMET,
fr-1,capital,x,MET,
fr-1,capital,y,MET,
fr-2,capital,x,UNMET,
fr-2,capital,y,UNMET,
"""


@pytest.fixture
def run(people: Cast, dataset: Dataset, version: RubricVersion) -> Run:
    """A judge that says MET to everything; people differ on fr-0 and say otherwise on fr-2. On fr-3 it cannot
    assess one criterion, on fr-4 it is not sure of it, on fr-5 it failed.
    """
    run = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version),
        InProcessJudge(lambda requirement, response: "MET"),
    )
    factories.import_labels(dataset, version, by=people.ed, data=LABELS.encode(), filename="people.csv")
    capital = Judgement.objects.filter(run=run, criterion__name="capital")
    capital.filter(item__key="fr-3").update(verdict="CANNOT_ASSESS")
    capital.filter(item__key="fr-4").update(confidence=0.6)
    capital.filter(item__key="fr-1").update(confidence=0.7)
    capital.filter(item__key="fr-5").update(verdict=None, error_kind="timeout")
    return run


def test_a_runs_doubtful_items_are_found_by_reason(
    people: Cast, dataset: Dataset, version: RubricVersion, run: Run
) -> None:
    def found(*reasons: str) -> list[str]:
        source = Source("run", run=run, reasons=reasons)
        return keys(opened(people, dataset, version, source, name=str(reasons)))

    # Of x MET and y UNMET the judge's MET is not the majority either.
    assert found("people") == ["fr-0"]
    assert found("judge") == ["fr-0", "fr-2"]
    assert found("cannot_assess", "errors") == ["fr-3", "fr-5"]
    assert found("low_confidence") == ["fr-4"]  # below 0.7, not at it
    assert found() == ["fr-0", "fr-2", "fr-3", "fr-4", "fr-5"]


def test_the_most_informative_item_comes_first(
    people: Cast, dataset: Dataset, version: RubricVersion, run: Run
) -> None:
    queue = opened(people, dataset, version, Source(), run=run, order="informative")
    priority = dict(queue.queue_items.values_list("item__key", "priority"))
    # Weights 32, 16, 8, 4, 2, 1; each reason is about one of three criteria: ½ · ⅓ more.
    sixth = pytest.approx(1 / 6)
    assert priority["fr-0"] - 48 == sixth
    assert priority["fr-2"] - 16 == sixth
    assert priority["fr-3"] - 4 == sixth
    assert priority["fr-4"] - 2 == sixth
    assert priority["fr-5"] - 1 == sixth
    assert priority["fr-1"] == 0
    handed = []
    for _ in range(4):
        review = queues.next_review(queue, people.ann, now=timezone.now())
        assert review is not None
        handed.append(review.item.key)
        reviews.skip(review, reason="next")
    assert handed == ["fr-0", "fr-2", "fr-3", "fr-4"]


def test_strata_by_verdict_need_the_run_and_its_criterion(
    people: Cast, dataset: Dataset, version: RubricVersion, run: Run
) -> None:
    by_verdict = Source("sample", size=3, run=run, strata_criterion="capital", seed=3)
    queue = opened(people, dataset, version, by_verdict)
    # CANNOT_ASSESS 1 of 1, no verdict 1 of 1, MET 1 of 6.
    strata = {one.value: (one.drawn, one.size) for one in queue.draws.get().strata.all()}
    assert strata == {"CANNOT_ASSESS": (1, 1), "MET": (1, 6), "–": (1, 1)}
    with pytest.raises(Invalid, match="has no verdicts on"):
        opened(people, dataset, version, Source("sample", size=3, run=run, strata_criterion="x"), name="2")


def test_who_is_to_review_blind_can_neither_choose_by_verdicts_nor_read_the_choice(
    people: Cast, dataset: Dataset, version: RubricVersion, run: Run
) -> None:
    source = Source("run", run=run, reasons=("cannot_assess",))
    queue = opened(people, dataset, version, source, raters=[people.ed])
    for by_verdicts in (source, Source("sample", size=3, run=run, strata_criterion="capital")):
        with pytest.raises(Withheld):
            queue_plan(dataset, by_verdicts, viewer=people.ed, rubric_version=version)
    assert "CANNOT" not in json.dumps(source_words(queue, people.ed))
    assert "cannot assess (1)" not in " ".join(source_words(queue, people.ed))
    assert "cannot assess (1)" in " ".join(source_words(queue, people.alice))


def test_a_plan_says_what_a_queue_would_come_to_and_opens_nothing(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    french = Source("filter", search="fr-")
    plan = queue_plan(dataset, french, viewer=people.ed, rubric_version=version, raters_per_item=2)
    assert (plan.items, plan.reviews, plan.seconds) == (6, 12, None)
    with pytest.raises(Invalid, match=r"6 items of .* bring no rubric"):  # as opening it would be
        queue_plan(dataset, french, viewer=people.ed)
    assert not ReviewQueue.objects.exists()
    queue = opened(people, dataset, version, Source())
    for seconds in (60, 120, 600):
        review = queues.next_review(queue, people.ann, now=timezone.now())
        assert review is not None
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict="MET")
        review.seconds = seconds
        review.save()
        reviews.submit(review, now=timezone.now())
    # Twelve reviews at the median of 60, 120 and 600 seconds.
    plan = queue_plan(dataset, french, viewer=people.alice, rubric_version=version, raters_per_item=2)
    assert plan.seconds == 1440


def test_a_dataset_without_rubrics_needs_one_for_the_chosen_items(
    people: Cast, dataset: Dataset, version: RubricVersion
) -> None:
    with pytest.raises(Invalid, match="bring no rubric"):
        opened(people, dataset, None, Source("filter", search="de-"))  # type: ignore[arg-type]  # that is the point


def test_a_name_is_taken_once(people: Cast, dataset: Dataset, version: RubricVersion) -> None:
    opened(people, dataset, version, Source())
    with pytest.raises(Conflict, match="already has a queue"):
        opened(people, dataset, version, Source())
    assert QueueItem.objects.count() == 8
