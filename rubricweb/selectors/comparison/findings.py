"""What the figures of a comparison say in plain sentences, and how far they carry."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from rubricweb.engine.agreement import HumanCeiling, PairAgreement, holm
from rubricweb.engine.agreement.intervals import Figure, p_against, simultaneous, widened
from rubricweb.engine.agreement.intervals import within as inside
from rubricweb.engine.agreement.raters.leading import IN_SEAT, WITHIN, LeadingKappa
from rubricweb.engine.number_format import counted, number, share, text_of
from rubricweb.selectors.comparison.comparison import Comparison
from rubricweb.selectors.labels.by_kind import CriterionComparison

FEW_UNITS = 30
LEAST_VALUE_APART = 0.05
"""The bias on one choice from which it is told; where the interval of all lies within it, there is none."""
MOST_APART = 2.0
"""How far two κ can lie apart."""
LEAST_RATES_APART = 0.005
"""How far the bias must lie from the difference of the plain rates beside it before that is explained."""

RELIABLE_ALPHA = 0.667
"""The least α that Krippendorff (2004, p. 241) lets tentative conclusions rest on."""


@dataclass(frozen=True)
class ComparisonFinding:
    """One sentence; `level` is success, info or warning, `title` the claim, `text` what it rests on."""

    level: str
    title: str
    text: str


def findings(comparison: Comparison) -> list[ComparisonFinding]:
    """Claims the intervals support, most important first; empty when there is nothing to measure.

    Of MET rates a difference is only called one when the 95 % intervals on both sides do not overlap, which
    is stricter than the data ask for: what cannot be told apart is said to be open, never to be equal. What
    is said of several choices follows p values after Holm over all of them; the intervals beside it hold for
    all at once. What is said over several criteria counts chance within each, since whoever knows how often
    each is met agrees beyond the chance of one table. Where the comparison is a look at a test half, claims
    hold at the confidence of that look.
    """
    confidence = comparison.confidence
    choices = [(row, row.options) for row in comparison.criteria if row.options is not None and row.options.n]
    sentences: list[ComparisonFinding | None] = []
    if comparison.rates.people.n:
        sentences.append(_bias(comparison))
    if comparison.overall.n:
        sentences += [_agreement(comparison), *_people_over_all(comparison)]
    agreeing = _all_at_once([row.leading.kappa for row, _ in choices], confidence)
    reliable = _all_at_once([row.human_alpha for row, _ in choices], confidence, against=RELIABLE_ALPHA)
    over_ceiling = _all_at_once(
        [_ceiling_difference(row.ceiling) for row, _ in choices], confidence, most=MOST_APART
    )
    for (row, options), kappa, alpha, apart in zip(choices, agreeing, reliable, over_ceiling, strict=True):
        of = f"{row.criterion.name}: "
        sentences += [
            _choice(row, options, kappa),
            _people(alpha, of=of),
            _human_ceiling(row.ceiling, apart, of=of),
        ]
    if not sentences:
        return _checks(comparison)
    sentences += _limits(comparison, comparison.overall.n + sum(options.n for _, options in choices))
    return [finding for finding in sentences if finding is not None]


@dataclass(frozen=True)
class _Tested:
    """A figure with the interval to show, and whether it is off the value it is held `against`.

    `p` is that of the test after Holm over `choices` of them; None where there is no interval. What it says
    holds at `confidence`.
    """

    figure: Figure
    confidence: float
    against: float
    p: float | None
    choices: int = 1

    @classmethod
    def alone(cls, figure: Figure, confidence: float, against: float = 0.0, most: float = 1.0) -> "_Tested":
        """A figure by itself; `most` is the end of its scale, where a stretched interval ends too."""
        shown = inside(widened(figure, confidence), -most, most)
        return cls(shown, confidence, against, p_against(figure, against))

    @property
    def side(self) -> int:
        """1 above, −1 below; 0 where the data do not tell."""
        if self.p is None or self.p >= 1 - self.confidence or self.figure.value is None:
            return 0
        return 1 if self.figure.value > self.against else -1

    @property
    def holm_note(self) -> str:
        """What a reader needs to see why word and interval may differ; nothing for a figure by itself."""
        if self.choices == 1 or self.p is None:
            return ""
        p = "< 0.001" if self.p < 0.001 else f"= {number(self.p)}"
        held = f" against {self.against}" if self.against else ""
        return f" p{held} {p} after Holm over {self.choices} choices."


def _all_at_once(
    figures: Sequence[Figure], confidence: float, against: float = 0.0, most: float = 1.0
) -> list[_Tested]:
    """The figures of several choices: p after Holm (1979), intervals that hold for all at once."""
    adjusted = holm([p_against(figure, against) for figure in figures])
    each = simultaneous(len(figures), confidence)
    return [
        _Tested(inside(widened(figure, each), -most, most), confidence, against, p, len(figures))
        for figure, p in zip(figures, adjusted, strict=True)
    ]


def _ceiling_difference(ceiling: HumanCeiling) -> Figure:
    return Figure(None, None, None, 0) if ceiling.judge is None else ceiling.judge.kappa_difference


def _bias(comparison: Comparison) -> ComparisonFinding | None:
    judge, people = comparison.rates.judge, comparison.rates.people
    bias = inside(widened(comparison.bias, comparison.confidence), -1, 1)
    if bias.value is None:
        return None
    what = "gives credit" if comparison.has_penalties else "says MET"
    rates = f"the judge {what} on {share(judge.value)} of the units, people on {share(people.value)}."
    if abs(bias.value - ((judge.value or 0) - (people.value or 0))) >= LEAST_RATES_APART:
        rates += " Bias counts every criterion by its weight, and every option by its value."
    text = f"Bias {text_of(bias, signed=True)}; {rates}"
    if bias.low is None:
        title = "These are too few labels to tell whether the judge is lenient or strict."
        return ComparisonFinding("info", title, text)
    if not comparison.leaning:
        reach = max(-bias.low, bias.high or 0.0)
        if reach < LEAST_VALUE_APART:
            title = f"The judge is neither lenient nor strict: its bias is within ±{LEAST_VALUE_APART}."
        else:
            title = "No clear bias."
        return ComparisonFinding("info", title, text)
    side = "higher" if comparison.leaning == "lenient" else "lower"
    title = f"The judge is {comparison.leaning}: its answers make scores {side} than people's do."
    return ComparisonFinding("warning", title, text)


def _agreement(comparison: Comparison) -> ComparisonFinding:
    overall, leading = comparison.overall, comparison.leading
    same = f"They agree on {share(overall.accuracy.value)} of {overall.n:,} units."
    tested = _Tested.alone(leading.kappa, comparison.confidence)
    if tested.figure.value is None and leading.within:
        title = "Agreement beyond chance cannot be measured here."
        return ComparisonFinding("info", title, f"{same} {_title('', leading.kappa.reason)}.")
    rest = _ties(leading)
    if leading.in_seat:
        other = overall.kappa if comparison.within is None else comparison.within.kappa
        rest += f" κ with the majority of all, which leaves them out: {text_of(other)}."
    if leading.pooled is not None:
        pooled = text_of(leading.pooled)
        rest += f" In one table, where knowing how often each criterion is met counts: {pooled}."
    name = leading.name if leading.within or leading.in_seat else "Cohen κ"
    return _beyond_chance(tested, same, name=name, rest=rest)


def _ties(leading: LeadingKappa) -> str:
    """Why the judge in a person's seat leads; "" where it does not."""
    if not leading.in_seat:
        return ""
    return f" People are tied on {share(leading.tied_share)} of what they labelled; in a seat a tie is ½."


