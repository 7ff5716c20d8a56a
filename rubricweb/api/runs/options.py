"""The body of a request to start a run as the services take it."""

from rubricweb import access
from rubricweb.api.runs import launch_schemas as schemas
from rubricweb.errors import Invalid
from rubricweb.models import Dataset, SystemVersion, Team, User
from rubricweb.selectors.datasets.systems import versions_called
from rubricweb.selectors.runs.planning.samples import sample_ids
from rubricweb.services.runs.few_shot import FewShot
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.runs.starting import RunOptions


def run_options(team: Team, dataset: Dataset, body: schemas.NewRun, *, viewer: User) -> RunOptions:
    """All but dataset, rubric version and caps. Raises NotFound for what the team does not have."""
    systems = versions_called(dataset, body.systems)
    return RunOptions(
        judge_id=body.judge,
        panel=_panel(body.panel),
        few_shot_from=_few_shot(team, body.few_shot),
        # Named or not: a version of a judge has a way of asking of its own.
        autograder=body.autograder if "autograder" in body.model_fields_set else "",
        reply_format=body.reply_format if "reply_format" in body.model_fields_set else "",
        normalize=body.normalize,
        abstention=body.abstention,
        on_error=body.on_error,
        option_seed=body.option_seed,
        name=body.name,
        use_cache=body.use_cache,
        mode=body.mode,
        item_ids=_item_ids(dataset, body, systems, viewer),
        systems=systems,
        half=body.split or "",
    )


def _item_ids(
    dataset: Dataset, body: schemas.NewRun, systems: list[SystemVersion], viewer: User
) -> list[int] | None:
    if body.sample is None:
        return body.item_ids
    if body.item_ids is not None:
        raise Invalid.at("sample", "a sample beside item_ids", "one of them")
    return sample_ids(dataset, body.sample, viewer=viewer, half=body.split or "", systems=systems)


def _panel(asked: schemas.NewPanel | None) -> Panel | None:
    if asked is None:
        return None
    members = [PanelMember(one.judge, one.weight, one.stage, one.name) for one in asked.members]
    return Panel(
        members,
        rule=asked.rule,
        repeats=asked.repeats,
        quorum=asked.quorum,
        escalate_on=asked.escalate_on,
        min_confidence=asked.min_confidence,
    )


def _few_shot(team: Team, asked: schemas.NewFewShot | None) -> FewShot | None:
    """Where the examples come from: a queue stands for its dataset."""
    if asked is None:
        return None
    queue = access.access_queue(team, asked.queue_id) if asked.queue_id is not None else None
    if asked.dataset_id is not None:
        return FewShot(access.access_dataset(team, asked.dataset_id), queue, asked.n, asked.seed)
    if queue is None:
        raise Invalid.at("few_shot", "neither dataset_id nor queue_id", "one of them")
    return FewShot(queue.dataset, queue, asked.n, asked.seed)
