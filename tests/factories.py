"""Building data the way the app does: through services. The cast has one member per role and a stranger."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from rubricweb.engine.formats.datasets.cases import UNNAMED
from rubricweb.engine.formats.label_files import LabelChoices
from rubricweb.models import (
    Case,
    Combination,
    Dataset,
    DatasetImport,
    Item,
    Judgement,
    ReviewQueue,
    Role,
    RubricVersion,
    Run,
    Team,
    User,
)
from rubricweb.services import label_files
from rubricweb.services.datasets import datasets, imports
from rubricweb.services.datasets.previews import AS_IT_IS
from rubricweb.services.datasets.systems import named_versions
from rubricweb.services.grading.workers.registry import worker_name
from rubricweb.services.reviews import queues
from rubricweb.services.rubrics import rubrics
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.starting import RunOptions
from rubricweb.services.shared import uploads
from rubricweb.services.teams import teams

CRITERIA: list[dict[str, Any]] = [
    {"name": "capital", "weight": 10.0, "requirement": "Names Paris as the capital.", "group": "Facts"},
    {"name": "concise", "weight": 5.0, "requirement": "Is at most two sentences long.", "group": "Style"},
    {
        "name": "wrong_country",
        "weight": -15.0,
        "requirement": "Places Paris outside France.",
        "group": "Facts",
    },
]
# All MET, these come to (7.129 + 4.333 - 3.517) / 11.462 = 0.69316…: digits that are nowhere else.
TELLING: list[dict[str, Any]] = [
    {**criterion, "weight": weight}
    for criterion, weight in zip(CRITERIA, (7.129, 4.333, -3.517), strict=True)
]
TELLING_SCORE = "0.693"


def tells(text: str, marker: str) -> bool:
    """Whether the text says the marker: 0.693 as a number, not as the end of the time 14:23:20.693.

    A figure with a wide interval is written as 0.69.
    """
    rounded = [rf"{re.escape(marker[:-1])}(?!\d)"] if marker == TELLING_SCORE else []
    return re.search(rf"(?<!\d)(?:{'|'.join([re.escape(marker), *rounded])})", text) is not None


ITEMS: list[dict[str, Any]] = [
    {
        "id": "good",
        "prompt": "What is the capital of France?",
        "submission": "Paris is the capital of France.",
    },
    {
        "id": "bad",
        "prompt": "What is the capital of France?",
        "submission": "Paris lies in Belgium, I believe.",
    },
    {"id": "empty-ish", "prompt": "What is the capital of France?", "submission": "I would rather not say."},
]


@dataclass(frozen=True)
class Cast:
    """alice owns, ed edits, rae reviews, ann annotates, bob views; charlie is in another team."""

    team: Team
    alice: User
    ed: User
    rae: User
    ann: User
    bob: User
    charlie: User
    other_team: Team

    @property
    def members(self) -> dict[Role, User]:
        return {
            Role.OWNER: self.alice,
            Role.EDITOR: self.ed,
            Role.REVIEWER: self.rae,
            Role.ANNOTATOR: self.ann,
            Role.VIEWER: self.bob,
        }


def person(username: str) -> User:
    return teams.create_person(username, email=f"{username}@example.org", name=username.title())


def cast() -> Cast:
    alice, ed, rae, ann, bob, charlie = map(person, ("alice", "ed", "rae", "ann", "bob", "charlie"))
    team = teams.create_team("Capital quality", owner=alice, slug="capitals")
    for user, role in ((ed, Role.EDITOR), (rae, Role.REVIEWER), (ann, Role.ANNOTATOR), (bob, Role.VIEWER)):
        teams.add_member(team, user, role, by=alice)
    other = teams.create_team("Another team", owner=charlie, slug="another")
    return Cast(team, alice, ed, rae, ann, bob, charlie, other)


def version(
    team: Team,
    by: User,
    *,
    title: str = "Capitals",
    criteria: Sequence[Mapping[str, Any]] = CRITERIA,
    **rules: Any,
) -> RubricVersion:
    """`rules` are those of the whole rubric, as `pass_rule`."""
    draft = {"title": title, "criteria": [dict(criterion) for criterion in criteria], **rules}
    return rubrics.publish(rubrics.create_rubric(team, by=by, title=title, draft=draft), by=by)


def dataset(
    team: Team, by: User, *, name: str = "capital answers", items: Sequence[Mapping[str, Any]] = ITEMS
) -> Dataset:
    data = "\n".join(json.dumps(item) for item in items).encode()
    return import_dataset(team, by=by, data=data, filename="items.jsonl", name=name)


def import_dataset(team: Team, **given: Any) -> Dataset:
    """`import_dataset_file`: the dataset, of the file as it is."""
    return datasets.import_dataset_file(team, **{"choices": AS_IT_IS, **given}).dataset


def add_items(dataset: Dataset, **given: Any) -> int:
    """`add_items_of_file`: how many items, of the file as it is."""
    return datasets.add_items_of_file(dataset, **{"choices": AS_IT_IS, **given}).items


def import_labels(dataset: Dataset, version: RubricVersion | None, **given: Any) -> ReviewQueue:
    """`import_label_file` of people's labels: their queue."""
    choices = LabelChoices(rater_kind="human")
    queue = label_files.import_label_file(dataset, version, choices=choices, **given).queue
    assert queue is not None  # somebody's labels are in the file, and not only machines'
    return queue