def _people_over_all(comparison: Comparison) -> Iterator[ComparisonFinding | None]:
    """People among themselves, and the judge in the seat of one of them."""
    within, confidence = comparison.within, comparison.confidence
    if within is None:
        yield _people(_Tested.alone(comparison.human_alpha, confidence, RELIABLE_ALPHA))
        apart = _Tested.alone(_ceiling_difference(comparison.ceiling), confidence, most=MOST_APART)
        yield _human_ceiling(comparison.ceiling, apart)
        return
    yield _people(_Tested.alone(within.human_alpha, confidence, RELIABLE_ALPHA), within=f" {WITHIN}")
    seat, judge = within.seat, comparison.ceiling.judge
    if judge is not None:
        of_judge = replace(judge, kappa=seat.judge_kappa, kappa_difference=seat.kappa_difference)
        ceiling = replace(comparison.ceiling, kappa=seat.kappa, judge=of_judge)
        apart = _Tested.alone(seat.kappa_difference, confidence, most=MOST_APART)
        yield _human_ceiling(ceiling, apart, within=f" {WITHIN}")


def _choice(row: CriterionComparison, options: PairAgreement, kappa: _Tested) -> ComparisonFinding:
    """The same of one choice."""
    same = f"They choose the same option on {share(options.accuracy.value)} of {options.n:,} items."
    if options.adjacent_accuracy is not None and options.adjacent_accuracy.value is not None:
        same += f" Within one step: {share(options.adjacent_accuracy.value)}."
    apart = row.bias
    if apart.value is not None and abs(apart.value) >= LEAST_VALUE_APART:
        same += f" The judge's options move the score by {text_of(apart, signed=True)} of the weight."
    name = "Cohen κ" if options.quadratic_kappa is None else "κ with quadratic weights"
    if row.leading.in_seat:
        name = f"{'κ' if options.quadratic_kappa is None else name} {IN_SEAT}"
    rest = _ties(row.leading)
    return _beyond_chance(kappa, same, of=f"{row.criterion.name}: ", answer="option", name=name, rest=rest)


