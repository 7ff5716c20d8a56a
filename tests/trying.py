"""Judges to try: a server that a script answers for, and a version of a judge that asks it."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.test import override_settings

from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.judges.event_loop import close_clients
from rubricweb.judges.offline.script import Request, Say, Script
from rubricweb.judges.offline.server import running_server
from rubricweb.models import Dataset, Item, JudgeVersion, RubricVersion
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.judges.files import definition_from
from rubricweb.services.tries.answers import TriedReply, TryPiece
from rubricweb.services.tries.subject import subject_of
from rubricweb.services.tries.tries import Trying, TryRequest, start_try
from tests import factories
from tests.factories import Cast

STRICT = "{{frame}}\n\nBe strict."


def says(request: Request) -> Say:
    """MET where Paris is asked for, UNMET else, at 100 tokens in and 10 out."""
    status = "MET" if "Paris as the capital" in request.requirement else "UNMET"
    return Say(json.dumps({"explanation": f"It is {status}.", "criterion_status": status}))


@dataclass
class TryWorld:
    """Two endpoints that the script answers for, small and big, at 2 and 10 dollars a million; a dataset of
    three items, a rubric of three criteria, and the judge support-judge, whose v1 asks small.
    """

    people: Cast
    script: Script
    dataset: Dataset
    rubric: RubricVersion
    first: JudgeVersion

    @property
    def item(self) -> Item:
        return self.dataset.items.order_by("position")[0]

    def definition(self, **changes: Any) -> JudgeDefinition:
        told = {"members": [{"endpoint": "small"}]} | changes
        return definition_from(self.people.team, told)

    def strict(self) -> JudgeDefinition:
        return self.definition(wording={"instructions": {"without_options": STRICT}})

    def begin(self, definition: JudgeDefinition | None = None, **more: Any) -> Trying:
        team, by = self.people.team, more.pop("by", self.people.ed)
        before = more.pop("before", None)
        about = {"item": self.item, "version": self.rubric} | more
        subject = subject_of(team, viewer=by, **about)
        asked = definition or self.first.definition
        return start_try(TryRequest(team, by, asked, subject, judge=self.first.judge, before=before))

    def tried(self, definition: JudgeDefinition | None = None, **more: Any) -> list[TryPiece]:
        return list(self.begin(definition, **more))

    def replies(self, pieces: Sequence[TryPiece]) -> list[TriedReply]:
        return [piece for piece in pieces if isinstance(piece, TriedReply)]


@contextmanager
def try_world(people: Cast, script: Script | None = None) -> Iterator[TryWorld]:
    script = script or Script(says)
    with override_settings(JUDGE_ALLOW_PRIVATE_HOSTS=True), running_server(script) as url:
        for name, model in (("small", "m-1"), ("big", "m-2")):
            endpoints.add_endpoint(
                people.team,
                by=people.alice,
                name=name,
                base_url=url,
                model=model,
                api_key="sk-x",
                input_usd_per_million=2.0,
                output_usd_per_million=10.0,
            )
        dataset = factories.dataset(people.team, people.ed, name="tried answers")
        rubric = factories.version(people.team, people.ed)
        asks = definition_from(people.team, {"members": [{"endpoint": "small"}]})
        first = versions.create_judge(people.team, asks, by=people.ed, name="Support judge")
        try:
            yield TryWorld(people, script, dataset, rubric, first)
        finally:
            close_clients()
