"""`rubricweb compare`: how far a run agrees with the people who labelled its items, or with another run."""

import argparse
from collections.abc import Iterator
from typing import Any

from rubricweb import access
from rubricweb.engine.agreement import (
    PAIR_FIGURES,
    RATER_FIGURES,
    HumanCeiling,
    PairAgreement,
    PairFigure,
    RaterFigure,
)
from rubricweb.engine.agreement.figure_rows import shown_in
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.engine.number_format import counted, interval_text, low_end_words, share, text_of
from rubricweb.engine.scoring.scoring import ROUNDING
from rubricweb.errors import Invalid
from rubricweb.management.runs import diff, gates
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.printed import Table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.management.terminal.unavailable import print_unavailable
from rubricweb.models import Role, Run
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.comparison.members import PanelComparison
from rubricweb.selectors.comparison.people_means import PeopleEstimate
from rubricweb.selectors.comparison.verdict import comparison_verdict
from rubricweb.selectors.labels import comparable
from rubricweb.selectors.runs.over_time.version_pairs import version_called, version_pair
from rubricweb.selectors.teams import lookup
from rubricweb.services.datasets.halves import looks

ALL = "all criteria"


def _columns() -> dict[str, str]:
    """What each row of the table has: its name there → the head of the column."""
    return {
        "n": "n",
        **{row.name: row.short for row in _pair_rows()},
        "bias": "bias",
        "seat_kappa": "κ in a seat",
        "ceiling_kappa": "people's κ",
        "human_alpha": "people's α",
        **{row.name: f"people's {row.short}" for row in _people_rows()},
        "coverage": "coverage",
        "errors": "errors",
    }


def _pair_rows(*, of_steps: bool = False) -> list[PairFigure]:
    """Those every criterion has, or those of ordered options alone."""
    return [row for row in shown_in("terminal", PAIR_FIGURES) if row.is_of_steps == of_steps]


def _people_rows(*, of_steps: bool = False) -> list[RaterFigure]:
    """The same of people among themselves; α has a column of its own."""
    rows = shown_in("compare", shown_in("terminal", RATER_FIGURES))
    return [row for row in rows if row.is_of_steps == of_steps and row.about != "alpha"]


def run(options: argparse.Namespace) -> int:
    actor = resolve_actor(options, Role.VIEWER)
    if options.baseline is not None:
        if options.queue or options.min_kappa is not None:
            option = "--queue" if options.queue else "--min-kappa"
            raise Invalid(f"{option} and --with ask for different comparisons; use one of them.")
        return diff.show(actor, *_both(actor, options), as_json=options.json, fail_on=options.fail_on)
    if options.fail_on:
        raise Invalid("--fail-on is about the difference from another run; name that --with.")
    judged = access.access_run(actor.team, _number(options.run))
    queues = [lookup.queue_called(actor.team, name) for name in options.queue]
    queues = queues or comparable.queues_to_compare(judged)
    compared = looks.count_look(comparison.compare(judged, queues, viewer=actor.user), by=actor.user)
    if options.json:
        from rubricweb.api.comparison.schemas import Comparison as Shown

        print_shape(Shown, compared, indent=2)
    elif compared.unavailable is not None:
        print_unavailable(compared.unavailable)
        _print_left_out(compared)
    else:
        _print(compared)
    if compared.unavailable:
        return gates.NOTHING
    return 0 if options.min_kappa is None else _gate(compared, options.min_kappa)


def _gate(comparison: Comparison, least: float) -> int:
    """The exit code for `--min-kappa`, which is about the κ that leads, with why it is not 0 as a note."""
    kappa, name = comparison.leading.kappa, comparison.leading.name
    if comparison.hidden_items:
        note(gates.undecided(comparison.hidden_items))
        return gates.NOTHING
    if kappa.value is None:
        note(f"{name} is undefined, {kappa.reason}: --min-kappa cannot be decided.")
        return gates.NOTHING
    if kappa.value >= least - ROUNDING:
        return 0
    note(f"{name} {kappa.value:.4f} is below --min-kappa {least:g}.")
    return gates.GATE_MISSED


