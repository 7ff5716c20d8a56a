"""`rubricweb datasets tag`, and items of cases with a tag."""

import json

from rubricweb.api.cases.tag_schemas import TagChange, TagCount
from rubricweb.services.datasets.tags import tagging
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast


def test_cases_are_tagged_shown_and_found(people: Cast, at_terminal, tmp_path) -> None:
    factories.dataset(people.team, people.ed, name="told")
    ed, bob = at_terminal(people.ed), at_terminal(people.bob)
    none = bob("datasets", "tag", "told")
    assert (none.code, "No case of told has a tag. Give some: rubricweb datasets tag" in none.err) == (
        0,
        True,
    )
    said = ed("datasets", "tag", "told", "--case", "good", "--case", "bad", "--add", "Hard,billing").err
    assert "2 cases: added billing, hard." in said
    taken = ed("datasets", "tag", "told", "--case", "good", "--case", "bad", "--remove", "hard,absent").err
    assert taken.splitlines()[-2:] == ["No case had absent.", "2 cases had hard."]
    assert "No case had hard." in ed("datasets", "tag", "told", "--case", "good", "--remove", "hard").err
    assert ed("datasets", "tag", "told", "--case", "good", "--case", "bad", "--add", "hard").code == 0
    names = tmp_path / "items.txt"
    names.write_text("bad\n")
    printed = ed("datasets", "tag", "told", "--items-from", str(names), "--remove", "hard", "--json").out
    assert misfits(TagChange, printed) == []
    assert json.loads(printed) == {"cases": 1, "added": [], "removed": ["hard"]}
    shown = bob("datasets", "tag", "told", "--json").out
    assert [misfits(TagCount, line) for line in shown.splitlines()] == [[], []]
    assert json.loads(shown.splitlines()[0]) == {"tag": "billing", "cases": 2}
    assert "billing" in bob("datasets", "tag", "told").out
    lines = bob("datasets", "items", "told", "--tag", "hard", "--tag", "billing", "--json").out.splitlines()
    assert [(json.loads(line)["key"], json.loads(line)["tags"]) for line in lines] == [
        ("good", ["billing", "hard"])
    ]
    assert "billing, hard" in bob("datasets", "items", "told", "--tag", "hard").out
    assert "no such items" in bob("datasets", "items", "told", "--tag", "absent").err
    assert "Tags: billing, hard" in bob("datasets", "case", "told", "good").err


def test_who_is_to_review_a_case_blind_is_not_told_whether_it_had_a_tag(people: Cast, at_terminal) -> None:
    items = [{"case_id": "c1", "system": f"assistant@v{n}", "submission": f"Yes {n}."} for n in (1, 2)]
    dataset = factories.dataset(people.team, people.alice, name="asked", items=items)
    version = factories.version(people.team, people.alice)
    factories.queue(people.team, people.alice, dataset=dataset, rubric_version=version, raters=[people.ed])
    case = dataset.cases.get()
    tagging.change_tags(dataset, by=people.alice, add=["hard"], case_ids=[case.pk])
    ed = at_terminal(people.ed)
    for tag in ("hard", "absent"):
        said = ed("datasets", "tag", "asked", "--case", f"id:{case.pk}", "--remove", tag).err
        assert said == f"1 case: removed {tag}.\n"


def test_wrong_tags_are_refused(people: Cast, at_terminal) -> None:
    factories.dataset(people.team, people.ed, name="told")
    ed = at_terminal(people.ed)
    for words, why in (
        (("--case", "good"), "at least one to add or to remove"),
        (("--add", "x"), "no items and no cases"),
        (("--case", "good", "--add", "x" * 61), "at most 60"),
        (("--case", "missing", "--add", "x"), "no case 'missing'"),
    ):
        refused = ed("datasets", "tag", "told", *words)
        assert (refused.code, why in refused.err) == (1, True), refused.err
    assert at_terminal(people.bob)("datasets", "tag", "told", "--case", "good", "--add", "x").code == 1
