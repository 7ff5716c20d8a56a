"""What the spending page says in figures of several cases."""

from rubricweb.engine.number_format import counted, money, share, whole
from rubricweb.selectors.spending.month_figures import MonthFigures, RunCost
from rubricweb.selectors.spending.spending import Spending
from rubricweb.web.shared.tiles import Tile, sentence

NEARLY_SPENT = 0.9
"""The share of the cap from which the figure warns."""


def month_tiles(figures: MonthFigures) -> list[Tile]:
    """The month so far against its cap."""
    month = f"{figures.month:%B %Y}, so far"
    spent = figures.spending
    if spent is None:
        why = "while you review blind: what a run cost can tell what a judge said"
        note = "runs may have caps of their own" if figures.cap_usd is None else "all runs together"
        return [
            Tile(month, "withheld", why, is_muted=True),
            Tile("Cap", "none" if figures.cap_usd is None else money(figures.cap_usd), note),
        ]
    tiles = [
        _spent(month, spent),
        _cap(spent),
        Tile("Set aside", money(spent.held_usd), "for calls in flight"),
    ]
    if spent.lost_calls:
        note = f"{counted(spent.lost_calls, 'request')} cut off or never answered; counted against the caps"
        tiles.append(Tile("Perhaps spent", f"≤ {money(spent.lost_at_most_usd)}", note, level="warning"))
    if spent.unpriced:
        calls = "call" if spent.unpriced == 1 else "calls"
        note = f"{calls} counted as what was set aside, where a cap held, else as nothing"
        tiles.append(Tile("Of unknown cost", whole(spent.unpriced), note, level="warning"))
    return tiles


def _spent(month: str, spent: Spending) -> Tile:
    if spent.share is None:
        return Tile(month, money(spent.spent_usd), "all runs together")
    lost = ", with requests without an answer" if spent.lost_calls else ""
    note = f"{share(spent.share)} of the cap{lost}"
    level = "warning" if spent.share >= NEARLY_SPENT else ""
    return Tile(month, money(spent.spent_usd), note, level=level)


def _cap(spent: Spending) -> Tile:
    if spent.cap_usd is None or spent.left_usd is None:
        return Tile("Cap", "none", "runs may have caps of their own")
    return Tile("Cap", money(spent.cap_usd), f"{money(spent.left_usd)} left")


def unknown_words(row: RunCost) -> str:
    """What one run cost beyond what is known; "" where all of it is."""
    return sentence(
        f"and {counted(row.unpriced, 'call')} of unknown cost" if row.unpriced else "",
        f"and ≤ {money(row.lost_at_most_usd)} by {counted(row.lost_calls, 'request')} without an answer"
        if row.lost_calls
        else "",
        between=", ",
    )