def _both(actor: Actor, options: argparse.Namespace) -> tuple[Run, Run]:
    """The two runs that are named, or the newest over the two system versions that are."""
    if options.run.isdigit() and options.baseline.isdigit():
        run, baseline = (_number(one) for one in (options.run, options.baseline))
        return access.access_run(actor.team, run), access.access_run(actor.team, baseline)
    if options.run.isdigit() or options.baseline.isdigit():
        raise Invalid("Name two runs by number, or two system versions, as assistant@v4 --with assistant@v3.")
    pair = version_pair(
        actor.team,
        version_called(actor.team, options.run),
        version_called(actor.team, options.baseline),
        dataset=lookup.dataset_called(actor.team, options.dataset) if options.dataset else None,
        judge=options.judge,
    )
    if not options.json:
        note(f"Took {pair.run} ({pair.run.pk}) and {pair.baseline} ({pair.baseline.pk}), the newest alike.")
    return pair.run, pair.baseline


def _number(name: str) -> int:
    if not name.isdigit() or len(name) > 18:
        raise Invalid(f"{name!r} is not the number of a run; a system version needs --with another one.")
    return int(name)


def _rows(comparison: Comparison) -> Iterator[tuple[str, dict[str, Any]]]:
    """A name and its figures: everything first, within criteria, then criterion by criterion."""
    within = comparison.within
    overall = {
        "bias": comparison.bias,
        "human_alpha": comparison.human_alpha,
        "coverage": comparison.coverage,
        "errors": comparison.errors,
    }
    overall |= _pair(comparison.overall) | _human_ceiling(comparison.ceiling) | dict(comparison.human_figures)
    if within is not None:
        overall |= {"cohen_kappa": within.kappa, "human_alpha": within.human_alpha}
        overall |= {"seat_kappa": within.seat.judge_kappa, "ceiling_kappa": within.seat.kappa}
    yield ALL, overall
    for row in comparison.criteria:
        own = {
            "bias": row.bias,
            "human_alpha": row.human_alpha,
            "coverage": _coverage(row.agreement),
            "errors": row.errors,
        }
        own |= _pair(row.agreement) | _human_ceiling(row.ceiling)
        yield str(row.criterion.name), {**own, **row.human_figures}


def _pair(pair: PairAgreement) -> dict[str, Any]:
    """Every figure, κ that which is to be shown."""
    return {"n": pair.n, **pair.figures, "cohen_kappa": pair.leading_kappa}


def _human_ceiling(ceiling: HumanCeiling) -> dict[str, Any]:
    """One person against the others, and the judge in that person's place."""
    judge = ceiling.judge
    return {
        "ceiling_raters": ceiling.raters,
        "ceiling_kappa": ceiling.kappa,
        "seat_kappa": None if judge is None else judge.kappa,
        "seat_kappa_difference": None if judge is None else judge.kappa_difference,
    }


def _coverage(pair: PairAgreement) -> float | None:
    """Share of the labelled units on which the judge gave an answer, abstentions among them."""
    units = pair.n + pair.abstained + pair.missing
    return (units - pair.missing) / units if units else None


