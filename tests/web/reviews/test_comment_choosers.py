"""What a new comment can be about: criteria in their newest words, and verdicts in those of the page."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Review, ReviewQueue, RubricVersion, User
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from tests import factories
from tests.factories import Cast

CRITERIA = [
    {"name": "ending", "weight": 1, "requirement": "Has an ending."},
    {"name": "plot", "weight": 2, "requirement": "What is the plot?", "options": [
        {"label": "Thin", "value": 0}, {"label": "Deep", "value": 1}]},
    {"name": "copied", "weight": -5, "requirement": "Is copied."},
]  # fmt: skip
ANSWERS = {"ending": "MET", "plot": "Deep", "copied": "UNMET"}


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, title="Stories", criteria=CRITERIA)


@pytest.fixture
def queue(people: Cast, version: RubricVersion) -> ReviewQueue:
    return opened(people, version, factories.dataset(people.team, people.ed))


def opened(people: Cast, version: RubricVersion, dataset, name: str = "First") -> ReviewQueue:
    raters = [people.ann, people.rae]
    more = {"dataset": dataset, "rubric_version": version, "raters_per_item": 2, "name": name}
    return factories.queue(people.team, people.ed, raters=raters, **more)


def submitted(queue: ReviewQueue, user: User, **said: str) -> Review:
    review = queues.start_review(queue, queue.dataset.items.get(key="good"), user)
    for criterion in reviews.criteria_of(review):
        label = (ANSWERS | said)[str(criterion.name)]
        reviews.save_verdict(review, criterion.pk, verdict=label, reason="So.")
    reviews.submit(review, now=timezone.now())
    return review


def reworded(people: Cast, version: RubricVersion) -> RubricVersion:
    """The next version: "ending" asks for more, under the same id."""
    rubric = version.rubric
    first, *others = rubric.draft["criteria"]
    draft = rubric.draft | {"criteria": [first | {"requirement": "Has a good ending."}, *others]}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    return rubrics.publish(rubric, by=people.ed)


def choices(client: Client, url: str) -> dict[str, str]:
    """What the form offers → its value."""
    page = client.get(url).content.decode()
    [chooser] = re.findall(r'<select class="comments__about".*?</select>', page, flags=re.DOTALL)
    found = re.findall(r'<option value="([^"]*)"[^>]*>(.*?)</option>', chooser, flags=re.DOTALL)
    return {" ".join(html.unescape(words).split()): value for value, words in found}


def verdicts(client: Client, url: str) -> list[str]:
    return [words for words, value in choices(client, url).items() if value.startswith("verdict-")]


def test_on_the_reveal_verdicts_have_the_names_and_words_of_the_page(people, sign_in, queue) -> None:
    review = submitted(queue, people.ann)
    submitted(queue, people.rae, plot="Thin", copied="MET")
    url = reverse("review_reveal", args=[people.team.slug, review.pk])
    assert verdicts(sign_in(people.ann), url) == [
        "ending: Ann said met",
        "ending: Rae said met",
        "plot: Ann said Deep",
        "plot: Rae said Thin",
        "copied: Ann said error absent",
        "copied: Rae said error present",
    ]


@pytest.mark.parametrize("page", ["adjudication_unit", "compare_item"])
def test_where_names_are_hidden_verdicts_have_the_letters_of_the_page(people, sign_in, queue, page) -> None:
    submitted(queue, people.ann)
    review = submitted(queue, people.rae, ending="UNMET")
    ending = queue.rubric_version.criteria.get(name="ending")
    ids = [review.item_id, *([ending.pk] if page == "adjudication_unit" else [])]
    url, rae = reverse(page, args=[people.team.slug, *ids]), sign_in(people.rae)
    hidden = [words.replace("Rater A", "?").replace("Rater B", "?") for words in verdicts(rae, url)]
    assert sorted(hidden[:2]) == ["ending: ? said met", "ending: ? said unmet"]
    assert len(set(verdicts(rae, url))) == 6, "each line once"
    rae.post(reverse("item_names", args=[people.team.slug, review.item_id]), {"names": "1"})
    assert {"ending: Ann said met", "ending: Rae said unmet"} <= set(verdicts(rae, url))


def test_of_a_reworded_criterion_the_newest_words_are_offered(people, sign_in, queue, version) -> None:
    submitted(queue, people.ann)
    newer = reworded(people, version)
    review = submitted(opened(people, newer, queue.dataset, "Second"), people.ann, ending="UNMET")
    ending = newer.criteria.get(name="ending")
    url = reverse("adjudication_unit", args=[people.team.slug, review.item_id, ending.pk])
    offered = choices(sign_in(people.ed), url)
    criteria = {words: value for words, value in offered.items() if value.startswith("criterion-")}
    assert criteria == {one.title: f"criterion-{one.pk}" for one in newer.criteria.all()}
    # Verdicts were given under both; a title that comes twice is told apart.
    assert [words for words in offered if words.startswith("ending (")] == [
        "ending (v1): Rater A said met",
        "ending (v2): Rater A said unmet",
    ]


def test_an_older_wording_is_offered_where_it_is_the_one_revealed(people, sign_in, queue, version) -> None:
    review = submitted(queue, people.ann)
    reworded(people, version)
    url = reverse("review_reveal", args=[people.team.slug, review.pk])
    offered = choices(sign_in(people.ann), url)
    assert offered["ending"] == f"criterion-{version.criteria.get(name='ending').pk}"
