"""Starting a run: everything that could be wrong is refused before a row is stored or a call paid for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.db.models import F, QuerySet, Value
from django.db.models.functions import Coalesce

from rubricweb.engine.autograders import PromptedAutograder
from rubricweb.engine.autograders.option_order import usual_seed
from rubricweb.engine.errors import Fault
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.engine.number_format import counted
from rubricweb.engine.scoring import ABSTENTION_POLICIES, ERROR_POLICIES
from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import (
    NOBODY,
    Criterion,
    Dataset,
    Item,
    JudgeEndpoint,
    JudgeSnapshot,
    JudgeVersion,
    PanelSnapshot,
    RubricVersion,
    Run,
    RunItem,
    RunMode,
    SystemVersion,
    Team,
    User,
    asked_judges,
    unarchived,
)
from rubricweb.selectors.datasets.halves import in_half
from rubricweb.selectors.datasets.systems import require_unblinded, versions_of_items
from rubricweb.services import dataset_versions
from rubricweb.services.endpoints import endpoints
from rubricweb.services.judges import versions
from rubricweb.services.judges.as_members import in_their_words, made_of, shared_examples, shared_way
from rubricweb.services.judges.definitions import definition_of, grader, resolved
from rubricweb.services.labels import require_rubric
from rubricweb.services.runs import few_shot, panels
from rubricweb.services.runs.budgets import require_caps_hold
from rubricweb.services.runs.events import note
from rubricweb.services.runs.work_queue import Enqueue, notify_on_commit
from rubricweb.services.shared import bulk_rows
from rubricweb.services.shared.archiving import hold_listed, hold_team, require_listed
from rubricweb.services.shared.journal import record

MAX_CHOSEN = 10_000


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How a run grades.

    `judge_id` names a model, or a version of a judge: `support-judge@v3`, which has its own way of asking;
    `autograder` and `reply_format` may be left empty then, and are criterion by criterion and JSON elsewhere.
    `judge` overrides what `judge_id` stands for (the command line does that); a `panel`, of models and of
    versions that ask one, stands in the place of both, and rubrics of checks alone need neither.
    `option_seed` orders the options a judge is shown; without one it is the rubric's own, so that every run
    words the same question alike. `use_cache` takes answers to the very same questions from earlier runs of
    the team. `item_ids` grades these items only, `systems` only answers of these versions: of a run one, of
    a plan and of a launch several. `half`, dev or test, only answers to cases in it.
    `mode` "batch" hands the questions to the judge's provider; checks alone are graded live.
    `abstention` and `on_error` are the policies of `engine/scoring/scoring.py`.
    """

    judge_id: str = ""
    judge: JudgeConfig | None = None
    panel: panels.Panel | None = None
    few_shot_from: few_shot.FewShot | None = None
    autograder: str = ""
    reply_format: str = ""
    normalize: bool = True
    abstention: str = "skip"
    on_error: str = "exclude"
    option_seed: int | None = None
    name: str = ""
    use_cache: bool = True
    mode: str = RunMode.LIVE
    item_ids: Sequence[int] | None = None
    systems: Sequence[SystemVersion] = ()
    half: str = ""


@dataclass(frozen=True)
class Draft:
    """A run as it would be: its row, not stored, and the items it would grade.

    `asks` is what its judge is where a model was picked: its version is found, or made, when it is started.
    """

    run: Run
    items: QuerySet[Item]
    asks: JudgeDefinition | None = None


