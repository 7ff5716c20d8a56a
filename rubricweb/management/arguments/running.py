"""Arguments of the commands that grade, and of what grading costs and keeps."""

import argparse
from pathlib import Path

from rubricweb.engine.scoring import FAILED_ITEM_POLICIES
from rubricweb.management.arguments.common import (
    actions_of,
    count_or_share,
    dollars,
    dollars_or_none,
    finite,
    item_names,
    positive,
    positive_or_none,
    repeats,
    seconds,
    subcommand,
    team_and_person,
)


def serve(command: argparse.ArgumentParser) -> None:
    """`rubricweb serve`."""
    command.add_argument("--demo", action="store_true", help="load the demo team when there is no team yet")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    command.add_argument("--port", type=int, help="port to listen on (default 8000, or the next free one)")
    command.add_argument("--workers", type=positive, help="processes that grade (default WORKER_PROCESSES)")
    command.add_argument("--owner", default="", help="user name of the first owner, when there is nobody yet")


# Long because it is one table of arguments.
def grade(command: argparse.ArgumentParser) -> None:
    """`rubricweb grade`."""
    command.epilog = (
        "Without --judge and --base-url the team's first judge answers: OPENAI_API_KEY's, else one an owner "
        "added, else the offline judge (not an LLM), started for the duration: it only compares words of the "
        "criterion with words of the submission, for trying rubricweb without a key. The key for --base-url "
        "is OPENAI_API_KEY. A rubric of checks alone asks nobody. Several --judge vote as a panel, --repeats "
        "asks each of them several times; with --cascade the first answers, and the next is asked where that "
        "will not do. --vote says how votes settle a criterion: majority, weighted, unanimous or any for MET "
        "and UNMET; mean, median, weighted_mean, mode, min or max for ordered options; mode, weighted_mode "
        "or unanimous for others. The run is stored and shows in the browser; with --no-store, and where the "
        "app is not installed, it goes from files to a file, and --name keeps it in experiments/NAME, to be "
        "resumed by running it again. "
        "Exit codes: 0 done, 1 refused, not finished or nothing scored, 2 wrong arguments, 100 --min-score "
        "or --max-errors does not hold, 130 stopped by Ctrl+C, 143 by SIGTERM."
    )
    command.set_defaults(refuse=command.error)
    command.add_argument(
        "rubric",
        nargs="?",
        metavar="RUBRIC",
        help="file, id:N of a stored version as `rubrics list` and `rubrics versions` print it, or - for "
        "the items' own",
    )
    command.add_argument("dataset", nargs="?", metavar="DATASET", help="file, or id:N of a stored dataset")
    command.add_argument(
        "--resume", type=positive, metavar="RUN", help="do what is missing of this run instead"
    )
    command.add_argument(
        "--autograder",
        default="",
        help="per_criterion (default), one_shot or rubric_as_judge; a version of a judge has its own",
    )
    command.add_argument("--reply-format", default="", help="json (default) or yes_no")
    command.add_argument(
        "--abstention",
        default="skip",
        metavar="POLICY",
        help="what CANNOT_ASSESS is worth: skip (default), zero, partial or fail",
    )
    command.add_argument(
        "--on-error",
        default="exclude",
        metavar="POLICY",
        help="what a failed question is worth: exclude (default), zero or fail_item",
    )
    command.add_argument(
        "--failed-items",
        choices=FAILED_ITEM_POLICIES,
        default="exclude",
        help="items with an error: exclude them from the mean, the pass rate and --min-score until they are "
        "retried (default), or include them with the score that --on-error gives them",
    )
    command.add_argument(
        "--judge",
        action="append",
        default=[],
        metavar="NAME",
        help="environment, endpoint-N, offline, or a judge's name; several times for a panel. A version of a "
        "judge, support-judge@v3, is a member where it asks one model",
    )
    command.add_argument(
        "--repeats",
        type=repeats,
        default=(),
        metavar="K",
        help="ask every judge K times; K,L,… one number per stage of a cascade",
    )
    command.add_argument("--vote", default="", metavar="RULE", help="how votes settle a criterion, see below")
    command.add_argument(
        "--cascade", action="store_true", help="ask the judges in turn, each next one only where needed"
    )
    command.add_argument(
        "--examples",
        default="",
        metavar="DATASET",
        help="id:N|NAME of a labelled dataset to show examples from",
    )
    command.add_argument(
        "--n-examples", type=positive, default=3, metavar="N", help="examples per criterion (default 3)"
    )
    command.add_argument(
        "--base-url", default="", metavar="URL", help="an OpenAI-compatible endpoint, up to /v1"
    )
    command.add_argument("--model", default="", help="the model to ask")
    command.add_argument("--name", default="", help="name of the run")
    output = command.add_mutually_exclusive_group()
    output.add_argument(
        "--plan", action="store_true", help="say what it would ask, cost and take, and do none of it"
    )
    output.add_argument(
        "--json", action="store_true", help="print what runs show --json does, an object a line for each run"
    )
    command.add_argument(
        "--budget", type=dollars, metavar="USD", help="pause before a call would pass this many US dollars"
    )
    command.add_argument(
        "--no-cap", action="store_true", help="grade by a judge whose price is unknown, without any cap"
    )
    command.add_argument(
        "--no-cache", action="store_true", help="ask anew what was answered before, word for word"
    )
    command.add_argument(
        "--no-store", action="store_true", help="from files to a file: nothing goes into the app's tables"
    )
    command.add_argument(
        "--sample", type=positive, metavar="N", help="grade N items only, spread over the dataset"
    )
    item_names(command, "grade this item only")
    command.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="SYSTEM@VERSION",
        help="grade only this version's answers; several times for a run of each, which share the --budget "
        "(with --no-store one)",
    )
    command.add_argument(
        "--split", choices=("dev", "test"), default="", help="grade only answers to these cases"
    )
    command.add_argument(
        "--min-score", type=finite, metavar="X", help="exit 100 when the mean score is below X"
    )
    command.add_argument(
        "--max-errors",
        type=count_or_share,
        metavar="N|N%",
        help="exit 100 when more items than these, or than this share of them, have an error",
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write every verdict to FILE.csv or FILE.jsonl"
    )
    team_and_person(command)


