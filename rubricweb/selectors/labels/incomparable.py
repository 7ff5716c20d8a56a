"""Why a run and people cannot be held against each other though both have answered."""

from collections.abc import Collection, Mapping, Sequence

from rubricweb.engine.agreement.scores.people_mean import LEAST_PILOT
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Criterion, Item, ReviewQueue, Run, RunItem, SystemVersion, User
from rubricweb.selectors.blinding import what_hides
from rubricweb.selectors.labels.ground_truth import RunAnswers, Truth, Unit
from rubricweb.selectors.shared.unavailable import Unavailable, sample_for


def on_other_versions(run: Run, units: Collection[Unit]) -> set[int]:
    """Ids of those criteria of the units that are neither of the run's rubric nor of an item's own.

    The run was never asked them: they are another version's. Two queries.
    """
    versions = dict(
        Criterion.objects.filter(pk__in={unit[1] for unit in units}).values_list("pk", "version_id")
    )
    elsewhere = set(versions.values()) - {run.rubric_version_id}
    items = Item.objects.filter(dataset=run.dataset_id, rubric_version__in=elsewhere).order_by()
    elsewhere -= set(items.values_list("rubric_version_id", flat=True).distinct()) if elsewhere else set()
    return {pk for pk, version_id in versions.items() if version_id in elsewhere}


def why_nothing(
    run: Run,
    queues: Sequence[ReviewQueue],
    labelled: Mapping[Unit, Truth],
    of_others: Collection[Unit],
    answers: RunAnswers,
    *,
    elsewhere: Collection[int],
    hidden: Collection[int],
    viewer: User,
) -> Unavailable | None:
    """Why no unit has an answer of both sides; None where one has. `labelled` holds every unit of people but
    those `of_others`, answers of system versions the run is not about; `elsewhere` are the criteria of other
    rubric versions.
    """
    asked = {unit: truth for unit, truth in labelled.items() if unit[1] not in elsewhere}
    visible = {unit: truth for unit, truth in asked.items() if unit[0] not in hidden}
    settled = [unit for unit, truth in visible.items() if truth.verdict not in (None, Verdict.CANNOT_ASSESS)]
    if any(answers.labels.get(unit) not in (None, Verdict.CANNOT_ASSESS) for unit in settled):
        return None
    if run.autograder == "rubric_as_judge":
        return Unavailable(
            "no_verdicts",
            f"The judge of {run} gave every item one score and no verdicts.",
            "Grade the dataset criterion by criterion to compare.",
            page="runs",
        )
    if labelled and not asked:
        return _another_version(run, queues)
    if asked and not visible:
        return Unavailable(
            "labels_hidden",
            "People labelled only items that are hidden from you while you review blind.",
            what_hides(viewer, run.team, run.dataset_id),
            page="queues",
        )
    if visible and not settled:
        return Unavailable(
            "labels_undecided",
            "People are tied or could not tell on everything they labelled.",
            "Decide what they differ on, or have it labelled by one more person.",
            page="queues",
        )
    if settled:
        return Unavailable(
            "judge_silent",
            f"{run} failed, abstained or was stopped on everything people labelled.",
            "Look at its errors, and retry them.",
            page="run",
            run_id=run.pk,
        )
    answered = {unit[0] for unit in of_others if unit[0] not in hidden}
    return _other_systems(run, answered) if answered else no_labels(run)


def _other_systems(run: Run, answered: set[int]) -> Unavailable:
    """People labelled these items alone, and the run is over answers of other system versions."""
    ours = [one.system for one in run.launched_with]
    of_items = Item.objects.filter(pk__in=answered).order_by().values("system_version")
    versions = SystemVersion.objects.filter(pk__in=of_items)
    theirs = [str(one) for one in versions.select_related("system").order_by("system__name", "position")]
    options = "".join(f" --system {name}" for name in (*theirs, *ours) if name)
    return Unavailable(
        "labels_of_other_systems",
        f"People labelled answers of {_names(theirs)}; {run} judged those of {_names(ours)}.",
        "Start runs over all of these versions together, with the judge of this one: they count as one judge "
        f"(rubricweb grade …{options}).",
        page="runs",
    )


def _names(versions: Sequence[str]) -> str:
    return ", ".join(name or "no system named" for name in versions)


def _another_version(run: Run, queues: Sequence[ReviewQueue]) -> Unavailable:
    theirs = ", ".join(
        dict.fromkeys(str(queue.rubric_version or "the items’ own rubrics") for queue in queues)
    )
    ours = str(run.rubric_version or "the items’ own rubrics")
    theirs = f"another rubric, {theirs}" if theirs == ours else theirs
    size = min(LEAST_PILOT, RunItem.objects.filter(run=run).count())
    return Unavailable(
        "labels_on_another_version",
        f"People labelled {run.dataset} by {theirs}; {run} graded by {ours}, whose criteria nobody labelled.",
        f"Compare a run that graded by {theirs}, or have items labelled by {ours}.",
        page="new_queue",
        sample=sample_for(run, size),
    )


def no_labels(run: Run) -> Unavailable:
    """Nobody labelled what the run graded, and the queue that would do."""
    if run.rubric_version and not run.rubric_version.criteria.exclude(kind="check").exists():
        return Unavailable(
            "checks_only",
            f"Every criterion of {run.rubric_version} is a check: computed, and labelled by nobody.",
            "There is nothing to do.",
        )
    size = min(LEAST_PILOT, RunItem.objects.filter(run=run).count())
    return Unavailable(
        "no_labels",
        f"Nobody has labelled {run.dataset} by the rubric of {run} yet.",
        f"Have {size:,} items labelled that are drawn at random, or import labels.",
        page="new_queue",
        sample=sample_for(run, size),
    )


def one_verdict(run: Run, *, within: bool = False) -> Unavailable:
    """Why κ is undefined though both sides answered; `within` criteria where it is counted so."""
    answered = f"one and the same verdict throughout on what both answered of {run}."
    return Unavailable(
        "one_verdict",
        f"Of each criterion judge and people gave {answered}"
        if within
        else f"Judge or people gave {answered}",
        "Have items labelled that the judge answered otherwise.",
        page="queues",
    )


def choices_only(run: Run) -> Unavailable:
    """Why there is no pooled κ though choices have answers of both sides."""
    return Unavailable(
        "choices_only",
        "No criterion that is simply met or unmet has an answer of both; each choice has its own κ.",
        "Look at them on Compare.",
        page="compare",
        run_id=run.pk,
    )
