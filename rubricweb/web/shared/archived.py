"""Archiving on pages: what a list says of archived rows, and the button that archives or restores one."""

from typing import Any

from rubricweb.errors import Invalid
from rubricweb.models import Dataset, Judge, JudgeEndpoint, ReviewQueue, Rubric, System, User
from rubricweb.selectors.deletions import kind_of
from rubricweb.selectors.shared.archived import archived_count
from rubricweb.services.shared import archiving
from rubricweb.web.http import TeamRequest, now

ACTIONS = ("archive", "restore")
USUAL = (
    "Lists, choosers and the dashboard leave it out. "
    "Nothing is lost: what stands on it stays, and it can be restored."
)
CONSEQUENCES = {
    "system": (
        "Lists, choosers and the dashboard leave it out with all its versions, and no answers of it are "
        "added. Answers, runs and figures stay, and it can be restored."
    ),
    "judge": (
        "Lists and choosers leave it out, and no new run asks it. "
        "Its versions and runs stay, its slug stays taken, and it can be restored."
    ),
    "endpoint": (
        "Lists and choosers leave it out, and no new run asks it. "
        "Its key and its runs stay, and it can be restored."
    ),
    "team": (
        "Everything in it can still be read and exported, and nothing changes: no runs, queues, imports, "
        "labels or invitations. It is left out of the list of teams, and owners can restore it."
    ),
}


def archive_link(
    request: TeamRequest, model: type[Dataset | Rubric | ReviewQueue | System | Judge | JudgeEndpoint]
) -> dict[str, Any]:
    """Whether the archived rows are asked for, and how many there are: for `shared/frame/_archived.html`."""
    count = archived_count(request.team, model)
    return {"archived": request.GET.get("archived") == "1", "archived_count": count}


def archive_words(row: archiving.CanBeArchived) -> dict[str, str]:
    """What archiving it does, and what restoring does: for `shared/forms/_archive.html`."""
    kind = kind_of(row, archiving.KINDS)
    back = "It can be changed again." if kind == "team" else "It comes back into lists and choosers."
    return {"consequences": CONSEQUENCES.get(kind, USUAL), "back": back}


def done_by(action: str, row: archiving.CanBeArchived, *, by: User) -> str:
    """Archives or restores it, as `shared/forms/_archive.html` asks; what was done, in a sentence."""
    if action not in ACTIONS:
        raise Invalid.at("action", repr(action[:40]), ", ".join(ACTIONS))
    archiving.archive_or_restore(row, action == "archive", by=by, now=now())
    if action == "restore":
        return f"{row} is back in the lists."
    return f"{row} is archived. It is restored on this page, or under Archived in its list."
