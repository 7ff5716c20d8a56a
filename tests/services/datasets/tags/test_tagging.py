"""Cases are given tags, which files, copies and exports keep and lists are narrowed by."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.engine.formats.bundle.bundle import read_bundle
from rubricweb.errors import Invalid, NotFound, Withheld
from rubricweb.models import Case, CaseTag, Dataset, JournalEntry, ReviewQueue, User
from rubricweb.selectors.datasets.items import Listed, items, matching_ids
from rubricweb.selectors.datasets.tags import asked_tags, dataset_tags, tag_counts
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services import exports
from rubricweb.services.combinations import combinations, plans
from rubricweb.services.combinations.matching import AskedPart
from rubricweb.services.datasets import answers, splits
from rubricweb.services.datasets.changes import corrections, retirement
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.datasets.tags import tagging
from rubricweb.services.deletions import deletions
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.selectors.labels.query_plans import first_plan

CRITERIA = [{"name": "only", "weight": 1, "requirement": "Is right."}]
SO_MANY = [f"t{n:02}" for n in range(20)]


def row(case: str, version: str, **more: Any) -> dict[str, Any]:
    asked = {"case_id": case, "prompt": f"Question {case}?", "system": f"assistant@{version}"}
    return asked | {"submission": f"{version} answers {case}."} | more


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    """c1 is billing (at v1) and hard (at v2), c2 hard, c3 has no tag; v1 and v2 answer each."""
    rows = [
        row("c1", "v1", case_tags=["Billing"]),
        row("c1", "v2", case_tags="hard"),
        row("c2", "v1", case_tags=["hard"]),
        *(row(case, version) for case, version in (("c2", "v2"), ("c3", "v1"), ("c3", "v2"))),
    ]
    return factories.dataset(people.team, people.ed, items=rows, name="asked")


def case_tags(dataset: Dataset) -> dict[str, tuple[str, ...]]:
    keys = dict(Case.objects.filter(dataset=dataset).values_list("pk", "key"))
    return {keys[pk]: tags for pk, tags in dataset_tags(dataset).items()}


def case_ids(dataset: Dataset, *keys: str) -> list[int]:
    return list(Case.objects.filter(dataset=dataset, key__in=keys).values_list("pk", flat=True))


def listed(dataset: Dataset, people: Cast, *tags: str, **more: Any) -> list[str]:
    of = Listed(tags=tags, **more)
    page = items(dataset, viewer=people.ed, listed=of)
    ids = matching_ids(dataset, viewer=people.ed, listed=of, most=50)
    assert ids == [item.pk for item in page.rows]
    return [item.key for item in page.rows]


def test_a_case_has_the_tags_of_all_its_answers(people: Cast, dataset: Dataset) -> None:
    assert case_tags(dataset) == {"c1": ("billing", "hard"), "c2": ("hard",)}
    more = [row("c3", "v3", case_tags=["new"]), row("c2", "v3", case_tags=["hard", "new"])]
    data = json.dumps(more).encode()
    factories.add_items(dataset, by=people.ed, data=data, filename="more.json")
    assert case_tags(dataset) == {"c1": ("billing", "hard"), "c2": ("hard", "new"), "c3": ("new",)}
    data = json.dumps([{"case_id": "c1", "submission": "v4", "case_tags": ["late"]}]).encode()
    given: dict[str, Any] = {"by": people.ed, "filename": "v4.json", "system": "assistant@v4"}
    answers.add_answers(dataset, data=data, **given)
    assert case_tags(dataset)["c1"] == ("billing", "hard", "late")


def test_an_import_in_the_background_keeps_tags(people: Cast) -> None:
    data = b'{"id": "a", "submission": "x", "case_tags": ["hard"]}\n{"id": "b", "submission": "y"}'
    found = factories.imported(people.team, people.ed, data)
    assert found.dataset is not None
    assert case_tags(found.dataset) == {"a": ("hard",)}


def test_items_that_bring_too_many_tags_are_refused_with_those_the_case_has(
    people: Cast, dataset: Dataset
) -> None:
    # c1 has 2 tags: 10 and 9 more are 21.
    rows = [row("c1", "v3", case_tags=SO_MANY[:10]), row("c1", "v4", case_tags=SO_MANY[10:19])]
    with pytest.raises(Invalid) as error:
        factories.add_items(dataset, by=people.ed, data=json.dumps(rows).encode(), filename="m.json")
    [fault] = error.value.faults
    assert str(fault) == (
        "items[1].case_tags: found 21 tags, with those the case has; allowed: at most 20 for a case"
    )
    assert case_tags(dataset)["c1"] == ("billing", "hard")


def test_tags_are_given_and_taken_away_in_place(people: Cast, dataset: Dataset) -> None:
    ids = list(dataset.items.filter(case__key__in=("c1", "c3")).values_list("pk", flat=True))
    for _ in range(2):  # safe to repeat
        made = tagging.change_tags(dataset, by=people.ed, add=["German"], remove=["hard"], item_ids=ids)
        assert (made.cases, made.added, made.removed) == (2, ("german",), ("hard",))
        assert case_tags(dataset) == {"c1": ("billing", "german"), "c2": ("hard",), "c3": ("german",)}
    assert str(made) == "2 cases: added german; removed hard"
    dataset.refresh_from_db()
    assert dataset.version == 1
    entry = JournalEntry.objects.filter(verb="tagged cases of").latest("pk")
    assert (entry.actor, entry.target_label) == (people.ed, "asked")
    assert entry.detail == {"cases": 2, "added": ["german"], "removed": ["hard"]}


def test_the_tags_of_one_case_are_said_anew(people: Cast, dataset: Dataset) -> None:
    case = Case.objects.get(dataset=dataset, key="c1")
    assert tagging.set_tags(case, ["Hard", "x"], by=people.ed) == ("hard", "x")
    assert case_tags(dataset)["c1"] == ("hard", "x")
    entry = JournalEntry.objects.get(verb="tagged cases of")
    assert entry.detail == {"cases": 1, "added": ["x"], "removed": ["billing"]}
    tagging.set_tags(case, ["x", "hard"], by=people.ed)  # nothing changes
    assert JournalEntry.objects.filter(verb="tagged cases of").count() == 1
    assert tagging.set_tags(case, [], by=people.ed) == ()
    assert "c1" not in case_tags(dataset)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({}, "found no tag; allowed: at least one to add or to remove"),
        ({"add": ["a,b"]}, "add: found the text"),
        ({"add": ["x"], "remove": ["X"]}, "found x, which is added as well"),
        ({"add": SO_MANY[:19]}, "1 case would have more than 20 tags; no tag was changed"),
        ({"add": ["x"], "case_ids": []}, "found no items and no cases"),
    ],
)
def test_a_change_that_is_wrong_changes_nothing(
    people: Cast, dataset: Dataset, asked: dict[str, Sequence[str]], why: str
) -> None:
    before = case_tags(dataset)
    given = {"case_ids": case_ids(dataset, "c1", "c3")} | asked
    with pytest.raises(Invalid, match="(?s)" + why):
        tagging.change_tags(dataset, by=people.ed, **given)
    assert case_tags(dataset) == before
    assert not JournalEntry.objects.filter(verb="tagged cases of").exists()


def test_items_and_cases_of_another_dataset_are_not_found(people: Cast, dataset: Dataset) -> None:
    other = factories.dataset(people.team, people.ed, name="other")
    for given in (
        {"case_ids": [*case_ids(dataset, "c1"), other.cases.all()[0].pk]},
        {"item_ids": [other.items.all()[0].pk]},
    ):
        with pytest.raises(NotFound):
            tagging.change_tags(dataset, by=people.ed, add=["x"], **given)
    assert not CaseTag.objects.filter(tag="x").exists()


def test_lists_are_narrowed_to_cases_with_all_tags(people: Cast, dataset: Dataset) -> None:
    v1, v2 = ("c1@assistant@v1", "c2@assistant@v1"), ("c1@assistant@v2", "c2@assistant@v2")
    assert listed(dataset, people, "hard") == [v1[0], v2[0], v1[1], v2[1]]
    assert listed(dataset, people, "hard", "billing") == [v1[0], v2[0]]
    assert listed(dataset, people, "absent") == []
    assert asked_tags(["", "Hard, billing", "hard"]) == ("billing", "hard")
    with pytest.raises(Invalid):
        asked_tags(["x" * 61])
    item = dataset.items.get(key=v1[1])
    retirement.retire(dataset, [item.pk], by=people.ed)
    assert listed(dataset, people, "hard") == [v1[0], v2[0], v2[1]]
    assert listed(dataset, people, "hard", version="retired") == [v1[1]]
    assert listed(dataset, people, "hard", version=1) == [v1[0], v2[0], v1[1], v2[1]]
    found = items(dataset, viewer=people.ed, search="v2", listed=Listed(tags=("hard",))).rows
    assert [one.key for one in found] == list(v2)
    counts = tag_counts(dataset, viewer=people.ed, asked=("hard", "absent"))
    assert [(one.tag, one.cases) for one in counts] == [("hard", 2), ("billing", 1), ("absent", 0)]


def test_a_corrected_answer_and_a_corrected_case_keep_the_tags(people: Cast, dataset: Dataset) -> None:
    item = dataset.items.get(key="c1@assistant@v1")
    corrections.correct_item(item, Correction(submission="Right."), by=people.ed)
    corrections.correct_case(item.case, Correction(prompt="Really?"), by=people.ed)
    assert case_tags(dataset) == {"c1": ("billing", "hard"), "c2": ("hard",)}
    assert len(listed(dataset, people, "billing")) == 2


def test_a_list_asks_as_many_queries_however_many_tags_there_are(
    people: Cast, dataset: Dataset, django_assert_max_num_queries: Any
) -> None:
    def queries(*tags: str) -> int:
        with django_assert_max_num_queries(50) as asked:
            items(dataset, viewer=people.bob, listed=Listed(tags=tags))
        return len(asked)

    few = queries()
    tagging.change_tags(dataset, by=people.ed, add=SO_MANY[:15], case_ids=case_ids(dataset, "c1", "c2", "c3"))
    assert queries() == few
    # One more asks whether some tags are withheld.
    assert queries("t01") == queries("t01", "t02") == few + 1


def test_a_list_narrowed_to_a_tag_comes_by_an_index(people: Cast, dataset: Dataset) -> None:
    plan = first_plan(
        lambda: items(dataset, viewer=people.ed, listed=Listed(tags=("hard",))), CaseTag._meta.db_table
    )
    assert "case_of_tag" in plan or "case_tag_once" in plan, plan
    assert "SCAN rubricweb_casetag" not in plan


# ── What keeps them ──────────────────────────────────────────────────────────────────────────────


def label(people: Cast, dataset: Dataset) -> ReviewQueue:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    lines = ["item_id,criterion,rater,verdict,reason"]
    lines += [f"{item.key},only,x,MET,so" for item in dataset.items.order_by("position")]
    data = "\n".join(lines).encode()
    return factories.import_labels(dataset, version, by=people.ed, data=data, filename="labels.csv")


def test_sealed_halves_keep_the_tags_and_may_be_tagged(people: Cast, dataset: Dataset) -> None:
    label(people, dataset)
    made = splits.split_dataset(dataset, n_dev=3, by=people.ed)
    wanted = case_tags(dataset)
    for half in (made.dev, made.test):
        keys = set(half.cases.values_list("key", flat=True))
        assert case_tags(half) == {key: tags for key, tags in wanted.items() if key in keys}
    tagging.change_tags(
        made.test, by=people.ed, add=["seen"], case_ids=list(made.test.cases.values_list("pk", flat=True))
    )
    assert "seen" not in str(case_tags(dataset))


def combine(people: Cast, *parts: Dataset) -> Any:
    asked = tuple(AskedPart(one, f"assistant@v{n}") for n, one in enumerate(parts, start=1))
    request = plans.CombinationRequest("both", asked)
    found = combinations.start(people.team, request, by=people.ed, enqueue=None)
    return combinations.work(found.pk, worker="w", now=timezone.now)


def build(people: Cast, name: str, **tags: Sequence[str]) -> Dataset:
    rows = [
        {"id": key, "prompt": f"{key}?", "submission": f"{name} {key}", "case_tags": list(said)}
        for key, said in tags.items()
    ]
    return factories.dataset(people.team, people.ed, items=rows, name=name)


def test_a_combined_case_has_the_tags_of_all_it_is_made_of(people: Cast) -> None:
    one = build(people, "one", q1=["a"], q2=["b"], q3=[])
    two = build(people, "two", q1=["c"], q2=[], q3=[])
    found = combine(people, one, two)
    assert (found.state, found.message) == ("done", "")
    assert case_tags(found.dataset) == {"q1": ("a", "c"), "q2": ("b",)}
    assert case_tags(one) == {"q1": ("a",), "q2": ("b",)}


def test_a_combined_case_with_too_many_tags_is_refused_beforehand(people: Cast) -> None:
    one, two = build(people, "one", q1=SO_MANY), build(people, "two", q1=["one more"])
    found = combine(people, one, two)
    assert found.state == "refused"
    assert "two: item 'q1': found 21 tags of one case; allowed: at most 20" in found.message


def exported(viewer: User, queue: ReviewQueue, format: str, what: str = "ground_truth") -> bytes:
    made = exports.export(
        queue.team, viewer=viewer, what=what, format=format, dataset=queue.dataset, queues=[queue]
    )
    return b"".join(one if isinstance(one, bytes) else one.encode() for one in made.chunks)


@pytest.mark.parametrize("format", ["jsonl", "autorubric"])
def test_exports_of_items_carry_tags_and_are_as_before_without(
    people: Cast, dataset: Dataset, format: str
) -> None:
    queue = label(people, dataset)
    tagged = exported(people.ed, queue, format)
    assert tagged.count(b'"case_tags": ["billing", "hard"]') == 2
    CaseTag.objects.all().delete()
    plain = exported(people.ed, queue, format)
    assert b"case_tags" not in plain
    assert plain.replace(b" ", b"") == (
        tagged.replace(b" ", b"")
        .replace(b',"case_tags":["billing","hard"]', b"")
        .replace(b',"case_tags":["hard"]', b"")
    )


def test_a_bundle_brings_the_tags_back(people: Cast, dataset: Dataset) -> None:
    queue = label(people, dataset)
    data = exported(people.ed, queue, "bundle", "verdicts")
    assert {item.case_id: item.case_tags for item in read_bundle(data).dataset.items}["c2"] == ("hard",)
    assert case_tags(dataset) == {"c1": ("billing", "hard"), "c2": ("hard",)}


def test_a_deleted_dataset_takes_its_tags_along(people: Cast, dataset: Dataset) -> None:
    other = build(people, "stays", q1=["a"])
    found = deletions.delete(dataset, "asked", by=people.alice, now=timezone.now(), enqueue=None)
    deletions.work(found.pk, worker="here:1", now=timezone.now)
    assert list(CaseTag.objects.values_list("case__dataset", "tag")) == [(other.pk, "a")]


# ── Blind ────────────────────────────────────────────────────────────────────────────────────────


def test_tags_are_withheld_from_who_is_to_review_an_answer_blind(people: Cast, dataset: Dataset) -> None:
    team, version = people.team, factories.version(people.team, people.ed, criteria=CRITERIA)
    labelled = label(people, dataset)
    first = dataset.items.get(key="c1@assistant@v1")
    tagging.change_tags(dataset, by=people.ed, add=["v1 fails"], case_ids=[first.case_id])
    queue = factories.queue(
        team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann],
        source=Source("items", item_ids=(first.pk,)),
        raters_per_item=1,
    )

    def seen() -> dict[str, Any]:
        return {
            item.key: item.shown_tags  # type: ignore[attr-defined]  # the selector names them
            for item in items(dataset, viewer=people.ann).rows
        }

    def found(*tags: str) -> list[int]:
        return matching_ids(dataset, viewer=people.ann, listed=Listed(tags=tags), most=9)

    def counts() -> dict[str, int]:
        return {one.tag: one.cases for one in tag_counts(dataset, viewer=people.ann)}

    # Both answers to c1 are withheld, the tags of other cases are not.
    assert (seen()["c1@assistant@v1"], seen()["c1@assistant@v2"]) == (None, None)
    assert seen()["c2@assistant@v1"] == ("hard",)
    assert (found("v1 fails"), len(found("hard"))) == ([], 2)
    assert counts() == {"hard": 1}
    assert b"v1 fails" not in exported(people.ann, labelled, "jsonl")
    with pytest.raises(Withheld):
        tagging.set_tags(first.case, ["x"], by=people.ann)
    # What a change answers does not tell which tags there were.
    for tag in ("hard", "other"):
        made = tagging.change_tags(dataset, by=people.ann, remove=[tag], case_ids=[first.case_id])
        assert (made.cases, made.removed) == (1, (tag,))
    assert case_tags(dataset)["c1"] == ("billing", "v1 fails")
    review = queues.start_review(queue, first, people.ann)
    reviews.save_verdict(review, version.criteria.get().pk, verdict="MET")
    reviews.submit(review, now=timezone.now())
    assert seen()["c1@assistant@v1"] == ("billing", "v1 fails")
    assert (len(found("v1 fails")), counts()["v1 fails"]) == (2, 1)
