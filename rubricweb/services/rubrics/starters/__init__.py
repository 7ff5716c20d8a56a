"""Rubrics to begin with: the files in this folder, each a rubric as `rubricweb lint` reads it.

The first line of a file's description says what it is for, the second where its idea comes from.
"""

from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from rubricweb.engine import Rubric as RubricContent
from rubricweb.engine.formats.rubric_files import read_rubric
from rubricweb.errors import NotFound
from rubricweb.models import Rubric, Team, User
from rubricweb.services.rubrics import rubrics
from rubricweb.services.rubrics.drafts import as_draft

NAMES = (
    *("support_reply", "answer_from_documents", "summary", "short_story", "code_review", "sql"),
    *("translation", "meeting_minutes", "lesson", "product_description"),
    *("medical_advice", "harmful_requests"),
)
"""In the order they are offered: the first six stand on the dashboard of a new team."""


@dataclass(frozen=True)
class Starter:
    """One rubric to begin with, by the name of its file."""

    name: str
    content: RubricContent

    @property
    def title(self) -> str:
        return str(self.content.title)

    @property
    def purpose(self) -> str:
        return str(self.content.description).splitlines()[0]

    @property
    def source(self) -> str:
        return str(self.content.description).splitlines()[1]

    @property
    def criterion_count(self) -> int:
        return len(self.content.criteria)

    @property
    def rubric(self) -> dict[str, Any]:
        """As a rubric file has it."""
        return self.content.to_dict()

    @property
    def errors(self) -> int:
        """How many of its criteria count against a submission."""
        return sum(weight < 0 for weight in self.content.weights)


@cache
def starters() -> tuple[Starter, ...]:
    """All of them, in the order they are offered."""
    return tuple(Starter(name, read_rubric(_file(name), filename=f"{name}.yaml")) for name in NAMES)


def start_from(name: str, team: Team, *, by: User | None, title: str = "") -> Rubric:
    """A new rubric whose draft is the starter, under its title or `title`; nothing is published.

    Raises NotFound for another name.
    """
    content = next((one.content for one in starters() if one.name == name), None)
    if content is None:
        raise NotFound("starter")
    draft = as_draft(content.to_dict())
    return rubrics.create_rubric(team, by=by, title=title or str(content.title), draft=draft)


def _file(name: str) -> bytes:
    return resources.files(__name__).joinpath(f"{name}.yaml").read_bytes()
