"""Writes the table of figures in docs/agreement.md anew: `python -m tests.tools.renew_figures`.

A test compares it with the rows of `rubricweb.engine.agreement.figure_rows`.
"""

from pathlib import Path

from rubricweb.engine.agreement import PAIR_FIGURES, RATER_FIGURES, FigureRow

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agreement.md"
BEGIN, END = "<!-- figures: begin -->\n", "<!-- figures: end -->\n"
SHOWN = {"compare": "Compare", "board": "agreement board", "terminal": "terminal"}


def table() -> str:
    """A line for each row: its name, of whom, on which labels, in what range, in which tables."""
    lines = ["| figure | | of | labels | range | in tables of |", "| --- | --- | --- | --- | --- | --- |"]
    lines += [_line(row, "people") for row in RATER_FIGURES]
    lines += [_line(row, "judge") for row in PAIR_FIGURES]
    return "\n".join(lines) + "\n"


def _line(row: FigureRow, of: str) -> str:
    scales = {"binary": "verdicts", "nominal": "options", "ordinal": "steps", "score": "scores"}
    labels = ", ".join(words for scale, words in scales.items() if scale in row.applies_to)
    ends = " … ".join(f"{end:g}".replace("-", "−").replace("inf", "∞") for end in (row.low, row.high))
    shown = ", ".join(words for place, words in SHOWN.items() if place in row.shows) or "–"
    return f"| [{row.title}](#{row.name}) | `{row.name}` | {of} | {labels} | {ends} | {shown} |"


def renewed() -> str:
    """The page with the table of now."""
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    return f"{before}{BEGIN}{table()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(renewed())
