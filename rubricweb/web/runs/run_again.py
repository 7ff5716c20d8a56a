"""An earlier run as the launch form would have been filled in for it."""

from collections.abc import Container, Mapping, Sequence
from typing import Any

from rubricweb.engine.panels.vote_rules import VOTE_RULES
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import Dataset, Item, PanelSnapshot, Run, RunMode
from rubricweb.selectors.datasets.systems import versions_of_items
from rubricweb.web.runs.judge_choice import named_by

TRIAL = "Dry run"


def filled_in(run: Run, judges: Sequence[str]) -> dict[str, Any]:
    """Initial values of `forms.NewRun` that start the same run again, over the whole dataset.

    `judges` are the ids the form offers, in its order: weights are typed in that order. The seed of the
    options' order is carried along, so that equal questions are worded alike and found among earlier answers.
    """
    values: dict[str, Any] = {
        "dataset": run.dataset_id,
        "rubric_version": run.rubric_version_id,
        **({"systems": systems} if (systems := _systems(run)) else {}),
        "split": run.half,
        "autograder": run.autograder,
        "reply_format": run.reply_format,
        "judge": "" if run.imported else run.judge.id,
        "name": "" if run.imported or run.name.startswith(TRIAL) else run.name,
        "budget_usd": run.budget_usd,
        "use_cache": run.imported or run.use_cache,
        "batch": run.mode == RunMode.BATCH,
        "abstention": run.abstention,
        "on_error": run.on_error,
        "normalize": run.normalize,
        "option_seed": run.option_seed,
    }
    if named := named_by(run.judge_version):
        return values | {"judge": named}  # which has its examples and votes of its own
    if run.few_shot:
        values |= {
            "examples_from": run.few_shot.dataset_id,
            "n_examples": run.few_shot.n,
            "examples_seed": run.few_shot.seed,
        }
    return values | (_votes(run.panel, judges) if run.panel else {})


def usual_judge(dataset: Dataset, judges: Container[str]) -> tuple[Run | None, dict[str, Any]]:
    """The newest run over the dataset by one judge, and initial values of `forms.NewRun` that ask it again.

    Of a judge with versions it is the current one. Runs by several votes of models, runs with examples, and
    grades from a file say nothing of it. None and {} where no run does, or its judge can be chosen no more;
    `judges` are the ids the form offers.
    """
    asked = Run.objects.filter(dataset=dataset, rater=None, judge_version__isnull=False)
    for run in asked.select_related("judge_version__judge__current").order_by("-created_at", "-pk")[:20]:
        assert run.judge_version is not None, "asked for"
        judge = run.judge_version.judge
        if named_by(run.judge_version):
            current = judge.current if judge.archived_at is None else None
            if current is None:
                return None, {}
            current.judge = judge
            return run, {"judge": str(current)}
        if run.panel is None and run.few_shot is None:
            way = {"autograder": run.autograder, "reply_format": run.reply_format}
            return (run, {"judge": run.judge.id} | way) if run.judge.id in judges else (None, {})
    return None, {}


def left_out(run: Run, judges: Mapping[str, JudgeConfig]) -> str:
    """What of the run the form has no field for, in a sentence; "" when it says everything.

    `judges` are those the form offers, by id, as they are today.
    """
    if run.imported:
        return "Its grades came in a file: choose the judge that is to grade here."
    ids = [judge.id for judge in run.asked_judges]
    gone = [judge.name for judge in run.asked_judges if judge.id not in judges]
    if gone:
        return f"{', '.join(gone)} cannot be chosen here any more: choose another judge."
    if named_by(run.judge_version):
        assert run.judge_version is not None, "it has a name"
        judge = run.judge_version.judge
        archived = f"The judge {judge} is archived: restore it first, or choose another."
        return _archived_system(run) if judge.archived_at is None else archived
    changed = [judge for judge in run.asked_judges if judge.config and judge.model != judges[judge.id].model]
    if changed:
        now = ", ".join(dict.fromkeys(judges[judge.id].model for judge in changed))
        then = ", ".join(dict.fromkeys(judge.model for judge in changed))
        return f"It asked the model {then}; the judge chosen here asks {now}."
    if archived := _archived_system(run):
        return archived
    if run.few_shot and run.few_shot.queue_id is not None:
        return "Its examples came from one review queue; the form draws them from the whole dataset."
    if run.panel is None:
        return ""
    if len(set(ids)) < len(ids):
        return "It asks the same judge under several names, which only the API can ask for."
    stages, repeats = [member.stage for member in run.panel.members], run.panel.repeats_by_stage
    if len(repeats) > 1 and (stages != [0] + [1] * (len(stages) - 1) or len(set(repeats)) > 1):
        return "Its cascade has stages that only the API can ask for: the form knows one judge, then others."
    return ""


def _archived_system(run: Run) -> str:
    version = run.system_version
    if version is None or version.system.archived_at is None:
        return ""
    return f"The system {version.system} is archived: restore it first, or choose other answers."


def _systems(run: Run) -> list[int]:
    """Whose answers it was over; a run over answers of no named system does not say so itself."""
    if run.system_version_id is not None:
        return [run.system_version_id]
    return [version.pk for version in versions_of_items(Item.objects.filter(run_items__run=run))]


def _votes(panel: PanelSnapshot, judges: Sequence[str]) -> dict[str, Any]:
    first, *others = panel.members
    weights = {member.judge.id: member.weight for member in others}
    further = [judge_id for judge_id in judges if judge_id in weights]
    return {
        "judge": first.judge.id,
        "weight": first.weight,
        "further": further,
        "further_weights": ""
        if set(weights.values()) <= {1.0}
        else " ".join(f"{weights[judge_id]:g}" for judge_id in further),
        "repeats": panel.repeats,
        "quorum": panel.quorum,
        "cascade": panel.cascade is not None,
        "escalate_on": list(panel.cascade.escalate_on or ()) if panel.cascade else [],
        "min_confidence": panel.cascade.min_confidence if panel.cascade else None,
        **_rules(panel.rule),
    }


def _rules(rule: Any) -> dict[str, str]:
    """One rule for all scales that know it, or one by scale, as the fields of the form."""
    if isinstance(rule, str):
        return {f"rule_{scale}": rule for scale, known in VOTE_RULES.items() if rule in known}
    return {f"rule_{scale}": name for scale, name in (rule or {}).items()}
