"""Files of labels over the API: how many raters one names, and what a rater who labels blind learns of it."""

from collections.abc import Callable, Iterable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test.utils import CaptureQueriesContext

from rubricweb.models import Dataset, Judgement, Rater, ReviewQueue, ReviewState, RubricVersion, Run
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.label_files import import_label_file
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast

HEADER = "item_id,criterion,rater,verdict"


@pytest.fixture
def version(people: Cast) -> RubricVersion:
    return factories.version(people.team, people.ed, criteria=factories.CRITERIA[:1])


@pytest.fixture
def dataset(people: Cast) -> Dataset:
    items = [{"id": f"i{n}", "prompt": "Q?", "submission": f"Answer number {n} is here."} for n in range(3)]
    return factories.dataset(people.team, people.ed, items=items)


@pytest.fixture
def send(people: Cast, dataset: Dataset, version: RubricVersion, as_member: Any) -> Callable[..., Any]:
    """Sends rows of a file as ed."""
    ed: ApiClient = as_member(people.ed)

    def sent(rows: Iterable[str], to: str = "labels/plan", **form: Any) -> Any:
        file = SimpleUploadedFile("guess.csv", "\n".join([HEADER, *rows]).encode())
        files = {"file": file, "rubric_version_id": str(version.pk), **form}
        return ed.call("POST", f"/datasets/{dataset.pk}/{to}", files=files)

    return sent


def rows(raters: int, *, item: str = "i0") -> list[str]:
    return [f"{item},capital,r{number},MET" for number in range(raters)]


@pytest.mark.parametrize("to", ["labels/plan", "labels"])
@pytest.mark.parametrize(
    ("kind", "most", "said"),
    [
        ("human", 1_000, "1,001 raters; at most 1,000 in one file"),
        ("machine", 100, "101 machines; at most 100 in one file"),
    ],
)
def test_more_raters_than_a_file_may_name_are_refused_with_their_number(
    send: Any, to: str, kind: str, most: int, said: str
) -> None:
    refused = send(rows(most + 1), to=to, rater_kind=kind)
    assert refused.status_code == 422
    assert refused.json()["detail"] == f"The labels are of {said}. Nothing was imported."
    assert not Rater.objects.filter(name="r0").exists()
    assert send(rows(most), rater_kind=kind).status_code == 200


