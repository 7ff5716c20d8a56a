"""What a probe found, as it is shown and kept."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from rubricweb.engine.agreement import Figure


@dataclass(frozen=True)
class ProbeAnswers:
    """How many units had the label `before` under the earlier words and `now` under the new ones."""

    before: str
    now: str
    units: int


@dataclass(frozen=True)
class Probe:
    """What people said under the new words beside what was said under the words before.

    `answered` of `asked` items; on `same_rater` units the earlier label is the same person's. `agreement` is
    the share of units with equal labels and `alpha` Krippendorff's α of the two. Beside them stands what is
    usual under the words before: `usual` and `usual_alpha` between raters, `repeated` of raters who labelled
    a unit twice. Figures without a value say why. `withheld`: the viewer is still to review some of it blind,
    so no figure is computed.
    """

    asked: int
    answered: int
    same_rater: int
    seed: int | None
    agreement: Figure
    alpha: Figure
    usual: Figure
    usual_alpha: Figure
    repeated: Figure
    answers: tuple[ProbeAnswers, ...] = ()
    withheld: bool = False

    @property
    def is_done(self) -> bool:
        return self.answered >= self.asked

    @classmethod
    def from_evidence(cls, stored: Mapping[str, Any]) -> "Probe":
        """What `as_evidence` stored."""
        return cls(
            asked=stored["asked"],
            answered=stored["answered"],
            same_rater=stored["same_rater"],
            seed=stored["seed"],
            agreement=Figure(**stored["agreement"]),
            alpha=Figure(**stored["alpha"]),
            usual=Figure(**stored["usual"]),
            usual_alpha=Figure(**stored["usual_alpha"]),
            repeated=Figure(**stored["repeated"]),
            answers=tuple(ProbeAnswers(**one) for one in stored["answers"]),
        )

    def as_evidence(self) -> dict[str, Any]:
        """Plain data, to be stored with the decision it led to."""
        found = asdict(self) | {"answers": [asdict(one) for one in self.answers]}
        return {name: value for name, value in found.items() if name != "withheld"}