def _print(comparison: Comparison) -> None:
    console = terminal()
    names = ", ".join(queue.name for queue in comparison.queues)
    version = comparison.judge_version
    by = "" if version is None else f", graded by {version},"
    console.print(f"{comparison.run}{by} against {comparison.raters} raters of {names}")
    if (verdict := comparison_verdict(comparison)) is not None:
        console.print(f"{verdict.title}: {verdict.sentence}", style="bold")
        if verdict.why:
            console.print(verdict.why)
    if comparison.together:
        console.print(comparison.together)
    table = Table()
    table.add_column("criterion")
    for title in (columns := _columns()).values():
        table.add_column(title, justify="right", no_wrap=True)
    for name, row in _rows(comparison):
        table.add_row(
            name,
            *(_shown(row.get(key), row["n"], signed=key == "bias") for key in columns),
            end_section=name == ALL,
        )
    console.print(table)
    if comparison.describes is not None:
        console.print(comparison.describes.sentence)
    for one in comparison.criteria:
        if one.mean_value is not None:
            console.print(f"{one.criterion.name}: a check, {text_of(one.mean_value)} on average.")
        elif one.options is not None and one.options.quadratic_kappa is not None:
            of_judge = [(row.short, one.options.figures[row.name]) for row in _pair_rows(of_steps=True)]
            of_people = [
                (f"people's {row.short}", one.human_figures[row.name]) for row in _people_rows(of_steps=True)
            ]
            figures = ", ".join(f"{name} {_said(figure)}" for name, figure in (*of_judge, *of_people))
            console.print(f"{one.criterion.name}: ordered options, {figures}.")
    if any(row.criterion.kind != "binary" for row in comparison.criteria):
        console.print(f"All criteria pools the {comparison.n_binary} labels of binary criteria.")
    if (panel := comparison.panel) is not None:
        console.print(_members(panel))
        if panel.alpha_within is None:
            console.print(f"α among the members {text_of(panel.alpha)}.")
        else:
            pooled = f"in one table of all criteria {text_of(panel.alpha)}"
            console.print(f"α among the members within criteria {text_of(panel.alpha_within)}; {pooled}.")
    _print_means(comparison)
    if comparison.ceiling.n:
        console.print(
            f"κ in a seat is the judge's, people's κ that of each of these {comparison.ceiling.raters} "
            "people, with the majority of the others. κ is with the majority of all."
        )
    _print_leading(comparison)
    if comparison.look is not None:
        which = f"look {comparison.look.number} at the test split of {comparison.look.dataset}"
        confidence = share(comparison.look.confidence, 1)
        console.print(f"This is {which}: what is claimed holds at {confidence}, intervals at 95% each.")
    _print_left_out(comparison)


def _print_leading(comparison: Comparison) -> None:
    """Which κ words and gates rest on, those of one table, and figures that rest on too few units."""
    console = terminal()
    leading, within, ceiling = comparison.leading, comparison.within, comparison.ceiling
    if within is not None:
        difference = within.seat.kappa_difference
        said = f"Chance counted within each criterion: κ {_said(within.kappa)}"
        if difference.value is not None:
            said += f", in a seat less people's {text_of(difference, signed=True)}"
        pooled = _human_ceiling(ceiling)
        console.print(
            f"{said}. In one table of all criteria, which claims nothing: κ "
            f"{text_of(comparison.overall.kappa)}, people's α {text_of(comparison.human_alpha)}, κ in a seat "
            f"{text_of(pooled['seat_kappa'])}, people's κ {text_of(pooled['ceiling_kappa'])}."
        )
    if leading.in_seat:
        console.print(
            f"People are tied on {share(leading.tied_share)} of what they labelled, so {leading.name} is the "
            f"figure to go by: {text_of(leading.kappa)}. There a tie is ½; κ leaves ties out."
        )
    for name, row in _rows(comparison):
        figures = {one.short: row[one.name] for one in _pair_rows() if one.of_table is not None}
        reasons = {key: one.reason for key, one in figures.items() if one.small or one.value is None}
        for reason in dict.fromkeys(reasons.values()):
            columns = ", ".join(key for key, why in reasons.items() if why == reason)
            if row["n"]:
                console.print(f"{name}, {columns}: {reason}.")


def _print_means(comparison: Comparison) -> None:
    """Scores, rates and bias: people's are the means of raters, never their majority."""
    console = terminal()
    scores, rates = comparison.scores.agreement, comparison.rates
    if scores.n:
        console.print(
            f"Scores of {counted(scores.n, 'item')}: Pearson {text_of(scores.pearson)}, "
            f"Spearman {text_of(scores.spearman)}, "
            f"judge less people {text_of(scores.bias, signed=True)} on average."
        )
    _print_estimate(comparison.scores.estimate)
    if rates.people.value is not None:
        what = "gives credit" if comparison.has_penalties else "says MET"
        console.print(
            f"The judge {what} on {share(rates.judge.value)} of {counted(rates.people.n, 'unit')}, people on "
            f"{share(rates.people.value)}: of each unit the mean of its raters."
        )
    if comparison.leaning:
        console.print(f"The judge is {comparison.leaning}: bias {text_of(comparison.bias, signed=True)}.")


