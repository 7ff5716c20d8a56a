"""What items are called: number, first words, and the key for whoever may see it."""

from typing import Any

import pytest

from rubricweb.models import Dataset
from rubricweb.selectors.datasets.titles import ItemTitle, item_titles
from tests import factories
from tests.factories import Cast, cast

pytestmark = pytest.mark.django_db


@pytest.fixture
def people() -> Cast:
    return cast()


def named(people: Cast, dataset: Dataset) -> list[ItemTitle]:
    ids = list(dataset.items.order_by("position").values_list("pk", flat=True))
    found = item_titles(ids, viewer=people.ed, team=people.team)
    return [found[pk] for pk in ids]


def made(people: Cast, *prompts: Any, **more: Any) -> Dataset:
    items = [{"id": f"i{at}", "submission": f"Answer {at}."} for at in range(len(prompts))]
    for item, prompt in zip(items, prompts, strict=True):
        item |= {} if prompt is None else {"prompt": prompt}
    return factories.dataset(people.team, people.ed, items=items, **more)


def test_items_of_one_prompt_are_called_by_their_submissions(people: Cast) -> None:
    found = named(people, made(people, "Write an essay.", "Write an essay."))
    assert found == [ItemTitle(1, "Answer 0.", "i0"), ItemTitle(2, "Answer 1.", "i1")]
    assert str(found[1]) == "2 Answer 1."


def test_items_of_several_prompts_are_called_by_them(people: Cast) -> None:
    assert [str(one) for one in named(people, made(people, "Why?", "How?"))] == ["1 Why?", "2 How?"]


def test_prompts_that_begin_alike_name_nothing(people: Cast) -> None:
    # What follows the same instruction would be cut off.
    head = "Grade the following essay of a pupil in the tenth grade, with care: "
    assert [one.words for one in named(people, made(people, head + "one", head + "two"))] == [
        "Answer 0.",
        "Answer 1.",
    ]


def test_prompts_that_differ_in_a_word_no_title_shows_name_nothing(people: Cast) -> None:
    # 58 characters. Of the next word one letter comes within 60: two titles show "Plot: A…", two "Plot…".
    head = "Write a New Yorker-style story given the plot below. Plot:"
    plots = (f"{head} {plot} wakes." for plot in ("A man", "A woman", "Nobody", "In Paris a cat"))
    found = named(people, made(people, *plots))
    assert [one.words for one in found] == ["Answer 0.", "Answer 1.", "Answer 2.", "Answer 3."]


def test_the_submission_names_items_unless_prompts_tell_most_cases_apart(people: Cast) -> None:
    # Two of four are not most, three of five are.
    few = named(people, made(people, *["Why?"] * 3, "How?"))
    most = named(people, made(people, *["Why?"] * 3, "How?", "When?", name="Most"))
    assert [one.words for one in few] == ["Answer 0.", "Answer 1.", "Answer 2.", "Answer 3."]
    assert [one.words for one in most] == ["Why?", "Why?", "Why?", "How?", "When?"]


def test_answers_of_several_versions_to_few_cases_are_called_by_what_was_asked(people: Cast) -> None:
    items = [
        {"case_id": prompt, "system": f"bot@v{n}", "prompt": prompt, "submission": f"{n}"}
        for prompt in ("Why?", "How?")
        for n in range(4)
    ]
    found = named(people, factories.dataset(people.team, people.ed, items=items))
    assert [one.words for one in found] == ["Why?"] * 4 + ["How?"] * 4


def test_the_first_twenty_items_say_how_all_of_their_dataset_are_called(people: Cast) -> None:
    late = made(people, *["Write an essay."] * 20, "Write a poem.")
    other = made(people, "Write an essay.", "How?", name="Other")
    ids = [
        *late.items.filter(position__in=(0, 20)).order_by("position").values_list("pk", flat=True),
        *other.items.order_by("position").values_list("pk", flat=True),
    ]
    found = item_titles(ids, viewer=people.ed, team=people.team)
    assert [found[pk].words for pk in ids] == ["Answer 0.", "Answer 20.", "Write an essay.", "How?"]


def test_a_conversation_is_called_by_what_its_user_says_first(people: Cast) -> None:
    system = {"role": "system", "content": "You are terse. " * 100}
    turns = [
        [system, {"role": "user", "content": "Why is the sky blue?"}, {"role": "user", "content": "Well?"}],
        [system, {"role": "user", "content": [{"type": "text", "text": "What is this?"}]}],
        [{"role": "assistant", "content": "Hello."}],
    ]
    words = [one.words for one in named(people, made(people, *turns))]
    assert words == ["Why is the sky blue?", "What is this?", "Hello."]


def test_a_rater_who_is_still_to_review_blind_is_not_told_the_key(
    people: Cast, django_assert_num_queries: Any
) -> None:
    dataset = made(people, "Why?", "How?")
    version = factories.version(people.team, people.ed)
    factories.queue(people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann])
    ids = list(dataset.items.order_by("position").values_list("pk", flat=True))
    with django_assert_num_queries(3):
        of_rater = item_titles(ids, viewer=people.ann, team=people.team)
    assert [of_rater[pk] for pk in ids] == [ItemTitle(1, "Why?", ""), ItemTitle(2, "How?", "")]
    assert [one.key for one in named(people, dataset)] == ["i0", "i1"]


def test_another_teams_items_have_no_name_here(people: Cast) -> None:
    dataset = made(people, "Why?")
    ids = list(dataset.items.values_list("pk", flat=True))
    assert item_titles(ids, viewer=people.charlie, team=people.other_team) == {}
