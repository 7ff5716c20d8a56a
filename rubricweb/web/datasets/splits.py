"""Splitting a dataset by marking its cases dev or test, and extending the split."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from rubricweb import access
from rubricweb.errors import Conflict, Invalid, Withheld
from rubricweb.models import Role
from rubricweb.selectors.datasets.halves import without_half
from rubricweb.services.datasets.halves import drawing
from rubricweb.web.datasets.forms import HalvesForm
from rubricweb.web.http import TeamRequest, team_page


@team_page(Role.EDITOR)
def split_cases(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """Asks how many cases examples are drawn from; where they are split already its page says how."""
    dataset = access.access_dataset(request.team, dataset_id)
    if request.method != "POST" and dataset.case_splits.exists():
        return redirect("dataset", request.team.slug, dataset.pk)
    cases = without_half(dataset).count()
    few = max(min(10, cases // 2), 1)
    form = HalvesForm(request.POST if request.method == "POST" else None, initial={"n_dev": few})
    if request.method == "POST" and form.is_valid():
        try:
            drawn = drawing.split_cases(dataset, by=request.user, **form.cleaned_data)
        except (Invalid, Conflict, Withheld) as error:
            form.refuse(error)
        else:
            words = f"{drawn.n_dev:,} dev cases for examples, {drawn.n_test:,} test cases."
            messages.success(request, f"{dataset} is split: {words}")
            return redirect("dataset", request.team.slug, dataset.pk)
    context = {"dataset": dataset, "form": form, "cases": cases}
    return render(request, "datasets/splits/split_cases.html", context, status=422 if form.errors else 200)


@team_page(Role.EDITOR)
@require_POST
def extend(request: TeamRequest, dataset_id: int) -> HttpResponse:
    """Marks the cases that came after the split."""
    dataset = access.access_dataset(request.team, dataset_id)
    try:
        drawn = drawing.extend_split(dataset, by=request.user)
    except (Invalid, Conflict, Withheld) as error:
        messages.error(request, str(error))
    else:
        words = f"{drawn.n_dev:,} more dev cases, {drawn.n_test:,} more test cases."
        messages.success(request, f"The split of {dataset} is extended: {words}")
    return redirect("dataset", request.team.slug, dataset.pk)
