"""The demo team: rubrics, four versions of a support assistant, labels, runs for a judge to grade."""

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from importlib import resources

from django.db import transaction

from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.formats.labels.exact import read_labels
from rubricweb.models import (
    Criterion,
    Dataset,
    Item,
    ReviewQueue,
    Role,
    RubricVersion,
    Run,
    SystemVersion,
    Team,
    User,
)
from rubricweb.services.datasets import datasets
from rubricweb.services.endpoints import endpoints
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.rubrics import rubrics
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.launching import launch_runs
from rubricweb.services.runs.starting import RunOptions
from rubricweb.services.runs.work_queue import Enqueue
from rubricweb.services.teams import teams

SLUG = "wrenfield-support"
SAMPLE = "Sample: support replies"


@transaction.atomic
def load_demo(*, enqueue: Enqueue, now: datetime) -> Team:
    """Makes the demo team through the services people use; all of it or nothing.

    Called again it gives back the team that is there, unchanged. The labels in the files become real
    reviews of an open queue; the runs are only started (`enqueue` notifies workers of them on commit) and
    really graded afterwards, by the offline judge when it runs. Raises Invalid when no judge is set up at
    all.
    """
    existing = Team.objects.filter(slug=SLUG).first()
    if existing is not None:
        return existing
    team, people = _people()
    owner, editor = people["alice"], people["ed"]
    reply_rubric = _rubric(team, editor, "rubric_support_reply.yaml")
    note_rubric = _rubric(team, editor, "rubric_release_note.yaml")
    replies = _dataset(team, editor, "support_replies.jsonl", name="Support replies")
    notes = _dataset(team, editor, "release_notes.jsonl", name="Release notes")
    usual = RunOptions(judge_id=_free_judge(team))

    def start(name: str, dataset: Dataset, rubric_version: RubricVersion, options: RunOptions = usual) -> Run:
        return lifecycle.start_run(
            team,
            by=editor,
            dataset=dataset,
            rubric_version=rubric_version,
            enqueue=enqueue,
            options=replace(options, name=name),
        )

    note_run = start("Release notes, criterion by criterion", notes, note_rubric)
    versions = SystemVersion.objects.filter(items__dataset=replies).distinct().order_by("position")
    newest = replace(usual, autograder="one_shot", systems=tuple(versions)[-1:])
    start("Newest support replies, all criteria at once", replies, reply_rubric, newest)
    by_version = launch_runs(
        team,
        by=editor,
        dataset=replies,
        rubric_version=reply_rubric,
        enqueue=enqueue,
        options=replace(usual, name="Support replies", systems=tuple(versions)),
    )
    _labelled_queue(team, owner, people, replies, reply_rubric, by_version[-1], now)
    queues.create_queue(
        team,
        queues.QueueRequest(
            name="Release notes, second opinion",
            dataset=notes,
            rubric_version=note_rubric,
            raters=[owner, people["rae"]],
            raters_per_item=2,
            run=note_run,
            instructions="Judge each note against the change list in the prompt. "
            "What the judge said appears once you have submitted.",
        ),
        by=owner,
    )
    return team


def load_sample(team: Team, *, by: User) -> Dataset:
    """The demo's support replies as a dataset of the team; what is called so already is given back."""
    existing = team.datasets.filter(name=SAMPLE).first()
    return existing or _dataset(team, by, "support_replies.jsonl", name=SAMPLE)


def _people() -> tuple[Team, dict[str, User]]:
    """The team with its members; somebody of the same user name who is here already is taken on."""
    described = json.loads(_read("team.json"))
    people = {
        one["username"]: teams.ensure_person(one["username"], email=one["email"], name=one["name"])
        for one in described["people"]
    }
    owner = next(people[one["username"]] for one in described["people"] if one["role"] == "owner")
    team = teams.create_team(described["name"], owner=owner, slug=described["slug"])
    for one in described["people"]:
        if people[one["username"]] != owner:
            teams.add_member(team, people[one["username"]], Role[one["role"].upper()], by=owner)
    return team, people


def _free_judge(team: Team) -> str:
    """The offline judge when it runs, so that trying the demo costs nothing; else the first there is."""
    judges = endpoints.judges_of(team)
    return endpoints.OFFLINE if endpoints.OFFLINE in judges else next(iter(judges), endpoints.OFFLINE)


def _rubric(team: Team, by: User, filename: str) -> RubricVersion:
    return rubrics.import_rubric(team, by=by, data=_read(filename), filename=filename)


def _dataset(team: Team, by: User, filename: str, *, name: str) -> Dataset:
    return datasets.import_dataset_file(
        team, by=by, data=_read(filename), filename=filename, name=name
    ).dataset


def _labelled_queue(
    team: Team,
    by: User,
    people: dict[str, User],
    dataset: Dataset,
    rubric_version: RubricVersion,
    run: Run,
    now: datetime,
) -> ReviewQueue:
    """An open blind queue in which ann, noor and teo have done the items of the label file."""
    labels = read_labels(_read("support_labels.csv"), filename="support_labels.csv")
    raters = [people[name] for name in dict.fromkeys(label.rater for label in labels)]
    queue = queues.create_queue(
        team,
        queues.QueueRequest(
            name="Support replies, three raters",
            dataset=dataset,
            rubric_version=rubric_version,
            raters=raters,
            raters_per_item=len(raters),
            run=run,
            instructions="Read the customer's message and the reference first, then the reply.",
        ),
        by=by,
    )
    items = {item.key: item for item in Item.objects.filter(dataset=dataset)}
    criteria = {
        str(criterion.name): criterion for criterion in Criterion.objects.filter(version=rubric_version)
    }
    for (item_key, rater), said in _per_review(labels).items():
        review = queues.start_review(queue, items[item_key], people[rater])
        answers = [
            reviews.SubmittedAnswer(criteria[label.criterion].pk, label.verdict, label.reason)
            for label in said
        ]
        reviews.save_answers(review, answers)
        reviews.submit(review, now=now)
    return queue


def _per_review(labels: Iterable[LabelRecord]) -> dict[tuple[str, str], list[LabelRecord]]:
    grouped: dict[tuple[str, str], list[LabelRecord]] = defaultdict(list)
    for label in labels:
        grouped[label.item_id, label.rater].append(label)
    return grouped


def _read(filename: str) -> bytes:
    return resources.files("rubricweb.demo").joinpath(filename).read_bytes()
