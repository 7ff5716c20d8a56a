"""Runs whose calls or examples a blind rater must not know: they would tell what a judge, or people, said."""

from django.db.models import Q, QuerySet

from rubricweb.models import Run, Team, User
from rubricweb.selectors.blinding import HiddenRuns, hidden_datasets, hidden_runs

WITHHELD = "withheld while you review blind"
"""What stands in the place of a figure or a sentence about such a run."""


def withheld_runs(viewer: User | None, team: Team, hidden: HiddenRuns | None = None) -> QuerySet[Run]:
    """Runs of the team of which this person must not learn how many calls were made, what they cost, how many
    failed, or why asking stopped. None is nobody who reviews.

    A cascade asks its next judge only where the one before abstained, failed or was unsure: with a single
    item, one call more is its first verdict. A run that uses earlier answers tells by what it found among
    them whether a cascade had asked. So both are withheld, as a whole, while the viewer is still to review an
    item of them blind; single judges and panels of one stage ask the same whatever is said.

    `hidden` is what `hidden_runs` gives, for callers that have asked it.

    One query for somebody who rates in no open blind queue, at most seven for others.
    """
    if hidden is None and viewer is not None:
        hidden = hidden_runs(viewer, team)
    if not hidden:
        return Run.objects.none()
    runs = Run.objects.filter(hidden.condition, team=team).order_by()
    cascades = list(runs.filter(panel__cascade__repeats__isnull=False).values_list("pk", flat=True))
    return runs.filter(Q(pk__in=cascades) | Q(use_cache=True)) if cascades else Run.objects.none()


def is_withheld_run(run: Run, viewer: User | None) -> bool:
    """Whether `run` is one of `withheld_runs`; no query for one that asks the same whatever is said."""
    if viewer is None or not (run.use_cache or (run.panel and run.panel.cascade)):
        return False
    return withheld_runs(viewer, run.team).filter(pk=run.pk).exists()


def hides_examples(run: Run, viewer: User, hidden: HiddenRuns | None = None) -> bool:
    """Whether this person must not learn which examples the judges of `run` are shown: they are still to
    review an item of the dataset that these were drawn from. Which were drawn, or that none of theirs was,
    follows from what was said of them. `hidden` is what `hidden_runs` gives.
    """
    if run.few_shot is None:
        return False
    datasets = hidden_datasets(viewer, run.team) if hidden is None else hidden.datasets
    if run.few_shot.dataset_id is None:  # they came with the judge: nobody knows any more whose they were
        return bool(datasets)
    return run.few_shot.dataset_id in datasets


def stop_reason(run: Run, *, withheld: bool) -> str:
    """Why the run stopped before everything was graded, "" when it did not: it may name a judge or a sum."""
    return f"The reason is {WITHHELD}." if run.stop_reason and withheld else run.stop_reason
