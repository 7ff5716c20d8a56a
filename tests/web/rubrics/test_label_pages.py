"""Existing labels on the pages: chosen at publication, changed on the page of the version."""

import html
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Criterion, Dataset, LabelDecision, ReviewQueue, RubricVersion
from rubricweb.selectors.rubrics.label_changes import LabelChange, LabelChanges
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from rubricweb.web.rubrics.label_choices import label_choices
from tests import factories
from tests.factories import Cast
from tests.worlds.versions import CRITERIA, NAMES, counting, graded, label

REWORDED = "Names Paris as the capital of France."
KINDER = [{"label": "bad", "value": 0}, {"label": "fair", "value": 0.5}, {"label": "kind", "value": 1}]


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def queue(people: Cast, dataset: Dataset, first: RubricVersion) -> ReviewQueue:
    return label(people, dataset, first, "first")


def url(people: Cast, name: str, *args: object) -> str:
    return reverse(name, args=[people.team.slug, *args])


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


def draft(version: RubricVersion, *changes: tuple[int, dict[str, Any]]) -> None:
    """Saves a draft in which criteria, by position, have other fields."""
    rubric = version.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    criteria = list(rubric.draft["criteria"])
    for position, fields in changes:
        criteria[position] = {**criteria[position], **fields}
    rubrics.save_draft(rubric, draft={**rubric.draft, "criteria": criteria}, revision=rubric.draft_revision)


def test_a_criterion_pasted_in_again_is_asked_about_when_it_is_published(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, queue: ReviewQueue
) -> None:
    ed, rubric = sign_in(people.ed), first.rubric
    assert rubric is not None
    address = url(people, "rubric_publish", rubric.pk)

    def paste(*criteria: dict[str, Any]) -> dict[str, Any]:
        rubric.refresh_from_db()
        source = {"source": json.dumps({"criteria": criteria}), "revision": rubric.draft_revision}
        assert ed.post(url(people, "rubric_source", rubric.pk), source).status_code == 302
        rubric.refresh_from_db()
        return {"revision": rubric.draft_revision}

    capital, *others = CRITERIA
    assert ed.post(address, paste(*others)).status_code == 302
    seen = paste({**capital, "requirement": REWORDED}, *others)
    asked = "Labels of “capital” 6 labels in 6 reviews were given to the words before."
    assert asked in text(ed.get(address))
    assert ed.post(address, seen | {"labels-0-kind": "carry"}).status_code == 302
    assert counting(queue, rubric.versions.get(number=3)) == NAMES


def test_publishing_shows_what_stands_on_the_words_before_and_takes_the_choice(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, queue: ReviewQueue
) -> None:
    graded(people, queue.dataset, first)
    draft(first, (0, {"requirement": REWORDED}))
    ed, rubric = sign_in(people.ed), first.rubric
    assert rubric is not None
    page = text(ed.get(url(people, "rubric_publish", rubric.pk)))
    assert "Labels of “capital” 6 labels in 6 reviews were given to the words before." in page
    assert "asks at most 3 questions" in page
    assert "The answers to all other criteria are reused." in page
    rubric.refresh_from_db()
    answer = ed.post(
        url(people, "rubric_publish", rubric.pk),
        {"revision": rubric.draft_revision, "labels-0-kind": "carry", "labels-0-reason": "Only a comma."},
    )
    assert answer.status_code == 302
    second = rubric.versions.get(number=2)
    assert counting(queue, second) == NAMES
    rubric_page = text(ed.get(url(people, "rubric", rubric.pk)))
    assert "Decisions about labels" in rubric_page
    assert "v2 capital carry Only a comma. 6 – Ed" in rubric_page


def test_word_diffs_of_a_page_end_where_their_pairs_are_used_up() -> None:
    # 8,000 words and blanks each: seven criteria have 448 of the 500 million pairs of a page.
    long = " ".join(f"w{n}" for n in range(3_999))
    change = LabelChange(
        uid="c",
        name="c",
        previous=Criterion(requirement=f"a {long} "),
        criterion=Criterion(requirement=f"b {long} "),
        labels=0,
        reviews=0,
        decisions=0,
    )
    rows = label_choices(LabelChanges((change,) * 8, None))
    kinds = [[segment.kind for segment in row.words] for row in rows]
    assert kinds == [["gone", "new", "same"]] * 7 + [["gone", "new"]]


