"""`rubricweb import-labels`: which items rows are about."""

import json
from pathlib import Path

from rubricweb.models import Judgement, ReviewQueue
from tests import factories
from tests.factories import Cast

CRITERIA = [{"name": "polite", "requirement": "Is polite."}]
ANSWERS = [
    {"case_id": case, "system": f"{system}@v1", "submission": f"{system} on {case}"}
    for case in ("refund", "parcel")
    for system in ("warm", "cold")
]


def stored(name: str) -> dict[str, str]:
    rows = Judgement.objects.filter(review__queue=ReviewQueue.objects.get(name=name))
    return dict(rows.values_list("item__key", "verdict"))


def test_labels_by_case_and_system_are_stored_at_their_answers(
    people: Cast, at_terminal, tmp_path: Path
) -> None:
    factories.dataset(people.team, people.ed, name="replies", items=ANSWERS)
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    file = tmp_path / "by model.csv"
    file.write_text("Question,Model,Rating\nrefund,warm,yes\nrefund,cold,no\nparcel,cold,yes\n")
    given = ("import-labels", file, "--dataset", "replies", "--rubric", f"id:{version.pk}", "--rater", "eva")
    ed = at_terminal(people.ed)
    planned = json.loads(ed(*given, "--plan", "--json").out)
    assert [one["field"] for one in planned["columns"]] == ["case_id", "system", "verdict"]
    assert (planned["items"], planned["left_out"]) == (3, [])
    assert ed(*given).code == 0
    assert stored("by model") == {
        "refund@warm@v1": "MET",
        "refund@cold@v1": "UNMET",
        "parcel@cold@v1": "MET",
    }
    said = ("--column", "case_id=Question", "--column", "system=Model", "--column", "polite=Rating")
    again = ed(*given, *said)
    assert (again.code, "imported before" in again.err) == (1, True)


def test_labels_whose_ids_went_through_a_spreadsheet_are_not_put_at_other_items(
    people: Cast, at_terminal, tmp_path: Path
) -> None:
    items = [{"id": str(number), "submission": f"Text {number}"} for number in range(1, 4)]
    factories.dataset(people.team, people.ed, name="texts", items=items)
    criteria = [
        {
            "name": "stars",
            "requirement": "How good?",
            "options": [{"label": str(number), "value": number / 5} for number in range(1, 6)],
        }
    ]
    version = factories.version(people.team, people.ed, criteria=criteria)
    ed = at_terminal(people.ed)
    file = tmp_path / "floats.csv"
    given = ("import-labels", file, "--dataset", "texts", "--rubric", f"id:{version.pk}", "--rater", "eva")
    file.write_text("id,stars\n1.0,3\n2.0,1\n3.0,2\n")
    assert ed(*given).code == 0
    assert stored("floats") == {"1": "3", "2": "1", "3": "2"}
    file.write_text("id,stars\nrow 1,3\nrow 2,1\n")
    refused = ed(*given, "--name", "rows")
    assert (refused.code, "id: found 'row 1'; allowed: the id of an item" in refused.err) == (1, True)
    assert not ReviewQueue.objects.filter(name="rows").exists()


def test_answers_name_their_cases_as_a_data_frame_writes_numbers(
    people: Cast, at_terminal, tmp_path: Path
) -> None:
    first = [{"case_id": str(n), "system": "bot@v1", "submission": f"One {n}"} for n in (1, 2)]
    factories.dataset(people.team, people.ed, name="numbered", items=first)
    file = tmp_path / "v2.csv"
    file.write_text("case_id,submission\n1.0,Two 1\n2.0,Two 2\n")
    ended = at_terminal(people.ed)("datasets", "add-answers", "numbered", file, "--system", "bot@v2")
    assert (ended.code, "Added 2 answers" in ended.err) == (0, True), ended.err
