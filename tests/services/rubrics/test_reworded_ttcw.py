"""The published TTCW labels under a rubric of which one criterion of fourteen is reworded."""

import csv
import io
import json
import os
from collections import defaultdict
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.number_format import text_of
from rubricweb.models import Judgement, QueueItem, ReviewQueue, Role, RubricVersion, Run, User
from rubricweb.selectors.comparison.comparison import compare
from rubricweb.selectors.exports.ground_truth import ground_truth_items, settled_labels
from rubricweb.selectors.labels.comparable import queues_to_compare
from rubricweb.selectors.probes import changes_with_probes
from rubricweb.selectors.rubrics.label_changes import changes_in_version
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.label_decisions import NewLabelDecision, decide
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

DATA = os.environ.get("RUBRICWEB_REAL_DATA", "")
pytestmark = pytest.mark.skipif(
    not DATA, reason="RUBRICWEB_REAL_DATA is not set: point it at the folder of prepared/"
)


def prepared(name: str) -> bytes:
    return (Path(DATA) / "prepared" / name).read_bytes()


def judged(run: Run) -> int:
    """Grades the run and counts the questions that were asked."""
    judge = InProcessJudge(lambda requirement, response: "MET")
    grade(run, judge)
    return len(judge.asked)


def units(people: Cast, run: Run) -> tuple[int, int]:
    """How many units the comparison counts, and how many wait under other words."""
    found = compare(run, queues_to_compare(run), viewer=people.rae, resamples=0)
    return found.units, found.on_other_versions


def raters_of(labels: bytes, people: Cast) -> list[User]:
    """The file's raters as members of the team: its labels become theirs when it is imported."""
    names = sorted({row["rater"] for row in csv.DictReader(io.StringIO(labels.decode()))})
    users = [factories.person(name) for name in names]
    for user in users:
        teams.add_member(people.team, user, Role.ANNOTATOR, by=people.alice)
    return users


def reworded(people: Cast, first: RubricVersion) -> RubricVersion:
    """The next version, in which the fourth criterion of fourteen says one sentence more."""
    rubric = first.rubric
    assert rubric is not None
    rubric.refresh_from_db()
    criteria = list(rubric.draft["criteria"])
    other = {**criteria[3], "requirement": criteria[3]["requirement"] + " Judge the whole story."}
    draft = {**rubric.draft, "criteria": [*criteria[:3], other, *criteria[4:]]}
    rubrics.save_draft(rubric, draft=draft, revision=rubric.draft_revision)
    published = rubrics.publish(rubric, by=people.ed)
    return RubricVersion.objects.prefetch_related("criteria").get(pk=published.pk)


def test_one_reworded_criterion_costs_its_own_labels_and_calls_alone(people: Cast) -> None:
    first = rubrics.import_rubric(
        people.team, by=people.ed, data=prepared("ttcw_rubric.json"), filename="ttcw_rubric.json"
    )
    dataset = factories.import_dataset(
        people.team, by=people.ed, data=prepared("ttcw_items.jsonl"), filename="items.jsonl", name="TTCW"
    )
    queue = factories.import_labels(
        dataset, first, by=people.ed, data=prepared("ttcw_labels.csv"), filename="labels.csv"
    )
    asked = {"dataset": dataset, "use_cache": True}
    before = factories.run(people.team, people.ed, rubric_version=first, **asked)
    assert judged(before) == 504
    assert units(people, before) == (504, 0)

    second = reworded(people, first)
    found = changes_in_version(second, viewer=people.ed)
    [change] = found.changes
    assert (change.labels, change.reviews) == (108, 108)
    assert found.regrading is not None
    assert found.regrading.calls == 36

    after = factories.run(people.team, people.ed, rubric_version=second, **asked)
    assert judged(after) == 36
    assert units(people, after) == (468, 36)
    exported = list(ground_truth_items(dataset, settled_labels([queue])))
    # All of them are read by the queue's own version.
    assert sum(len(one.ground_truth or ()) for one in exported) == 504

    decide(second, change.uid, NewLabelDecision("carry"), by=people.ed)
    assert units(people, after) == (504, 0)
    current = changes_in_version(second, viewer=people.ed).changes[0].decision
    assert current is not None
    decide(second, change.uid, NewLabelDecision("label_again"), by=people.ed, seen=current.pk)
    assert units(people, after) == (468, 36)


