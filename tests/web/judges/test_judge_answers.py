"""What the page of a judge says first: how a version agrees with people, or what is missing."""

from typing import Any

import pytest
from django.urls import reverse

from rubricweb.models import Dataset, JudgeVersion, RubricVersion
from rubricweb.services.judges import versions
from tests import factories
from tests.factories import Cast
from tests.worlds.versions import graded, label


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


@pytest.fixture
def rubric(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed)


def page(client: Any, people: Cast, shown: JudgeVersion, **asked: Any) -> str:
    answer = client.get(reverse("judge", args=[people.team.slug, shown.judge_id]), asked)
    return " ".join(answer.content.decode().split()).replace("</span>", "").replace("&#x27;", "'")


def test_without_labels_it_says_so_and_offers_to_label(
    people: Cast, sign_in, dataset: Dataset, rubric: RubricVersion
) -> None:
    version = graded(people, dataset, rubric).judge_version
    shown = page(sign_in(people.ed), people, version)
    assert "How v1 agrees with people is not known yet." in shown
    assert reverse("queue_new", args=[people.team.slug]) + "?" in shown
    assert reverse("queue_new", args=[people.team.slug]) not in page(sign_in(people.bob), people, version)


def test_beside_labels_it_is_the_verdict_of_compare_and_a_version_that_graded_nothing_says_so(
    people: Cast, sign_in, dataset: Dataset, rubric: RubricVersion
) -> None:
    run = graded(people, dataset, rubric)  # everything is met
    version = run.judge_version
    assert version is not None
    label(people, dataset, rubric, "Labels", {"concise": "UNMET"})
    bob = sign_in(people.bob)
    shown = page(bob, people, version)
    # Its figures and words are those of Compare, which calls it "this judge".
    assert "3 items cannot tell whether v1 beats chance." in shown
    assert (
        "\N{GREEK SMALL LETTER KAPPA} by version" not in shown
    )  # it is spelt out: Agreement (kappa) by version
    assert "Agreement (κ) by version" in shown
    assert f"run={run.pk}" in shown
    assert (
        bob.get(reverse("judge", args=[people.team.slug, version.judge_id]), {"dataset": 999}).status_code
        == 404
    )
    changed = version.definition.model_copy(update={"reply_format": "yes_no"})
    newer = versions.keep_version(version.judge, changed, by=people.ed, parent=version, note="")
    again = page(bob, people, newer)
    assert "v2 has graded nothing yet." in again
    assert "Agreement (κ) by version" in again  # of v1
    assert "3 items cannot tell whether v1 beats chance." in page(bob, people, newer, version=1)


def test_who_still_reviews_blind_sees_no_figure_that_rests_on_what_is_hidden(
    people: Cast, sign_in, dataset: Dataset, rubric: RubricVersion
) -> None:
    run = graded(people, dataset, rubric)
    assert run.judge_version is not None
    label(people, dataset, rubric, "Labels", {"concise": "UNMET"})
    factories.queue(people.team, people.ed, dataset=dataset, rubric_version=rubric, raters=[people.rae])
    shown = page(sign_in(people.rae), people, run.judge_version)
    assert "is not known yet" in shown
    assert "κ 0" not in shown
    assert "plot__mark" not in shown