def test_options_are_mapped_one_by_one_and_nothing_typed_is_lost(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, queue: ReviewQueue
) -> None:
    draft(first, (3, {"options": KINDER}))
    ed, rubric = sign_in(people.ed), first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    posted = {
        "revision": rubric.draft_revision,
        "note": "Kinder words",
        "labels-0-kind": "carry",
        "labels-0-reason": "New names.",
        "labels-0-option-0": "0",
    }
    refused = ed.post(url(people, "rubric_publish", rubric.pk), posted)
    assert refused.status_code == 422
    page = refused.content.decode()
    assert "options.plain: found nothing" in text(refused)
    assert 'value="New names."' in page
    assert 'value="Kinder words"' in page
    assert re.search(r'value="carry" checked', page)
    assert rubric.versions.count() == 1
    ed.post(
        url(people, "rubric_publish", rubric.pk),
        posted | {"labels-0-option-1": "1", "labels-0-option-2": "-"},
    )
    assert LabelDecision.objects.get().options == {
        "CANNOT_ASSESS": "CANNOT_ASSESS",
        "rude": "bad",
        "plain": "fair",
        "warm": None,
    }
    assert counting(queue, rubric.versions.get(number=2)) == NAMES


def test_what_waits_is_said_on_the_rubric_and_decided_on_the_version(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, queue: ReviewQueue
) -> None:
    draft(first, (0, {"requirement": REWORDED}))
    rubric = first.rubric
    assert rubric is not None
    second = rubrics.publish(rubric, by=people.ed)
    uid = second.criteria.get(name="capital").uid
    viewer, ed = sign_in(people.bob), sign_in(people.ed)
    assert "Labels wait for a decision v2 asks 1 criterion in other words" in text(
        viewer.get(url(people, "rubric", rubric.pk))
    )
    seen = viewer.get(url(people, "rubric_version", rubric.pk, 2))
    assert "waits for a decision" in text(seen)
    assert "Save the decision" not in text(seen)
    address = url(people, "rubric_labels", rubric.pk, 2)
    assert viewer.post(address, {"about": uid}).status_code == 403
    assert ed.post(address, {"about": "nothing", "seen": ""}).status_code == 404
    assert ed.post(address, {"about": uid, "seen": "", "labels-0-kind": "probe"}).status_code == 302
    assert "Labels wait" not in text(ed.get(url(people, "rubric", rubric.pk)))
    # Who decides from a page that shows no decision yet is told of the one there is.
    late = ed.post(address, {"about": uid, "seen": "", "labels-0-kind": "carry"})
    assert late.status_code == 422
    assert "Somebody else has decided about these labels meanwhile." in text(late)
    current = LabelDecision.objects.get()
    assert ed.post(address, {"about": uid, "seen": current.pk, "labels-0-kind": "carry"}).status_code == 302
    assert counting(queue, second) == NAMES


def test_a_first_version_and_one_that_only_weighs_otherwise_ask_nothing(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion
) -> None:
    draft(first, (0, {"weight": 3}))
    rubric = first.rubric
    assert rubric is not None
    ed = sign_in(people.ed)
    assert "Existing labels" not in text(ed.get(url(people, "rubric_publish", rubric.pk)))
    rubrics.publish(rubric, by=people.ed, decisions={})
    assert "Existing labels" not in text(ed.get(url(people, "rubric_version", rubric.pk, 2)))
    assert not LabelDecision.objects.exists()


# ── Queues that a decision opens ─────────────────────────────────────────────────────────────────


@pytest.fixture
def by_members(people: Cast, dataset: Dataset, first: RubricVersion) -> ReviewQueue:
    """Three items labelled by ann and rae, who are members."""
    lines = ["item_id,criterion,rater,verdict"]
    lines += [
        f"{item.key},{criterion.name},{rater},{'plain' if criterion.kind == 'choice' else 'MET'}"
        for item in dataset.items.all()
        for criterion in first.criteria.all()
        for rater in ("ann", "rae")
    ]
    return factories.import_labels(
        dataset, first, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )


