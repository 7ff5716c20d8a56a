"""One κ of a judge, the same on every page, in the API and at the terminal.

It is within criteria, and where many units are tied that of the judge in a person's seat.
"""

import csv
import html
import io
import json
import re
from collections.abc import Callable

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import User
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.comparison.board.board import agreement_board
from rubricweb.selectors.comparison.findings import findings
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.worlds import base_rates, halves

pytestmark = pytest.mark.django_db

SignIn = Callable[[User], Client]


def words(answer) -> str:
    """A page as one reads it."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())))


def test_one_kappa_within_criteria_leads_in_every_selector(people: Cast) -> None:
    run, queue = base_rates.judged(people)
    found = comparison.compare(run, [queue], viewer=people.bob)
    shown = comparison.overview(run, [queue], viewer=people.bob)
    for leading in (found.leading, shown.leading):
        assert (leading.name, leading.kappa.value) == ("κ within criteria", pytest.approx(0.0))
        assert leading.pooled is not None
        assert leading.pooled.value == pytest.approx(base_rates.POOLED)
    assert shown.leading.kappa == found.leading.kappa
    assert shown.seat is not None
    assert found.within is not None
    assert (shown.seat.judge.value, shown.seat.person) == (pytest.approx(0.0), found.within.seat.kappa)
    board = agreement_board(queue, people.bob)
    assert board.within is not None
    assert board.overall is not None
    assert board.within.alpha == found.within.human_alpha
    assert board.within.alpha.value == pytest.approx(base_rates.ALPHA)
    assert board.overall.alpha.value == pytest.approx(base_rates.POOLED_ALPHA)
    assert board.within.pair_kappa.value == pytest.approx(base_rates.PAIR_KAPPA)
    assert board.overall.kappa.value == pytest.approx(base_rates.POOLED_PAIR_KAPPA)
    # The judge answered everything: one person's κ is that of the board.
    assert board.within.kappa.value == pytest.approx(found.within.seat.kappa.value)
    [pair] = [cell for cell in board.matrix[0].cells if cell.kappa is not None]
    assert pair.kappa == board.within.pair_kappa


def test_a_page_shows_the_figure_within_criteria_first_and_that_of_one_table_beside_it(
    people: Cast, sign_in: SignIn
) -> None:
    run, queue = base_rates.judged(people)
    bob, slug = sign_in(people.bob), people.team.slug
    compared = words(bob.get(reverse("compare", args=[slug]), {"run": run.pk, "queue": queue.pk}))
    first, beside = r"κ within criteria 0\.00 95 % interval", r"Cohen κ 0\.79 \[[^]]+\] in one table of all"
    assert re.search(f"{first} .{{0,160}}{beside} criteria", compared)
    assert "κ in a person’s seat, within criteria 0.00" in compared
    assert "Human α within criteria 0.78" in compared
    assert "In one table of all criteria claims nothing: κ 0.79" in compared
    dashboard = words(bob.get(reverse("dashboard", args=[slug])))
    assert "κ within criteria with their majority 0.00 on " in dashboard
    assert "In one table of all criteria 0.79." in dashboard
    assert re.search(
        r"Person 0\.7\d .{0,30}Judge 0\.00 .{0,80}κ in a person’s seat, within criteria on ", dashboard
    )
    board = words(bob.get(reverse("queue_agreement", args=[slug, queue.pk])))
    assert "Krippendorff α within criteria 0.78" in board
    assert "Mean κ of pairs within criteria 0.77" in board
    assert re.search(r"Krippendorff α 0\.90 \[[^]]+\] in one table of all criteria", board)
    narrowed = words(
        bob.get(
            reverse("queue_agreement", args=[slug, queue.pk]),
            {"criterion": run.rubric_version.criteria.first().pk},
        )
    )
    assert "criteria met or not, κ within criteria" in re.sub(r" ,", ",", board)
    assert "often, κ within criteria" not in narrowed


def test_the_judges_of_a_panel_are_held_within_criteria_too(
    people: Cast, sign_in: SignIn, capsys: pytest.CaptureFixture[str]
) -> None:
    run, queue = base_rates.judged(people, members=2)
    panel = comparison.compare(run, [queue], viewer=people.bob).panel
    assert panel is not None
    for member in panel.members:
        assert (member.leading.name, member.leading.kappa.value) == ("κ within criteria", pytest.approx(0.0))
        assert member.overall.kappa.value == pytest.approx(base_rates.POOLED)
    # They say the same of everything: in one table they agree in full, within criteria nothing varies.
    assert panel.alpha.value == pytest.approx(1.0)
    assert panel.alpha_within is not None
    assert panel.alpha_within.value is None
    bob = sign_in(people.bob)
    page = words(bob.get(reverse("compare", args=[people.team.slug]), {"run": run.pk, "queue": queue.pk}))
    assert "in one table 0.79" in page
    said = " ".join(terminal_of(people.team, people.bob, capsys)("compare", run.pk).out.split())
    assert "α among the members within criteria –; in one table of all criteria 1.00" in said


def test_api_csv_and_terminal_have_the_same_figures(
    people: Cast, sign_in: SignIn, capsys: pytest.CaptureFixture[str]
) -> None:
    run, queue = base_rates.judged(people)
    membership = people.team.memberships.get(user=people.bob)
    _, secret = teams.create_token(membership, name="tests", may_write=False, days=1, now=timezone.now())
    api = ApiClient(secret)
    shown = api.get(f"/runs/{run.pk}/comparison", queue=queue.pk)
    leading = shown["leading"]
    assert (leading["name"], leading["within"], leading["in_seat"]) == ("κ within criteria", True, False)
    assert leading["kappa"] == shown["within"]["kappa"]
    assert leading["pooled"] == shown["overall"]["kappa"]
    assert leading["tied_share"] == pytest.approx(2 / 40)
    board = api.get(f"/queues/{queue.pk}/agreement")
    assert board["within"]["alpha"]["value"] == pytest.approx(base_rates.ALPHA)
    assert board["overall"]["alpha"]["value"] == pytest.approx(base_rates.POOLED_ALPHA)
    answer = sign_in(people.bob).get(
        reverse("queue_agreement", args=[people.team.slug, queue.pk]), {"format": "csv"}
    )
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    of_all = {row["figure"]: row["value"] for row in rows if row["criterion"] == "All criteria met or not"}
    assert float(of_all["alpha_within"]) == pytest.approx(base_rates.ALPHA)
    assert float(of_all["alpha"]) == pytest.approx(base_rates.POOLED_ALPHA)
    [pair] = [
        row
        for row in rows
        if row["part"] == "pair" and row["rater"] == "Rater 1" and "kappa" in row["figure"]
    ]
    assert (pair["figure"], float(pair["value"])) == ("kappa_within", pytest.approx(base_rates.PAIR_KAPPA))
    terminal = terminal_of(people.team, people.bob, capsys)
    compared = " ".join(terminal("compare", run.pk).out.split())
    assert "Chance counted within each criterion: κ 0.00" in compared
    assert "In one table of all criteria, which claims nothing: κ 0.79" in compared
    told = " ".join(terminal("agreement", queue.pk).out.split())
    assert "In one table of all criteria, which claims nothing: α 0.90" in told
    assert json.loads(terminal("agreement", queue.pk, "--json").out)["within"]["alpha"]["n"] == 40


# ── Ties ─────────────────────────────────────────────────────────────────────────────────────────


def tied(people: Cast, *, ties: int):
    """Thirty items: x says MET of the odd, y too but for the first `ties`, the judge but for the last ten."""
    dataset = factories.dataset(people.team, people.ed, items=[halves.row(number) for number in range(30)])
    criteria = [{"name": "only", "weight": 1, "requirement": "Is right."}]
    version = factories.version(people.team, people.ed, criteria=criteria)
    other = {"MET": "UNMET", "UNMET": "MET"}
    lines = ["item_id,criterion,rater,verdict"]
    for number in range(30):
        said = halves.people_say(number)
        lines += [f"i{number},only,x,{said}", f"i{number},only,y,{other[said] if number < ties else said}"]
    queue = factories.import_labels(
        dataset,
        version,
        by=people.ed,
        data="\n".join(lines).encode(),
        filename="labels.csv",
        queue_name="labels",
    )
    return halves.judged(people, dataset, version, wrong=frozenset(range(20, 30))), queue


def test_where_many_units_are_tied_the_judge_in_a_persons_seat_leads(
    people: Cast, sign_in: SignIn, capsys: pytest.CaptureFixture[str]
) -> None:
    run, queue = tied(people, ties=10)
    found = comparison.compare(run, [queue], viewer=people.bob)
    # A third is tied. The majority is of 20 items, of which the judge is right on 10: κ 0. In a seat it meets
    # x and y: right on 20 and 10 of 30, all say MET of half: κ 0. People agree on 20 of 30, κ 1/3.
    leading = found.leading
    assert (leading.in_seat, leading.name) == (True, "κ in a person’s seat")
    assert leading.tied_share == pytest.approx(1 / 3)
    assert found.ceiling.judge is not None
    assert leading.kappa == found.ceiling.judge.kappa
    assert (leading.kappa.n, found.overall.kappa.n) == (30, 20)
    assert leading.kappa.value == pytest.approx(0.0)
    assert found.ceiling.kappa.value == pytest.approx(1 / 3)
    assert found.criteria[0].leading == leading
    [said] = [one for one in findings(found) if "chance" in one.title]
    assert "People are tied on 33% of what they labelled; in a seat a tie is ½." in said.text
    assert "κ in a person’s seat is 0.00" in said.text
    assert "κ with the majority of all, which leaves them out: 0.00" in said.text
    bob = sign_in(people.bob)
    page = words(bob.get(reverse("compare", args=[people.team.slug]), {"run": run.pk, "queue": queue.pk}))
    assert page.index("κ in a person’s seat 0.00") < page.index("Balanced accuracy")
    board = words(bob.get(reverse("dashboard", args=[people.team.slug])))
    assert re.search(r"Judge 0\.00 .{0,60}κ in a person’s seat on 30 labels by two or more people: ", board)
    terminal = terminal_of(people.team, people.bob, capsys)
    told = " ".join(terminal("compare", run.pk).out.split())
    assert (
        "People are tied on 33% of what they labelled, so κ in a person’s seat is the figure to go by" in told
    )
    gated = terminal("compare", run.pk, "--min-kappa", "0.1")
    assert (gated.code, "κ in a person’s seat 0.0000 is below --min-kappa 0.1." in gated.err) == (100, True)


def test_few_ties_leave_the_majority_in_the_lead(people: Cast) -> None:
    run, queue = tied(people, ties=3)  # a tenth is not more than a tenth
    leading = comparison.compare(run, [queue], viewer=people.bob).leading
    assert (leading.in_seat, leading.name, leading.pooled) == (False, "κ", None)
    assert leading.kappa.n == 27


def test_the_terminal_says_too_few_where_the_page_does(
    people: Cast, sign_in: SignIn, capsys: pytest.CaptureFixture[str]
) -> None:
    # Two units of each criterion have the rare verdict, of both together four: fewer than ten.
    run, queue = base_rates.judged(people)
    why = "only 2 units of a verdict: too few to tell much"
    page = words(
        sign_in(people.bob).get(
            reverse("compare", args=[people.team.slug]), {"run": run.pk, "queue": queue.pk}
        )
    )
    assert why in page
    told = " ".join(terminal_of(people.team, people.bob, capsys)("compare", run.pk).out.split())
    assert f"often, κ: {why}." in told.replace("balanced acc., κ, MCC", "κ").replace("balanced acc., κ", "κ")
    assert "(too few)" in told
    board = " ".join(terminal_of(people.team, people.bob, capsys)("agreement", queue.pk).out.split())
    assert "(too few)" not in board  # twenty units of each
