"""A rater who is still to review some items blind exports the others, and is told what is left out."""

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.formats.bundle.bundle import read_bundle
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Withheld
from rubricweb.models import Cause, Criterion, ReviewQueue, Run, User
from rubricweb.services import adjudications, exports
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.remembered import remembered

# What judge, peer and adjudicator say of the items alice has not reviewed yet.
HIDDEN = ("judge-on-hidden", "peer-on-hidden", "decided-on-hidden")
LEFT_OUT = ["bad", "empty-ish"]


@dataclass(frozen=True)
class Stage:
    run: Run
    queue: ReviewQueue

    def export(self, viewer: User, what: str, format: str) -> exports.Export:
        return exports.export(
            self.queue.team,
            viewer=viewer,
            what=what,
            format=format,
            dataset=self.queue.dataset,
            queues=[self.queue],
            run=self.run,
        )

    def file(self, viewer: User, what: str, format: str) -> bytes:
        pieces = self.export(viewer, what, format).chunks
        return b"".join(one if isinstance(one, bytes) else one.encode() for one in pieces)


@pytest.fixture
def stage(people: Cast) -> Stage:
    """Three items graded and labelled by ann, two of them adjudicated; alice has reviewed "good" only."""
    return remembered(("partial exports", people.team.pk), lambda: make_stage(people))


def make_stage(people: Cast) -> Stage:
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)

    def said(requirement: str, response: str) -> str:
        reason = "judge-on-good" if "capital of France" in response else HIDDEN[0]
        return json.dumps({"explanation": reason, "criterion_status": "MET"})

    run = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version), InProcessJudge(said)
    )
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.alice, people.ann],
        raters_per_item=2,
        run=run,
    )
    for rater, keys in ((people.ann, ["good", *LEFT_OUT]), (people.alice, ["good"])):
        for key in keys:
            submit(queue, rater, key, "peer-on-good" if key == "good" else HIDDEN[1])
    capital = Criterion.objects.get(version=version, name="capital")
    for key in LEFT_OUT:
        adjudications.adjudicate(
            dataset.items.get(key=key),
            capital,
            by=people.rae,
            verdict="MET",
            cause=Cause.JUDGE_WRONG,
            reason=HIDDEN[2],
        )
    return Stage(run, queue)


def submit(queue: ReviewQueue, rater: User, key: str, reason: str) -> None:
    review = queues.start_review(queue, queue.dataset.items.get(key=key), rater)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.UNMET, reason=reason)
    reviews.submit(review, now=timezone.now())


@pytest.mark.parametrize(
    ("what", "format"),
    [("verdicts", "csv"), ("verdicts", "jsonl"), ("verdicts", "wide"), ("ground_truth", "jsonl")],
)
def test_a_file_holds_what_is_visible_and_nothing_of_the_rest(
    stage: Stage, people: Cast, what: str, format: str
) -> None:
    text = stage.file(people.alice, what, format).decode()
    assert "good" in text
    assert not [one for one in (*HIDDEN, "Belgium") if one in text]
    if what == "verdicts":
        assert stage.file(people.bob, what, format).decode().count("\n") > text.count("\n")


def test_a_bundle_names_what_it_leaves_out_and_reads_back(stage: Stage, people: Cast) -> None:
    data = stage.file(people.alice, "verdicts", "bundle")
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            assert not [one for one in HIDDEN if one in archive.read(name).decode()], name
        assert json.loads(archive.read("manifest.json"))["withheld"] == LEFT_OUT
    bundle = read_bundle(data)
    assert bundle.withheld == tuple(LEFT_OUT)
    assert {item.id for item in bundle.dataset.items} == {"good", *LEFT_OUT}
    assert {row.item_id for row in bundle.judgements} == {"good"}
    assert (bundle.agreement, bundle.adjudications) == (None, ())
    whole = read_bundle(stage.file(people.bob, "verdicts", "bundle"))
    assert (whole.withheld, {row.item_id for row in whole.judgements}) == ((), {"good", *LEFT_OUT})
    assert whole.agreement is not None


def test_where_every_item_would_be_left_out_nothing_is_handed_out(stage: Stage, people: Cast) -> None:
    every = factories.queue(
        people.team,
        people.ed,
        dataset=stage.queue.dataset,
        rubric_version=stage.queue.rubric_version,
        raters=[people.alice],
        name="Once more",
    )
    with pytest.raises(Withheld, match="3 items are left out"):
        stage.export(people.alice, "verdicts", "csv")
    queues.close_queue(every, by=people.ed)
    assert stage.export(people.alice, "verdicts", "csv").withheld.keys == tuple(LEFT_OUT)


def as_member(people: Cast, user: User) -> ApiClient:
    membership = people.team.memberships.get(user=user)
    _, secret = teams.create_token(membership, name="tests", may_write=False, days=1, now=timezone.now())
    return ApiClient(secret)


def test_the_api_counts_and_names_what_is_left_out(stage: Stage, people: Cast) -> None:
    dataset = stage.queue.dataset_id
    query = {"what": "verdicts", "format": "csv", "dataset": dataset, "run": stage.run.pk}
    alice = as_member(people, people.alice)
    answer = alice.call("GET", "/exports", query=query)
    assert (answer.status_code, answer["X-Withheld-Items"]) == (200, "2")
    named = alice.get("/exports/withheld", dataset=dataset)
    assert named["items"] == LEFT_OUT
    assert "2 items are left out" in named["why"]
    bob = as_member(people, people.bob)
    assert "X-Withheld-Items" not in bob.call("GET", "/exports", query=query)
    assert bob.get("/exports/withheld", dataset=dataset) == {"items": [], "why": ""}


def test_the_page_names_what_is_left_out_and_still_offers_the_rest(
    stage: Stage, people: Cast, sign_in: Callable[[User], Client]
) -> None:
    url = reverse("exports", args=[people.team.slug])
    page = sign_in(people.alice).get(url).content.decode()
    assert "Labels and verdicts of 2 items are left out" in page
    assert "Left out: bad, empty-ish" in page
    assert "Download" in page
    assert "left out" not in sign_in(people.bob).get(url).content.decode()


def test_the_terminal_names_what_is_left_out_beside_the_file(
    stage: Stage, people: Cast, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = terminal_of(people.team, people.alice, capsys)(
        *("export", "--dataset", stage.queue.dataset.name, "--what", "verdicts", "--format", "csv"),
        *("--run", stage.run.pk),
    )
    assert ended.code == 0
    assert "Left out: bad, empty-ish" in ended.err
    assert "left out" not in ended.out.lower()
