"""Two system versions against each other: the newest runs over their answers that were graded alike."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, Q, QuerySet

from rubricweb.errors import Invalid
from rubricweb.models import Dataset, Run, RunState, RunSummary, SystemVersion, Team, unarchived
from rubricweb.selectors.runs.graders import examples_words, panel_words
from rubricweb.selectors.runs.over_time.score_series import Key, asked_words, how_scored, judged_as
from rubricweb.selectors.runs.over_time.tries import run_sizes
from rubricweb.selectors.shared.judge_use import with_judge

NAMED = 10


@dataclass(frozen=True)
class VersionPair:
    """The newest finished run over one version, and the newest over the other that it can be held against.

    Those of which nothing was scored, and tries, only where nothing else can be: `selectors.runs.diff` says
    of its sides whether they are.
    """

    run: Run
    baseline: Run


def version_called(team: Team, name: str) -> SystemVersion:
    """The team's system version called assistant@v4. Raises Invalid naming the newest that there are."""
    # No database can be asked for a NUL.
    system, _, label = name.replace("\0", "").partition("@")
    named = SystemVersion.objects.filter(system__team=team).exclude(system__name="").select_related("system")
    found = named.filter(system__name=system, label=label).first()
    if found is None:
        known = ", ".join(str(version) for version in named.order_by("-created_at", "-pk")[:NAMED])
        raise Invalid(f"There is no system version {name!r} in {team}. Known: {known or 'none yet'}.")
    return found


def version_pair(
    team: Team,
    version: SystemVersion,
    baseline: SystemVersion,
    *,
    dataset: Dataset | None = None,
    judge: str = "",
) -> VersionPair:
    """The newest finished run over `version` for which there is one over `baseline`, and the newest of those.

    They are over one dataset, by the same rubric version, autograder and judge or panel, asked in the same
    way; `dataset` and `judge`, its name or id, narrow them. None is archived, nor its dataset unless that is
    named; as few of the two as can be are without any score, then tries. Raises Invalid saying which run is
    missing.
    """
    if version.pk == baseline.pk:
        raise Invalid(f"{version} cannot be held against itself; name another version.")
    runs, others = (_finished(team, one, dataset, judge) for one in (version, baseline))
    tells_less = _tells_less([*runs, *others])
    # Of those that were graded alike the newest of those that tell most.
    graded_alike: dict[Key, Run] = {}
    for one in sorted(others, key=lambda one: tells_less[one.pk]):
        graded_alike.setdefault(judged_as(one), one)
    pairs = [
        VersionPair(run, other) for run in runs if (other := graded_alike.get(judged_as(run))) is not None
    ]
    if not pairs:
        raise Invalid(_missing(version, runs, baseline, others, dataset, judge))
    of_both = (zip(tells_less[pair.run.pk], tells_less[pair.baseline.pk], strict=True) for pair in pairs)
    ranked = [(sum(unscored), sum(tries)) for unscored, tries in of_both]
    return pairs[ranked.index(min(ranked))]


def _tells_less(runs: Sequence[Run]) -> dict[int, tuple[bool, bool]]:
    """Run id → whether nothing was scored in it, and whether it is a try."""
    summaries = RunSummary.objects.filter(run__in=[run.pk for run in runs], scored=0)
    unscored = set(summaries.values_list("run_id", flat=True))
    return {pk: (pk in unscored, size.is_try) for pk, size in run_sizes(runs).items()}


def _finished(team: Team, version: SystemVersion, dataset: Dataset | None, judge: str) -> list[Run]:
    """Newest first."""
    rows: QuerySet[Run] = Run.objects.filter(
        unarchived(), team=team, system_version=version, state=RunState.FINISHED
    )
    rows = rows.filter(unarchived("dataset__") if dataset is None else Q(dataset=dataset))
    runs = with_judge(rows).select_related(
        "team", "dataset", "rubric_version", "created_by", "system_version__system"
    )
    finished = runs.order_by(F("created_at").desc(), "-pk")
    return [run for run in finished if not judge or judge in (run.judge.name, run.judge.id)]


def _missing(
    version: SystemVersion,
    runs: Sequence[Run],
    baseline: SystemVersion,
    others: Sequence[Run],
    dataset: Dataset | None,
    judge: str,
) -> str:
    """What there is of one version and not of the other, and what to start."""
    for one, there, other, of_other in ((version, runs, baseline, others), (baseline, others, version, runs)):
        if of_other and not there:
            newest = of_other[0]
            return (
                f"{one} has no finished run{_narrowed(dataset, judge)}; start one over {newest.dataset} as "
                f"{newest} of {other} was: {_settings(newest)}."
            )
    if not runs:
        return (
            f"Neither {version} nor {baseline} has a finished run{_narrowed(dataset, judge)}; "
            f"start one over each with the same judge and rubric."
        )
    newest, newest_other = runs[0], others[0]
    return (
        f"{baseline} has no finished run that was graded as {newest} of {version}: "
        f"{_settings(newest, newest_other)}, over {newest.dataset}; start one. Its newest is {newest_other}: "
        f"{_settings(newest_other, newest)}, over {newest_other.dataset}."
    )


def _narrowed(dataset: Dataset | None, judge: str) -> str:
    return (f" over {dataset}" if dataset is not None else "") + (f" with judge {judge}" if judge else "")


def _settings(run: Run, before: Run | None = None) -> str:
    """All that `judged_as` asks for but the dataset; of how the judge was asked what is other than before."""
    rubric = "each item's own rubric" if run.rubric_version is None else str(run.rubric_version)
    words = [rubric, f"{run.autograder} by {run.judge.name}, model {run.judge.model}"]
    if before is not None:
        words += asked_words(run, before)
    if run.panel:
        words.append("; ".join(panel_words(run.panel)))
    if run.few_shot:
        words.append(examples_words(run.few_shot))
    return ", ".join([*words, *filter(None, [how_scored(run)])])
