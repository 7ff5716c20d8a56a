"""Items that are retired and restored over the API, and the versions that makes."""

from rubricweb.engine.verdict import Verdict
from rubricweb.models import JournalEntry
from rubricweb.services.adjudications import adjudicate
from tests import factories
from tests.factories import Cast


def test_items_are_retired_listed_and_restored(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed)
    ed = as_member(people.ed)
    items = {row["key"]: row for row in ed.get(f"/datasets/{dataset.pk}/items")["items"]}
    assert items["bad"]["added_in"] == 1
    assert items["bad"]["retired_in"] is None
    asked = {"item_ids": [items["bad"]["id"]], "note": "a duplicate"}
    planned = ed.send("POST", f"/datasets/{dataset.pk}/retire", asked | {"plan": True})
    assert (planned["version"], planned["items"], planned["change"]) == (2, 1, "retire")
    assert dataset.items.current().count() == 3
    made = ed.send("POST", f"/datasets/{dataset.pk}/retire", asked)
    assert made == planned
    at = f"/datasets/{dataset.pk}"
    assert ed.get(at)["version"] == 2
    assert ed.get(at)["item_count"] == 2
    assert [row["key"] for row in ed.get(f"{at}/items", version="retired")["items"]] == ["bad"]
    assert len(ed.get(f"{at}/items", version="1")["items"]) == 3
    assert ed.get(f"/items/{items['bad']['id']}")["retired_in"] == 2
    left = [{"why": "retired", "items": 1, "says": "1 item: it is retired"}]
    asked_of = ((None, left), ("current", left), ("2", left), ("1", []), ("retired", []))
    for version, expected in asked_of:  # version 1 had the item, and a list of retired ones leaves none out
        query = {} if version is None else {"version": version}
        assert ed.get(f"{at}/items", **query)["left_out"] == expected
    ed.refused(422, "GET", f"{at}/items", query={"version": "3"})
    restored = ed.send("POST", f"{at}/restore", {"case_ids": [items["bad"]["case_id"]]})
    assert (restored["version"], restored["items"], restored["cases"]) == (3, 1, 1)
    told = [(row["version"], row["kind"], row["note"]) for row in ed.get(f"{at}/versions")]
    assert told == [(3, "restore", ""), (2, "retire", "a duplicate"), (1, "append", "items.jsonl")]
    verbs = JournalEntry.objects.order_by("pk").values_list("verb", flat=True)
    assert list(verbs)[-2:] == ["retired items of", "restored items of"]


def test_items_and_cases_of_others_are_not_found_and_none_at_all_are_refused(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed)
    other = factories.dataset(people.team, people.ed, name="other")
    ed, at = as_member(people.ed), f"/datasets/{dataset.pk}/retire"
    ed.refused(404, "POST", at, {"item_ids": [other.items.all()[0].pk]})
    ed.refused(404, "POST", at, {"case_ids": [other.cases.all()[0].pk]})
    ed.refused(422, "POST", at, {})
    assert dataset.items.current().count() == 3


def test_answers_and_cases_are_corrected(people: Cast, as_member) -> None:
    dataset = factories.dataset(people.team, people.ed)
    item, ed = dataset.items.get(key="bad"), as_member(people.ed)
    words = {"submission": "It is Paris.", "note": "typo"}
    planned = ed.send("PATCH", f"/items/{item.pk}", words | {"plan": True})
    assert (planned["change"], planned["version"], planned["replacement"]) == ("correct", 2, None)
    made = ed.send("PATCH", f"/items/{item.pk}", words)
    new = ed.get(f"/items/{made['replacement']}")
    assert (new["replaces_id"], new["submission"], new["added_in"]) == (item.pk, "It is Paris.", 2)
    assert ed.get(f"/items/{item.pk}")["retired_in"] == 2
    ed.refused(409, "PATCH", f"/items/{item.pk}", words)
    ed.refused(422, "PATCH", f"/items/{made['replacement']}", {})
    [fault] = ed.refused(422, "PATCH", f"/items/{made['replacement']}", {"submission": "x" * 5_000_001})[
        "faults"
    ]
    assert (fault["place"], fault["allowed"]) == ("submission", "at most 5,000,000")
    case = ed.send("PATCH", f"/cases/{new['case_id']}", {"prompt": "Which city?", "reference": "Paris"})
    assert (case["version"], case["cases"], case["items"]) == (3, 1, 1)
    ed.refused(422, "PATCH", f"/cases/{new['case_id']}", {"rubric": {"criteria": []}})
    ed.refused(404, "PATCH", "/cases/999999", {"prompt": "P?"})


def test_refusals_name_nothing_that_is_withheld(people: Cast, as_member) -> None:
    rows = [
        {"case_id": "fr", "system": system, "prompt": "Capital?", "submission": f"{system} says Lyon."}
        for system in ("assistant@v3", "assistant@v4")
    ]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    version = factories.version(people.team, people.ed)
    factories.queue(people.team, people.alice, dataset=dataset, rubric_version=version, raters=[people.ed])
    old, ed = dataset.items.get(key="fr@assistant@v3"), as_member(people.ed)
    made = as_member(people.alice).send("PATCH", f"/items/{old.pk}", {"submission": "Paris."})
    assert ed.get(f"/items/{old.pk}")["key"] is None
    restore = f"/datasets/{dataset.pk}/restore"
    told = [
        ed.refused(409, "PATCH", f"/items/{old.pk}", {"submission": "Nice."}),
        ed.refused(409, "PATCH", f"/items/{made['replacement']}", {"prompt": "Which city?"}),
        ed.refused(403, "POST", restore, {"item_ids": [old.pk], "plan": True}),
        ed.refused(403, "POST", restore, {"item_ids": [old.pk]}),
    ]
    for answer in told:
        assert "assistant" not in str(answer)


def test_no_plan_tells_a_blind_rater_that_somebody_decided_on_an_item(people: Cast, as_member) -> None:
    version, dataset = factories.version(people.team, people.ed), factories.dataset(people.team, people.ed)
    item, criterion = dataset.items.get(key="bad"), version.criteria.get(name="capital")
    adjudicate(
        item, criterion, by=people.rae, verdict=Verdict.UNMET, cause="human_wrong", reason="It is not."
    )
    factories.queue(
        people.team, people.rae, dataset=dataset, rubric_version=version, raters=[people.ed], name="Blind"
    )
    plans = [
        ("POST", f"/datasets/{dataset.pk}/retire", {"item_ids": [item.pk], "plan": True}),
        ("PATCH", f"/items/{item.pk}", {"submission": "Paris.", "plan": True}),
        ("PATCH", f"/cases/{item.case_id}", {"prompt": "Which city?", "plan": True}),
    ]
    for who, told in ((people.ed, 0), (people.alice, 1)):
        counts = [as_member(who).send(*plan)["behind"]["adjudications"] for plan in plans]
        assert counts == [told] * 3
