"""Tags in a row of the rubric editor, whatever a draft holds."""

from rubricweb.web.rubrics.criterion_rows import stored_row


def test_a_tag_with_a_line_break_does_not_lock_the_editor() -> None:
    row = stored_row(0, {"requirement": "Names a city.", "tags": ["one\ntwo", "three\rfour", 'a "b", c']})

    assert row.stored()["tags"] == ["one\ntwo", "three\rfour", 'a "b", c']


def test_tags_on_lines_of_their_own_are_tags_and_a_text_beyond_csv_stays_one() -> None:
    assert stored_row(0, {"tags": "one\ntwo, three"}).stored()["tags"] == ["one", "two", "three"]
    assert stored_row(0, {"tags": "x" * 200_000}).stored()["tags"] == ["x" * 200_000]
