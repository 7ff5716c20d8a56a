"""At the terminal an item without a key of its own is named by its number and its words."""

from pathlib import Path

from tests import factories
from tests.factories import Cast
from tests.worlds.furnished import MADE

ITEMS = [{"submission": "Rome is the capital."}, {"id": "given", "submission": "Oslo is."}]
ASKED = [
    {"system": "bot@v1", "prompt": "Rome?", "submission": "Rome by v1."},
    {"system": "bot@v1", "prompt": "Oslo?", "submission": "Oslo by v1."},
]


def test_items_and_cases_are_listed_without_made_keys(people: Cast, at_terminal) -> None:
    dataset = factories.dataset(people.team, people.ed, name="mixed", items=ITEMS)
    bob = at_terminal(people.bob)
    listed = bob("datasets", "items", "mixed").out
    made, given = dataset.items.order_by("position")
    assert "Rome is the capital." in listed
    assert f"id:{made.pk}" in listed
    assert "given" in listed
    shown = bob("datasets", "case", "mixed", f"id:{made.case_id}")
    assert shown.code == 0, shown.err
    assert not MADE.search(listed + shown.out + shown.err)
    assert "Case given" in bob("datasets", "case", "mixed", f"id:{given.case_id}").err


def test_imports_name_duplicates_by_their_words(people: Cast, at_terminal, tmp_path: Path) -> None:
    file = tmp_path / "twice.jsonl"
    file.write_text('{"submission": "Rome it is."}\n{"submission": " Rome it is. "}\n')
    ed = at_terminal(people.ed)
    refused = ed("import-dataset", file)
    assert "“Rome it is.” says what an earlier item says" in refused.err
    planned = ed("import-dataset", file, "--plan")
    assert "“Rome it is.” says the same as an earlier item" in planned.err
    behind = ed("datasets", "import", file, "--name", "behind")
    assert not MADE.search(refused.err + planned.err + behind.err)


def test_cases_a_version_did_not_answer_are_named_by_what_is_asked(
    people: Cast, at_terminal, tmp_path: Path
) -> None:
    dataset = factories.dataset(people.team, people.ed, name="asked", items=ASKED)
    case = dataset.cases.get(items__submission="Rome by v1.")
    file = tmp_path / "answers.jsonl"
    file.write_text(f'{{"case_id": "{case.key}", "submission": "Rome by v2."}}\n')
    wanted = ("datasets", "add-answers", "asked", file, "--system", "bot@v2", "--new-names")
    said = at_terminal(people.ed)(*wanted)
    assert said.code == 0, said.err
    assert "1 case without an answer: “Oslo?”" in said.err
    assert not MADE.search(said.err)


def test_labels_are_planned_beside_the_words_of_their_items(
    people: Cast, at_terminal, tmp_path: Path
) -> None:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed, name="mixed", items=ITEMS)
    file = tmp_path / "labels.csv"
    keys = dataset.items.order_by("position").values_list("key", flat=True)
    rows = "".join(f"{key},capital,kim,MET\n" for key in keys)
    file.write_text(f"item_id,criterion,rater,verdict\n{rows}")
    planned = at_terminal(people.ed)(
        "import-labels", file, "--dataset", "mixed", "--rubric", f"id:{version.pk}", "--plan"
    )
    assert "1 Rome is the capital." in planned.out
    assert "given" in planned.out
    assert not MADE.search(planned.out + planned.err)


def test_what_is_no_criterion_of_an_item_is_said_of_the_item_as_it_was_named(
    people: Cast, at_terminal
) -> None:
    factories.version(people.team, people.ed)
    item = factories.dataset(people.team, people.ed, name="mixed", items=ITEMS).items.order_by("position")[0]
    said = at_terminal(people.ed)("adjudication", "show", f"id:{item.pk}", "nothing")
    assert f"id:{item.pk} is not judged by a criterion 'nothing'" in said.err
    assert not MADE.search(said.err)
