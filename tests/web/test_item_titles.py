"""Pages name items by number and first words; the id shows on hover, and not to blind raters."""

import pytest
from django.urls import reverse

from rubricweb.models import Dataset, ReviewQueue
from rubricweb.services import comments
from tests import factories
from tests.factories import Cast, cast
from tests.judging import InProcessJudge, grade

pytestmark = pytest.mark.django_db

ITEMS = [
    {"id": "case-1@assistant@v2", "prompt": "Why is the sky blue?", "submission": "It scatters."},
    {"id": "case-2@assistant@v2", "prompt": "How deep is the sea?", "submission": "Deep."},
]


@pytest.fixture
def people() -> Cast:
    return cast()


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed, items=ITEMS)


@pytest.fixture
def queue(people: Cast, dataset: Dataset) -> ReviewQueue:
    version = factories.version(people.team, people.ed)
    return factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
    )


def named(number: int, words: str, key: str = "") -> str:
    title = f' title="{key}"' if key else ""
    return (
        f'<span class="item-title"{title}><span class="item-title__number num">{number}</span> '
        f"<bdi>{words}</bdi></span>"
    )


def test_lists_name_items_by_their_texts_with_the_id_on_hover(
    people: Cast, sign_in, dataset: Dataset
) -> None:
    ed, slug = sign_in(people.ed), people.team.slug
    item = dataset.items.get(position=1)
    comments.write(item, by=people.ann, text="Hm, @ed.")
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=factories.version(people.team, people.ed)
    )
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    for name, ids in (
        ("dataset", [dataset.pk]),
        ("item", [item.pk]),
        ("comments", [item.pk]),
        ("notifications", []),
        ("settings_audit_log", []),
        ("run", [run.pk]),
        ("run_item", [run.pk, item.pk]),
    ):
        page = (ed if name != "settings_audit_log" else sign_in(people.alice)).get(
            reverse(name, args=[slug, *ids])
        )
        assert named(2, "How deep is the sea?", "case-2@assistant@v2") in page.content.decode(), name


def test_the_review_page_names_items_without_the_id_that_may_tell_who_answered(
    people: Cast, sign_in, queue: ReviewQueue
) -> None:
    ann = sign_in(people.ann)
    page = ann.post(reverse("review_next", args=[people.team.slug, queue.pk]), follow=True).content.decode()
    assert named(1, "Why is the sky blue?") in page
    assert named(2, "How deep is the sea?") in page.partition('<ol class="rail"')[2]
    for name, ids in (("dataset", [queue.dataset_id]), ("item", [queue.dataset.items.first().pk])):
        page += ann.get(reverse(name, args=[people.team.slug, *ids])).content.decode()
    assert "@assistant" not in page
