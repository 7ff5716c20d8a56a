"""The page that asks which review queue selected items go into."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from rubricweb import access
from rubricweb.models import Role
from rubricweb.selectors.reviews.queue_plans import growing_queues
from rubricweb.web.http import TeamRequest, team_page
from rubricweb.web.shared.selections import selection


@team_page(Role.EDITOR)
@require_GET
def selection_queue(request: TeamRequest) -> HttpResponse:
    """The queues the items could be added to, and the way to a new one."""
    chosen = selection(request)
    if chosen is None:
        messages.info(request, "Select the items first: in a dataset, a run or the disagreements.")
        return redirect("datasets", request.team.slug)
    dataset = access.access_dataset(request.team, chosen.dataset_id)
    context = {
        "selection": chosen,
        "dataset": dataset,
        "queues": growing_queues(dataset, chosen.item_ids, request.user),
    }
    return render(request, "reviews/queues/selection.html", context)
