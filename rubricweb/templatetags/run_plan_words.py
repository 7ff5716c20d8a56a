"""Words for what a run is going to cost and take."""

from django import template

from rubricweb.selectors.runs.planning.forecasts import Forecast, Range
from rubricweb.services.endpoints import prices
from rubricweb.templatetags.display import count, duration, usd

register = template.Library()


@register.filter
def span(numbers: Range) -> str:
    """Whole numbers as "1,200", or "1,200 – 3,400"; beyond ten thousand to three figures, "12.3k – 15k"."""
    return _from_to(_about(numbers.low), _about(numbers.high))


@register.filter
def usd_span(dollars: Range) -> str:
    """ "$0.12 – $0.40"; what is certainly nothing is "$0.00"."""
    return _from_to(usd(_two_figures(dollars.low)), usd(_two_figures(dollars.high)))


@register.filter
def about_duration(seconds: float) -> str:
    """A guess no more exact than it is believed: 24.6 s is "25 s", 470 s are "8 min"."""
    return duration(_rounded(seconds))


@register.filter
def duration_span(seconds: Range) -> str:
    """ "12 s – 1 min 30 s", "up to 1 d" from nothing."""
    if seconds.low <= 0 < seconds.high:
        return f"up to {about_duration(seconds.high)}"
    return _from_to(about_duration(seconds.low), about_duration(seconds.high))


@register.filter
def price_words(source: str) -> str:
    """Whose price it is: "the endpoint", "your team", "the list of 2026-11-28"."""
    known = {prices.ENDPOINT: "the endpoint", prices.TEAM: "your team"}
    return known.get(source, f"the {source}")


@register.filter
def cap_warning(forecast: Forecast, budget_usd: float | None) -> str:
    """A sentence when the run's budget or the team's month may well be used up first; else "". Of both, the
    one that has less left.
    """
    cost = forecast.cost_usd
    if cost is None:
        return ""
    left = forecast.month.left_usd if forecast.month is not None and forecast.passes_month else None
    if left is not None and (budget_usd is None or left < budget_usd):
        if left <= 0:
            return "Nothing is left of what the team may spend this month: it pauses at its first new call."
        return f"{usd(left)} is left of what the team may spend this month; it pauses when that is used up."
    if budget_usd is not None and cost.high > budget_usd:
        surely = "will" if cost.low > budget_usd else "may"
        return f"The budget of {usd(budget_usd)} {surely} be used up before it is done; it pauses then."
    return ""


def _from_to(low: str, high: str) -> str:
    return low if low == high else f"{low} – {high}"


def _about(number: float) -> str:
    if number < 10_000:
        return count(round(number))
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{float(f'{number / size:.3g}'):g}{letter}"
    return count(round(number))


def _two_figures(amount: float) -> float:
    """0.0123 stays 0.012 and 12.345 is 12.35: no more figures than anybody believes."""
    return float(f"{amount:.2g}") if amount < 1 else amount


def _rounded(seconds: float) -> float:
    """To what is believed: 9.87 s is 9.9 s, 95 s are 95 s, 470 s are 8 minutes, 3 h 20 min are 3 hours."""
    if seconds < 10:
        return round(seconds, 1)
    step = 1 if seconds < 120 else 60 if seconds < 7200 else 3600
    return round(seconds / step) * step
