"""A figure is a row: one that is made up is on pages, in API, terminal and files, and missed in the docs."""

import html
import json
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from django.urls import reverse

from rubricweb.engine.agreement import PAIR_FIGURES, RATER_FIGURES, Figure, PairFigure, RaterFigure
from rubricweb.engine.agreement.figure_rows import LABELS
from rubricweb.models import ReviewQueue, Run
from rubricweb.selectors.comparison.comparison import compare
from rubricweb.selectors.exports.bundles import agreement_table
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.tools import renew_figures
from tests.worlds.attempts import labelled_by_two
from tests.worlds.remembered import remembered

pytestmark = pytest.mark.django_db

EVERYWHERE: Any = frozenset({"compare", "board", "terminal"})
TWICE = PairFigure(
    name="twice_met",
    title="Twice met",
    short="twice",
    applies_to=LABELS,
    low=0,
    shows=EVERYWHERE - {"board"},
    of_table=lambda tables: np.full(tables.shape[:-2], 0.4321),
)
CALM = RaterFigure(
    name="calm",
    title="Calm of people",
    short="calm",
    applies_to=LABELS,
    low=0,
    shows=EVERYWHERE,
    of_ratings=lambda people: Figure(0.8765, 0.81, 0.91, len(people.ratings.units)),
)


@pytest.fixture
def made_up() -> Iterator[None]:
    PAIR_FIGURES.append(TWICE)
    RATER_FIGURES.append(CALM)
    yield
    PAIR_FIGURES.remove(TWICE)
    RATER_FIGURES.remove(CALM)


@pytest.fixture
def labelled(people: Cast) -> tuple[Run, ReviewQueue]:
    return remembered(("made up figure", people.team.pk), lambda: labelled_by_two(people))


def read(answer: Any) -> str:
    """The words of a page."""
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def value(figures: dict[str, Any], name: str) -> float:
    return float(figures[name]["value"])


def test_compare_and_the_board_show_it(people: Cast, sign_in, labelled, made_up) -> None:
    run, queue = labelled
    client = sign_in(people.bob)
    slug = people.team.slug
    page = read(client.get(reverse("compare", args=[slug]), {"run": run.pk}))
    # A tile, a column of verdicts, a line of the choice; drawings say their title once more.
    assert page.count("Twice met") >= 3 <= page.count("Human calm")
    assert page.count(" 0.43 ") >= 3 <= page.count(" 0.88 ")
    board = read(client.get(reverse("queue_agreement", args=[slug, queue.pk])))
    # A tile and a column.
    assert board.count("Calm of people") >= 2
    assert board.count(" 0.88 ") >= 3
    assert "Twice met" not in board


def test_files_hold_it_with_all_its_digits(people: Cast, sign_in, labelled, made_up) -> None:
    run, queue = labelled
    client = sign_in(people.bob)
    slug = people.team.slug
    rows = client.get(reverse("compare", args=[slug]), {"run": run.pk, "format": "csv"}).content.decode()
    assert rows.count(",twice_met,0.4321,") == rows.count(",calm,0.8765,0.81,0.91,") == 3
    board = client.get(reverse("queue_agreement", args=[slug, queue.pk]), {"format": "csv"}).content.decode()
    assert board.count(",calm,0.8765,0.81,0.91,") == 3
    bundled = agreement_table(compare(run, [queue], viewer=people.bob))
    for part in (bundled["overall"], *bundled["criteria"]):
        assert value(part, "twice_met") == 0.4321
        assert value(part["human_figures"], "calm") == 0.8765


def test_the_api_answers_it(people: Cast, as_member, labelled, made_up) -> None:
    run, queue = labelled
    shown = as_member(people.bob).get(f"/runs/{run.pk}/comparison", queue=queue.pk)
    assert value(shown["overall"]["figures"], "twice_met") == 0.4321
    assert value(shown["human_figures"], "calm") == 0.8765
    for row in shown["criteria"]:
        assert value((row["agreement"] or row["options"])["figures"], "twice_met") == 0.4321
    board = as_member(people.bob).get(f"/queues/{queue.pk}/agreement")
    assert [value(row["figures"], "calm") for row in board["criteria"]] == [0.8765, 0.8765]


def test_the_terminal_prints_it(people: Cast, capsys, labelled, made_up) -> None:
    run, queue = labelled
    terminal = terminal_of(people.team, people.bob, capsys)
    printed = terminal("compare", run.pk).out
    assert printed.count("0.43") == printed.count("0.88 [0.81, 0.91]") == 3
    assert "twice" in printed
    assert "people's calm" in printed
    told = json.loads(terminal("compare", run.pk, "--json").out)
    assert value(told["overall"]["figures"], "twice_met") == 0.4321
    assert terminal("agreement", queue.pk).out.count("0.88 [0.81, 0.91]") == 3


def test_the_docs_would_lack_it(made_up) -> None:
    lines = renew_figures.renewed().splitlines()
    assert "| [Calm of people](#calm) | `calm` | people | verdicts, options, steps | 0 … 1 |" in " ".join(
        lines
    )
    assert renew_figures.renewed() != renew_figures.PAGE.read_text()
