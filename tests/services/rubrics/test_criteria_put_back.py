"""A criterion that was taken out and comes back without its id is the one it was, with its labels."""

from typing import Any

import pytest

from rubricweb.models import Dataset, RubricVersion
from rubricweb.selectors.rubrics.versions import draft_state
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision
from tests import factories
from tests.factories import Cast
from tests.worlds.versions import CRITERIA, NAMES, changed, counting, label, said

CAPITAL, *OTHERS = CRITERIA


@pytest.fixture
def first(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=CRITERIA)


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    return factories.dataset(people.team, people.ed)


def saved(version: RubricVersion, criteria: list[dict[str, Any]]) -> None:
    """A draft as somebody pastes it: without ids."""
    rubric = version.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    draft = {"title": rubric.title, "criteria": criteria}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)


def published(version: RubricVersion, criteria: list[dict[str, Any]], **options: Any) -> RubricVersion:
    saved(version, criteria)
    assert version.rubric is not None
    return rubrics.publish(version.rubric, by=None, **options)


def uids(version: RubricVersion) -> dict[str, str]:
    return dict(version.criteria.values_list("name", "uid"))


def test_the_same_words_put_back_have_their_labels_again(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    queue = label(people, dataset, first, "first")
    second = published(first, OTHERS)
    assert counting(queue, second) == NAMES - {"capital"}
    for between in (OTHERS[:2], OTHERS):  # found over several versions without it
        published(first, between)
    last = published(first, CRITERIA)
    assert last.number == 5
    assert uids(last) == uids(first)
    assert counting(queue, last) == NAMES


def test_its_name_with_other_words_is_asked_about_before_publication(
    people: Cast, dataset: Dataset, first: RubricVersion
) -> None:
    queue = label(people, dataset, first, "first")
    published(first, OTHERS)
    reworded = CAPITAL | {"requirement": "Names Paris as the capital of France."}
    saved(first, [reworded, *OTHERS])
    assert first.rubric is not None
    asked = draft_state(first.rubric, viewer=people.ed).labels
    assert asked is not None
    # Two people labelled the three items.
    assert [(one.uid, one.labels) for one in asked.changes] == [(uids(first)["capital"], 6)]
    carry = {uids(first)["capital"]: NewLabelDecision("carry")}
    third = rubrics.publish(first.rubric, by=people.ed, decisions=carry)
    assert counting(queue, third) == NAMES


def test_a_draft_takes_the_id_when_it_is_saved_and_keeps_it_when_reworded(first: RubricVersion) -> None:
    published(first, OTHERS)
    nameless = {key: value for key, value in CAPITAL.items() if key != "name"}
    saved(first, [nameless, *OTHERS])  # found by its words
    assert first.rubric is not None
    last = changed(first.rubric, said(requirement="Says that it is Paris."))
    assert last.criteria.get(position=0).uid == uids(first)["capital"]


def test_words_of_long_ago_are_known_while_the_newest_version_asks_in_others(first: RubricVersion) -> None:
    assert first.rubric is not None
    second = changed(first.rubric, said(name="city", requirement="Says that it is Paris."))
    first.rubric.draft = {}  # nothing to fill the ids in from
    first.rubric.save(update_fields=["draft"])
    third = published(first, CRITERIA)
    assert uids(third) == uids(first)
    assert set(uids(third).values()) == set(uids(second).values())


def test_an_id_is_given_to_one_criterion_alone(first: RubricVersion) -> None:
    published(first, OTHERS)
    capital = uids(first)["capital"]
    twice = published(first, [CAPITAL, CAPITAL | {"name": "again"}, *OTHERS])
    assert uids(twice)["capital"] == capital
    assert uids(twice)["again"] not in uids(first).values()
    # Whoever gives the id says which one it is, whatever the others are called.
    given = published(first, [CAPITAL, CAPITAL | {"name": "mine", "id": capital}, *OTHERS])
    assert uids(given)["mine"] == capital
    assert uids(given)["capital"] != capital


def test_the_newest_version_that_has_it_decides(first: RubricVersion) -> None:
    published(first, OTHERS)
    # Another criterion of that name, as an editor adds one: with an id of its own.
    other = CAPITAL | {"requirement": "Spells the capital right.", "id": "uid-0123456789abcdef"}
    published(first, [other, *OTHERS])
    published(first, OTHERS)
    back = published(first, [CAPITAL | {"requirement": "Spells it right."}, *OTHERS])
    assert uids(back)["capital"] == "uid-0123456789abcdef"


@pytest.mark.parametrize("versions", [1, 12])
def test_a_look_at_a_draft_takes_as_many_queries_however_many_versions(
    people: Cast, first: RubricVersion, versions: int, django_assert_num_queries: Any
) -> None:
    assert first.rubric is not None
    for number in range(versions):
        changed(first.rubric, said(requirement=f"Names the capital in {number} words."))
    published(first, OTHERS)
    rubric = first.rubric
    rubric.refresh_from_db()
    rubric.draft = {"title": rubric.title, "criteria": CRITERIA}  # stored by an earlier release
    # The newest version and its criteria, which ids there are and what they asked; then the rows of the
    # criteria and what stands on them.
    with django_assert_num_queries(7):
        state = draft_state(rubric, viewer=people.ed)
    assert state.content is not None
    assert [one.id for one in state.content.criteria] == [uids(first)[one["name"]] for one in CRITERIA]
