"""One judge, asked once: about each criterion, or for one number over the whole item."""

from collections.abc import Iterator, Sequence
from datetime import datetime

from rubricweb.judges.base import Question
from rubricweb.models import Judgement
from rubricweb.services.grading.asking.base import (
    JUDGEMENT_COLUMNS,
    Arrived,
    GradingStrategy,
    judgement_row,
    outcomes,
    storable,
)
from rubricweb.services.grading.asking.open_items import OpenItem, key_of
from rubricweb.services.shared import bulk_rows


class SingleJudge(GradingStrategy):
    """One judge, every criterion answered once."""

    def questions(self, item: OpenItem) -> Iterator[Question]:
        unanswered_criteria = item.unanswered_criteria
        if not unanswered_criteria:
            return
        grader = self.graders.single(item.row.rubric_version_id)
        for prompt in grader.prompts(item.submission, item.rubric, only=unanswered_criteria):
            yield self._question(item, prompt, grader, next(iter(self.judges)))

    def store(self, arrived: Sequence[Arrived], now: datetime) -> None:
        made = []
        for item, call, reply in arrived:
            judge = key_of(reply).judge
            for index, outcome in outcomes(reply):
                made.append(judgement_row(self.run, item, index, judge, outcome, now, call=call))
                item.answers[index] = outcome.answer
        if not bulk_rows.insert_new(Judgement, JUDGEMENT_COLUMNS, made):
            # Another worker answered first: what counts is what is stored.
            self.load([item for item, _, _ in arrived])


class HolisticJudge(GradingStrategy):
    """One judge, one number for the whole item; checks are answered one by one beside it."""

    def questions(self, item: OpenItem) -> Iterator[Question]:
        if not self._waits(item):
            return
        grader = self.graders.single(item.row.rubric_version_id)
        for prompt in grader.prompts(item.submission, item.rubric):
            yield self._question(item, prompt, grader, next(iter(self.judges)))

    def store(self, arrived: Sequence[Arrived], now: datetime) -> None:
        for item, _, reply in arrived:
            row = item.row
            overall = reply.reading.overall if reply.reading else None
            if overall is not None:
                row.llm_raw_score = overall.score
                row.reason = storable(overall.reason)
                row.error_kind, row.error_message = None, ""
            elif reply.error is not None:
                row.error_kind, row.error_message = reply.error.kind, storable(reply.error.message)

    def is_complete(self, item: OpenItem) -> bool:
        return not item.unanswered_checks and not self._waits(item)

    def _waits(self, item: OpenItem) -> bool:
        return (
            bool(item.unanswered_criteria) and item.row.llm_raw_score is None and item.row.error_kind is None
        )
