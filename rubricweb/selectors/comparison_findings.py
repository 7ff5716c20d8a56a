"""What the figures of a comparison say in plain sentences, and how far they carry."""

from dataclasses import dataclass

from rubricweb.engine.agreement import OptionAgreement
from rubricweb.engine.agreement.intervals import Figure
from rubricweb.selectors.comparison import Comparison
from rubricweb.selectors.comparison_by_kind import CriterionComparison

FEW_UNITS = 30
LEAST_VALUE_APART = 0.05
"""The mean difference in option values from which it is told."""

RELIABLE_ALPHA = 0.667
"""The least α that Krippendorff (2004, p. 241) lets tentative conclusions rest on."""


@dataclass(frozen=True)
class Finding:
    """One sentence; `level` is success, info or warning, `title` the claim, `text` what it rests on."""

    level: str
    title: str
    text: str


def findings(found: Comparison) -> list[Finding]:
    """Claims the intervals support, most important first; empty when there is nothing to measure.

    A difference is only called one when the 95 % intervals on both sides do not overlap, which is stricter
    than the data ask for: what cannot be told apart is said to be open, never to be equal.
    """
    choices = [(row, row.options) for row in found.criteria if row.options is not None and row.options.n]
    said: list[Finding | None] = []
    if found.overall.n:
        said = [_bias(found), _agreement(found), _people(found.human_alpha)]
        said.append(_judge_and_people(found))
    for row, options in choices:
        said += [_choice(row, options), _people(row.human_alpha, of=f"{row.criterion.name}: ")]
    if not said:
        return _checks(found)
    said += _limits(found, found.overall.n + sum(options.n for _, options in choices))
    return [finding for finding in said if finding is not None]


def _bias(found: Comparison) -> Finding | None:
    judge, people = found.overall.judged_met_rate, found.overall.reference_met_rate
    if judge.value is None or people.value is None:
        return None
    rates = f"The judge says it on {_percent(judge.value)} of the units, people on {_percent(people.value)}."
    more, less = _above(judge, people), _above(people, judge)
    if not more and not less:
        return Finding(
            "info", "Judge and people say MET about equally often, as far as these labels show.", rates
        )
    far = "far " if abs(judge.value - people.value) >= 0.2 else ""
    title = f"The judge says MET {far}{'more' if more else 'less'} often than people."
    return Finding("warning", title, rates)


def _agreement(found: Comparison) -> Finding:
    same = f"They agree on {_percent(found.overall.accuracy.value)} of {found.overall.n:,} units."
    return _beyond_chance(found.overall.kappa, same)


def _choice(row: CriterionComparison, options: OptionAgreement) -> Finding:
    """The same of one choice: where its options are steps, a near miss counts less."""
    same = f"They choose the same option on {_percent(options.accuracy.value)} of {options.n:,} items."
    if options.adjacent_accuracy is not None and options.adjacent_accuracy.value is not None:
        same += f" Within one step: {_percent(options.adjacent_accuracy.value)}."
    apart = row.value_bias
    if apart is not None and abs(apart) >= LEAST_VALUE_APART:
        side = "more" if apart > 0 else "less"
        same += f" The judge's options are worth {_number(abs(apart))} {side} on average."
    of = f"{row.criterion.name}: "
    if options.quadratic_kappa is None:
        return _beyond_chance(options.kappa, same, of=of, answer="option")
    return _beyond_chance(
        options.quadratic_kappa, same, of=of, answer="option", name="κ with quadratic weights"
    )


def _checks(found: Comparison) -> list[Finding]:
    """What is left to say of a rubric nobody can be held against: its checks are computed."""
    means = [
        (str(row.criterion.name), row.mean_value) for row in found.criteria if row.mean_value is not None
    ]
    if not means or len(means) < len(found.criteria):
        return []
    text = "; ".join(f"{name} {_number(mean.value)} on average" for name, mean in means if mean.n)
    title = "Every criterion is a check: computed, so there is nothing for judge and people to agree on."
    return [Finding("info", title, f"{text}." if text else "None has been computed yet.")]


