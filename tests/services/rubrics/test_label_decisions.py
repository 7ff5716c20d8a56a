"""What becomes of labels that were given to other words: carried, given again, probed, or waiting."""

from typing import Any

import pytest

from rubricweb import engine
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import (
    Criterion,
    Dataset,
    JournalEntry,
    LabelDecision,
    Meaning,
    ReviewQueue,
    RubricVersion,
    Run,
)
from rubricweb.selectors.adjudication.units import unit_to_decide
from rubricweb.selectors.comparison.item import item_comparison
from rubricweb.selectors.labels.ground_truth import ground_truth, labels
from rubricweb.selectors.labels.label_evidence import label_evidence
from rubricweb.selectors.rubrics.label_changes import GUIDELINES, changes_in_draft, changes_in_version
from rubricweb.selectors.rubrics.versions import draft_state
from rubricweb.services import adjudications
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from tests import factories
from tests.factories import Cast
from tests.worlds.versions import (
    CRITERIA,
    NAMES,
    changed,
    counting,
    graded,
    label,
    said,
    same,
)


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def queue(people: Cast, dataset: Dataset, first: RubricVersion) -> ReviewQueue:
    return label(people, dataset, first, "first")


def reworded(version: RubricVersion, text: str, *, position: int = 0) -> RubricVersion:
    assert version.rubric is not None
    return changed(version.rubric, said(requirement=text), position=position)


def options(*labels: str) -> list[dict[str, Any]]:
    return [{"label": one, "value": place / len(labels)} for place, one in enumerate(labels)]


def uid(version: RubricVersion, name: str) -> str:
    return version.criteria.get(name=name).uid


def test_carried_labels_count_both_ways_and_a_revision_takes_them_back(
    people: Cast, dataset: Dataset, first: RubricVersion, queue: ReviewQueue
) -> None:
    second = reworded(first, "Names Paris as the capital of France.")
    capital = uid(first, "capital")
    [change] = changes_in_version(second, viewer=people.ed).changes
    assert (change.uid, change.labels, change.reviews, change.decision) == (capital, 6, 6, None)
    assert counting(queue, second) == NAMES - {"capital"}
    decide(second, capital, NewLabelDecision("carry", reason="The same question."), by=people.ed)
    assert counting(queue, second) == NAMES
    later = label(people, dataset, second, "second")
    assert counting(later, first) == NAMES
    # Those given to the new words since are no labels of the words before.
    assert changes_in_version(second, viewer=people.ed).changes[0].labels == 6
    # A third version that leaves it alone follows.
    third = reworded(second, "Is at most two short sentences long.", position=1)
    assert counting(queue, third) == NAMES - {"concise"}
    current = changes_in_version(second, viewer=people.ed).changes[0].decision
    assert current is not None
    assert (current.kind, current.evidence) == ("carry", {"labels": 6, "reviews": 6, "decisions": 0})
    decide(second, capital, NewLabelDecision("label_again"), by=people.alice, seen=current.pk)
    assert counting(queue, second) == NAMES - {"capital"}
    assert counting(queue, third) == NAMES - {"capital", "concise"}
    assert counting(later, third) == NAMES - {"concise"}
    decide(
        second,
        capital,
        NewLabelDecision("later"),
        by=people.alice,
        seen=changes_in_version(second, viewer=people.ed).changes[0].decision.pk,
    )  # type: ignore[union-attr]  # there is one
    assert changes_in_version(second, viewer=people.ed).waiting == 1
    assert [(one.kind, one.superseded_at is None) for one in LabelDecision.objects.order_by("pk")] == [
        ("carry", False),
        ("label_again", False),
    ]
    verbs = JournalEntry.objects.filter(verb="decided about labels of").order_by("pk")
    assert [entry.detail["decision"] for entry in verbs] == ["carry", "label_again", "later"]


