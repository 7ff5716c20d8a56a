"""A judge inside the process, for tests of what happens to replies rather than of the way to them."""

import json
import re
import threading
from collections.abc import Callable, Iterable, Iterator

from django.utils import timezone

from rubricweb.engine.errors import UnreadableReply
from rubricweb.judges.base import JudgeConfig, JudgeError, Question, Reply
from rubricweb.models import Run
from rubricweb.services import grading

Answer = str | JudgeError


def tag(prompt_text: str, name: str) -> str:
    """What stands between a tag of the user prompt, as a judge sees it."""
    found = re.search(rf"<{name}>\n?(.*?)\n?</{name}>", prompt_text, re.DOTALL)
    return found.group(1) if found else ""


class InProcessJudge:
    """An `ask` for `grade_chunk`: answers each per-criterion question by `answer(requirement, response)`."""

    def __init__(self, answer: Callable[[str, str], Answer]) -> None:
        self.answer = answer
        self.asked: list[tuple[str, str]] = []

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


def grade(run: Run, judge: InProcessJudge) -> Run:
    """Grades until nothing is left, as workers would."""
    while grading.grade_chunk(run.pk, now=timezone.now, ask=judge):
        pass
    run.refresh_from_db()
    return run