def published(people: Cast, first: RubricVersion) -> tuple[int, RubricVersion, str]:
    """The rubric's id, its second version in which `capital` is reworded, and the uid of that."""
    draft(first, (0, {"requirement": REWORDED}))
    rubric = first.rubric
    assert rubric is not None
    second = rubrics.publish(rubric, by=people.ed)
    return rubric.pk, second, second.criteria.get(name="capital").uid


def test_after_deciding_to_probe_the_version_page_leads_to_that_criterion_and_twelve_items(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, queue: ReviewQueue
) -> None:
    rubric_id, second, uid = published(people, first)
    ed = sign_in(people.ed)
    address = url(people, "rubric_labels", rubric_id, 2)
    ed.post(address, {"about": uid, "seen": "", "labels-0-kind": "probe"})
    page = ed.get(url(people, "rubric_version", rubric_id, 2)).content.decode()
    assert re.search(r'name="size"[^>]*value="12"', page)
    [link] = re.findall(r'href="([^"]+)"[^>]*>\s*Open a queue with other settings', page)
    reworded = second.criteria.get(name="capital")
    assert html.unescape(link).endswith(
        f"?rubric_version={second.pk}&criteria={reworded.pk}&kind=sample&size=12"
    )
    form = ed.get(html.unescape(link)).context["form"]
    assert [str(form[name].value()) for name in ("rubric_version", "kind", "size")] == [
        str(second.pk),
        "sample",
        "12",
    ]
    assert [str(one) for one in form["criteria"].value()] == [str(reworded.pk)]
    seen = sign_in(people.bob).get(url(people, "rubric_version", rubric_id, 2))
    assert "Open a queue with" not in text(seen)


def test_a_queue_is_opened_on_the_publish_page_with_the_decision(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, by_members: ReviewQueue
) -> None:
    draft(first, (0, {"requirement": REWORDED}))
    ed, rubric = sign_in(people.ed), first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    address = url(people, "rubric_publish", rubric.pk)
    assert "Open its review queue at once" in text(ed.get(address))
    asked = {"revision": rubric.draft_revision, "labels-0-kind": "probe", "labels-0-open": "on"}
    for size, said in (("12", "a probe of 12 items; allowed: 1 to 3"), ("many", "allowed: a whole number")):
        refused = ed.post(address, asked | {"labels-0-size": size, "note": "Clearer"})
        assert refused.status_code == 422
        assert said in text(refused)
        assert f'value="{size}"' in refused.content.decode()
        assert 'value="Clearer"' in refused.content.decode()
        assert not LabelDecision.objects.exists()
        assert rubric.versions.count() == 1
    assert ed.post(address, asked | {"labels-0-size": "3"}).status_code == 302
    opened = ReviewQueue.objects.get(label_decision__kind="probe")
    assert opened.queue_items.count() == 3
    page = text(ed.get(url(people, "rubric", rubric.pk)))
    assert "Probe: capital (v2) 0 of 3 0 of 3 answered so far" in page


def test_a_queue_is_opened_once_from_the_rubric_page_or_the_version_page(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, by_members: ReviewQueue
) -> None:
    rubric_id, _, uid = published(people, first)
    ed, address = sign_in(people.ed), url(people, "rubric_label_queue", rubric_id, 2)
    assert ed.post(address, {"about": uid, "seen": ""}).status_code == 422
    ed.post(
        url(people, "rubric_labels", rubric_id, 2), {"about": uid, "seen": "", "labels-0-kind": "label_again"}
    )
    decision = LabelDecision.objects.get()
    assert "Open the queue" in text(ed.get(url(people, "rubric", rubric_id)))
    body = {"about": uid, "seen": decision.pk}
    for user in (people.bob, people.ann, people.rae):
        assert sign_in(user).post(address, body).status_code == 403
    assert ed.post(address, {"about": uid, "seen": decision.pk + 1}).status_code == 422
    for raters in ("²", "nobody", "9" * 30):
        assert ed.post(address, body | {"raters": raters}).status_code == 400
    assert not ReviewQueue.objects.filter(label_decision=decision).exists()
    for _ in range(2):
        assert ed.post(address, body).status_code == 302
    opened = ReviewQueue.objects.get(label_decision=decision)
    assert opened.raters_per_item == 2
    seen = text(ed.get(url(people, "rubric_version", rubric_id, 2)))
    assert "Label again: capital (v2) 0 of 6 0 of 6 answered so far" in seen
    assert "Open the review queue" not in seen