def _beyond_chance(
    kappa: Figure, same: str, *, of: str = "", answer: str = "verdict", name: str = "Cohen κ"
) -> Finding:
    rest = f"{same} {name} is {_figure(kappa)}; 0 is chance, 1 is perfect."
    if kappa.value is None:
        why = (
            f"Both sides gave one and the same {answer} throughout, so chance alone explains their agreement."
        )
        return Finding(
            "info", _title(of, "Agreement beyond chance cannot be measured here."), f"{same} {why}"
        )
    if kappa.low is None or kappa.high is None:
        return Finding("info", f"{of}{name} is {_figure(kappa)}; too few items for an interval.", same)
    if kappa.high < 0:
        return Finding("warning", _title(of, "Judge and people agree less than chance would have it."), rest)
    if kappa.low <= 0:
        title = _title(of, "Agreement with people cannot be told apart from chance.")
        return Finding("warning", title, rest)
    title = _title(of, "The judge agrees with people more than chance would have it.")
    if kappa.high < 0.2:
        return Finding("warning", title.replace("more than", "only a little more than"), rest)
    return Finding("success" if kappa.low >= 0.6 else "info", title, rest)


def _title(of: str, sentence: str) -> str:
    """The sentence, or what it says of one criterion: `tone: the judge agrees …`."""
    return f"{of}{sentence[0].lower()}{sentence[1:]}" if of else sentence


def _people(alpha: Figure, of: str = "") -> Finding | None:
    if alpha.n == 0:
        return Finding(
            "info",
            _title(of, "How well people agree among themselves is not known."),
            "No unit has been labelled by two people: there is no human ceiling to hold the judge against.",
        )
    if alpha.value is None:
        return None
    text = f"α among people is {_figure(alpha)} over {alpha.n:,} units"
    if (alpha.high is not None and alpha.high < RELIABLE_ALPHA) or alpha.value < RELIABLE_ALPHA:
        return Finding(
            "warning",
            _title(of, "People differ among themselves too much to measure a judge finely."),
            f"{text}; at least {RELIABLE_ALPHA} is the usual bar for tentative conclusions. "
            "Sharpen the criteria they differ on before blaming the judge.",
        )
    if alpha.low is not None and alpha.low < RELIABLE_ALPHA:
        return None
    return Finding("success", _title(of, "People agree well enough to measure a judge."), f"{text}.")


def _judge_and_people(found: Comparison) -> Finding | None:
    kappa, alpha = found.overall.kappa, found.human_alpha
    if kappa.value is None or alpha.value is None or alpha.value <= 0:
        return None
    numbers = f"κ of the judge is {_figure(kappa)}, α among people {_figure(alpha)}."
    if _above(alpha, kappa):
        return Finding("info", "The judge is below the human ceiling: there is room to improve it.", numbers)
    if _above(kappa, alpha) or kappa.low is None or alpha.low is None:
        return None
    title = "Whether the judge reaches the human ceiling is open: the intervals overlap."
    return Finding("info", title, numbers)


def _limits(found: Comparison, units: int) -> list[Finding]:
    limits = []
    if units < FEW_UNITS:
        limits.append(
            Finding(
                "warning",
                f"Only {units} unit{'s' * (units != 1)}: take every figure as a hint.",
                f"Label at least {FEW_UNITS} units, better a few hundred, before acting on them.",
            )
        )
    if found.coverage is not None and found.coverage < 0.95:
        limits.append(
            Finding(
                "warning",
                f"The judge gave a verdict on {_percent(found.coverage)} of the units only.",
                "The figures say nothing about the others.",
            )
        )
    return limits


def _above(one: Figure, other: Figure) -> bool:
    """Whether the whole interval of `one` lies above that of `other`."""
    return one.low is not None and other.high is not None and one.low > other.high


def _figure(figure: Figure) -> str:
    if figure.low is None or figure.high is None:
        return _number(figure.value)
    return f"{_number(figure.value)} (95 % interval {_number(figure.low)} to {_number(figure.high)})"


def _number(value: float | None) -> str:
    """Four decimals with a true minus, as everywhere on the page."""
    rounded = round(value or 0.0, 4)
    return f"{rounded or 0.0:.4f}".replace("-", "\N{MINUS SIGN}")


def _percent(share: float | None) -> str:
    return f"{100 * (share or 0.0):.0f} %"
