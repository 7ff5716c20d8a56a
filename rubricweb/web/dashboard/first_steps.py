"""The path of a team that has no run yet: five steps, of which one is open."""

from dataclasses import dataclass
from typing import Literal

from rubricweb.selectors.dashboard import FirstSteps


@dataclass(frozen=True)
class PathStep:
    """One step as it is shown; of those that are left the first is `now`."""

    name: str
    title: str
    text: str
    state: Literal["done", "now", "later"]


WORDS = {
    "rubric": ("Choose a rubric", "What a good answer is, as weighted criteria. You can change every word."),
    "dataset": ("Add answers to grade", "CSV, JSON, Parquet or paste. Ten are enough to begin."),
    "run": ("Run a judge", "An LLM grades every answer, criterion by criterion."),
    "review": ("Review some yourself", "Without seeing what the judge said."),
    "compare": ("Compare", "Can you trust the judge? Where does it go wrong?"),
}


def path(steps: FirstSteps) -> list[PathStep]:
    """All five in their order. Without a run neither it nor the comparison is done."""
    done = {"rubric": steps.rubric, "dataset": steps.dataset, "review": steps.reviewed}
    left = [name for name in WORDS if not done.get(name)]
    return [
        PathStep(name, title, text, "done" if name not in left else "now" if name == left[0] else "later")
        for name, (title, text) in WORDS.items()
    ]