def test_what_a_probe_found_is_read_on_both_pages_and_decided_at_one_press(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, by_members: ReviewQueue
) -> None:
    rubric_id, second, uid = published(people, first)
    ed, address = sign_in(people.ed), url(people, "rubric_labels", rubric_id, 2)
    asked = {"about": uid, "seen": "", "labels-0-kind": "probe", "labels-0-open": "on", "labels-0-size": "3"}
    assert ed.post(address, asked).status_code == 302
    opened = ReviewQueue.objects.get(label_decision__kind="probe")
    answered = 0
    for user in (people.ann, people.rae):
        while (review := queues.next_review(opened, user, now=timezone.now())) is not None:
            [criterion] = reviews.criteria_of(review)
            # The first is another label than before; two of three are the same.
            reviews.save_verdict(review, criterion.pk, verdict="MET" if answered else "UNMET")
            reviews.submit(review, now=timezone.now())
            answered += 1
    page = text(ed.get(url(people, "rubric_version", rubric_id, 2)))
    both = r"Before and now 0\.67 \[0\.\d+, 0\.\d+\] .* 3 Between reviewers, words before 1\.0"
    assert re.search(both, page)
    assert "3 of 3 answered, 3 by the same person as before." in page
    assert "Before Now Units MET MET 2 MET UNMET 1" in page
    assert "Probe: 3 of 3 answered, equal 0.67" in text(ed.get(url(people, "rubric", rubric_id)))
    seen = LabelDecision.objects.get().pk
    press = {"about": uid, "seen": seen, "labels-0-open": "on", "labels-0-kind": "carry"}
    assert ed.post(address, press).status_code == 302
    assert counting(by_members, second) == NAMES
    assert "carry Probe: 3 of 3 answered, equal 0.67" in text(ed.get(url(people, "rubric", rubric_id)))
    # The other button opens the queue as well.
    carried = LabelDecision.objects.get(superseded_at=None)
    again = {"about": uid, "seen": carried.pk, "labels-0-open": "on", "labels-0-kind": "label_again"}
    assert ed.post(address, again).status_code == 302
    assert ReviewQueue.objects.get(label_decision__kind="label_again").queue_items.count() == 3


def test_the_page_says_which_queue_another_decision_closes_and_asks_for_the_number_of_people(
    people: Cast, sign_in: Callable[..., Client], first: RubricVersion, by_members: ReviewQueue
) -> None:
    rubric_id, _, uid = published(people, first)
    ed, address = sign_in(people.ed), url(people, "rubric_labels", rubric_id, 2)
    asked = {"about": uid, "seen": "", "labels-0-kind": "probe", "labels-0-open": "on", "labels-0-size": "3"}
    ed.post(address, asked)
    before = text(ed.get(url(people, "rubric_version", rubric_id, 2)))
    assert "closes its queue Probe: capital (v2) , in which 0 of 3 reviews are submitted" in before
    again = asked | {"seen": LabelDecision.objects.get().pk, "labels-0-kind": "label_again"}
    wrong = text(ed.post(address, again | {"labels-0-people": "two"}))
    assert "queue.raters_per_item: found" in wrong
    after = text(ed.post(address, again | {"labels-0-people": "1"}, follow=True))
    assert "The queue “Probe: capital (v2)” of the decision before is closed: 0 of 3 reviews" in after
    # 3 items for one person each, where two labelled each of them before.
    assert "Label again: capital (v2) 0 of 3" in after