def runs(room: argparse.ArgumentParser) -> None:
    """`rubricweb runs`."""
    room.description = "List, follow, pause, resume and retry runs."
    actions = actions_of(room)

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = subcommand(actions, name, what, "runs.runs", function or name)
        if name not in ("list", "prune"):
            command.add_argument("run", type=positive, metavar="RUN", help="the run's number")
        team_and_person(command)
        return command

    listed = action("list", "the newest runs", "list_runs")
    listed.add_argument("--state", default="", help="only those that are running, paused, finished, …")
    listed.add_argument("--dataset", default="", metavar="DATASET", help="only over this one: id:N|NAME")
    listed.add_argument("--judge", default="", metavar="JUDGE", help="only by versions of this: its slug")
    listed.add_argument("--limit", type=positive, default=20, metavar="N", help="how many (default 20)")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    several = subcommand(actions, "compare", "two to twelve runs as a table", "comparison.run_table", "run")
    several.add_argument("runs", type=positive, nargs="+", metavar="RUN", help="the numbers of the runs")
    several.add_argument("--json", action="store_true", help="print JSON")
    team_and_person(several)
    shown = action("show", "one run, with what went wrong and its log")
    shown.add_argument("--json", action="store_true", help="print JSON")
    logged = action("log", "what was decided in a run, by whom or why, newest first", "show_log")
    logged.add_argument("--limit", type=positive, default=20, metavar="N", help="how many lines (default 20)")
    logged.add_argument("--json", action="store_true", help="print a JSON object a line")
    watched = action("watch", "follow a run until it has ended; Ctrl+C only stops the watching")
    watched.epilog = (
        "Exit codes: 0 finished, 1 refused, cancelled, failed or nothing scored, 2 wrong arguments, "
        "130 stopped by Ctrl+C."
    )
    watched.add_argument("--json", action="store_true", help="print a JSON object a line at every change")
    watched.add_argument(
        "--every", type=seconds, default=1.0, metavar="SECONDS", help="how often to look (default 1)"
    )
    for name, what in (("pause", "stop asking until resumed"), ("cancel", "end a run before it is done")):
        action(name, what).add_argument(
            "--break-off", action="store_true", help="break off calls in flight (default: let them finish)"
        )
    action("resume", "go on with what was never graded")
    again = action("retry", "ask again for verdicts that failed, and go on")
    again.add_argument(
        "--kind", action="append", default=[], metavar="KIND", help="only this kind of error; several times"
    )
    item_names(again, "only this item")
    action("extend", "take in items that came into the dataset since")
    action("budget", "change what a run may cost").add_argument(
        "budget", type=dollars_or_none, metavar="USD", help="US dollars, or none for no cap of its own"
    )
    action("prune", "clear prompts and replies older than the team keeps them")


