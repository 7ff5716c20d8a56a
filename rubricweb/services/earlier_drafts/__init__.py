"""What each save of a draft replaced, so that whoever began from an earlier one can be merged with it."""

from collections.abc import Mapping
from typing import Any

from rubricweb.models import DraftSave, Rubric, User

MOST_SAVES = 1_000
"""So many saves back somebody may have begun; who began earlier is asked about all that differs."""


def remember(rubric: Rubric, before: Mapping[str, Any], *, by: User | None) -> None:
    """Notes what the save that was just made replaced, and forgets the oldest. Inside its transaction."""
    DraftSave.objects.create(
        rubric=rubric, revision=rubric.draft_revision, before=difference(rubric.draft, before), saved_by=by
    )
    rubric.draft_saves.filter(revision__lte=rubric.draft_revision - MOST_SAVES).delete()


def draft_at(rubric: Rubric, revision: int) -> dict[str, Any] | None:
    """The draft as it was at a save; None where it is not known any more, or never was."""
    saves = list(rubric.draft_saves.filter(revision__gt=revision).order_by("-revision"))
    if len(saves) != rubric.draft_revision - revision:
        return None
    draft: dict[str, Any] = dict(rubric.draft)
    for save in saves:
        draft = restored(draft, save.before)
    return draft


def savers_since(rubric: Rubric, revision: int) -> list[str]:
    """Who saved after a save, each once, the first first."""
    saves = rubric.draft_saves.filter(revision__gt=revision, saved_by__isnull=False)
    names = [str(save.saved_by) for save in saves.select_related("saved_by").order_by("revision")]
    return list(dict.fromkeys(names))


def difference(after: Mapping[str, Any], before: Mapping[str, Any]) -> dict[str, Any]:
    """What leads from a draft back to the one before: of the head what differs, the criteria that differ by
    their ids, and their order where it is another. Drafts whose criteria have no ids are kept whole.
    """
    ids, ids_before = _ids(after), _ids(before)
    if ids is None or ids_before is None:
        return {"whole": dict(before)}
    now = dict(zip(ids, after.get("criteria") or (), strict=True))
    then = dict(zip(ids_before, before.get("criteria") or (), strict=True))
    return {
        "set": {key: value for key, value in before.items() if key != "criteria" and after.get(key) != value},
        "unset": [key for key in after if key not in before],
        "criteria": {id: entry for id, entry in then.items() if now.get(id) != entry},
        "order": None if ids == ids_before else ids_before,
    }


def restored(after: Mapping[str, Any], back: Mapping[str, Any]) -> dict[str, Any]:
    """The draft before, from the one after and their `difference`."""
    if "whole" in back:
        return dict(back["whole"])
    entries = dict(zip(_ids(after) or (), after.get("criteria") or (), strict=True)) | back["criteria"]
    head: dict[str, Any] = {key: after[key] for key in after if key not in back["unset"]} | back["set"]
    head["criteria"] = [entries[id] for id in back["order"] or _ids(after) or ()]
    return head


def _ids(draft: Mapping[str, Any]) -> list[str] | None:
    entries = draft.get("criteria") or []
    ids = [entry.get("id") for entry in entries if isinstance(entry, Mapping)]
    usable = len(ids) == len(entries) and all(ids) and len(set(ids)) == len(ids)
    return [str(id) for id in ids] if usable else None
