"""Giving cases tags: one case on its page, many from a list of items."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.models import Role
from rubricweb.selectors.datasets.tags import asked_tags, cases_of, tag_counts
from rubricweb.services.datasets.tags import tagging
from rubricweb.web.datasets.forms import TagForm
from rubricweb.web.http import TeamRequest, team_page, text_of, whole_number
from rubricweb.web.shared.selections import selection


@team_page(Role.EDITOR)
@require_POST
def change_case(request: TeamRequest, case_id: int) -> HttpResponse:
    """Adds tags to a case or takes one away, from its page or that of an `item` that answers it."""
    case = access.access_case(request.team, case_id)
    item_id = whole_number(text_of(request.POST, "item"), "The item")
    try:
        tagging.change_tags(
            case.dataset,
            by=request.user,
            add=asked_tags([text_of(request.POST, "add")]),
            remove=asked_tags([text_of(request.POST, "remove")]),
            case_ids=[case.pk],
        )
    except Invalid as error:
        messages.error(request, str(error))
    if item_id is not None and case.items.filter(pk=item_id).exists():
        return redirect("item", request.team.slug, item_id)
    return redirect("case", request.team.slug, case.pk)


@team_page(Role.EDITOR)
def change_selected(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """Asks which tags the cases of the selected items are given, and which are taken away."""
    dataset = access.access_dataset(request.team, dataset_id)
    selected = selection(request)
    if selected is None or selected.dataset_id != dataset.pk:
        messages.info(request, "Select the items first.")
        return redirect("dataset", request.team.slug, dataset.pk)
    form = TagForm(request.POST if request.method == "POST" else None)

    def change() -> str:
        made = tagging.change_tags(
            dataset,
            by=request.user,
            add=asked_tags([form.cleaned_data["add"]]),
            remove=asked_tags([form.cleaned_data["remove"]]),
            item_ids=selected.item_ids,
        )
        return f"{made}."

    if request.method == "POST" and (said := form.carried_out(change)):
        messages.success(request, said)
        return redirect("dataset", request.team.slug, dataset.pk)
    context = {
        "dataset": dataset,
        "form": form,
        "selection": selected,
        "items": counted(len(selected.item_ids), "selected item"),
        "cases": counted(len(cases_of(dataset, item_ids=selected.item_ids)), "case"),
        "tag_counts": tag_counts(dataset, viewer=request.user),
    }
    return render(request, "datasets/tags/change_selected.html", context, status=422 if form.errors else 200)
