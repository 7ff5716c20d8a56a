"""A panel or a cascade: judges vote, and a verdict is made of the votes once all of them are there."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from django.utils import timezone

from rubricweb.engine.autograders import CascadeGrader
from rubricweb.judges.base import Question
from rubricweb.models import Judgement
from rubricweb.models import Vote as VoteRow
from rubricweb.selectors.labels.stored_answers import engine_votes, label_of
from rubricweb.selectors.runs.graders import SettledVotes, settled, stage_of
from rubricweb.services.grading.asking.base import (
    JUDGEMENT_COLUMNS,
    Arrived,
    GradingStrategy,
    Outcome,
    judgement_row,
    outcomes,
    storable,
)
from rubricweb.services.grading.asking.open_items import OpenItem, key_of
from rubricweb.services.shared import bulk_rows

VOTE_COLUMNS = (
    "run_id",
    "item_id",
    "criterion_id",
    "judge",
    "repeat",
    "stage",
    "weight",
    "verdict",
    "confidence",
    "reason",
    "error_kind",
    "error_message",
    "call_id",
    "created_at",
)


class PanelVoting(GradingStrategy):
    """A panel or cascade: votes are rows of their own, a judgement is made of them once all are there."""

    def questions(self, item: OpenItem) -> Iterator[Question]:
        unanswered_criteria = item.unanswered_criteria
        if not unanswered_criteria:
            return
        voting = self.graders.voting(item.row.rubric_version_id)
        for asked in voting.prompts(item.submission, item.rubric, only=unanswered_criteria, votes=item.votes):
            grader = voting.judges[asked.judge].grader
            yield self._question(item, asked.prompt, grader, asked.judge, asked.repeat)

    def store(self, arrived: Sequence[Arrived], now: datetime) -> None:
        made = []
        for item, call, reply in arrived:
            voting = self.graders.voting(item.row.rubric_version_id)
            key = key_of(reply)
            stage, weight = stage_of(voting, key.judge), voting.judges[key.judge].weight
            for index, outcome in outcomes(reply):
                answer = outcome.answer
                made.append(
                    (
                        self.run.pk,
                        item.row.item_id,
                        item.criteria[index].pk,
                        key.judge,
                        key.repeat,
                        stage,
                        weight,
                        label_of(answer) if answer else None,
                        answer.confidence if answer else None,
                        storable(answer.reason) if answer else "",
                        outcome.error_kind[:40] if outcome.error_kind else None,
                        storable(outcome.error_message),
                        call,
                        now,
                    )
                )
        bulk_rows.insert_new(VoteRow, VOTE_COLUMNS, made)
        # Read back: another worker's vote may have come first, and the judgement is made of what is stored.
        self._settle(list({id(item): item for item, _, _ in arrived}.values()), now)

    def load(self, items: Sequence[OpenItem]) -> None:
        super().load(items)
        self._settle(items, timezone.now())

    def hopeless(self, down: Collection[str]) -> bool:
        """A judge that is away costs its own votes; no use without any, or without a stage nobody covers."""
        away = set(down)
        voting = self.graders.voting(self.run.rubric_version_id or 0)
        if isinstance(voting, CascadeGrader) and "error" not in voting.escalate_on:
            return any(away.issuperset(stage.panel.judges) for stage in voting.stages)
        return away.issuperset(self.judges)

    def _settle(self, items: Sequence[OpenItem], now: datetime) -> None:
        """Reads the votes on these items and stores a judgement wherever they are all there."""
        rows = VoteRow.objects.filter(run=self.run, item_id__in=[item.row.item_id for item in items])
        cast_on: dict[tuple[int, int], list[VoteRow]] = defaultdict(list)
        for row in rows:
            cast_on[row.item_id, row.criterion_id].append(row)
        made = []
        for item in items:
            voting = self.graders.voting(item.row.rubric_version_id)
            for index in item.unanswered_criteria:
                criterion = item.rubric.criteria[index]
                item.votes[index] = engine_votes(
                    criterion, cast_on[item.row.item_id, item.criteria[index].pk]
                )
                settled_votes = settled(voting, criterion, item.votes[index])
                if settled_votes is not None:
                    made.append(self._settled(item, index, settled_votes, now))
                    item.answers[index] = settled_votes.tally.answer
        if not bulk_rows.insert_new(Judgement, JUDGEMENT_COLUMNS, made):
            super().load(items)

    def _settled(self, item: OpenItem, index: int, votes: SettledVotes, now: datetime) -> bulk_rows.Row:
        error = votes.tally.error
        failure = (error.kind, error.message) if error is not None else (None, "")
        passed_on = "".join(f"{step.stage} passed it on ({step.reason}). " for step in votes.escalations)
        outcome = Outcome(votes.tally.answer, *failure)
        return judgement_row(self.run, item, index, self.run.judge.name, outcome, now, passed_on=passed_on)
