"""What a batch asks: the open questions of its items, as the lines of one file."""

from collections.abc import Collection, Container, Hashable, Iterator, Mapping, Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from rubricweb.judges.base import JudgeConfig, Question
from rubricweb.judges.client import batches as batch_client
from rubricweb.judges.client.reply_formats import EndpointCapabilities
from rubricweb.models import BatchJob, Run, RunItem
from rubricweb.services.grading import reply_cache
from rubricweb.services.grading.asking.open_items import OpenItem, OpenItems, key_of
from rubricweb.services.grading.batches.holding import holder, set_aside
from rubricweb.services.grading.writer import Writer
from rubricweb.services.runs.budgets import BudgetReservation

# What one file holds at most: far below what providers allow, so that it fits into a worker's memory.
MOST_QUESTIONS = 10_000
MOST_BYTES = 64 * 1024 * 1024
ITEMS_AT_ONCE = 200


class OutOfBudget(Exception):
    """The budget does not reach for the batch; the message says which."""


class BatchQuestions:
    """The open questions of one batch's items, each under the name it has in the file."""

    def __init__(
        self,
        run: Run,
        job: BatchJob,
        judges: Mapping[str, JudgeConfig],
        writer: Writer,
        capabilities: EndpointCapabilities,
    ) -> None:
        self.run = run
        self.job = job
        self.judges = judges
        self.writer = writer
        self.strategy = writer.strategy
        self.capabilities = capabilities
        self._places = {name: place for place, name in enumerate(judges)}

    def lines(self, now: datetime) -> list[bytes]:
        """The lines of the file; what earlier answers tell is not in it. Items that do not fit go to a batch
        of their own. Raises OutOfBudget when the budget does not reach.
        """
        budget = BudgetReservation.open(self.run, holder(self.job))
        lines: list[bytes] = []
        size = 0
        asked: set[UUID] = set()
        over: list[int] = []
        for items in self.items():
            for item, fresh in self._fresh(items, asked):
                written = [self._line(name, question) for name, question in fresh]
                length = sum(map(len, written))
                if lines and (size + length > MOST_BYTES or len(lines) + len(written) > MOST_QUESTIONS):
                    over.append(item.row.pk)
                    continue
                for _, question in fresh:
                    self._reserve(budget, question, now)
                asked |= {key_of(question).content for _, question in fresh}
                lines += written
                size += length
        # Money is set aside for many calls at a time: what these questions do not need is given back.
        self.writer.release(budget.release_unused(), now)
        if over:
            with transaction.atomic():
                set_aside(BatchJob.objects.create(run=self.run, judge=self.job.judge), over)
        return lines

    def _line(self, name: str, question: Question) -> bytes:
        return batch_client.line_of(self.judges[key_of(question).judge], question, name, self.capabilities)

    def _fresh(
        self, items: Sequence[OpenItem], asked: Collection[UUID]
    ) -> Iterator[tuple[OpenItem, list[tuple[str, Question]]]]:
        """The items with what is to be asked about each and was not answered, nor asked, before; `asked` may
        grow meanwhile.
        """
        found = {item.row.pk: list(self.named([item])) for item in items}
        known: Container[UUID] = ()
        if self.run.use_cache:
            keys = {key_of(question).content for some in found.values() for _, question in some}
            known = reply_cache.known(self.run.team_id, keys)
        for item in items:
            fresh: dict[Hashable, tuple[str, Question]] = {}
            for name, question in found[item.row.pk]:
                content = key_of(question).content
                if not self.run.use_cache:
                    fresh[name] = name, question
                elif content not in known and content not in asked:
                    fresh.setdefault(content, (name, question))
            if fresh:
                yield item, list(fresh.values())

    def _reserve(self, budget: BudgetReservation, question: Question, now: datetime) -> None:
        config = self.judges[key_of(question).judge].at_batch_price()
        if not budget.reserve(budget.expected_cost(config, question.prompt), now):
            budget.close()
            raise OutOfBudget(budget.refusal)

    def named(self, items: Sequence[OpenItem]) -> Iterator[tuple[str, Question]]:
        """Every open question about these items, under the name it has in the file: with the judge's place in
        the panel, but for the first one's, so that files already handed in are read as they were written.
        """
        for item in items:
            for question in self.strategy.questions(item):
                key = key_of(question)
                place = self._places[key.judge]
                yield f"{key.row}.{key.criteria[0]}.{key.repeat}" + (f".{place}" if place else ""), question

    def items(self) -> Iterator[list[OpenItem]]:
        """The items of the batch with what is stored about them, some at a time."""
        rows = list(self.held().values_list("pk", flat=True))
        opener = OpenItems(self.run)
        for start in range(0, len(rows), ITEMS_AT_ONCE):
            items = opener.open(rows[start : start + ITEMS_AT_ONCE])
            self.strategy.load(items)
            yield items

    def with_judges(self, questions: Mapping[str, Question]) -> dict[str, tuple[JudgeConfig, Question]]:
        """The same with the judge that each is asked of."""
        return {name: (self.judges[key_of(one).judge], one) for name, one in questions.items()}

    def held(self) -> QuerySet[RunItem]:
        """Rows of the items that are not graded yet."""
        return RunItem.every.filter(run=self.run, leased_by=holder(self.job), graded_at=None).order_by("pk")
