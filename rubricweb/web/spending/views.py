"""Settings pages about what is spent and kept: prices, the month's budget, how long calls are kept."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST

from rubricweb.errors import Invalid, NotFound
from rubricweb.judges.prices.shipped import AS_OF, SHIPPED
from rubricweb.models import Role
from rubricweb.selectors.spending import month_figures
from rubricweb.services.endpoints import prices as services
from rubricweb.services.runs import budgets
from rubricweb.services.teams import retention as retaining
from rubricweb.web.http import TeamRequest, now, team_page, text_of
from rubricweb.web.judges.forms import BudgetForm, PriceForm, RetentionForm
from rubricweb.web.spending import words


@team_page(Role.VIEWER, post=Role.OWNER)
def prices(request: TeamRequest) -> HttpResponse:
    """What models cost this team; a POST sets the price of one."""
    if request.method != "POST":
        return _prices_page(request, PriceForm(initial={"model": request.GET.get("model", "")}))
    form = PriceForm(request.POST)
    if form.is_valid():
        try:
            price = services.set_price(request.team, by=request.user, **form.cleaned_data)
        except Invalid as error:
            form.refuse(error)
        else:
            messages.success(request, f"New runs use this price of {price}.")
            return redirect("settings_prices", request.team.slug)
    return _prices_page(request, form, status=422)


@team_page(Role.VIEWER, post=Role.OWNER)
@require_POST
def remove_price(request: TeamRequest) -> HttpResponse:
    model = text_of(request.POST, "model")
    try:
        services.remove_price(request.team, by=request.user, model=model)
    except NotFound:
        messages.info(request, "That price was already removed.")
    else:
        messages.success(request, f"{model} uses the built-in price list, if the model is in it.")
    return redirect("settings_prices", request.team.slug)


def _prices_page(request: TeamRequest, form: PriceForm, *, status: int = 200) -> HttpResponse:
    context = {
        "lines": services.list_for(request.team),
        "form": form,
        "shipped": SHIPPED.items(),
        "as_of": AS_OF,
    }
    return render(request, "spending/prices.html", context, status=status)


@team_page(Role.VIEWER, post=Role.OWNER)
def spending(request: TeamRequest) -> HttpResponse:
    """What this month has cost, run by run, and the cap on it; a POST changes the cap."""
    form = BudgetForm(initial={"monthly_budget_usd": request.team.monthly_budget_usd})
    if request.method == "POST":
        form = BudgetForm(request.POST)
        if form.is_valid():
            try:
                budgets.change_monthly_budget(request.team, by=request.user, **form.cleaned_data)
            except Invalid as error:
                form.refuse(error)
            else:
                messages.success(request, "The cap is changed and applies to the next call.")
                return redirect("settings_spending", request.team.slug)
    figures = month_figures.month_figures(request.team, viewer=request.user, now=now())
    context: dict[str, Any] = {
        "form": form,
        "figures": figures,
        "tiles": words.month_tiles(figures),
        "rows": [(row, words.unknown_words(row)) for row in figures.runs],
    }
    return render(request, "spending/spending.html", context, status=422 if form.errors else 200)


@team_page(Role.VIEWER, post=Role.OWNER)
def retention(request: TeamRequest) -> HttpResponse:
    """How long prompts and raw replies are kept; a POST changes that."""
    form = RetentionForm(initial={"keep_calls_days": request.team.keep_calls_days})
    if request.method == "POST":
        form = RetentionForm(request.POST)
        if form.is_valid():
            try:
                retaining.change_retention(
                    request.team, by=request.user, days=form.cleaned_data["keep_calls_days"]
                )
            except Invalid as error:
                form.refuse(error)
            else:
                messages.success(request, "Changed. Calls past the limit are pruned within the hour.")
                return redirect("settings_retention", request.team.slug)
    context = {"form": form, "rounds": month_figures.pruning_rounds(request.team, viewer=request.user)}
    return render(request, "spending/retention.html", context, status=422 if form.errors else 200)