def combination(team: Team, by: User, *, name: str) -> Combination:
    """One that was cancelled, and whose datasets are deleted since."""
    return Combination.objects.create(team=team, name=name, state="cancelled", created_by=by)


def refused_import(team: Team, by: User) -> DatasetImport:
    """An import of a file with one fault: a row without a submission."""
    return imported(team, by, b'{"id": "a"}\n')


def imported(team: Team, by: User, data: bytes, filename: str = "items.jsonl", **asked: Any) -> DatasetImport:
    """An import as far as it goes by itself."""
    request = imports.ImportRequest(filename=filename, **asked)
    found = imports.start(team, request, by=by, upload_id=uploads.keep(data), enqueue=None)
    return imports.work(found.pk, worker=worker_name(), now=timezone.now)


def many_items(dataset: Dataset, count: int, text: str) -> None:
    """So many items, each a case of its own, without reading a file of them."""
    version = named_versions(dataset.team, [UNNAMED])[UNNAMED]
    for begin in range(0, count, 5000):
        places = range(begin, min(begin + 5000, count))
        cases = Case.objects.bulk_create(
            Case(dataset=dataset, key=f"item-{at}", position=at) for at in places
        )
        Item.objects.bulk_create(
            Item(
                dataset=dataset,
                case=case,
                system_version=version,
                key=case.key,
                position=case.position,
                submission=f"{case.position}. {text}",
                prompt="Capital?",
            )
            for case in cases
        )


@dataclass
class WakeUps:
    """An `enqueue` that writes down for which runs workers were notified."""

    notified: list[int] = field(default_factory=list)

    def __call__(self, run_id: int) -> None:
        self.notified.append(run_id)


def run(
    team: Team,
    by: User,
    *,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    judge_id: str = "offline",
    **options: Any,
) -> Run:
    """A run planned but not graded yet: `tests.judging.grade` grades it.

    Two judges of a test that ask alike may answer differently, so answers are used again only when asked for.
    """
    budget_usd = options.pop("budget_usd", None)
    return lifecycle.start_run(
        team,
        by=by,
        dataset=dataset,
        rubric_version=rubric_version,
        enqueue=options.pop("enqueue", None) or WakeUps(),
        budget_usd=budget_usd,
        no_cap=options.pop("no_cap", budget_usd is None),
        options=RunOptions(**{"judge_id": judge_id, "use_cache": False, **options}),
    )


def all_graded(run: Run) -> None:
    """As workers leave a run who were killed before they ended it: every verdict is there."""
    rows = run.run_items.filter(graded_at=None).select_related("item", "rubric_version")
    verdicts = [
        Judgement(run=run, item=row.item, criterion=criterion, judge=run.judge.name, verdict="MET")
        for row in rows
        for criterion in row.rubric_version.criteria.all()
    ]
    Judgement.objects.bulk_create(verdicts, ignore_conflicts=True)
    rows.update(graded_at=timezone.now())


def queue(
    team: Team,
    by: User,
    *,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    raters: Sequence[User],
    name: str = "First look",
    **options: Any,
) -> ReviewQueue:
    asked = queues.QueueRequest(name, dataset, rubric_version, raters, **options)
    return queues.create_queue(team, asked, by=by)
