"""The first words of a text: what items and unnamed criteria are called."""

import pytest

from rubricweb.engine.parsers.plain_text import first_words


@pytest.mark.parametrize(
    ("text", "limit", "words"),
    [
        ("", 12, ""),
        (" \n\t ", 12, ""),
        ("Why is the sky", 14, "Why is the sky"),
        ("Why is the sky blue?", 14, "Why is the sky…"),
        ("Why is the sky, blue", 15, "Why is the sky…"),
        # Of twelve characters "Why is the s" the last word is half.
        ("# Why is\nthe sky blue?", 12, "Why is the…"),
        ("- **Bold** start", 60, "Bold** start"),
        ("***", 12, "***"),
        ("東京は日本の首都です", 5, "東京は日本…"),
        ("Donaudampfschifffahrt fährt", 10, "Donaudampf…"),
    ],
)
def test_a_text_is_cut_on_one_line_after_a_word(text: str, limit: int, words: str) -> None:
    assert first_words(text, limit) == words


def test_a_long_text_gives_sixty_characters_at_most() -> None:
    # Twelve words of four letters and their spaces are 59 characters; the thirteenth does not fit.
    assert first_words("word " * 200) == ("word " * 12).strip() + "…"
