"""Examples of choices, checks, votes and splits for the page of patterns; nothing of it is stored."""

from collections.abc import Mapping, Sequence
from typing import Any

from rubricweb.engine.agreement.judge.matrix import Cell, ConfusionMatrixRow
from rubricweb.models import CascadeSnapshot, Criterion, Dataset, PanelSnapshot, Run, Vote
from rubricweb.selectors.reviews.reviews import Measured
from rubricweb.selectors.runs.criterion_counts import CriterionCounts
from rubricweb.selectors.runs.reports import CriterionResult
from rubricweb.web.runs.vote_forms import VotingFields
from rubricweb.web.shared.choices import offer

OPTIONS = [
    {"label": "curt", "value": 0.0},
    {"label": "correct", "value": 0.5},
    {"label": "warm: greets, thanks, offers more help", "value": 1.0},
    {"label": "not applicable", "na": True},
]
STEPS = [option["label"] for option in OPTIONS if not option.get("na")]


def answer_examples() -> dict[str, Any]:
    """What the section on kinds of answers shows, by the names the template uses."""
    tone = Criterion(
        pk=1,
        name="Tone",
        requirement="How does the reply address the customer?",
        weight=4,
        kind="choice",
        scale_type="ordinal",
        options=OPTIONS,
    )
    votes = _votes()
    return {
        "choice": tone,
        "penalty": Criterion(pk=4, name="Safety", weight=-10, kind="binary"),
        "labels": [option["label"] for option in OPTIONS],
        "check": _check(2, "Length", "The reply has 40 to 120 words.", 2),
        "measured": Measured(value=0.625, reason="25 words; 40 to 120 are asked for."),
        "failing_check": _check(3, "Mathematics", "The result equals the reference.", -1),
        "unmeasured": Measured(
            value=None, reason="", error="missing_reference", message="The item has no reference."
        ),
        "result": CriterionResult(tone, None, None, None, votes=votes, agreement=2 / 3, flips=0.5),
        "run": Run(panel=PanelSnapshot((), None, 1, 0.0, CascadeSnapshot((1, 1), None, None))),
        "votes_form": _first_votes(),
        "counts": [
            CriterionCounts(
                tone, {"curt": 6, "correct": 21, str(STEPS[2]): 11, "not applicable": 2}, errors=1
            )
        ],
        "matrix": _matrix([(5, 1, 0), (2, 17, 3), (0, 4, 8)]),
        "half": Dataset(sealed_as="dev", seal="4f7a" * 16, seal_salt="9c1b" * 8, split_report=_balance()),
    }


def _check(pk: int, name: str, requirement: str, weight: float) -> Criterion:
    return Criterion(pk=pk, name=name, requirement=requirement, weight=weight, kind="check")


def _votes() -> tuple[Vote, ...]:
    return (
        Vote(judge="small", verdict="curt", confidence=0.55, reason="It opens without a greeting."),
        Vote(judge="small", repeat=1, verdict="correct", reason="Polite enough."),
        Vote(judge="large", stage=1, weight=2, verdict="correct", confidence=0.9, reason="One thank-you."),
        Vote(judge="other", stage=1, error_kind="timeout", error_message="no reply within 60 seconds"),
    )


def _first_votes() -> list[Any]:
    form = VotingFields(auto_id="example_votes_%s")
    offer(form, "further", [("large", "large"), ("other", "other")])
    return [form[name] for name in ("repeats", "weight", "further")]


def _matrix(counts: Sequence[Sequence[int]]) -> list[ConfusionMatrixRow]:
    return [
        ConfusionMatrixRow(
            truth=str(truth),
            cells=tuple(
                Cell(str(truth), str(judged), count, count / sum(row))
                for judged, count in zip(STEPS, row, strict=True)
            ),
            total=sum(row),
        )
        for truth, row in zip(STEPS, counts, strict=True)
    ]


def _balance() -> Mapping[str, Any]:
    return {
        "n_dev": 20,
        "n_test": 20,
        "seed": 7,
        "largest_difference": 0.05,
        "same_content": [],
        "labels": [
            {"criterion": "Names the cause", "label": "MET", "dev": 14, "test": 13},
            {"criterion": "Names the cause", "label": "UNMET", "dev": 6, "test": 7},
            {"criterion": "Tone", "label": "correct", "dev": 11, "test": 10},
        ],
    }
