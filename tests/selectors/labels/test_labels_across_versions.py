"""Labels outlive new versions of their rubric: they count where the question stayed the same, only there."""

import pytest
from django.utils import timezone

from rubricweb.errors import Conflict
from rubricweb.models import Criterion, Dataset, RubricVersion
from rubricweb.selectors.comparison.comparison import compare
from rubricweb.selectors.comparison.item import item_comparison
from rubricweb.selectors.exports.ground_truth import ground_truth_items, settled_labels
from rubricweb.selectors.labels import comparable
from rubricweb.selectors.labels.ground_truth import ground_truth, labels
from rubricweb.selectors.labels.label_evidence import label_evidence
from rubricweb.selectors.rubrics.todo import rubric_todo
from rubricweb.selectors.rubrics.versions import changes_before
from rubricweb.services import adjudications
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast
from tests.worlds.versions import CRITERIA, NAMES, TONE, Change, changed, counting, graded, label, said, same


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


KEEPING: dict[str, tuple[int, Change]] = {
    "renamed": (0, said(name="city")),
    "weighed otherwise": (0, said(weight=1)),
    "turned into a penalty": (0, said(weight=-10)),
    "regrouped and tagged": (0, said(group="Other", tags=["geo"])),
    "wrapped otherwise": (0, said(requirement="Names  Paris\nas the capital.")),
    "options worth something else": (
        3,
        said(
            options=[
                {"label": label, "value": value}
                for label, value in (("rude", 0), ("plain", 0.2), ("warm", 1))
            ]
        ),
    ),
    "another vote rule": (3, said(aggregation="median")),
}

LOSING: dict[str, tuple[int, Change]] = {
    "reworded": (0, said(requirement="Names Paris as the capital of France.")),
    "guidance": (0, said(guidance="Ignore the spelling.")),
    "an example": (0, said(met_example="It is Paris.")),
    "an option renamed": (
        3,
        said(
            options=[
                {"label": label, "value": value} for label, value in (("rude", 0), ("flat", 0.5), ("warm", 1))
            ]
        ),
    ),
    "an option more": (3, lambda one: {**one, "options": [*one["options"], {"label": "none", "na": True}]}),
    "no scale any more": (3, said(scale_type="nominal")),
    "another kind": (0, said(scale_type="ordinal", options=TONE["options"])),
}


@pytest.mark.parametrize("change", KEEPING)
def test_labels_count_for_a_version_that_asks_the_same(
    people: Cast, dataset: Dataset, first: RubricVersion, change: str
) -> None:
    queue = label(people, dataset, first, "first")
    position, how = KEEPING[change]
    assert first.rubric is not None
    second = changed(first.rubric, how, position=position)
    assert second.number == 2
    assert counting(queue, second) == set(second.criteria.values_list("name", flat=True))
    # Both ways: labels of the second version count for the first.
    later = label(people, dataset, second, "second")
    assert counting(later, first) == NAMES


@pytest.mark.parametrize("change", LOSING)
def test_labels_of_a_question_that_was_changed_wait_and_all_others_count(
    people: Cast, dataset: Dataset, first: RubricVersion, change: str
) -> None:
    queue = label(people, dataset, first, "first")
    position, how = LOSING[change]
    assert first.rubric is not None
    second = changed(first.rubric, how, position=position)
    assert counting(queue, second) == NAMES - {CRITERIA[position]["name"]}
    assert counting(queue, first) == NAMES
    # The words of before come back: so do their labels, over the version between.
    before = first.to_engine().criteria[position].to_dict()
    third = changed(second.rubric, lambda one: before, position=position)  # type: ignore[arg-type]  # it has one
    assert third.number == 3
    assert counting(queue, third) == NAMES


