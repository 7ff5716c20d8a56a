"""A name in files that turns out to be a member of the team: the labels are theirs, and can be given back."""

from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Dataset, JournalEntry, Rater, Review, ReviewQueue, RubricVersion, User
from rubricweb.selectors.probes import changes_with_probes
from rubricweb.services.datasets import raters
from rubricweb.services.label_queues import QueueWish, decide
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics.label_decisions import NewLabelDecision
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.worlds.versions import changed, said

BY_NAME = "item_id,criterion,rater,verdict\ngood,capital,Ann M.,MET\nbad,capital,Ann M.,UNMET\n"


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def labels(people: Cast, dataset: Dataset, version: RubricVersion) -> ReviewQueue:
    return brought(people, dataset, version, BY_NAME)


def brought(
    people: Cast, dataset: Dataset, version: RubricVersion, text: str, name: str = "old"
) -> ReviewQueue:
    return factories.import_labels(dataset, version, by=people.ed, data=text.encode(), filename=f"{name}.csv")


def test_who_is_said_to_be_a_member_is_asked_again_by_a_probe_as_the_same_rater(
    people: Cast, labels: ReviewQueue, version: RubricVersion
) -> None:
    raters.declare_member(Rater.objects.get(name="Ann M."), people.ann, by=people.ed)
    assert version.rubric is not None
    second = changed(version.rubric, said(requirement="Names Paris as the capital of France."))
    [change] = changes_with_probes(second, viewer=None).changes
    done = decide(
        second, change.uid, NewLabelDecision("probe"), by=people.ed, seen=None, opening=QueueWish(size=2)
    )
    [opened] = done.queues
    while (review := queues.next_review(opened.queue, people.ann, now=timezone.now())) is not None:
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict="MET")
        reviews.submit(review, now=timezone.now())
    probe = changes_with_probes(second, viewer=None).changes[0].probe
    assert probe is not None
    # Of her two labels before, MET and UNMET, one is what she says now.
    assert (probe.same_rater, probe.agreement.value) == (2, 0.5)


def test_the_name_is_the_member_in_later_files_too_and_labels_are_not_stored_twice(
    people: Cast, labels: ReviewQueue, dataset: Dataset, version: RubricVersion
) -> None:
    raters.declare_member(Rater.objects.get(name="Ann M."), people.ann, by=people.ed)
    more = brought(people, dataset, version, f"{BY_NAME}empty-ish,capital,Ann M.,MET\n", name="new")
    # Two of the three labels are those of the first file.
    assert list(more.reviews.values_list("item__key", "rater__user__username")) == [("empty-ish", "ann")]
    assert labels.reviews.filter(rater__user=people.ann).count() == 2


def test_it_is_said_and_taken_back_over_the_api(
    people: Cast, labels: ReviewQueue, dataset: Dataset, as_member: Callable[[User], ApiClient]
) -> None:
    ed = as_member(people.ed)
    [row] = ed.get(f"/datasets/{dataset.pk}/raters")
    assert (row["name"], row["member"], row["labels"]) == ("Ann M.", "", 2)
    at = f"/datasets/{dataset.pk}/raters/{row['id']}"
    ed.refused(422, "PATCH", at, {"member": "nobody"})
    ed.refused(409, "PATCH", at, {"member": ""})
    [told] = ed.send("PATCH", at, {"member": "ann"})
    assert (told["id"], told["member"], told["is_said"], told["labels"]) == (row["id"], "ann", True, 2)
    ed.refused(409, "PATCH", at, {"member": "rae"})
    ed.refused(409, "PATCH", at, {"rater_kind": "machine"})
    assert set(Review.objects.values_list("rater__user__username", flat=True)) == {"ann"}
    [back] = ed.send("PATCH", at, {"member": ""})
    assert (back["member"], back["is_said"], back["labels"]) == ("", False, 2)
    assert set(Review.objects.values_list("rater__name", flat=True)) == {"Ann M."}
    assert list(labels.raters.values_list("name", flat=True)) == ["Ann M."]
    entries = JournalEntry.objects.filter(verb="said which member a rater is").order_by("pk")
    assert [(one.detail["member"], one.detail["reviews"]) for one in entries] == [("ann", 2), ("", 2)]


def test_two_who_labelled_the_same_item_of_a_file_are_not_one(
    people: Cast, dataset: Dataset, version: RubricVersion, as_member: Callable[[User], ApiClient]
) -> None:
    brought(people, dataset, version, f"{BY_NAME}good,capital,ann,MET\n")
    ed = as_member(people.ed)
    rows = {row["name"]: row for row in ed.get(f"/datasets/{dataset.pk}/raters")}
    at = f"/datasets/{dataset.pk}/raters/{rows['Ann M.']['id']}"
    assert "labelled 1 item of old as Ann M. did" in ed.refused(409, "PATCH", at, {"member": "ann"})["detail"]
    assert Review.objects.filter(rater__name="Ann M.").count() == 2


def test_the_page_and_the_terminal_say_the_same(
    people: Cast,
    labels: ReviewQueue,
    dataset: Dataset,
    sign_in: Callable[[User], Client],
    capsys: pytest.CaptureFixture[str],
) -> None:
    ed, here = sign_in(people.ed), reverse("dataset", args=[people.team.slug, dataset.pk])
    rater = Rater.objects.get(name="Ann M.")
    assert '<option value="ann">Ann</option>' in ed.get(here).content.decode()
    address = reverse("rater_member", args=[people.team.slug, dataset.pk, rater.pk])
    page = ed.post(address, {"member": "ann"}, follow=True).content.decode()
    assert "Ann M. is Ann: the labels are theirs" in page
    assert "Not ann after all" in page
    assert "is no member after all" in ed.post(address, {"member": ""}, follow=True).content.decode()
    terminal = terminal_of(people.team, people.ed, capsys)
    command = ("datasets", "rater-member", dataset.pk, "Ann M.")
    assert terminal(*command).code == 1
    assert "ann" in terminal(*command, "ann").out
    assert terminal(*command, "--none").code == 0
    assert Review.objects.filter(rater=rater).count() == 2