def _checks(comparison: Comparison) -> list[ComparisonFinding]:
    """What is left to say of a rubric nobody can be held against: its checks are computed."""
    means = [
        (str(row.criterion.name), row.mean_value) for row in comparison.criteria if row.mean_value is not None
    ]
    if not means or len(means) < len(comparison.criteria):
        return []
    text = "; ".join(f"{name} {text_of(mean)} on average" for name, mean in means if mean.n)
    title = "Every criterion is a check: computed, so there is nothing for judge and people to agree on."
    return [ComparisonFinding("info", title, f"{text}." if text else "None has been computed yet.")]


def _beyond_chance(
    tested: _Tested,
    same: str,
    *,
    of: str = "",
    answer: str = "verdict",
    name: str = "Cohen κ",
    rest: str = "",
) -> ComparisonFinding:
    kappa = tested.figure
    rest = f"{same} {name} is {text_of(kappa)}; 0 is chance, 1 is perfect.{tested.holm_note}{rest}"
    if kappa.value is None:
        why = (
            f"Both sides gave one and the same {answer} throughout, so chance alone explains their agreement."
        )
        return ComparisonFinding(
            "info", _title(of, "Agreement beyond chance cannot be measured here."), f"{same} {why}"
        )
    if kappa.low is None or kappa.high is None:
        return ComparisonFinding(
            "info", f"{of}{name} is {text_of(kappa)}; too few items for an interval.", same
        )
    if tested.side < 0:
        return ComparisonFinding(
            "warning", _title(of, "Judge and people agree less than chance would have it."), rest
        )
    if tested.side == 0:
        title = _title(of, "Agreement with people cannot be told apart from chance.")
        return ComparisonFinding("warning", title, rest)
    title = _title(of, "The judge agrees with people more than chance would have it.")
    if kappa.high < 0.2:
        return ComparisonFinding("warning", title.replace("more than", "only a little more than"), rest)
    return ComparisonFinding("success" if kappa.low >= 0.6 else "info", title, rest)


def _title(of: str, sentence: str) -> str:
    """The sentence, or what it says of one criterion: `tone: the judge agrees …`."""
    return f"{of}{sentence[0].lower()}{sentence[1:]}" if of else f"{sentence[0].upper()}{sentence[1:]}"


def _people(tested: _Tested, of: str = "", within: str = "") -> ComparisonFinding | None:
    alpha = tested.figure
    if alpha.n == 0:
        return ComparisonFinding(
            "info",
            _title(of, "How well people agree among themselves is not known."),
            "No unit has been labelled by two people: there is no human ceiling to hold the judge against.",
        )
    if alpha.value is None:
        return None
    text = f"α among people{within} is {text_of(alpha)} over {alpha.n:,} units"
    if tested.side > 0:
        title = _title(of, "People agree well enough to measure a judge.")
        return ComparisonFinding("success", title, f"{text}.{tested.holm_note}")
    text += f"; at least {RELIABLE_ALPHA} is the usual bar for tentative conclusions.{tested.holm_note}"
    if tested.side == 0:
        title = _title(of, "Not enough labels to say whether people agree.")
        return ComparisonFinding("info", title, text)
    title = _title(of, "People differ among themselves too much to measure a judge finely.")
    text += " Sharpen the criteria they differ on before blaming the judge."
    return ComparisonFinding("warning", title, text)


def _human_ceiling(
    ceiling: HumanCeiling, tested: _Tested, *, of: str = "", within: str = ""
) -> ComparisonFinding | None:
    """The judge against the human ceiling: each person in turn is left out, and judge and person are both
    compared with the majority of the others. The judge's κ with the majority of all cannot be used for that.
    """
    judge = ceiling.judge
    if judge is None or judge.kappa_difference.value is None:
        return None
    people = f"these {ceiling.raters} people"
    numbers = (
        f"Against the majority of the others the judge has κ{within} {text_of(judge.kappa)}, one of {people} "
        f"{text_of(ceiling.kappa)}: a difference of {text_of(tested.figure, signed=True)} on "
        f"{ceiling.n:,} units.{tested.holm_note}"
    )
    if tested.side < 0:
        title = f"The judge is below the human ceiling of {people}: there is room to improve it."
        return ComparisonFinding("info", _title(of, title), numbers)
    if tested.side > 0:
        title = f"The judge agrees with {people} better than one of them does."
        return ComparisonFinding("success", _title(of, title), numbers)
    title = f"The judge may be as good as one of {people}; {ceiling.n:,} labels cannot tell."
    return ComparisonFinding("info", _title(of, title), numbers)


def _limits(comparison: Comparison, units: int) -> list[ComparisonFinding]:
    limits = []
    if units < FEW_UNITS:
        limits.append(
            ComparisonFinding(
                "warning",
                f"Only {counted(units, 'unit')}: take every figure as a hint.",
                f"Label at least {FEW_UNITS} units, better a few hundred, before acting on them.",
            )
        )
    if comparison.coverage is not None and comparison.coverage < 0.95:
        limits.append(
            ComparisonFinding(
                "warning",
                f"The judge gave a verdict on {share(comparison.coverage)} of the units only.",
                "The figures say nothing about the others.",
            )
        )
    return limits