def test_other_guidelines_are_another_question_for_every_criterion(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    queue = label(people, dataset, first, "first")
    assert first.rubric is not None
    second = changed(first.rubric, same, guidelines="Judge the last sentence only.")
    assert counting(queue, second) == set()
    third = changed(first.rubric, same, guidelines="")
    assert counting(queue, third) == NAMES


def test_criteria_stay_the_same_ones_when_they_are_moved_and_reworded_at_once(first: RubricVersion) -> None:
    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    capital, concise, *rest = rubric.draft["criteria"]
    reworded = {**capital, "name": "city", "requirement": "Says that it is Paris."}
    draft = {**rubric.draft, "criteria": [concise, *rest, reworded]}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    second = rubrics.publish(rubric, by=None)
    uids = dict(first.criteria.values_list("name", "uid"))
    assert second.criteria.get(name="city").uid == uids["capital"]
    diff = changes_before(second)
    assert diff is not None
    assert [(change.name, set(change.aspects)) for change in diff.changes] == [
        ("city", {"reworded", "renamed", "moved"})
    ]


def test_a_draft_sent_without_ids_keeps_those_of_the_same_words_and_names(first: RubricVersion) -> None:
    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    bare = [{**one} for one in CRITERIA]
    bare[0] = {**bare[0], "requirement": "Says that it is Paris."}  # found by its name
    bare[1] = {**bare[1], "name": "brief"}  # found by its words
    rubrics.save_draft(
        rubric, draft={"title": rubric.title, "criteria": bare}, revision=rubric.draft_revision
    )
    second = rubrics.publish(rubric, by=None)
    uids = list(first.criteria.values_list("uid", flat=True))
    assert list(second.criteria.values_list("uid", flat=True)) == uids
    assert len(set(uids)) == len(uids)


def test_a_comparison_keeps_the_labels_of_everything_but_the_reworded_criterion(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    queue = label(people, dataset, first, "first")
    assert first.rubric is not None
    second = changed(first.rubric, said(requirement="Names Paris as the capital of France."))
    run = graded(people, dataset, second)
    assert comparable.queues_to_compare(run) == [queue]
    found = compare(run, [queue], viewer=people.rae, resamples=0)
    # Three items by three criteria of which the judge answers the binary ones.
    assert [row.units for row in found.criteria] == [0, 3, 3, 3]
    assert (found.units, found.on_other_versions, found.unavailable) == (9, 3, None)
    assert {one.criterion for one in label_evidence(second, people.team, viewer=people.ed)} == {1, 2, 3}
    exported = list(ground_truth_items(dataset, settled_labels([queue])))
    assert exported[0].ground_truth == ("MET", "MET", "MET", "plain")
    by_second = label(people, dataset, second, "second", {"concise": "UNMET"})
    both = list(ground_truth_items(dataset, settled_labels([queue, by_second])))
    # What was given to the newer version itself counts where the same rater gave both.
    assert both[0].ground_truth == ("MET", "UNMET", "MET", "plain")


def test_of_two_labels_of_one_rater_the_one_given_to_the_version_that_reads_counts(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    assert first.rubric is not None
    second = changed(first.rubric, said(weight=1))
    later = label(people, dataset, second, "second", {"capital": "UNMET"})
    early = label(people, dataset, first, "first")
    third = changed(first.rubric, said(weight=2))
    read = {
        version.number: {
            label
            for (_, criterion_id), by_rater in labels([early, later], version=version.pk).items()
            if criterion_id == version.criteria.get(name="capital").pk
            for label in by_rater.values()
        }
        for version in (first, second, third)
    }
    # By the third version neither is its own: the one given last counts.
    assert read == {1: {"MET"}, 2: {"UNMET"}, 3: {"MET"}}
    assert all(len(by_rater) == 2 for by_rater in labels([early, later]).values())


def test_of_two_labels_of_one_rater_the_one_submitted_last_counts_whichever_was_begun_first(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    queues_ = [
        factories.queue(
            people.team, people.ed, dataset=dataset, rubric_version=first, raters=[people.ann], name=name
        )
        for name in ("begun first", "begun second")
    ]
    item, criterion = dataset.items.get(key="good"), first.criteria.get(name="capital")
    early, late = (queues.start_review(queue, item, people.ann) for queue in queues_)
    for review, verdict in ((early, "UNMET"), (late, "UNMET"), (early, "MET")):
        for one in reviews.criteria_of(review):
            answer = "warm" if one.kind == "choice" else verdict
            reviews.save_verdict(review, one.pk, verdict=answer, reason="")
    for review in (late, early):
        reviews.submit(review, now=timezone.now())
    assert ground_truth(queues_)[item.pk, criterion.pk].verdict == "MET"


def test_decisions_survive_with_the_words_they_were_made_on(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    queue = label(people, dataset, first, "first")
    item = dataset.items.get(key="good")
    capital, concise = first.criteria.get(name="capital"), first.criteria.get(name="concise")
    for criterion in (capital, concise):
        adjudications.adjudicate(
            item, criterion, by=people.rae, verdict="UNMET", cause="human_wrong", reason="It does not."
        )
    assert first.rubric is not None
    second = changed(first.rubric, said(requirement="Names Paris as the capital of France."))
    truths = ground_truth([queue], version=second.pk)
    kept, reworded = second.criteria.get(name="concise"), second.criteria.get(name="capital")
    assert (truths[item.pk, kept.pk].verdict, truths[item.pk, kept.pk].rule) == ("UNMET", "adjudicated")
    assert (item.pk, reworded.pk) not in truths
    [done] = [row for row in rubric_todo(first.rubric, viewer=people.rae) if row.done]
    assert done.criterion.name == "capital"
    shown = item_comparison(item, graded(people, dataset, second), [queue], viewer=people.rae)
    # Once each, the reworded one under both wordings.
    assert sorted(row.criterion.name for row in shown.criteria) == sorted([*NAMES, "capital"])
    # It is somebody's decision for the newer words too: another is only made beside it by who knew of it.
    with pytest.raises(Conflict, match="Somebody else has decided UNMET"):
        adjudications.adjudicate(item, kept, by=people.ed, verdict="MET", cause="judge_wrong")
    # Taken back where it is read by the newer words, it is gone for the older ones too.
    adjudications.withdraw(item, kept, by=people.rae)
    assert ground_truth([queue], version=first.pk)[item.pk, concise.pk].verdict == "MET"


def test_an_id_twice_is_refused_with_its_place(people: Cast, first: RubricVersion) -> None:
    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    criteria = [{**one, "id": "same"} for one in rubric.draft["criteria"][:2]]
    rubrics.save_draft(rubric, draft={**rubric.draft, "criteria": criteria}, revision=rubric.draft_revision)
    with pytest.raises(rubrics.Invalid) as refusal:
        rubrics.publish(rubric, by=people.ed)
    assert [(fault.place, fault.found) for fault in refusal.value.faults] == [
        ("criteria[1].id", "the id 'same' again (as criteria[0])")
    ]
    assert Criterion.objects.filter(version__rubric=rubric).count() == len(CRITERIA)