def _print_left_out(comparison: Comparison) -> None:
    console = terminal()
    if comparison.undecided:
        tied = counted(comparison.undecided, "labelled criterion", "labelled criteria")
        of_all = f"{share(comparison.tied_share)} of what was labelled"
        console.print(f"{tied}, {of_all}, left out of accuracy and κ: people are tied. Means count a tie ½.")
    if comparison.of_other_systems:
        labels = counted(comparison.of_other_systems, "label")
        console.print(f"{labels} of other versions' answers: the run was not over those.")
    if comparison.on_other_versions:
        labels = counted(comparison.on_other_versions, "label")
        console.print(f"{labels} by other rubric versions: the run was never asked those.")
    if comparison.hidden_items:
        console.print(
            f"{counted(comparison.hidden_items, 'item')} left out: still to be reviewed by you, blind."
        )


def _members(panel: PanelComparison) -> Table:
    """Each judge of the panel against people, over the units of binary criteria by the κ that leads, then
    choice by choice.
    """
    table = Table()
    for title in ("member", "on", "n", "accuracy", "κ", "abstained", "failed", "unasked"):
        table.add_column(title, justify="left" if title in ("member", "on") else "right")
    for member in panel.members:
        choices = [(one.criterion.name, one.options) for one in member.criteria if one.options is not None]
        rows: list[tuple[str, PairAgreement]] = [*choices]
        if len(choices) < len(member.criteria) or not choices:
            rows.insert(0, ("met or unmet", member.overall))
        for place, (what, pair) in enumerate(rows):
            counts = ("", "") if place else (str(member.failed), str(member.unasked))
            name = "" if place else member.name
            kappa = member.leading.kappa if pair is member.overall else pair.leading_kappa
            figures = text_of(pair.accuracy), _said(kappa)
            if pair is member.overall and member.leading.name != "κ":
                what = f"{what}, {member.leading.name}"
            table.add_row(name, what, str(pair.n), *figures, str(pair.abstained), *counts)
    return table


def _print_estimate(estimate: PeopleEstimate) -> None:
    console = terminal()
    _print_plain_means(estimate)
    if estimate.unavailable is not None:
        print_unavailable(estimate.unavailable, of="The estimated human score of all items is not known.")
        return
    for of, mean in ((f"over {estimate.population}", estimate.these), (estimate.about, estimate.like_these)):
        assert mean is not None
        why, items = f" {mean.reason}" if mean.reason else "", counted(mean.n, "fully labelled item")
        console.print(f"People's mean score {of}: {text_of(mean)} from {items}.{why}")
    these, like_these = estimate.these, estimate.like_these
    assert these is not None
    assert like_these is not None
    if like_these.of_raters:
        console.print(like_these.other_raters_words)
    if these.worst is not None:
        console.print(
            f"{these.missing:,} items people were asked about have no answer; with all of them worst or best "
            f"the interval would be {interval_text(these.worst, these.best)} over {estimate.population} and "
            f"{interval_text(like_these.worst, like_these.best)} over cases like these."
        )


def _print_plain_means(estimate: PeopleEstimate) -> None:
    """The means of people and of the judge as they are, each with its low end; none where nobody labelled."""
    if not estimate.labelled.n:
        return
    means = (
        ("people", estimate.labelled, estimate.labelled_low_end),
        ("the judge on the same", estimate.judged_labelled, estimate.judged_labelled_low_end),
        ("on all", estimate.judged, estimate.judged_low_end),
    )
    said = "; ".join(
        f"{who} {text_of(mean)}, {low_end_words(end.lowest, end.below_bar)}"
        for who, mean, end in means
        if end.lowest is not None
    )
    items = counted(estimate.labelled.n, "fully labelled item")
    terminal().print(f"Plain mean score on {items}: {said}.")


def _shown(value: Any, n: int, *, signed: bool = False) -> str:
    """A count as it is, a figure with its interval, a share (of units the judge answered) in per cent.

    A figure over other units than the `n` of its row has its own n.
    """
    if value is None or isinstance(value, Figure):
        said = _said(value, signed=signed)
        return said if value is None or value.value is None or value.n == n else f"{said} (n {value.n:,})"
    return share(value) if isinstance(value, float) else str(value)


def _said(figure: Figure | None, *, signed: bool = False) -> str:
    """A figure with its interval, and whether it rests on too few units of a class to tell much."""
    few = " (too few)" if figure is not None and figure.small else ""
    return f"{text_of(figure, signed=signed)}{few}"
