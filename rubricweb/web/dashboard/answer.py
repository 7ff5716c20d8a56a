"""How far the judge of a dashboard agrees with people, as a picture."""

from rubricweb.engine.agreement.raters.leading import IN_SEAT, WITHIN
from rubricweb.engine.number_format import counted, value_of
from rubricweb.selectors.comparison.comparison import Overview
from rubricweb.selectors.dashboard import Dashboard
from rubricweb.web.shared.plots import Mark, Picture, PictureRow, kappa_axis


def judge_picture(board: Dashboard) -> Picture | None:
    """How far the judge agrees with people, beside one person where two labelled the same; None without κ."""
    agreement = board.agreement
    if agreement is None or agreement.leading.kappa.value is None:
        return None
    figures, items = {"judge": agreement.leading.kappa}, agreement.leading.kappa.n
    if agreement.seat is not None:
        figures = {"people": agreement.seat.person, "judge": agreement.seat.judge}
        items = agreement.seat.items
    marks = [Mark.of("judge" if who == "judge" else "people", one, items) for who, one in figures.items()]
    rows = tuple(
        PictureRow("Judge" if mark.kind == "judge" else "Person", "", mark, percent=False) for mark in marks
    )
    return Picture("Judge", rows, kappa_axis(figures.values(), with_words=False), _rests_on(agreement))


def _rests_on(agreement: Overview) -> str:
    """Which κ it is, and on how many labels, which runs and which dataset it rests."""
    leading, seat, others = agreement.leading, agreement.seat, len(agreement.runs) - 1
    beside = f" and {others} started with it" if others else ""
    of = f"{agreement.run}{beside}, over {agreement.run.dataset.name}"
    labels = counted(leading.kappa.n, "label")
    if seat is None:
        said = [f"{leading.name} on {labels}: {of}."]
    else:
        name = f"κ {IN_SEAT}, {WITHIN}" if leading.within else f"κ {IN_SEAT}"
        said = [f"{name} on {counted(seat.judge.n, 'label')} by two or more people: {of}."]
        if not leading.in_seat:
            said.append(f"{leading.name} with their majority {value_of(leading.kappa)} on {labels}.")
    if leading.pooled is not None and leading.pooled.value is not None:
        said.append(f"In one table of all criteria {value_of(leading.pooled)}.")
    return " ".join(said)
