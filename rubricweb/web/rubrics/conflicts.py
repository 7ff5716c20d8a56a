"""A draft that somebody else saved meanwhile: both changes kept, or mine and theirs to choose between."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.utils.text import capfirst

from rubricweb.errors import Conflict, Refusal
from rubricweb.models import Rubric
from rubricweb.services.rubrics import rubrics as services
from rubricweb.services.rubrics.merging import DraftMerge
from rubricweb.web.http import TeamRequest, whole_number
from rubricweb.web.rubrics.criterion_rows import stored_row
from rubricweb.web.rubrics.forms import RubricForm

_KEEP = "keep-"


def save(request: TeamRequest, rubric: Rubric, draft: Mapping[str, Any], revision: int) -> DraftMerge | None:
    """Stores a draft as its button says: `overwrite` and `merge` name the save that was looked at.

    Where another save came between that changed nothing of what the draft changes, both are kept, and what
    went together is given back; None where the draft alone was stored. Raises Conflict for the rest.
    """
    seen = whole_number(request.POST.get("merge") or None, "The revision")
    if "overwrite" in request.POST:
        revision = whole_number(request.POST["overwrite"], "The revision") or 0
    try:
        if seen is None:
            services.save_draft(rubric, by=request.user, draft=draft, revision=revision)
            return None
    except Conflict:
        merge = services.merged_with_saved(rubric, draft=draft, revision=revision)
        if (
            not merge.is_possible
            or merge.conflicts
            or "overwrite" in request.POST
            or "source" in request.POST
        ):
            raise
    else:
        choices = {
            key.removeprefix(_KEEP): request.POST[key] for key in request.POST if key.startswith(_KEEP)
        }
        merge = services.merged_with_saved(rubric, draft=draft, revision=revision, choices=choices)
        if any(conflict.key not in choices for conflict in merge.conflicts):
            raise Conflict("More was changed since you chose. Look at it once more.")
    # What was looked at may no longer be what is there: then it is a conflict again.
    seen = rubric.draft_revision if seen is None else seen
    services.save_draft(rubric, by=request.user, draft=merge.draft, revision=seen)
    return merge


def merge_of(
    rubric: Rubric, draft: Mapping[str, Any], revision: int, refusal: Refusal | None
) -> DraftMerge | None:
    """What a page shows of a conflict; None where a save was refused for another reason, or not at all."""
    if not isinstance(refusal, Conflict):
        return None
    return services.merged_with_saved(rubric, draft=draft, revision=revision)


def kept_both(merge: DraftMerge) -> str:
    """`Rae changed “tone”: weight meanwhile. Both changes are kept.`"""
    changed = "; ".join(merge.theirs_changed[:5]) or "this draft"
    return f"{capfirst(merge.savers)} changed {changed} meanwhile. Both changes are kept."


def told(
    request: TeamRequest, rubric: Rubric, draft: Mapping[str, Any], revision: int, error: Conflict
) -> HttpResponse:
    """The answer to a page that saves while somebody types: the notice to choose from, or, where nothing is
    to be chosen in a form, the rows that changed. The page takes them in and saves again: nothing is stored.
    """
    merge = services.merged_with_saved(rubric, draft=draft, revision=revision)
    if merge.is_possible and not merge.conflicts and "source" not in request.POST:
        merged = {
            "revision": rubric.draft_revision,
            "said": kept_both(merge),
            **_rows(request, rubric, merge),
        }
        return JsonResponse({"message": str(error), "merged": merged}, status=409)
    context = {
        "refusal": error,
        "merge": merge,
        "rubric": rubric,
        "form_id": "source-form" if "source" in request.POST else "rubric-form",
        "theirs_url": request.get_full_path(),
    }
    notice = render_to_string("rubrics/editor/_conflict.html", context)
    return JsonResponse({"message": str(error), "notice": notice}, status=409)


def _rows(request: TeamRequest, rubric: Rubric, merge: DraftMerge) -> dict[str, Any]:
    """The merged draft for a page that has mine: `rows` that are new or other, as HTML by their index, all
    indexes in `order`, and what the `fields` of the head say by their names.
    """
    mine = RubricForm.from_post(request.POST)
    before = {row.text("id"): row for row in mine.rows if row.text("id")}
    following = max((int(row.index) for row in mine.rows), default=-1) + 1
    rows = []
    for entry in merge.draft["criteria"]:
        row = before.get(entry.get("id", ""))
        if row is None or row.stored() != entry:
            index = following if row is None else int(row.index)
            following += row is None
            row = stored_row(index, entry)
            row.changed = True
        rows.append(row)
    form = RubricForm.from_draft({**merge.draft, "criteria": []}, rubric.draft_revision)
    form.show_rows(rows)
    context = {"team": request.team, "rubric": rubric, "form": form}
    html = {
        str(row.index): render_to_string(
            "rubrics/editor/row/_criterion_row.html", {**context, "row": row, "position": place}
        )
        for place, row in enumerate(rows, 1)
        if row.changed
    }
    return {"rows": html, "order": [str(row.index) for row in rows], "fields": form.head_fields()}
