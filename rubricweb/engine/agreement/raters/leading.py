"""Which κ of a judge is shown first and believed: the same on every page, in the API and at the terminal."""

from dataclasses import dataclass

from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.agreement.raters.ceiling import HumanCeiling, SeatWithin

MOST_TIED = 0.1
"""The share of tied units above which the majority of people is no measure of a judge."""

WITHIN = "within criteria"
"""What follows the name of a figure whose chance is counted within each criterion."""

IN_SEAT = "in a person’s seat"
"""What follows the name of a figure of a judge held against the others, each person left out in turn."""


@dataclass(frozen=True)
class WithinCriteria:
    """Agreement over several binary criteria with chance counted within each.

    In one table of all criteria a judge that only knows how often each is met agrees beyond chance; here it
    does not. `kappa` is the judge's with the ground truth, `human_alpha` of people among themselves, `seat`
    one person and the judge in that person's seat.
    """

    kappa: Figure
    human_alpha: Figure
    seat: SeatWithin


@dataclass(frozen=True)
class LeadingKappa:
    """The κ of a judge that comes first, and that words and gates rest on.

    It is κ with the ground truth; where more than `MOST_TIED` of the labelled units are tied, that of the
    judge in a person's seat (`in_seat`): the majority leaves tied units out, which are the hard ones, and in
    a seat a tie is ½. Over several criteria chance is counted within each (`within`), and `pooled` is the
    same κ of one table of them all, which claims nothing; None where there is one criterion. `tied_share` is
    that of the units people labelled, None without any.
    """

    kappa: Figure
    in_seat: bool
    within: bool
    pooled: Figure | None
    tied_share: float | None

    @property
    def name(self) -> str:
        """As in "κ in a person’s seat, within criteria"."""
        of = [IN_SEAT] if self.in_seat else []
        return f"κ {', '.join([*of, WITHIN] if self.within else of)}".strip()


def leading_kappa(
    pooled: Figure, ceiling: HumanCeiling, within: WithinCriteria | None, tied: float | None
) -> LeadingKappa:
    """Which leads: κ with the ground truth or that in a seat, of one table or `within` criteria.

    `pooled` is the κ with the ground truth of one table, `tied` the share of labelled units that are tied. A
    seat that is undefined does not lead.
    """
    seat_of_all = None if ceiling.judge is None else ceiling.judge.kappa
    seat = seat_of_all if within is None else within.seat.judge_kappa
    several = within is not None
    if tied is not None and tied > MOST_TIED and seat is not None and seat.value is not None:
        return LeadingKappa(seat, True, several, seat_of_all if several else None, tied)
    if within is None:
        return LeadingKappa(pooled, False, False, None, tied)
    return LeadingKappa(within.kappa, False, True, pooled, tied)


@dataclass(frozen=True)
class SeatKappas:
    """κ of one person with the others, of the judge in that person's seat, and what the judge's is above.

    They rest on `items`: those that two people or more labelled and the judge answered.
    """

    person: Figure
    judge: Figure
    difference: Figure
    items: int


def seat_kappas(ceiling: HumanCeiling, within: WithinCriteria | None) -> SeatKappas | None:
    """Within criteria where there are several, else of one table; None where one of them is undefined."""
    if ceiling.judge is None:
        return None
    seat = SeatKappas(ceiling.kappa, ceiling.judge.kappa, ceiling.judge.kappa_difference, ceiling.items)
    if within is not None:
        own = within.seat
        seat = SeatKappas(own.kappa, own.judge_kappa, own.kappa_difference, ceiling.items)
    return None if seat.difference.value is None else seat
