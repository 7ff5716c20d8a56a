"""Pages that ask before items are retired or restored, and before a version is undone."""

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict
from rubricweb.models import Dataset, Role, User
from rubricweb.services.datasets.changes import retirement as services
from rubricweb.services.datasets.changes import undoing
from rubricweb.services.datasets.changes.retirement import ChangePlan
from rubricweb.web.http import TeamRequest, team_page, text_of, whole_number
from rubricweb.web.shared.selections import selection
from rubricweb.web.shared.titles import titles


@team_page(Role.EDITOR)
def retire(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """What stands behind the chosen items; then takes them out of the dataset."""
    return _change(request, dataset_id, services.plan_retirement, services.retire)


@team_page(Role.EDITOR)
def restore(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """What comes back; then puts the chosen items back into the dataset."""
    return _change(request, dataset_id, services.plan_restoration, services.restore)


def _change(
    request: TeamRequest,
    dataset_id: int,
    look: Callable[[Dataset, Sequence[int], User], ChangePlan],
    change: Callable[..., ChangePlan],
) -> HttpResponse:
    dataset = access.access_dataset(request.team, dataset_id)
    chosen = _chosen(request, dataset)
    if not chosen["ids"]:
        messages.info(request, "Select the items first.")
        return redirect("dataset", request.team.slug, dataset.pk)
    try:
        if request.method == "POST":
            made = change(dataset, chosen["ids"], by=request.user, note=text_of(request.POST, "note"))
            sentence = (
                f"{made.change.label} {counted(made.items, 'item')}: version {made.version} of {dataset}."
            )
            messages.success(request, sentence)
            return redirect("dataset", request.team.slug, dataset.pk)
        plan = look(dataset, chosen["ids"], request.user)
    except Conflict as error:
        messages.error(request, str(error))
        return redirect("dataset", request.team.slug, dataset.pk)
    shown = chosen["ids"][:1] if len(chosen["ids"]) == 1 else []
    context = {"dataset": dataset, "plan": plan, "chosen": chosen, **titles(request, shown)}
    return render(request, "datasets/versions/change_items.html", context)


@team_page(Role.EDITOR)
def undo(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """What the newest version did and what stands on it; then puts the dataset back into the one before."""
    dataset = access.access_dataset(request.team, dataset_id)
    try:
        if request.method == "POST":
            seen = whole_number(request.POST.get("version"), "The version")
            made = undoing.undo(dataset, by=request.user, seen=-1 if seen is None else seen)
            messages.success(request, f"Version {made.version} of {dataset} is undone.")
            return redirect("dataset", request.team.slug, dataset.pk)
        plan = undoing.plan_undoing(dataset, request.user)
    except Conflict as error:
        messages.error(request, str(error))
        return redirect("dataset", request.team.slug, dataset.pk)
    return render(request, "datasets/versions/undo.html", {"dataset": dataset, "plan": plan})


def _chosen(request: TeamRequest, dataset: Dataset) -> dict[str, Any]:
    """The ids of the item or selection that address or form name, and how they name it."""
    data = request.POST if request.method == "POST" else request.GET
    item_id = whole_number(data.get("item", ""), "The item") if data.get("item") else None
    if item_id is not None:
        return {"ids": [item_id], "item": item_id}
    selected = selection(request)
    if selected is None or selected.dataset_id != dataset.pk:
        return {"ids": []}
    return {"ids": list(selected.item_ids), "selection": selected.id}