@pytest.mark.parametrize(("kind", "many"), [("human", 500), ("machine", 100)])
def test_a_look_asks_no_more_queries_for_more_raters_and_writes_nothing(
    send: Any, kind: str, many: int
) -> None:
    asked = []
    send(rows(1), rater_kind=kind)  # a first request notes when the token was used
    for raters in (10, many):
        with CaptureQueriesContext(connection) as queries:
            plan = send(rows(raters), rater_kind=kind).json()
        asked.append(len(queries))
        assert [one["name"] for one in plan["raters"]] == sorted(f"r{number}" for number in range(raters))
        written = [one["sql"] for one in queries if one["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
        assert not [sql for sql in written if "rater" in sql]
        assert not [one for one in queries if "FOR NO KEY UPDATE" in one["sql"]]
    assert asked[0] == asked[1] <= 20
    assert not Rater.objects.filter(name="r0").exists()


def test_an_import_asks_hardly_more_queries_for_more_raters(send: Any) -> None:
    asked = []
    send(rows(1))
    for raters, item in ((10, "i0"), (400, "i1")):
        with CaptureQueriesContext(connection) as queries:
            assert send(rows(raters, item=item), to="labels", name=item).status_code == 201
        asked.append(len(queries))
    # Rows are written many at once.
    assert asked[1] - asked[0] <= 20
    assert Rater.objects.filter(name__regex=r"^r\d+$").count() == 400


def test_raters_are_found_by_name_then_by_user_name_and_a_look_says_which_member(
    people: Cast, send: Any, dataset: Dataset, version: RubricVersion
) -> None:
    # Ann labels as "Ann" and signs in as "ann"; "rae" is a rater of an earlier file, and Rae's user name.
    called = Rater.objects.create(team=people.team, name="rae")
    given = ["i0,capital,Ann,MET", "i1,capital,ann,MET", "i0,capital,rae,MET"]
    plan = send([*given, "i0,capital,new,MET"]).json()
    members = {one["name"]: one["member"] for one in plan["raters"]}
    assert members == {"Ann": "ann", "ann": "ann", "rae": "", "new": ""}
    assert send([*given, "i0,capital,new,MET"], to="labels").status_code == 201
    said = Judgement.objects.filter(review__isnull=False)
    assert sorted(said.values_list("review__rater__name", flat=True)) == ["Ann", "Ann", "new", "rae"]
    assert said.filter(review__rater=called).count() == 1
    # The same again: all of it is known, whoever it was.
    assert send([*given, "i0,capital,new,MET"]).status_code == 409


def test_a_look_knows_a_machine_again_and_tells_new_ones_apart(send: Any) -> None:
    both = ["i0,capital,m1,MET", "i1,capital,m1,MET", "i0,capital,m2,MET"]
    assert send(both, to="labels", rater_kind="machine").status_code == 201
    assert Run.objects.count() == 2
    plan = send([*both[:2], "i0,capital,m3,MET", "i0,capital,m4,MET"], rater_kind="machine").json()
    assert [(one["name"], one["labels"]) for one in plan["raters"]] == [("m3", 1), ("m4", 1)]
    assert [one["rows"] for one in plan["left_out"]] == [2]


# ── Blindness ────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def queue(people: Cast, dataset: Dataset, version: RubricVersion) -> ReviewQueue:
    """ed is to label all items blind."""
    given: dict[str, Any] = {"dataset": dataset, "rubric_version": version, "name": "Blind"}
    return factories.queue(people.team, people.rae, raters=[people.ed, people.ann], **given)


@pytest.mark.parametrize("to", ["labels/plan", "labels"])
def test_whether_a_label_is_known_is_not_told_to_who_labels_the_item_blind(
    people: Cast, dataset: Dataset, version: RubricVersion, queue: ReviewQueue, send: Any, to: str
) -> None:
    """A peer said MET: a guess is answered alike, whether it is right or wrong."""
    data = f"{HEADER}\ni1,capital,Peer,MET\n".encode()
    import_label_file(dataset, version, by=people.rae, data=data, filename="peer.csv")
    right, wrong = (send([f"i1,capital,Peer,{verdict}"], to=to) for verdict in ("MET", "UNMET"))
    assert right.status_code == wrong.status_code == 403
    assert right.json()["detail"] == wrong.json()["detail"]
    assert right.json()["detail"].startswith("The verdicts on 1 item of this file are hidden from you")
    assert "Submit your reviews in “Blind”" in right.json()["detail"]
    assert ReviewQueue.objects.filter(imported=True).count() == 1


def test_labels_of_items_that_are_not_hidden_still_come_in(
    people: Cast, dataset: Dataset, version: RubricVersion, send: Any, as_member: Any
) -> None:
    """Only i0 is in the blind queue: a file about i1 is none of its business."""
    i0 = dataset.items.get(key="i0")
    given: dict[str, Any] = {"dataset": dataset, "rubric_version": version, "raters": [people.ed]}
    factories.queue(people.team, people.rae, source=Source(kind="items", item_ids=(i0.pk,)), **given)
    assert send(["i0,capital,Peer,MET"]).status_code == 403
    assert send(["i0,capital,Peer,MET", "i1,capital,Peer,MET"]).status_code == 403
    assert send(["i1,capital,Peer,MET"]).status_code == 200
    assert send(["i1,capital,Peer,MET"], to="labels").status_code == 201
    assert not dataset.items.get(key="i0").reviews.filter(state=ReviewState.SUBMITTED).exists()