@transaction.atomic
def start_run(
    team: Team,
    *,
    by: User | None,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    enqueue: Enqueue,
    options: RunOptions,
    budget_usd: float | None = None,
    no_cap: bool = False,
) -> Run:
    """A run over the answers of one system version, its work planned as rows, workers notified on commit.

    Without `options.systems` over every item of the dataset, refused where those are of several versions.
    An item's own rubric wins over `rubric_version`. `budget_usd` is what the run may cost at most, None no
    cap of its own; the team's for the month holds beside it. A judge without a price can be held to neither:
    then only `no_cap` starts the run. Nothing is stored when something is refused: Invalid, with its place,
    for unknown names, no items, items without a rubric, a panel or examples that cannot be, a cap that cannot
    be kept. NotFound for a dataset or rubric that was deleted since it was read, Withheld for `item_ids` of
    which `by` must not learn who answered.
    """
    # In the order in which a version is published together with a queue.
    if rubric_version is not None and rubric_version.rubric is not None:
        hold_listed(rubric_version.rubric)
    dataset_versions.hold(dataset)
    draft = drafted(team, options, dataset=dataset, rubric_version=rubric_version, by=by)
    return start_draft(draft, by=by, enqueue=enqueue, budget_usd=budget_usd, no_cap=no_cap)


def start_draft(
    draft: Draft, *, by: User | None, enqueue: Enqueue, budget_usd: float | None, no_cap: bool
) -> Run:
    """Starts a drafted run over the answers of one version; its dataset is on `hold`."""
    draft.run.budget_usd, draft.run.created_by = budget_usd, by
    draft.run.system_version = one_version(draft.items)
    require_caps_hold(draft.run.asked_judges, budget_usd=budget_usd, no_cap=no_cap)
    return _started(draft, enqueue)


def drafted(
    team: Team,
    options: RunOptions,
    *,
    dataset: Dataset,
    rubric_version: RubricVersion | None,
    by: User | None,
) -> Draft:
    """What `start_run` would start, refused where it would be, its caps apart; nothing is stored."""
    require_listed(dataset)
    if rubric_version is not None and rubric_version.rubric is not None:
        require_listed(rubric_version.rubric)
    require_rubric(dataset, rubric_version)
    version, options = _way_of_asking(team, options, by)
    asking = grader(options.autograder, options.reply_format, options.normalize)
    seed = options.option_seed
    _check_choices(options)
    items = _chosen(dataset, options, by)
    judge, panel = (
        resolved(team, version.definition)
        if version
        else _judges(team, items, rubric_version, options, asking)
    )
    asked = asked_judges(judge, panel)
    endpoints.require_unarchived(team, (one.id for one in asked))
    if options.mode == RunMode.BATCH:
        _check_batches(team, asked)
    named = options.panel.versions if options.panel else [version]
    examples = few_shot.of_judge(shared_examples(named), rubric_version)
    if options.few_shot_from is not None:
        examples = few_shot.snapshot(
            options.few_shot_from, graded=items, rubric_version=rubric_version, grader=asking, viewer=by
        )
    run = Run(
        team=team,
        judge_version=version,
        dataset=dataset,
        dataset_version=dataset.version,
        half=options.half,
        rubric_version=rubric_version,
        name=options.name.strip()[:200],
        autograder=options.autograder,
        judge=judge,
        endpoint_id=endpoints.endpoint_of(judge.id),
        reply_format=options.reply_format,
        normalize=options.normalize,
        abstention=options.abstention,
        on_error=options.on_error,
        option_seed=usual_seed(dataset.pk, rubric_version.rubric_id if rubric_version else None)
        if seed is None
        else seed,
        panel=panel,
        few_shot=examples,
        # Of checks alone nothing is handed to a provider.
        mode=options.mode if asked else RunMode.LIVE,
        use_cache=options.use_cache,
    )
    asks = None if version else _asks(run, options.panel)
    if asks is not None and options.panel is not None and any(options.panel.versions):
        # Its words, until it is found or made.
        run.judge_version = JudgeVersion(definition=asks, parent=made_of(options.panel.versions))
    return Draft(run, items, asks)


def needs_judge(dataset: Dataset, rubric_version: RubricVersion | None) -> bool:
    """Whether grading these items asks a judge anything: not when their rubrics hold nothing but checks."""
    return asks_a_judge(Item.objects.current().filter(dataset=dataset), rubric_version)


