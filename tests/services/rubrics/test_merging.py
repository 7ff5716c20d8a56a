"""Drafts of two people who began from the same one go together; who saved what is remembered."""

from typing import Any

from rubricweb.services.earlier_drafts import difference, draft_at, restored, savers_since
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.merging import merge_drafts
from tests.factories import Cast

A = {"id": "a", "name": "city", "weight": 1, "requirement": "Names it."}
B = {"id": "b", "weight": 2, "requirement": "Is short."}
C = {"id": "c", "weight": 3, "requirement": "Is kind."}
BASE = {"title": "T", "guidelines": "", "criteria": [A, B]}


def draft(*criteria: dict[str, Any], **head: Any) -> dict[str, Any]:
    return {**BASE, **head, "criteria": list(criteria)}


def test_changes_to_different_criteria_and_fields_go_together() -> None:
    theirs = draft({**A, "weight": 5}, C, B, guidelines="Be fair.")
    mine = draft({**A, "requirement": "Names the city."}, {**B, "weight": 4})
    merge = merge_drafts(BASE, theirs, mine)
    assert merge.conflicts == []
    assert merge.draft == draft(
        {**A, "weight": 5, "requirement": "Names the city."}, C, {**B, "weight": 4}, guidelines="Be fair."
    )
    assert merge.theirs_changed == ["guidelines", "“city”: weight", "added “Is kind.”"]


def test_one_field_that_both_changed_is_mine_until_somebody_chooses() -> None:
    theirs, mine = draft({**A, "weight": 5}, B), draft({**A, "weight": 7}, B)
    [conflict] = merge_drafts(BASE, theirs, mine).conflicts
    assert (conflict.place, conflict.field, conflict.mine, conflict.theirs) == (
        "criteria[0]",
        "weight",
        "7",
        "5",
    )
    assert merge_drafts(BASE, theirs, mine).draft == mine
    assert merge_drafts(BASE, theirs, mine, {conflict.key: "theirs"}).draft == theirs


def test_a_criterion_one_removed_and_the_other_changed_is_kept_until_somebody_chooses() -> None:
    changed, removed = draft({**A, "weight": 5}, B), draft(B)
    for theirs, mine in ((changed, removed), (removed, changed)):
        merge = merge_drafts(BASE, theirs, mine)
        assert [one.field for one in merge.conflicts] == ["criterion"]
        assert [entry["id"] for entry in merge.draft["criteria"]] == ["a", "b"]
        chosen = merge_drafts(BASE, theirs, mine, {merge.conflicts[0].key: "theirs"})
        assert [entry["id"] for entry in chosen.draft["criteria"]] == [
            one["id"] for one in theirs["criteria"]
        ]
    untouched = merge_drafts(BASE, removed, draft(A, B))
    assert (untouched.draft, untouched.theirs_changed) == (removed, ["removed “city”"])


def test_a_moved_criterion_stays_moved_and_one_that_was_added_stays_where_it_was_put() -> None:
    assert merge_drafts(BASE, draft(B, A), draft(A, B, C)).draft == draft(B, C, A)
    assert merge_drafts(BASE, draft(A, C, B), draft(B, A)).draft == draft(B, A, C)


def test_how_a_criterion_is_answered_is_one_thing() -> None:
    check = {**A, "check": "contains_keywords", "params": {"keywords": ["Paris"]}}
    choice = {**A, "options": [{"label": "no", "value": 0}, {"label": "yes", "value": 1}]}
    [conflict] = merge_drafts(BASE, draft(check, B), draft(choice, B)).conflicts
    assert (conflict.mine, conflict.theirs) == (
        "no = 0; yes = 1",
        'check contains_keywords {"keywords": ["Paris"]}',
    )


def test_without_the_draft_both_began_from_whatever_differs_is_asked_about() -> None:
    merge = merge_drafts(None, draft({**A, "weight": 5}, B), draft(A, C))
    assert [(one.label, one.field) for one in merge.conflicts] == [("“city”", "weight")]
    assert {entry["id"] for entry in merge.draft["criteria"]} == {"a", "b", "c"}


def test_the_draft_at_an_earlier_save_comes_back_exactly(people: Cast) -> None:
    states = [
        draft(A, B),
        draft({**A, "weight": 9}, B, C),
        draft(C, {**A, "weight": 9}, guidelines="Be fair.", pass_rule={"min_score": 0.5}),
        draft({"weight": 1, "requirement": "Has no id."}),
    ]
    for after, before in zip(states[1:], states, strict=False):
        assert restored(after, difference(after, before)) == before
    rubric = rubrics.create_rubric(people.team, by=people.ed, title="T", draft=states[0])
    for revision, (person, state) in enumerate(
        zip((people.ed, people.rae, people.ed), states[1:], strict=True)
    ):
        rubrics.save_draft(rubric, by=person, draft=state, revision=revision)
    kept = [draft_at(rubric, revision) for revision in range(3)]
    assert kept == states[:3]
    assert draft_at(rubric, -1) is None
    assert savers_since(rubric, 0) == [str(people.ed), str(people.rae)]
