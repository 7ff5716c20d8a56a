"""Two texts compared word by word."""

from hypothesis import given
from hypothesis import strategies as st

from rubricweb.engine.rubric.words import MAX_WORDS, within_pairs, word_diff

TEXTS = st.lists(st.sampled_from(["a", "the", " ", "  ", "\n", "city", ",", "."]), max_size=40).map("".join)


def pieces(before: str, after: str) -> list[tuple[str, str]]:
    return [(segment.kind, segment.text) for segment in word_diff(before, after)]


def test_words_that_went_and_came_stand_between_those_that_stayed() -> None:
    assert pieces("names the city", "names a city, twice") == [
        ("same", "names "),
        ("gone", "the"),
        ("new", "a"),
        ("same", " city"),
        ("new", ", twice"),
    ]


def test_a_sentence_that_was_rewritten_is_not_cut_up_at_each_blank() -> None:
    assert pieces(
        "The answer names the capital river clearly.", "Names Paris as capital river of the land."
    ) == [
        ("gone", "The answer names the "),
        ("new", "Names Paris as "),
        ("same", "capital river "),
        ("gone", "clearly"),
        ("new", "of the land"),
        ("same", "."),
    ]


@given(TEXTS, TEXTS)
def test_both_texts_can_be_read_off(before: str, after: str) -> None:
    found = pieces(before, after)
    assert "".join(text for kind, text in found if kind != "new") == before
    assert "".join(text for kind, text in found if kind != "gone") == after
    assert all(text for _, text in found)


def test_words_that_repeat_are_compared_as_others_are() -> None:
    """Once it took the cube of their number: such texts were given up, after seconds."""
    before, after = "the cat sat on the mat. " * 300, "the cat sat on a mat. " * 300
    assert pieces(before, after)[:4] == [
        ("same", "the cat sat on "),
        ("gone", "the"),
        ("new", "a"),
        ("same", " mat. the cat sat on "),
    ]


def test_texts_beyond_the_limit_are_shown_as_replaced() -> None:
    before, after = "word " * MAX_WORDS, "other " * MAX_WORDS
    assert pieces(before, after) == [("gone", before), ("new", after)]
    # 8,000 · 8,000 pairs are 64 million of the 500 million of a page.
    long = "word " * (MAX_WORDS // 2)
    assert list(within_pairs([(long, long)] * 8)) == [True] * 7 + [False]
