"""Rules about what labels have shown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from rubricweb.engine.agreement.intervals import Figure, p_against
from rubricweb.engine.lint.base import CriterionEvidence, Hit, LintInput, Rule, RuleExample
from rubricweb.engine.lint.draft import DraftCriterion
from rubricweb.engine.number_format import text_of
from rubricweb.engine.verdict import Verdict

MIN_ITEMS = 10
"""Items below which labels say too little about a criterion."""

OFTEN_ABSTAINED = 0.2
"""Share of labels that abstain from which a criterion does not fit its items."""

LOW_ALPHA = 0.4
"""Krippendorff's α among people below which their labels hardly tell submissions apart."""

BIAS_P = 0.01
"""Two-sided p of the bias below which a judge leans to one side: small, for many criteria are tested."""


def _never_varies(sight: LintInput) -> Iterator[Hit]:
    for criterion, seen in _with_evidence(sight):
        given = {
            label: count for label, count in seen.labels.items() if count and not _abstains(criterion, label)
        }
        if len(given) == 1 and seen.items >= MIN_ITEMS:
            (label,) = given
            yield Hit(
                f"Always {label}, over {seen.items} items: it does not tell submissions apart.",
                "Make it harder or easier, add items where it goes the other way, or drop it.",
                criterion.index,
            )


def _often_abstained(sight: LintInput) -> Iterator[Hit]:
    for criterion, seen in _with_evidence(sight):
        total = sum(seen.labels.values())
        abstained = sum(count for label, count in seen.labels.items() if _abstains(criterion, label))
        if seen.items >= MIN_ITEMS and total and abstained / total >= OFTEN_ABSTAINED:
            yield Hit(
                f"{abstained} of {total} labels abstain ({abstained / total:.0%}).",
                "Say in the requirement when it applies, or keep it for the items it is about.",
                criterion.index,
            )


def _low_agreement(sight: LintInput) -> Iterator[Hit]:
    for criterion, seen in _with_evidence(sight):
        if seen.alpha is not None and seen.alpha < LOW_ALPHA and seen.alpha_units >= MIN_ITEMS:
            shown = round(seen.alpha, 2) + 0.0  # turns -0.0 into 0.0
            yield Hit(
                f"People disagree: α = {shown:.2f} over {seen.alpha_units} items with two labels or more.",
                "Read the items they differ on, then reword it, or add guidance and examples.",
                criterion.index,
            )


def _judge_bias(sight: LintInput) -> Iterator[Hit]:
    for criterion, seen in _with_evidence(sight):
        bias = seen.judge_bias
        p = None if bias is None else p_against(bias)
        if bias is None or bias.value is None or p is None or p >= BIAS_P:
            continue
        side = "more lenient" if bias.value > 0 else "stricter"
        yield Hit(
            f"The judge is {side} than people over {bias.n} items: bias {text_of(bias, signed=True)} "
            f"(p = {p:.2g}).",
            "Show the judge a met and an unmet example near the border, or another judge.",
            criterion.index,
        )


def _with_evidence(sight: LintInput) -> Iterator[tuple[DraftCriterion, CriterionEvidence]]:
    for seen in sorted(sight.evidence, key=lambda evidence: evidence.criterion):
        yield sight.criteria[seen.criterion], seen


def _abstains(criterion: DraftCriterion, label: str) -> bool:
    name = label.strip().casefold()
    if criterion.kind == "binary":
        return name == Verdict.CANNOT_ASSESS.value.casefold()
    return any(option.abstains and option.label.casefold() == name for option in criterion.options)


def _shown(
    labels: Mapping[str, int] | None = None,
    *,
    alpha: float | None = None,
    judge_bias: Figure | None = None,
) -> RuleExample:
    evidence = CriterionEvidence(
        criterion=0,
        items=20,
        labels=labels or {"MET": 12, "UNMET": 8},
        alpha=alpha,
        alpha_units=20,
        judge_bias=judge_bias,
    )
    return RuleExample(({"requirement": "Names the capital."},), (evidence,))


NEVER_VARIES = Rule(
    name="never_varies",
    title="Always the same verdict",
    explanation=(
        f"Over {MIN_ITEMS} items or more every label that is no abstention is the same. The criterion adds a "
        "constant to every score and cannot show progress."
    ),
    severity="hint",
    find=_never_varies,
    triggers=_shown(labels={"MET": 20, "CANNOT_ASSESS": 1}),
    passes=_shown(),
    reads="data",
)
OFTEN_CANNOT_ASSESS = Rule(
    name="often_cannot_assess",
    title="Often impossible to assess",
    explanation=(
        f"At least {OFTEN_ABSTAINED:.0%} of the labels abstain, over {MIN_ITEMS} items or more: the "
        "criterion does not fit the items it is asked about, and scores rest on less than they seem to."
    ),
    severity="warning",
    find=_often_abstained,
    triggers=_shown(labels={"MET": 9, "UNMET": 6, "CANNOT_ASSESS": 5}),
    passes=_shown(labels={"MET": 10, "UNMET": 9, "CANNOT_ASSESS": 1}),
    reads="data",
)
LOW_AGREEMENT = Rule(
    name="low_agreement",
    title="People disagree about it",
    explanation=(
        f"Krippendorff's α among people is below {LOW_ALPHA} over {MIN_ITEMS} units or more. No judge "
        "can be held against labels that people do not agree on: the criterion comes first."
    ),
    severity="warning",
    find=_low_agreement,
    triggers=_shown(alpha=0.15),
    passes=_shown(alpha=0.75),
    reads="data",
)
JUDGE_BIAS = Rule(
    name="judge_bias",
    title="The judge leans to one side",
    explanation=(
        "The judge's answers move the score beside people's in one direction: the t test of the bias, from "
        f"the mean of each item's raters, gives p below {BIAS_P}. That does not average out over items."
    ),
    severity="warning",
    find=_judge_bias,
    # t of 19 degrees is 2.093: 2.093 · 0.4/0.2 = 4.19 has p 0.0005, 2.093 · 0.1/0.12 = 1.74 has 0.097.
    triggers=_shown(judge_bias=Figure(0.4, 0.2, 0.6, 20, df=19)),
    passes=_shown(judge_bias=Figure(0.1, -0.02, 0.22, 20, df=19)),
    reads="data",
)