def judge(room: argparse.ArgumentParser) -> None:
    """`rubricweb judge`."""
    room.description = "List the judges a team can ask, test one."
    actions = actions_of(room)
    listed = subcommand(actions, "list", "the judges the team can ask", "judges.models", "list_judges")
    tested = subcommand(
        actions,
        "test",
        "ask a judge one tiny question, live: does it answer, and how",
        "judges.models",
        "test_judge",
    )
    tested.add_argument("name", metavar="NAME", help="environment, endpoint-N, offline, or a judge's name")
    for command in (listed, tested):
        command.add_argument("--json", action="store_true", help="print JSON")
        team_and_person(command)


def prices(room: argparse.ArgumentParser) -> None:
    """`rubricweb prices`."""
    room.description = "What models cost the team, in US dollars per million tokens."
    actions = actions_of(room)
    listed = subcommand(actions, "list", "prices of the models judges ask", "teams.prices", "list_prices")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    own = subcommand(actions, "set", "what a model costs the team from now on", "teams.prices", "set_price")
    removed = subcommand(
        actions, "remove", "forget the team's own price of a model", "teams.prices", "remove"
    )
    checked = subcommand(
        actions,
        "check",
        "compare the shipped prices with a list of today; exit 100 when one differs",
        "teams.price_check",
        "check",
    )
    checked.add_argument(
        "file",
        metavar="FILE",
        help="litellm's model_prices_and_context_window.json, or OpenRouter's /api/v1/models; - is a pipe",
    )
    checked.add_argument("--json", action="store_true", help="print JSON")
    for command in (own, removed):
        command.add_argument("model", metavar="MODEL", help="as endpoints name it, to the letter")
    for name, what, required in (
        ("--input", "US dollars per million tokens asked", True),
        ("--output", "US dollars per million tokens answered", True),
        ("--cached", "US dollars per million tokens the provider had in its cache", False),
    ):
        own.add_argument(name, type=dollars, required=required, metavar="USD", help=what)
    for command in (listed, own, removed):
        team_and_person(command)


def spending(room: argparse.ArgumentParser) -> None:
    """`rubricweb spending`."""
    room.description = "What the team's month has cost, and the cap on it."
    actions = actions_of(room)
    shown = subcommand(
        actions, "show", "what the month has cost so far, run by run", "spending.spending", "show"
    )
    shown.add_argument("--json", action="store_true", help="print JSON")
    capped = subcommand(actions, "cap", "change the cap on a month", "spending.spending", "cap")
    capped.add_argument(
        "cap", type=dollars_or_none, metavar="USD", help="US dollars, all runs together, or none for no cap"
    )
    for command in (shown, capped):
        team_and_person(command)


def retention(room: argparse.ArgumentParser) -> None:
    """`rubricweb retention`."""
    room.description = "How long prompts and raw replies of judges are kept."
    actions = actions_of(room)
    shown = subcommand(actions, "show", "how long, and when some were pruned", "teams.retention", "show")
    shown.add_argument("--json", action="store_true", help="print JSON")
    kept = subcommand(actions, "set", "keep them for so many days", "teams.retention", "keep")
    kept.add_argument("days", type=positive_or_none, metavar="DAYS", help="days, or none for ever")
    for command in (shown, kept):
        team_and_person(command)
