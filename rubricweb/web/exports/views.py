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


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def exports(request: TeamRequest) -> HttpResponse:
    """The form, for one dataset: its queues and runs are offered."""
    asked = {"run": request.GET.get("run"), "queues": request.GET.getlist("queue")}
    initial = {name: value for name, value in asked.items() if value}
    if request.GET.get("run"):
        initial["what"] = "verdicts"
    return _page(request, NewExport(team=request.team, dataset=_dataset(request), initial=initial))


@team_page(Role.VIEWER)
@require_GET
def download(request: TeamRequest) -> HttpResponseBase:
    """The file, streamed. Without a dataset named there is nothing to download yet: back to the form."""
    dataset = _dataset(request) if request.GET.get("dataset") else None
    if dataset is None:
        return redirect("exports", request.team.slug)
    form = NewExport(request.GET, team=request.team, dataset=dataset)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        export = services.export(request.team, viewer=request.user, **form.cleaned_data)
    except Invalid as error:
        form.refuse(error)
        return _page(request, form, status=422)
    except Withheld:
        return _page(request, form, status=403)
    response = StreamingHttpResponse(export.chunks, content_type=export.content_type)
    response["Content-Disposition"] = f'attachment; filename="{export.filename}"'
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _dataset(request: TeamRequest) -> Dataset | None:
    dataset_id = whole_number(request.GET.get("dataset"), "The dataset")
    if dataset_id is None:
        return selectors.preselected(request.team)
    return access.access_dataset(request.team, dataset_id)


def _page(request: TeamRequest, form: NewExport, *, status: int = 200) -> HttpResponse:
    chosen = form.chosen
    context = {
        "form": form,
        "withheld": selectors.withheld_items(request.user, chosen) if chosen else None,
        "unavailable": selectors.unavailable(form.chosen, what="ground_truth"),
        "recorded": recorded_exports(chosen) if chosen else [],
    }
    template = "exports/_form.html" if request.htmx else "exports/exports.html"
    return render(request, template, context, status=status)