def test_label_again_asks_36_stories_of_three_each_and_a_probe_of_12_tells_their_agreement(
    people: Cast,
    sign_in: Callable[[User], Client],
    capsys: pytest.CaptureFixture[str],
) -> None:
    first = rubrics.import_rubric(
        people.team, by=people.ed, data=prepared("ttcw_rubric.json"), filename="ttcw_rubric.json"
    )
    dataset = factories.import_dataset(
        people.team, by=people.ed, data=prepared("ttcw_items.jsonl"), filename="items.jsonl", name="TTCW"
    )
    labels = prepared("ttcw_labels.csv")
    experts = raters_of(labels, people)
    factories.import_labels(dataset, first, by=people.ed, data=labels, filename="labels.csv")
    second = reworded(people, first)
    [change] = changes_with_probes(second, viewer=people.ed).changes
    assert change.previous is not None
    ed = people.team.memberships.get(user=people.ed)
    _, secret = teams.create_token(ed, name="tests", may_write=True, days=1, now=timezone.now())
    api, version = ApiClient(secret), f"/rubric-versions/{second.pk}"
    terminal = terminal_of(people.team, people.ed, capsys)

    # The probe is opened at the terminal, and read on all three.
    opened = terminal(
        "labels", "decide", f"id:{second.pk}", change.uid, "probe", "--open-queue", "--seed", "5"
    )
    assert (opened.code, "0 of 12 reviews" in opened.err) == (0, True)
    [probed] = changes_with_probes(second, viewer=people.ed).changes[0].queues
    earlier = {
        (row.item_id, row.review.rater_id): str(row.verdict)
        for row in Judgement.objects.filter(criterion=change.previous).select_related("review")
    }
    # The first three of twelve units get the other label, all else stays as it was.
    asked = list(QueueItem.objects.filter(queue=probed.queue).order_by("position"))
    turned = {row.item_id for row in asked[:3]}
    other = {"MET": "UNMET", "UNMET": "MET"}
    for user in [one for one in experts if probed.queue.raters.filter(user=one).exists()]:
        while (review := queues.next_review(probed.queue, user, now=timezone.now())) is not None:
            said = earlier[review.item_id, review.rater_id]
            [criterion] = reviews.criteria_of(review)
            verdict = other[said] if review.item_id in turned else said
            reviews.save_verdict(review, criterion.pk, verdict=verdict)
            reviews.submit(review, now=timezone.now())
    found = changes_with_probes(second, viewer=people.ed).changes[0].probe
    assert found is not None
    assert (found.answered, found.same_rater, found.is_done) == (12, 12, True)
    assert (found.agreement.value, found.agreement.n) == (0.75, 12)
    # Between three raters: the share of equal pairs on each of 36 stories, averaged.
    by_story: dict[int, list[str]] = defaultdict(list)
    for (item_id, _), verdict in earlier.items():
        by_story[item_id].append(verdict)
    shares = [sum(a == b for a, b in combinations(three, 2)) / 3 for three in by_story.values()]
    assert len(shares) == 36
    assert found.usual.value == pytest.approx(sum(shares) / 36)
    assert found.usual.n == 36
    [listed] = api.get(f"{version}/label-changes")["changes"]
    assert listed["probe"]["agreement"]["value"] == 0.75
    assert listed["probe"]["usual"]["value"] == pytest.approx(found.usual.value)
    printed = json.loads(terminal("labels", "changes", f"id:{second.pk}", "--json").out)
    assert printed == listed
    page = sign_in(people.bob).get(
        reverse("rubric_version", args=[people.team.slug, second.rubric_id, second.number])
    )
    assert text_of(found.agreement) in page.content.decode().replace("</span>", "").replace(
        '<span class="figure__interval" title="95 % interval">', ""
    )

    # Labelled again, every story goes to as many people as before.
    body = {"uid": change.uid, "kind": "label_again", "seen": listed["decision"]["id"], "queue": {}}
    done = api.send("PUT", f"{version}/label-decisions", body)
    [queue] = done["queues"]
    assert (queue["items"], queue["wanted"]) == (36, 36 * 3)
    assert done["decision"]["evidence"]["probe"]["agreement"]["value"] == 0.75
    again = ReviewQueue.objects.get(pk=queue["id"])
    assert set(again.raters.values_list("user", flat=True)) == {user.pk for user in experts}
    assert [one.uid for one in again.criteria.all()] == [change.uid]
    for user in experts:
        while (review := queues.next_review(again, user, now=timezone.now())) is not None:
            [criterion] = reviews.criteria_of(review)
            reviews.save_verdict(review, criterion.pk, verdict="MET")
            reviews.submit(review, now=timezone.now())
    after = factories.run(people.team, people.ed, rubric_version=second, dataset=dataset)
    judged(after)
    # All units count again; what was said of 36 of them under the words before is in no figure.
    assert units(people, after) == (504, 36)
