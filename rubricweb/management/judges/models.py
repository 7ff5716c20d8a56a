"""`rubricweb judge list` and `test`: which judges a team can ask, and whether one answers."""

import argparse
from contextlib import ExitStack

from django.conf import settings
from django.utils import timezone

from rubricweb.engine.number_format import counted, money
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.offline.server import running_server
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.paging import note_left_out
from rubricweb.management.terminal.printed import table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import JudgeEndpoint, Role
from rubricweb.selectors.shared.archived import archived_left_out
from rubricweb.services.endpoints import endpoints
from rubricweb.services.endpoints.trials import EXPECTED, Trial, try_judge


def start_offline(stack: ExitStack) -> None:
    """Starts the offline judge for as long as the command runs, unless one is running already."""
    if not settings.OFFLINE_JUDGE_URL:
        settings.OFFLINE_JUDGE_URL = stack.enter_context(running_server())
        stack.callback(setattr, settings, "OFFLINE_JUDGE_URL", "")


def list_judges(options: argparse.Namespace) -> int:
    """The judges that `rubricweb serve` offers: the offline one too where there is no key for another."""
    actor = resolve_actor(options, Role.VIEWER)
    with ExitStack() as stack:
        if not settings.OPENAI_API_KEY:
            start_offline(stack)
        judges = endpoints.judges_of(actor.team)
    if options.json:
        from rubricweb.api.runs.schemas import PricedJudge
        from rubricweb.api.schemas import WithFields

        for judge_id, config in judges.items():
            print_shape(PricedJudge, WithFields(config, id=judge_id))
        _note_archived(actor)
        return 0
    rows = table(("judge", "name", "model", "address"), ("US$ per million in / out",))
    for judge_id, config in judges.items():
        address = config.base_url if judge_id != endpoints.OFFLINE else "here"
        rows.add_row(judge_id, config.name, config.model, address, _price(config))
    terminal().print(rows)
    if endpoints.OFFLINE in judges:
        note(f"{endpoints.OFFLINE}: {endpoints.OFFLINE_ABOUT}")
    if set(judges) == {endpoints.OFFLINE}:
        note("For a real one set OPENAI_API_KEY, or let an owner add one: rubricweb endpoints add --help")
    _note_archived(actor)
    return 0


def _note_archived(actor: Actor) -> None:
    note_left_out(archived_left_out(actor.team, JudgeEndpoint), "rubricweb endpoints list --archived")


def test_judge(options: argparse.Namespace) -> int:
    """0 when an answer could be read, 1 otherwise."""
    actor = resolve_actor(options, Role.OWNER)
    with ExitStack() as stack:
        start_offline(stack)
        judges = endpoints.judges_of(actor.team)
        called = [judge_id for judge_id, judge in judges.items() if judge.name == options.name]
        judge_id = options.name if options.name in judges or not called else called[0]
        return tried(actor, judge_id, as_json=options.json)


def tried(actor: Actor, judge_id: str, *, as_json: bool) -> int:
    """Asks the judge, prints what came of it, and gives back the exit code."""
    trial = try_judge(actor.team, judge_id, by=actor.user, now=timezone.now())
    if as_json:
        from rubricweb.api.endpoints import schemas

        print_shape(schemas.Trial, trial, indent=2)
    else:
        _print(trial)
    return 0 if trial.works else 1


def _print(trial: Trial) -> None:
    """In the words of the page."""
    lines = [_outcome(trial)]
    if trial.error is not None:
        lines += [f"{trial.error.kind}: {trial.error.message}", trial.advice]
    facts = {
        "asked": trial.model,
        "answered by": trial.model + (" (fallback)" if trial.fallback else ""),
        "reply format": trial.rung if trial.works else "",
        "took": f"{trial.seconds:.2f} s, {counted(trial.attempts, 'attempt')}",
        "tokens": "" if trial.prompt_tokens is None else f"{trial.prompt_tokens} + {trial.completion_tokens}",
        "cost": "unknown" if trial.cost_usd is None else money(trial.cost_usd),
        "token probabilities": _probabilities(trial),
        "reasoning": "shown" if trial.reasoning else "none shown",
        "it said": trial.reason,
    }
    names = [name for name in facts if name != "asked"] if trial.works else ["asked", "took"]
    lines += [f"  {name}: {facts[name]}" for name in names if facts[name]]
    lines += [f"  · {line}" for line in trial.log]
    console = terminal()
    for line in lines:
        console.print(line, soft_wrap=True)


def _outcome(trial: Trial) -> str:
    if trial.works and trial.as_expected:
        return f"{trial.judge} works."
    if trial.works:
        return f"{trial.judge} answers, but wrongly: {trial.verdict} where {EXPECTED} was right."
    if trial.reached is None:
        return f"{trial.judge} did not answer in time."
    return f"{trial.judge} {'was reached, but gave no answer' if trial.reached else 'could not be reached'}."


def _probabilities(trial: Trial) -> str:
    if not trial.wanted_logprobs:
        return "not asked for"
    return "asked for, not given" if trial.confidence is None else f"given, {trial.confidence:.0%} sure"


def _price(config: JudgeConfig) -> str:
    if config.input_usd_per_million is None or config.output_usd_per_million is None:
        return "not known"
    return f"{config.input_usd_per_million:g} / {config.output_usd_per_million:g}"
