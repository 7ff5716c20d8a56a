"""The options of a choice as rows of the rubric editor, and those to begin with."""

from dataclasses import dataclass, field
from typing import Any

from rubricweb.web.shared.numbers import number_typed

TEMPLATE_OPTION = "__option__"

PRESETS: dict[str, tuple[str, tuple[tuple[str, str], ...]]] = {
    "likert": (
        "Agreement, 1 to 5",
        (
            ("1 · strongly disagree", "0"),
            ("2 · disagree", "0.25"),
            ("3 · neither", "0.5"),
            ("4 · agree", "0.75"),
            ("5 · strongly agree", "1"),
        ),
    ),
    "thirds": ("Yes, partly, no", (("yes", "1"), ("partly", "0.5"), ("no", "0"))),
    "grades": (
        "0 to 4",
        (
            ("0 · absent", "0"),
            ("1 · poor", "0.25"),
            ("2 · fair", "0.5"),
            ("3 · good", "0.75"),
            ("4 · excellent", "1"),
        ),
    ),
}
"""Options to begin with, by name: what the button says, and labels with their values."""


@dataclass
class OptionRow:
    """One option as typed; the empty one is a row nobody has filled in."""

    index: int | str
    prefix: str
    label: str = ""
    value: str = ""
    na: bool = False
    errors: list[str] = field(default_factory=list)
    focused: bool = False

    @property
    def is_empty(self) -> bool:
        return not self.label.strip() and not self.value.strip() and not self.na

    @property
    def worth(self) -> float | None:
        """The value when it is a number."""
        number = number_typed(self.value)
        return None if isinstance(number, str) else float(number)

    def stored(self) -> dict[str, Any]:
        """The option as a draft holds it, what was left empty left out."""
        found: dict[str, Any] = {"label": self.label} if self.label.strip() else {}
        if self.value.strip():
            found["value"] = number_typed(self.value)
        return found | ({"na": True} if self.na else {})