def asks_a_judge(items: QuerySet[Item], rubric_version: RubricVersion | None) -> bool:
    """The same of some items of a dataset."""
    asked = Criterion.objects.exclude(kind="check")
    own = items.exclude(rubric_version=None).order_by()
    if asked.filter(version__in=own.values("rubric_version")).exists():
        return True
    if rubric_version is None or not items.filter(rubric_version=None).exists():
        return False
    return asked.filter(version=rubric_version).exists()


def plan_items(run: Run, items: QuerySet[Item]) -> int:
    """A row per item, in the order of the dataset; how many. Somebody waits for it: none is read in here."""
    own = F("rubric_version_id")
    return bulk_rows.insert_for_each(
        RunItem,
        items.order_by("position"),
        run_id=Value(run.pk),
        item_id=F("pk"),
        rubric_version_id=own if run.rubric_version_id is None else Coalesce(own, run.rubric_version_id),
    )


# ── What is stored ───────────────────────────────────────────────────────────────────────────────


def _started(draft: Draft, enqueue: Enqueue) -> Run:
    """Stores the run and plans its items."""
    run, by = draft.run, draft.run.created_by
    if draft.asks is not None:
        parent = run.judge_version.parent if run.judge_version else None
        run.judge_version = versions.version_picked(run.team, draft.asks, by=by, parent=parent)
    run.save()
    planned = plan_items(run, draft.items)
    record(run.team, by, "started", run, items=planned)
    items = counted(planned, "item")
    note(run.pk, "started", f"Started{f' by {by}' if by else ''} over {items}.")
    notify_on_commit(run.pk, planned, enqueue)
    hold_team(run.team)
    return run


# ── What is refused ──────────────────────────────────────────────────────────────────────────────


def one_version(items: QuerySet[Item]) -> SystemVersion | None:
    """The named version that all of them are answers of; None where their file named none. Raises Invalid."""
    versions = list(versions_of_items(items))
    if len(versions) > 1:
        names = ", ".join(str(version) or "no system named" for version in versions[:5])
        raise Invalid.at(
            "systems",
            f"answers of {len(versions)} system versions ({names})",
            "one of them, or a launch of a run for each",
        )
    return next((version for version in versions if version.system.name), None)


def _chosen(dataset: Dataset, options: RunOptions, by: User | None) -> QuerySet[Item]:
    """The items to grade: all of the dataset or its half, or those named, which must be in it; of the system
    versions alone that are asked for.
    """
    items: QuerySet[Item] = Item.objects.current().filter(dataset=dataset)
    items = in_half(items, dataset, options.half)
    if options.item_ids is not None:
        # The run, or why it is refused, names the version that gave them.
        require_unblinded(dataset, options.item_ids, by)
        of = f"{dataset}, of its {options.half} split" if options.half else str(dataset)
        items = _named(of, items, options.item_ids)
    if not options.systems:
        return _of_listed_systems(items, are_named=options.item_ids is not None)
    for version in options.systems:
        require_listed(version.system)
        if not items.filter(system_version=version).exists():
            raise Invalid.at(
                "systems", str(version) or "no system named", "a version that has answers among them"
            )
    return items.filter(system_version__in=options.systems)


def _of_listed_systems(items: QuerySet[Item], *, are_named: bool) -> QuerySet[Item]:
    """Those that are no answers of archived systems. Refused where such an item is named, or none is left."""
    archived = list(versions_of_items(items).filter(unarchived("system__", archived=True)))
    if not archived:
        return items
    left = items.exclude(system_version__in=archived)
    if are_named or not left.exists():
        require_listed(archived[0].system)
    return left


def _named(dataset: str, items: QuerySet[Item], item_ids: Sequence[int]) -> QuerySet[Item]:
    if not 1 <= len(item_ids) <= MAX_CHOSEN:
        raise Invalid.at("item_ids", f"{len(item_ids):,} items", f"1 to {MAX_CHOSEN:,}, or null for all")
    chosen = items.filter(pk__in=set(item_ids))
    known = set(chosen.values_list("pk", flat=True))
    faults = [
        Fault(f"item_ids[{i}]", str(item_id), f"the id of an item of {dataset}")
        for i, item_id in enumerate(item_ids)
        if item_id not in known
    ]
    if faults:
        raise Invalid("; ".join(map(str, faults[:5])), faults[:200])
    return chosen


