"""The page of one call to a judge, which the report on an item also opens in place."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from rubricweb import access
from rubricweb.errors import Withheld
from rubricweb.models import Role
from rubricweb.selectors.runs import calls
from rubricweb.web.http import TeamRequest, team_page
from rubricweb.web.shared.titles import titles


@team_page(Role.VIEWER)
@require_safe
@vary_on_headers("HX-Request")
def call(request: TeamRequest, run_id: int, item_id: int, call_id: int) -> HttpResponse:
    """Everything said in one call; with htmx without the page around it.

    A notice instead while the reader is still to review the item blind.
    """
    run, item = access.access_run(request.team, run_id), access.access_item(request.team, item_id)
    context: dict[str, Any] = {"team": request.team, "run": run, "item": item}
    context |= titles(request, [item.pk])
    template = "runs/item/_call_body.html" if request.htmx else "runs/call.html"
    try:
        context["call"] = calls.call_in_full(run, item, call_id, viewer=request.user)
    except Withheld as error:
        context["withheld"] = str(error)
        template = "shared/_withheld.html" if request.htmx else template
    return render(request, template, context)
