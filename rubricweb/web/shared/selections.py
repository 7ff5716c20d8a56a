"""Items somebody selected in a list, kept for a day until the page where they are used has done its work."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid, NotFound
from rubricweb.models import Item
from rubricweb.services.shared import uploads
from rubricweb.web.http import TeamRequest, whole_number

SELECTED_MAX = 10_000
"""As many items as a run can be limited to."""
SELECTIONS_PER_SESSION = 5
USES = {
    "queue": "selection_queue",
    "run": "run_new",
    "export": "exports",
    "retire": "dataset_retire",
    "restore": "dataset_restore",
    "tag": "dataset_tags",
}
"""What can be done with selected items, and the page where it is."""
OF_DATASET = ("retire", "restore", "tag")
"""Uses whose pages are those of one dataset."""


@dataclass(frozen=True)
class Selection:
    """Items of one dataset; `criterion_ids` are those of selected units, none where items were selected."""

    id: str
    dataset_id: int
    item_ids: tuple[int, ...]
    criterion_ids: tuple[int, ...] = ()

    def __str__(self) -> str:
        count = len(self.item_ids)
        return "the selected item" if count == 1 else f"the {count:,} selected items"


def selected_items(form: QueryDict) -> list[int]:
    """The ids of the items that were ticked. Raises Invalid for what is no number."""
    numbers = (whole_number(text, "The item") for text in form.getlist("item"))
    return [number for number in numbers if number is not None]


def selected_units(form: QueryDict) -> list[tuple[int, int]]:
    """(item id, criterion id) of the units that were ticked, each sent as 12-34. Raises Invalid otherwise."""
    units = []
    for text in form.getlist("unit"):
        item, _, criterion = text.partition("-")
        numbers = whole_number(item, "The item"), whole_number(criterion, "The criterion")
        if numbers[0] is None or numbers[1] is None:
            raise Invalid(f"A unit is named by its item and criterion, as 12-34, not {text[:40]!r}.")
        units.append((numbers[0], numbers[1]))
    return units


def use(
    request: TeamRequest,
    item_ids: Sequence[int],
    *,
    back: str,
    criterion_ids: Iterable[int] = (),
    run_id: int | None = None,
) -> HttpResponse:
    """Keeps what was selected and goes on to the page the pressed button (`use`) names.

    With nothing selected, too much, or items of several datasets it goes `back` to the list and says so.
    `run_id` is the run whose settings another run of these items starts with. Raises Invalid for another use.
    """
    wanted = request.POST.get("use", "")
    if wanted not in USES:
        raise Invalid.at("use", repr(wanted[:40]), ", ".join(USES))
    chosen = tuple(dict.fromkeys(item_ids))
    if not 1 <= len(chosen) <= SELECTED_MAX:
        found = f"not {len(chosen):,}" if chosen else "none is selected yet"
        messages.error(request, f"Select 1 to {SELECTED_MAX:,} items; {found}.")
        return redirect(back)
    rows = Item.objects.filter(dataset__team=request.team, pk__in=chosen).order_by()
    datasets = dict(rows.values_list("pk", "dataset_id"))
    if len(datasets) < len(chosen):
        raise NotFound("item")
    if len(set(datasets.values())) > 1:
        several = counted(len(set(datasets.values())), "dataset")
        messages.error(request, f"The selected items are of {several}: select items of one.")
        return redirect(back)
    kept_id = _keep(request, datasets[chosen[0]], chosen, tuple(dict.fromkeys(criterion_ids)))
    asked = {"selection": kept_id}
    if wanted == "run" and run_id is not None:
        asked["again"] = str(run_id)
    elif wanted == "export":
        asked["dataset"] = str(datasets[chosen[0]])
    place = [datasets[chosen[0]]] if wanted in OF_DATASET else []
    return redirect(f"{reverse(USES[wanted], args=[request.team.slug, *place])}?{urlencode(asked)}")


def selection(request: TeamRequest) -> Selection | None:
    """The selection the address or the form names; None without. Raises NotFound once it is gone."""
    kept_id = request.POST.get("selection") or request.GET.get("selection")
    if not kept_id:
        return None
    if request.session.get("selections", {}).get(kept_id) != request.team.pk:
        raise NotFound("selection any more; select the items again")
    found = json.loads(uploads.kept(kept_id))
    return Selection(kept_id, found["dataset"], tuple(found["items"]), tuple(found["criteria"]))


def _keep(
    request: TeamRequest, dataset_id: int, item_ids: tuple[int, ...], criterion_ids: tuple[int, ...]
) -> str:
    """Keeps it for this browser session, at the cost of its oldest one when there are too many."""
    kept = {"dataset": dataset_id, "items": item_ids, "criteria": criterion_ids}
    kept_id = uploads.keep(json.dumps(kept).encode())
    held = request.session.get("selections", {})
    for old in list(held)[: max(0, len(held) + 1 - SELECTIONS_PER_SESSION)]:
        uploads.drop(old)
        del held[old]
    request.session["selections"] = held | {kept_id: request.team.pk}
    return kept_id
