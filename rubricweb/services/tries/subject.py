"""What a judge is tried on: a submission, and the rubric it is held against."""

from dataclasses import dataclass

from django.db.models import Q, TextField, Value
from django.db.models.functions import Replace, StrIndex

from rubricweb import engine
from rubricweb.errors import Invalid, Withheld
from rubricweb.models import Item, RubricVersion, Team, User
from rubricweb.selectors.blinding import hidden_items
from rubricweb.selectors.tries import require_may_try
from rubricweb.services.grading.asking.base import storable

MAX_CHARACTERS = 2_000_000
"""Of a pasted submission, or of an item that is tried, with its prompt and reference."""

TELLING_CHARACTERS = 40
"""So long a part of a submission is taken for it; shorter words, as "Yes.", are in many."""


@dataclass(frozen=True)
class Subject:
    """`item` is None for a submission that was pasted. `chosen` is the published rubric version, None where a
    draft is tried; `own` the rubric that the item brings along, which wins over the chosen one as in a run.
    `rubric_id` orders the options, as in runs over that rubric.
    """

    submission: engine.Submission
    rubric: engine.Rubric
    item: Item | None = None
    chosen: RubricVersion | None = None
    own: RubricVersion | None = None
    rubric_id: int | None = None

    @property
    def dataset_id(self) -> int:
        return self.item.dataset_id if self.item is not None else 0


def subject_of(
    team: Team,
    *,
    viewer: User,
    item: Item | None,
    pasted: engine.Submission | None = None,
    version: RubricVersion | None = None,
    draft: engine.Rubric | None = None,
    rubric_id: int | None = None,
) -> Subject:
    """The item or the pasted submission under a published version, or under a draft of `rubric_id`.

    Raises Withheld for an item this person is still to review blind, pasted or not, Conflict for one of a
    test half, Invalid with the place where there is no submission, no rubric, an empty one, or too much of
    it.
    """
    if item is None and (pasted is None or not pasted.output.strip()):
        raise Invalid.at("item", "no item and no submission", "one of them")
    if item is not None:
        require_may_try(item, viewer)
    elif pasted is not None:
        _require_not_hidden(team, viewer, pasted.output)
    submission = item.to_engine() if item is not None else pasted
    assert submission is not None, "one of them is there"
    size = sum(
        len(text) for text in (submission.output, submission.thinking, submission.reference) if text
    ) + len(str(submission.query or ""))
    if size > MAX_CHARACTERS:
        raise Invalid.at("item", f"{size:,} characters", f"at most {MAX_CHARACTERS:,}; a run takes more")
    own = item.rubric_version if item is not None and draft is None else None
    used = own or version
    rubric = draft if draft is not None else used.to_engine() if used is not None else None
    if rubric is None:
        raise Invalid.at("rubric", "no rubric", "a published version, or an item that brings one along")
    if not rubric.criteria:
        raise Invalid.at("rubric", "no criterion", "one at least")
    if rubric_id is None and version is not None:
        rubric_id = version.rubric_id
    return Subject(submission, rubric, item, version if draft is None else None, own, rubric_id)


def _require_not_hidden(team: Team, viewer: User, output: str) -> None:
    """Pasted, an item says as much as picked: whole, or a part of it that is long enough to be told by."""
    text = storable(output).replace("\r\n", "\n").strip()
    stored = Replace("submission", Value("\r\n"), Value("\n"), output_field=TextField())
    pasted = Q(stored__in=[text, f"{text}\n"])
    if len(text) >= TELLING_CHARACTERS:
        pasted |= Q(place__gt=0)
    hidden = hidden_items(viewer, team).annotate(stored=stored, place=StrIndex(stored, Value(text)))
    if hidden.filter(pasted).exists():
        raise Withheld(
            "This is the submission of an item you are still to review blind. A judge can be tried on it "
            "once you have submitted yours."
        )
