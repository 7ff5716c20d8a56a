"""A judge inside the process, for tests of what happens to replies rather than of the way to them."""

import json
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone

from rubricweb.engine.autograders import Prompt
from rubricweb.engine.errors import UnreadableReply
from rubricweb.judges.base import JudgeConfig, JudgeError, Question, Reply
from rubricweb.judges.pool import Answered
from rubricweb.judges.turns import QueueKey
from rubricweb.models import Run, User
from rubricweb.services.grading import session as grading
from rubricweb.services.runs import lifecycle

Answer = str | JudgeError


def tag(prompt_text: str, name: str) -> str:
    """What stands between a tag of the user prompt, as a judge sees it."""
    found = re.search(rf"<{name}>\n?(.*?)\n?</{name}>", prompt_text, re.DOTALL)
    return found.group(1) if found else ""


Ask = Callable[..., Iterable[Reply]]


class InProcessLine:
    """A `judges.pool.RequestQueue` whose questions are answered by a function, when they are taken.

    What the function leaves out comes back unasked; what it raises is the fault of one question.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._waiting: list[tuple[QueueKey, JudgeConfig, Question]] = []
        self._cancelled: dict[QueueKey, threading.Event] = defaultdict(threading.Event)

    @property
    def outstanding(self) -> int:
        return len(self._waiting)

    def in_flight(self, queue_key: QueueKey) -> int:
        return 0

    def held(self, queue_key: QueueKey) -> int:
        return 0

    def put(self, queue_key: QueueKey, config: JudgeConfig, questions: Sequence[Question]) -> None:
        self._waiting += [(queue_key, config, question) for question in questions]

    def take(self, seconds: float, at_least: int = 1) -> list[Answered]:
        waiting, self._waiting = self._waiting, []
        groups: dict[tuple[QueueKey, JudgeConfig], list[Question]] = defaultdict(list)
        for queue_key, config, question in waiting:
            groups[queue_key, config].append(question)
        return [
            answered
            for (queue_key, config), questions in groups.items()
            for answered in self._answered(queue_key, config, questions)
        ]

    def _answered(
        self, queue_key: QueueKey, config: JudgeConfig, questions: Sequence[Question]
    ) -> Iterator[Answered]:
        left = {id(question.key): question for question in questions}
        try:
            for reply in self._ask(config, iter(questions), stop=self._cancelled[queue_key]):
                yield Answered(queue_key, left.pop(id(reply.key)), reply)
        except Exception as fault:
            yield Answered(queue_key, left.pop(next(iter(left))), fault=fault)
        for question in left.values():
            yield Answered(queue_key, question)

    def cancel(self, queue_key: QueueKey, grace_seconds: float) -> None:
        self._cancelled[queue_key].set()

    def withdraw(self, queue_key: QueueKey) -> None:
        pass  # nothing waits longer than until it is taken

    def reopen(self, queue_key: QueueKey) -> None:
        self._cancelled.pop(queue_key, None)

    def pause(self) -> None:
        pass

    def go_on(self) -> None:
        pass

    def close(self) -> None:
        self._waiting.clear()


class InProcessJudge:
    """Answers each per-criterion question by `answer(requirement, response)`; sessions ask its `line`."""

    def __init__(self, answer: Callable[[str, str], Answer]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

    def line(self) -> InProcessLine:
        return InProcessLine(self)

    def __call__(
        self, config: JudgeConfig, questions: Iterable[Question], *, stop: threading.Event | None = None
    ) -> Iterator[Reply]:
        for question in questions:
            if stop is not None and stop.is_set():
                return
            user = question.prompt.user
            about = tag(user, "criterion"), tag(user, "response")
            self.asked.append(about)
            yield self._reply(config, question, self.answer(*about))

    def _reply(self, config: JudgeConfig, question: Question, answer: Answer) -> Reply:
        text = "" if isinstance(answer, JudgeError) else answer
        if text in ("MET", "UNMET", "CANNOT_ASSESS"):
            text = json.dumps({"explanation": f"judge says {text}", "criterion_status": text})
        reading, error = None, answer if isinstance(answer, JudgeError) else None
        if error is None:
            try:
                reading = question.read(text)
            except UnreadableReply as unreadable:
                error = JudgeError("unreadable_reply", str(unreadable))
        return Reply(question.key, reading, error, text, config.model, "json_schema", 1, 100, 10, 0.001, 0.01)


class LabelJudge(InProcessJudge):
    """Answers by `answer(judge's name, requirement, response)`: a verdict, an option's label, a number from 0
    to 100 for a holistic question, or an error. `asked` holds the same three texts, `prompts` what was sent.
    """

    def __init__(self, answer: Callable[[str, str, str], str | float | JudgeError]) -> None:
        self.by_name = answer
        self.asked: list[tuple[str, str, str]] = []  # type: ignore[assignment]  # one more text than its base
        self.prompts: list[Prompt] = []

    def __call__(
        self, config: JudgeConfig, questions: Iterable[Question], *, stop: threading.Event | None = None
    ) -> Iterator[Reply]:
        for question in questions:
            if stop is not None and stop.is_set():
                return
            prompt = question.prompt
            self.prompts.append(prompt)
            listed = re.findall(r"<criterion(?: [^>]*)?>(.*?)</criterion>", prompt.user, re.DOTALL)
            response = tag(prompt.user, "response")
            said = [self._said(config.name, requirement, response) for requirement in listed]
            yield self._reply(config, question, _as_reply(prompt, said))

    def _said(self, name: str, requirement: str, response: str) -> str | float | JudgeError:
        self.asked.append((name, requirement, response))
        return self.by_name(name, requirement, response)


def _as_reply(prompt: Prompt, said: Sequence[str | float | JudgeError]) -> Answer:
    """One JSON reply to a question about these criteria; the first error is the whole question's."""
    for one in said:
        if isinstance(one, JudgeError):
            return one
    if prompt.schema.__name__ == "RubricAsJudgeOutput":
        return json.dumps({"explanation": "as a whole", "overall_score": said[0]})
    entries = [
        {"criterion_number": number, "explanation": f"judge says {label}"}
        | ({"option": label} if prompt.options_at(number - 1) else {"criterion_status": label})
        for number, label in enumerate(said, start=1)
    ]
    return json.dumps({"criteria_evaluations": entries} if "<criteria>" in prompt.user else entries[0])


def session(run: Run, judge: InProcessJudge, **options: Any) -> list[int]:
    """One session of a worker, on this run alone; the ids of runs it leaves work of."""
    return grading.grade(run.pk, now=timezone.now, queue=judge.line, only_this_run=True, **options)


def pause(run: Run, *, by: User | None, now: datetime) -> None:
    """Pauses it, called as `lifecycle.cancel_run` is."""
    lifecycle.pause_run(run, by=by)


def grade(run: Run, judge: InProcessJudge) -> Run:
    """Grades until nothing is left, as workers would."""
    while session(run, judge):
        pass
    run.refresh_from_db()
    return run