def test_words_that_return_and_decisions_three_versions_deep(
    people: Cast, dataset: Dataset, first: RubricVersion, queue: ReviewQueue
) -> None:
    capital = uid(first, "capital")
    second = reworded(first, "Names Paris as the capital of France.")
    third = reworded(second, "Says that Paris is the capital.")
    decide(third, capital, NewLabelDecision("carry"), by=people.ed)
    # Carried from the second to the third, not from the first to the second.
    assert counting(queue, third) == NAMES - {"capital"}
    decide(second, capital, NewLabelDecision("carry"), by=people.ed)
    assert counting(queue, third) == NAMES
    fourth = reworded(third, "Names Paris as the capital.")
    assert changes_in_version(fourth, viewer=people.ed).changes == ()
    assert Meaning.objects.filter(uid=capital).count() == 1
    current = changes_in_version(second, viewer=people.ed).changes[0].decision
    assert current is not None
    decide(second, capital, NewLabelDecision("probe"), by=people.ed, seen=current.pk)
    # The fourth has the words of the first; the third is between two other questions.
    assert counting(queue, fourth) == NAMES
    assert counting(queue, third) == NAMES - {"capital"}


def test_options_are_mapped_one_way_and_maps_compose(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    queue = label(people, dataset, first, "first", {"tone": "warm"})
    tone = uid(first, "tone")
    item = dataset.items.get(key="good")
    adjudications.adjudicate(
        item,
        first.criteria.get(name="tone"),
        by=people.rae,
        verdict="plain",
        cause="human_wrong",
        reason="It is flat.",
    )
    assert first.rubric is not None
    second = changed(first.rubric, said(options=options("bad", "fair", "kind")), position=3)
    [change] = changes_in_version(second, viewer=people.ed).changes
    assert change.needs_map
    assert [(one.label, one.labels) for one in change.earlier] == [("rude", 0), ("plain", 0), ("warm", 6)]
    with pytest.raises(Invalid) as refusal:
        decide(second, tone, NewLabelDecision("carry", {"warm": "lovely", "cold": "bad"}), by=people.ed)
    assert [(fault.place, fault.found) for fault in refusal.value.faults] == [
        (f"decisions.{tone}.options.cold", "no option of the earlier words"),
        (f"decisions.{tone}.options.warm", "'lovely', no option any more"),
        (f"decisions.{tone}.options.rude", "nothing"),
        (f"decisions.{tone}.options.plain", "nothing"),
    ]
    decide(
        second, tone, NewLabelDecision("carry", {"warm": "kind", "plain": "fair", "rude": None}), by=people.ed
    )
    criterion = second.criteria.get(name="tone")
    assert set(labels([queue], version=second.pk)[item.pk, criterion.pk].values()) == {"kind"}
    assert ground_truth([queue], version=second.pk)[item.pk, criterion.pk].verdict == "fair"
    # Pages show the labels as they are read: two who said warm, and the decision for plain.
    [row] = [
        row
        for row in item_comparison(item, graded(people, dataset, second), [queue], viewer=people.rae).criteria
        if row.criterion == criterion
    ]
    assert ([answer.verdict for answer in row.people], row.stands, row.most) == (
        ["kind", "kind"],
        "fair",
        "kind",
    )
    unit = unit_to_decide(item, criterion, viewer=people.rae)
    assert ({answer.verdict for answer in unit.people}, unit.most) == ({"kind"}, "kind")
    assert unit.decision is not None
    assert unit.decision.verdict == "fair"
    later = label(people, dataset, second, "second", {"tone": "fair"})
    # Never back.
    assert counting(later, first) == NAMES - {"tone"}
    third = changed(first.rubric, said(options=options("no", "yes")), position=3)
    # Six labels were given to the words of the second version; six and the decision were carried to them.
    [change] = changes_in_version(third, viewer=people.ed).changes
    assert (change.labels, change.reviews, change.decisions) == (12, 12, 1)
    assert [(one.label, one.labels) for one in change.earlier] == [("bad", 0), ("fair", 6), ("kind", 6)]
    decide(third, tone, NewLabelDecision("carry", {"bad": "no", "fair": None, "kind": "yes"}), by=people.ed)
    newest = third.criteria.get(name="tone")
    assert set(labels([queue], version=third.pk)[item.pk, newest.pk].values()) == {"yes"}
    # The decision for "plain" became "fair", which is carried to nothing: it stays with its own words.
    assert ground_truth([queue], version=third.pk)[item.pk, newest.pk].verdict == "yes"
    assert (item.pk, newest.pk) not in labels([later], version=third.pk)
    # Labels and decisions that are carried to nothing stand on no words after that.
    fourth = changed(first.rubric, said(requirement="Is it friendly?"), position=3)
    [change] = changes_in_version(fourth, viewer=people.ed).changes
    assert (change.labels, change.decisions) == (6, 0)
    assert [(one.label, one.labels) for one in change.earlier] == [("no", 0), ("yes", 6)]


def test_labels_of_options_that_differ_in_spaces_alone_wait_for_a_decision(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    assert first.rubric is not None
    spaced = changed(first.rubric, said(options=options("rude", "very  kind")), position=3)
    label(people, dataset, spaced, "spaced", {"tone": "very  kind"})
    corrected = changed(first.rubric, said(options=options("rude", "very kind")), position=3)
    [change] = changes_in_version(corrected, viewer=people.ed).changes
    assert (change.labels, change.needs_map) == (6, True)
    label(people, dataset, corrected, "corrected", {"tone": "very kind"})
    for version, read in ((spaced, "very  kind"), (corrected, "very kind")):
        found = label_evidence(version, people.team, viewer=people.ed)
        assert [one.labels for one in found if one.criterion == 3] == [{read: 6}]


def test_guidelines_are_one_decision_for_all_that_was_not_reworded(
    people: Cast, dataset: Dataset, first: RubricVersion, queue: ReviewQueue
) -> None:
    assert first.rubric is not None
    second = changed(
        first.rubric, said(requirement="Names Paris as the capital of France."), guidelines="Be strict."
    )
    found = changes_in_version(second, viewer=people.ed)
    assert [(one.uid, one.labels) for one in found.changes] == [(uid(first, "capital"), 6), (GUIDELINES, 18)]
    decide(second, GUIDELINES, NewLabelDecision("carry"), by=people.ed)
    assert counting(queue, second) == NAMES - {"capital"}
    decide(second, uid(first, "capital"), NewLabelDecision("carry"), by=people.ed)
    assert counting(queue, second) == NAMES


def test_decisions_are_taken_with_the_publication_or_none_of_it_is(
    people: Cast, dataset: Dataset, first: RubricVersion, queue: ReviewQueue
) -> None:
    rubric = first.rubric
    assert rubric is not None
    run = graded(people, dataset, first)
    rubric.refresh_from_db()
    criteria = list(rubric.draft["criteria"])
    criteria[0] = {**criteria[0], "requirement": "Names Paris as the capital of France."}
    rubrics.save_draft(rubric, draft={**rubric.draft, "criteria": criteria}, revision=rubric.draft_revision)
    content = draft_state(rubric, viewer=people.ed).content
    assert content is not None
    found = changes_in_draft(rubric, content, viewer=people.ed)
    assert [(one.name, one.labels, one.criterion) for one in found.changes] == [("capital", 6, None)]
    assert found.regrading is not None
    # Three items, one question each.
    assert (found.regrading.run, found.regrading.calls, found.regrading.everything) == (run, 3, False)
    # A judge is asked a turned sign and a new criterion too; what a file says it said is no run of one.
    newer = [one.model_copy(update={"weight": -one.weight}) for one in content.criteria[2:3]]
    newer += [*content.criteria[:2], *content.criteria[3:]]
    newer += [engine.Criterion(requirement="Names France.", id="country")]
    wider = content.model_copy(update={"criteria": tuple(newer)})
    Run.objects.filter(pk=graded(people, dataset, first).pk).update(rater=queue.raters.first())
    regrading = changes_in_draft(rubric, wider, viewer=people.ed).regrading
    assert regrading is not None
    assert (regrading.run, regrading.calls) == (run, 9)
    with pytest.raises(Invalid) as refusal:
        rubrics.publish(rubric, by=people.ed, decisions={uid(first, "concise"): NewLabelDecision("carry")})
    assert refusal.value.faults[0].place == f"decisions.{uid(first, 'concise')}"
    assert rubric.versions.count() == 1
    second = rubrics.publish(
        rubric, by=people.ed, decisions={uid(first, "capital"): NewLabelDecision("carry")}
    )
    assert counting(queue, second) == NAMES


@pytest.mark.parametrize(
    ("chosen", "place"),
    [
        (NewLabelDecision("keep"), "kind"),
        (NewLabelDecision("label_again", {"rude": "rude"}), "options"),
        (NewLabelDecision("carry", {"rude": "rude"}), "options"),
    ],
)
def test_what_cannot_be_decided_is_refused_with_its_place(
    people: Cast, first: RubricVersion, chosen: NewLabelDecision, place: str
) -> None:
    second = reworded(first, "Names Paris as the capital of France.")
    with pytest.raises(Invalid) as refusal:
        decide(second, uid(first, "capital"), chosen, by=people.ed)
    assert refusal.value.faults[0].place == f"decisions.{uid(first, 'capital')}.{place}"
    assert not LabelDecision.objects.exists()


def test_labels_are_not_carried_to_another_kind(people: Cast, first: RubricVersion) -> None:
    assert first.rubric is not None
    second = changed(first.rubric, said(scale_type="ordinal", options=options("no", "yes")))
    with pytest.raises(Invalid, match="another kind"):
        decide(second, uid(first, "capital"), NewLabelDecision("carry"), by=people.ed)


def test_a_criterion_that_is_a_check_for_a_while_has_nothing_decided_and_loses_no_labels(
    people: Cast, first: RubricVersion, queue: ReviewQueue
) -> None:
    assert first.rubric is not None
    capital = uid(first, "capital")
    kept = {"id": capital, "name": "capital", "weight": 10.0}
    check = {"check": "contains_keywords", "params": {"keywords": ["Paris"]}}
    second = changed(first.rubric, lambda _: kept | check)
    assert changes_in_version(second, viewer=people.ed).changes == ()
    third = changed(first.rubric, lambda _: kept | {"requirement": "Says that Paris is the capital."})
    [change] = changes_in_version(third, viewer=people.ed).changes
    assert (change.labels, change.may_carry) == (6, True)
    decide(third, capital, NewLabelDecision("carry"), by=people.ed)
    assert counting(queue, third) == NAMES


def test_a_decision_somebody_else_made_meanwhile_is_not_overwritten_unseen(
    people: Cast, first: RubricVersion
) -> None:
    second = reworded(first, "Names Paris as the capital of France.")
    capital = uid(first, "capital")
    decide(second, capital, NewLabelDecision("carry"), by=people.ed)
    with pytest.raises(Conflict, match="meanwhile"):
        decide(second, capital, NewLabelDecision("label_again"), by=people.alice)
    assert LabelDecision.objects.get().kind == "carry"


def test_a_version_that_rewords_nothing_asks_for_no_decision(people: Cast, first: RubricVersion) -> None:
    assert first.rubric is not None
    second = changed(first.rubric, said(weight=3, name="city"))
    third = changed(first.rubric, same, title="Another title")
    assert [changes_in_version(one, viewer=people.ed).changes for one in (first, second, third)] == [
        (),
        (),
        (),
    ]
    assert (
        Criterion.objects.filter(version__in=[first, second, third]).values("meaning").distinct().count() == 4
    )


def test_choices_for_a_draft_that_was_published_meanwhile_are_not_lost_unsaid(
    people: Cast, first: RubricVersion
) -> None:
    second = reworded(first, "Names Paris as the capital of France.")
    assert second.rubric is not None
    with pytest.raises(Conflict, match="published already, as Capitals v2"):
        rubrics.publish(
            second.rubric, by=people.ed, decisions={uid(first, "capital"): NewLabelDecision("carry")}
        )
    assert rubrics.publish(second.rubric, by=people.ed) == second
