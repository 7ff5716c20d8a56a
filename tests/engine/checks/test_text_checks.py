"""Keywords, forbidden phrases and lengths."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine.checks import CHECKS
from rubricweb.engine.checks.phrases import contains
from rubricweb.engine.submission import Submission


def measured(check: str, text: str, **params):
    return CHECKS[check].run(Submission(text), CHECKS[check].params.model_validate(params))


@pytest.mark.parametrize(
    ("mode", "value"),
    [("all", 0.0), ("any", 1.0), ("fraction", 2 / 3)],  # two of three are there
)
def test_how_many_keywords_are_enough(mode, value):
    result = measured(
        "contains_keywords", "A Summary; the key points", keywords=["summary", "key points", "x9"], mode=mode
    )
    assert result.value == value
    assert result.reason == "found: summary, key points; missing: x9"


@pytest.mark.parametrize(
    ("text", "keyword", "word", "substring"),
    [
        ("a party", "art", False, True),
        ("art!", "art", True, True),
        ("(art)", "art", True, True),
        ("art_2", "art", False, True),
        ("Straße", "STRASSE", True, True),
        ("Straßen", "strasse", False, True),
        ("cafe\u0301", "café", True, True),  # the accent as a character of its own
        ("cafe\u0301", "cafe", False, False),
        ("naïveté", "naïve", False, True),
        ("Ω-3", "ω", True, True),
        ("हिन्दी", "हिन्द", False, True),  # a vowel sign belongs to its word
        ("use C++.", "C++", True, True),
        ("use C++11", "C++", True, True),
        ("key\n  points", "key points", True, True),
        ("会議の要約", "要約", False, True),
        ("İstanbul", "istanbul", False, False),  # the dotted capital İ is another letter than I
        ("a.b", "a*b", False, False),
        ("no", "a longer phrase than the text", False, False),
    ],
)
def test_words_end_where_a_reader_sees_them_end(text, keyword, word, substring):
    assert measured("contains_keywords", text, keywords=[keyword], match="word").value == word
    assert measured("contains_keywords", text, keywords=[keyword], match="substring").value == substring


def test_capitals_matter_on_demand():
    assert measured("contains_keywords", "it", keywords=["IT"]).value == 1.0
    assert measured("contains_keywords", "it", keywords=["IT"], case_sensitive=True).value == 0.0
    assert measured("no_forbidden_phrases", "it", phrases=["IT"], case_sensitive=True).value == 1.0


def test_one_forbidden_phrase_is_enough_and_is_named():
    result = measured("no_forbidden_phrases", "As an AI I failed.", phrases=["as an AI", "error", "failed"])
    assert (result.value, result.reason) == (0.0, "found: as an AI, failed")
    result = measured("no_forbidden_phrases", "", phrases=["error"])
    assert (result.value, result.reason) == (1.0, "none of the phrases found")


@pytest.mark.parametrize(("length", "value"), [(49, 0.0), (50, 1.0), (500, 1.0), (501, 0.0)])
def test_both_bounds_are_included(length, value):
    assert measured("length_between", "x" * length, min=50, max=500).value == value


def test_characters_are_code_points_and_words_are_what_space_separates():
    # Three code points: e, the combining accent, and one emoji outside the basic plane.
    assert measured("length_between", "e\u0301😀", min=3, max=3).value == 1.0
    result = measured("length_between", " one\ttwo\n\nthree ", unit="words", max=2)
    assert (result.value, result.reason) == (0.0, "3 words; at most 2 allowed")
    assert measured("length_between", "", unit="words", max=0).reason == "0 words"
    assert measured("length_between", "x", min=0).reason == "1 character"


def test_a_huge_text_of_one_word_is_searched_at_once():
    result = measured("contains_keywords", "a" * 1_000_000, keywords=["a" * 200, "aab"], match="word")
    assert result.value == 0.0


def letter(character: str) -> bool:
    return character.isalnum() or character == "_" or character in "\u0301\u093e"


@settings(max_examples=300)
@given(
    text=st.text("ab_- \u0301\u093e1", max_size=14),
    phrase=st.text("ab_- \u0301\u093e1", min_size=1, max_size=4),
)
def test_a_word_is_found_exactly_where_every_place_tried_one_by_one_has_it(text, phrase):
    places = []
    for at in range(len(text) - len(phrase) + 1):
        before, after = text[:at][-1:], text[at + len(phrase) :][:1]
        inside = before and letter(before) and letter(phrase[0])
        inside = inside or (after and letter(after) and letter(phrase[-1]))
        if text[at : at + len(phrase)] == phrase and not inside:
            places.append(at)
    assert contains(text, phrase, "word") == bool(places)
    assert contains(text, phrase, "substring") == (phrase in text)
