"""Why a figure or a page is empty, and what to do about it: one value for pages, API and terminal."""

import shlex
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from rubricweb.models import Run, SystemVersion, Team

CODES = {
    "no_run": "no run has graded anything yet",
    "no_finished_run": "the run over what people labelled has not ended",
    "no_run_over_labels": "no run has graded what people labelled",
    "no_labels": "nobody has labelled what the run graded",
    "labels_on_another_version": "people labelled by another rubric version than the run's",
    "labels_of_other_systems": "people labelled only answers of system versions the run is not about",
    "labels_hidden": "all labels are on items the viewer is still to review blind",
    "no_verdicts": "the judge gave one score an item and no verdicts",
    "checks_only": "every criterion is a check, which nobody labels",
    "labels_undecided": "people are tied on everything they labelled",
    "judge_silent": "the judge failed or abstained wherever people answered",
    "one_verdict": "one side gave one and the same verdict throughout",
    "choices_only": "only choices have answers of both sides, each with a κ of its own",
    "not_a_random_sample": "the labelled items were not drawn at random",
    "no_reviews": "nobody has submitted a review in the queue",
    "no_second_labels": "no criterion of an item has labels of two people",
    "no_dataset": "the team has no dataset",
    "nothing_said": "neither people nor a run have said anything of the dataset",
    "sample_has_begun": "a random sample is open and has too few labels",
}


@dataclass(frozen=True)
class SuggestedSample:
    """The random queue that would do: so many items of a dataset, by this rubric version.

    Of a run over one `system_version`, or one `half` of the cases, they are of these.
    Who labels is left to whoever opens it: a rater sees no figure over what they are still to review.
    """

    team: Team
    name: str
    dataset_id: int
    rubric_version_id: int | None
    size: int
    system_version: SystemVersion | None = None
    half: str = ""

    @property
    def systems(self) -> list[str]:
        """The system versions whose answers it asks about, by name; none where it is about any."""
        return [] if self.system_version is None else [str(self.system_version)]

    @property
    def query(self) -> str:
        """What the address of a new queue is to choose beforehand."""
        asked: dict[str, Any] = {
            "name": self.name,
            "dataset": self.dataset_id,
            "rubric_version": self.rubric_version_id or "",
            "kind": "sample",
            "size": self.size,
        }
        if self.system_version is not None:
            asked["systems"] = self.system_version.pk
        if self.half:
            asked["split"] = self.half
        return urlencode(asked)

    @property
    def command(self) -> str:
        """The same at the terminal."""
        version = f"id:{self.rubric_version_id}" if self.rubric_version_id else "-"
        words = [
            "rubricweb",
            "queues",
            "new",
            self.name,
            "--dataset",
            str(self.dataset_id),
            "--rubric",
            version,
        ]
        words += [word for name in self.systems for word in ("--system", name)]
        words += ["--split", self.half] if self.half else []
        return shlex.join([*words, "--sample", str(self.size), "--rater", "USER"])


@dataclass(frozen=True)
class Unavailable:
    """Why there is nothing, and what to do next, a sentence each; `code` is one of CODES.

    `page` is where the next step is done: "runs", "queues", "datasets", "run", "compare", "queue" or
    "new_queue", with `run_id`, `queue_id` or `sample` where it is about one; "" where waiting is all there is
    to do.
    """

    code: str
    why: str
    next_step: str
    page: str = ""
    run_id: int | None = None
    queue_id: int | None = None
    sample: SuggestedSample | None = None

    @property
    def command(self) -> str:
        """The next step at the terminal, "" where there is none."""
        return self.sample.command if self.sample else ""


def sample_for(run: Run, size: int) -> SuggestedSample:
    """A random queue of `size` items of what the run graded."""
    return SuggestedSample(
        team=run.team,
        name=f"Random sample for run {run.pk}",
        dataset_id=run.dataset_id,
        rubric_version_id=run.rubric_version_id,
        size=size,
        system_version=run.system_version,
        half=run.half,
    )
