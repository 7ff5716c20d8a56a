"""Pages of the exports room: what to hand out, and the file."""

from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb import access
from rubricweb.errors import Invalid, Withheld
from rubricweb.models import Dataset, Role
from rubricweb.selectors.exports import exports as selectors
from rubricweb.selectors.exports.recorded import recorded_exports
from rubricweb.services import exports as services
from rubricweb.web.exports.forms import NewExport
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.shared.selections import Selection, selection


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def exports(request: TeamRequest) -> HttpResponse:
    """The form, for one dataset: its queues and runs are offered."""
    asked = {"run": request.GET.get("run"), "queues": request.GET.getlist("queue")}
    initial = {name: value for name, value in asked.items() if value}
    if request.GET.get("run"):
        initial["what"] = "verdicts"
    form = NewExport(team=request.team, viewer=request.user, dataset=_dataset(request), initial=initial)
    return _page(request, form, selected=selection(request))


@team_page(Role.VIEWER)
@require_GET
def download(request: TeamRequest) -> HttpResponseBase:
    """The file, streamed. Without a dataset named there is nothing to download yet: back to the form."""
    dataset = _dataset(request) if request.GET.get("dataset") else None
    if dataset is None:
        return redirect("exports", request.team.slug)
    form = NewExport(request.GET, team=request.team, viewer=request.user, dataset=dataset)
    selected = selection(request)
    if not form.is_valid():
        return _page(request, form, selected=selected, status=422)
    item_ids = selected.item_ids if selected else None
    try:
        export = services.export(request.team, viewer=request.user, item_ids=item_ids, **form.cleaned_data)
    except Invalid as error:
        form.refuse(error)
        return _page(request, form, selected=selected, status=422)
    except Withheld:
        return _page(request, form, selected=selected, status=403)
    response = StreamingHttpResponse(export.chunks, content_type=export.content_type)
    response["Content-Disposition"] = f'attachment; filename="{export.filename}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _dataset(request: TeamRequest) -> Dataset | None:
    dataset_id = whole_number(request.GET.get("dataset"), "The dataset")
    if dataset_id is None:
        return selectors.preselected(request.team)
    return access.access_dataset(request.team, dataset_id)


def _page(
    request: TeamRequest, form: NewExport, *, selected: Selection | None, status: int = 200
) -> HttpResponse:
    chosen = form.chosen
    context = {
        "form": form,
        "selection": selected if selected and chosen and selected.dataset_id == chosen.pk else None,
        "withheld": selectors.withheld_items(request.user, chosen) if chosen else None,
        "unavailable": selectors.unavailable(form.chosen, what="ground_truth"),
        "recorded": recorded_exports(chosen, viewer=request.user) if chosen else [],
    }
    template = "exports/_form.html" if request.htmx else "exports/exports.html"
    return render(request, template, context, status=status)