def _judges(
    team: Team,
    items: QuerySet[Item],
    rubric_version: RubricVersion | None,
    options: RunOptions,
    asking: PromptedAutograder,
) -> tuple[JudgeSnapshot, PanelSnapshot | None]:
    """What the run's row keeps as its judge and its panel."""
    judge_id, judge = options.judge_id, options.judge
    if options.panel is not None:
        if judge_id or judge is not None:
            raise Invalid.at("judge", "a judge beside a panel", "one of them: a panel names its own judges")
        panel = panels.snapshot(team, options.panel, asking)
        return panel.as_judge(), panel
    if not judge_id and judge is None and not asks_a_judge(items, rubric_version):
        return NOBODY, None
    return JudgeSnapshot.of(judge_id, judge or endpoints.choose_judge(team, judge_id)), None


def _check_choices(options: RunOptions) -> None:
    """Refuses what is outside a closed list, and a seed that no database keeps."""
    for field, policy, known in (
        ("abstention", options.abstention, ABSTENTION_POLICIES),
        ("on_error", options.on_error, ERROR_POLICIES),
        ("mode", options.mode, RunMode.values),
    ):
        if policy not in known:
            raise Invalid.at(field, repr(policy), ", ".join(known))
    if options.option_seed is not None and not 0 <= options.option_seed < 2**63:
        raise Invalid.at("option_seed", str(options.option_seed), "a whole number from 0")


def _way_of_asking(
    team: Team, options: RunOptions, by: User | None
) -> tuple[JudgeVersion | None, RunOptions]:
    """The version of a judge that the options name, if they do; and the options with a way of asking, and
    with the models of the versions in a panel.
    """
    version = None
    if options.panel is not None:
        options = replace(options, panel=panels.with_versions(team, options.panel, viewer=by))
    elif options.judge is None:
        version = versions.version_called(team, options.judge_id)
    named = options.panel.versions if options.panel else [version]
    first = next(filter(None, named), None)
    autograder, reply_format = shared_way(named)
    for field, said, own in (
        ("autograder", options.autograder, autograder),
        ("reply_format", options.reply_format, reply_format),
    ):
        if first is not None and said not in ("", own):
            raise Invalid.at(field, said, f"{own}, as {first} asks, or nothing")
    if options.few_shot_from is not None and (version or shared_examples(named)):
        allowed = "the examples of that version, or a model by its own name"
        raise Invalid.at("few_shot", f"examples beside {first}", allowed)
    return version, replace(
        options,
        autograder=autograder or options.autograder or "per_criterion",
        reply_format=reply_format or options.reply_format or "json",
    )


def _asks(run: Run, panel: panels.Panel | None) -> JudgeDefinition | None:
    """What the judge of a run is where models were picked; None where nobody is asked."""
    named = panel.versions if panel else []
    shown = shared_examples(named) or few_shot.in_words(run.few_shot)
    way = {"autograder": run.autograder, "reply_format": run.reply_format}
    picked = definition_of(run.judge, run.panel, examples=shown, **way)
    return in_their_words(picked, named) if picked and any(named) else picked


def _check_batches(team: Team, asked: Sequence[JudgeSnapshot]) -> None:
    able = set(JudgeEndpoint.objects.filter(team=team, batches=True).values_list("pk", flat=True))
    for judge in asked:
        if endpoints.endpoint_of(judge.id) not in able:
            raise Invalid.at(
                "mode", f"batch with {judge.name}", "live, or judges at endpoints that take batches"
            )
    if len({(judge.config.base_url, judge.model) for judge in asked if judge.config}) > 1:
        raise Invalid.at("mode", "batch with several models", "live, or a panel of one model")
