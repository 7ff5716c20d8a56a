"""Questions that are being asked, and who else waits for the very same answer."""

from collections.abc import Hashable
from typing import Generic, TypeVar
from uuid import UUID

from rubricweb.judges.base import Question
from rubricweb.services.grading.asking.open_items import key_of

Asker = TypeVar("Asker", bound=Hashable)
SameQuestion = tuple[Hashable, UUID]
"""A team and the name of what is asked: whoever asks the very same gets the very same answer."""


class SameQuestions(Generic[Asker]):
    """Of equal questions of a team one is asked, and the others wait for its answer."""

    def __init__(self) -> None:
        self._waiting: dict[SameQuestion, list[tuple[Asker, Question]]] = {}
        self._asked_by: dict[SameQuestion, Asker] = {}

    def wait_or_ask(self, asker: Asker, team: Hashable, question: Question) -> bool:
        """Whether the question waits now, since the very same is being asked; else it is the one to ask."""
        same = (team, key_of(question).content)
        if same in self._waiting:
            self._waiting[same].append((asker, question))
            return True
        self._waiting[same] = []
        self._asked_by[same] = asker
        return False

    def over(self, team: Hashable, content: UUID) -> dict[Asker, list[Question]]:
        """This is not being asked any more, answered or not: who waited for it."""
        self._asked_by.pop((team, content), None)
        of_asker: dict[Asker, list[Question]] = {}
        for asker, question in self._waiting.pop((team, content), ()):
            of_asker.setdefault(asker, []).append(question)
        return of_asker

    def break_off(self, asker: Asker) -> list[tuple[Asker, Question]]:
        """Nothing is being asked by this one any more: who waited for it."""
        asked = [same for same, by in self._asked_by.items() if by is asker]
        for same in asked:
            del self._asked_by[same]
        return [entry for same in asked for entry in self._waiting.pop(same)]

    def leave(self, asker: Asker) -> list[Question]:
        """Takes out the questions of one who waits no more."""
        questions = []
        for same, waiting in self._waiting.items():
            if any(other is asker for other, _ in waiting):
                questions += [question for other, question in waiting if other is asker]
                self._waiting[same] = [entry for entry in waiting if entry[0] is not asker]
        return questions
