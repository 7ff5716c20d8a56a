"""The `rubricweb` command: reads the arguments, sets Django up, runs one sub-command, answers refusals."""

import argparse
import importlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent.parent
DESCRIPTION = "Write rubrics, grade submissions with judges and people, and see where they disagree."
EXAMPLES = """\
examples:
  rubricweb serve --demo                         everything on this machine, with data to try
  rubricweb grade rubric.yaml answers.jsonl -o verdicts.csv
  rubricweb grade rubric.yaml answers.jsonl --base-url http://127.0.0.1:8080/v1 --model local --no-cap
  rubricweb grade rubric.yaml answers.jsonl --judge endpoint-1 --judge endpoint-2 --judge endpoint-3
  rubricweb judge test endpoint-1                does it answer, in which form, at what price
  rubricweb import-labels labels.csv --dataset answers --rubric rubric.yaml
  rubricweb compare 3                            agreement of run 3 with the people who labelled its items
  rubricweb compare 3 --with 2                   what changed from run 2 to run 3 over the same items
  rubricweb agreement 2                          how far the people of queue 2 agree with each other
  rubricweb queues new "Doubtful" --dataset answers --from-run 3 --everyone
  rubricweb runs watch 3                         follow run 3 until it has ended

exit codes: 0 done, 1 refused or failed, 2 wrong arguments, 100 below --min-score, 130 stopped by Ctrl+C
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one sub-command and gives back its exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    _environment()
    if arguments[:1] == ["manage"]:
        return _manage(arguments[1:])
    options = parser().parse_args(arguments)
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.db import Error as DatabaseError

    from rubricweb.errors import Refusal

    try:
        if options.module != "serve":  # which starts its children first
            django.setup()
        command = importlib.import_module(f"rubricweb.management.{options.module}")
        return int(getattr(command, options.function)(options))
    except ImproperlyConfigured as error:
        return _refuse(f"Settings: {error}")
    except Refusal as error:
        return _refuse(str(error), *(f"  {fault}" for fault in getattr(error, "faults", ())))
    except DatabaseError as error:
        return _refuse(f"The database: {error}".strip())
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _environment() -> None:
    """Names the settings; without a key and a database of the operator's own, this is the embedded form."""
    import environ  # type: ignore[import-untyped]  # ships no types

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")
    if (PROJECT / ".env").exists():
        environ.Env.read_env(PROJECT / ".env")
    if not os.environ.get("SECRET_KEY") and not os.environ.get("DATABASE_URL"):
        os.environ.setdefault("RUBRICWEB_LOCAL", "1")


def _manage(arguments: Sequence[str]) -> int:
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(["rubricweb manage", *arguments])
    except ImproperlyConfigured as error:
        return _refuse(f"Settings: {error}")
    return 0


def _refuse(*lines: str) -> int:
    sys.stderr.write("".join(f"{line}\n" for line in lines))
    return 1


def parser() -> argparse.ArgumentParser:
    """Every sub-command with its arguments; nothing here needs Django, so `--help` is quick."""
    root = argparse.ArgumentParser(
        prog="rubricweb",
        usage="rubricweb COMMAND [ARGUMENTS …]\n       rubricweb COMMAND --help",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = root.add_subparsers(
        title="commands", prog="rubricweb", metavar="COMMAND [ARGUMENTS …]", required=True
    )
    _serve(_command(commands, "serve", "run the whole app on this machine until Ctrl+C", "serve", "run"))
    _grade(_command(commands, "grade", "grade a dataset against a rubric, here and now", "grade", "run"))
    _rubric(_command(commands, "import-rubric", "store a rubric file", "imports", "rubric"))
    _dataset(_command(commands, "import-dataset", "store a dataset file", "imports", "dataset"))
    _items(_command(commands, "add-items", "store more items of a dataset from a file", "imports", "items"))
    _labels(_command(commands, "import-labels", "store people's labels from a file", "imports", "labels"))
    _export(_command(commands, "export", "write ground truth or verdicts to a file", "exports", "run"))
    _compare(
        _command(
            commands,
            "compare",
            "agreement of a run with people's labels, or with another run",
            "compare",
            "run",
        )
    )
    _agreement(
        _command(commands, "agreement", "how far the people of a queue agree", "agreement_board", "run")
    )
    _runs(commands.add_parser("runs", help="list, follow, pause, resume and retry runs"))
    _queues(commands.add_parser("queues", help="list, open, edit, pause, extend and close review queues"))
    _gold(commands.add_parser("gold", help="gold items of a queue, and the calibration of its raters"))
    _judge(commands.add_parser("judge", help="list the judges a team can ask, test one"))
    _prices(commands.add_parser("prices", help="what models cost: list, set and remove prices"))
    _spending(commands.add_parser("spending", help="what the month has cost, and the cap on it"))
    _retention(commands.add_parser("retention", help="how long prompts and raw replies are kept"))
    _lint(_command(commands, "lint", "what is likely to go wrong with a rubric", "lint", "run"))
    link = _command(commands, "sign-in-link", "a link that signs somebody in once", "people", "sign_in_link")
    link.add_argument("person", metavar="USER", help="user name or e-mail address")
    team = _command(commands, "create-team", "a new team with its owner", "people", "create_team")
    team.add_argument("name", metavar="NAME", help="what the team is called")
    team.add_argument(
        "--owner", required=True, metavar="USER", help="user name; the person is made if missing"
    )
    team.add_argument("--email", default="", help="e-mail address of a person who is made")
    team.add_argument("--slug", default="", help="the team's place in addresses (default: from its name)")
    _command(commands, "load-demo", "add the demo team, ready to look at", "people", "load_demo")
    commands.add_parser("manage", help="Django's own commands, for example `rubricweb manage migrate`")
    return root


def _command(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    what: str,
    module: str,
    function: str,
) -> argparse.ArgumentParser:
    command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    command.set_defaults(module=module, function=function)
    return command


def _team_and_person(command: argparse.ArgumentParser) -> None:
    command.add_argument("--team", default="", metavar="SLUG", help="the team (default: the only one)")
    command.add_argument("--user", default="", help="who does it (default: the team's first owner)")


def _serve(command: argparse.ArgumentParser) -> None:
    command.add_argument("--demo", action="store_true", help="load the demo team when there is no team yet")
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1)")
    command.add_argument("--port", type=int, help="port to listen on (default 8000, or the next free one)")
    command.add_argument("--workers", type=_positive, help="processes that grade (default WORKER_PROCESSES)")
    command.add_argument("--owner", default="", help="user name of the first owner, when there is nobody yet")


def _grade(command: argparse.ArgumentParser) -> None:
    command.epilog = (
        "Without --judge and --base-url the team's first judge answers: OPENAI_API_KEY's, else one an owner "
        "added, else the offline judge (not an LLM), started for the duration. The key for --base-url is "
        "OPENAI_API_KEY. A rubric of checks alone asks nobody. Several --judge vote as a panel, --repeats "
        "asks each of them several times; with --cascade the first answers, and the next is asked where that "
        "will not do. --vote says how votes settle a criterion: majority, weighted, unanimous or any for MET "
        "and UNMET; mean, median, weighted_mean, mode, min or max for ordered options; mode, weighted_mode "
        "or unanimous for others. The run is stored and shows in the browser."
    )
    command.add_argument(
        "rubric", nargs="?", metavar="RUBRIC", help="file, id:N of a stored rubric, or - for the items' own"
    )
    command.add_argument("dataset", nargs="?", metavar="DATASET", help="file, or id:N of a stored dataset")
    command.add_argument("--resume", type=int, metavar="RUN", help="do what is missing of this run instead")
    command.add_argument(
        "--autograder", default="per_criterion", help="per_criterion (default), one_shot or rubric_as_judge"
    )
    command.add_argument("--reply-format", default="json", help="json (default) or yes_no")
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
        "--judge",
        action="append",
        default=[],
        metavar="NAME",
        help="environment, endpoint-N, offline, or a judge's name; several times for a panel",
    )
    command.add_argument(
        "--repeats",
        type=_repeats,
        default=(),
        metavar="K",
        help="ask every judge K times; K,L,… one number per stage of a cascade",
    )
    command.add_argument("--vote", default="", metavar="RULE", help="how votes settle a criterion, see below")
    command.add_argument(
        "--cascade", action="store_true", help="ask the judges in turn, each next one only where needed"
    )
    command.add_argument(
        "--examples", default="", metavar="DATASET", help="N|NAME of a labelled dataset to show examples from"
    )
    command.add_argument(
        "--n-examples", type=_positive, default=3, metavar="N", help="examples per criterion (default 3)"
    )
    command.add_argument(
        "--base-url", default="", metavar="URL", help="an OpenAI-compatible endpoint, up to /v1"
    )
    command.add_argument("--model", default="", help="the model to ask")
    command.add_argument("--name", default="", help="name of the run")
    command.add_argument(
        "--plan", action="store_true", help="say what it would ask, cost and take, and do none of it"
    )
    command.add_argument(
        "--budget", type=_dollars, metavar="USD", help="pause before a call would pass this many US dollars"
    )
    command.add_argument(
        "--no-cap", action="store_true", help="grade by a judge whose price is unknown, without any cap"
    )
    command.add_argument(
        "--no-cache", action="store_true", help="ask anew what was answered before, word for word"
    )
    command.add_argument(
        "--sample", type=_positive, metavar="N", help="grade N items only, spread over the dataset"
    )
    command.add_argument(
        "--min-score", type=float, metavar="X", help="exit 100 when the mean score is below X"
    )
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write every verdict to FILE.csv or FILE.jsonl"
    )
    _team_and_person(command)


def _rubric(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, help="YAML or JSON")
    command.add_argument("--title", default="", help="title of the rubric (default: from the file)")
    _team_and_person(command)


def _dataset(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, help="JSON, JSONL, CSV, YAML or Parquet")
    command.add_argument("--name", default="", help="name of the dataset (default: from the file)")
    _column(command)
    _team_and_person(command)


def _items(command: argparse.ArgumentParser) -> None:
    command.add_argument("file", type=Path, help="JSON, JSONL, CSV, YAML or Parquet; every id must be new")
    command.add_argument("--dataset", required=True, metavar="N|NAME", help="the dataset they belong to")
    _column(command)
    _team_and_person(command)


def _column(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="where a field is found, for example submission=reply_text",
    )


def _labels(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "file", type=Path, help="CSV or JSONL with item_id, criterion, rater, verdict, reason"
    )
    command.add_argument("--dataset", required=True, metavar="N|NAME", help="the dataset that was labelled")
    command.add_argument("--rubric", default="-", help="file, id:N, or - (default) for the items' own")
    command.add_argument("--name", default="", help="name of the queue they become (default: from the file)")
    _team_and_person(command)


class _ExportFormats:
    """The names of the export formats, which are only looked up when somebody asks for them."""

    def __iter__(self) -> Iterator[str]:
        from rubricweb.engine.formats import EXPORT_FORMATS

        return iter(EXPORT_FORMATS)

    def __contains__(self, name: object) -> bool:
        return name in list(self)


def _export(command: argparse.ArgumentParser) -> None:
    command.add_argument("--dataset", required=True, metavar="N|NAME")
    command.add_argument("--what", default="ground_truth", help="ground_truth (default) or verdicts")
    command.add_argument(
        "--format",
        default="csv",
        choices=_ExportFormats(),
        metavar="FORMAT",
        help="one of %(choices)s (default: csv)",
    )
    command.add_argument(
        "--queue",
        action="append",
        default=[],
        metavar="N|NAME",
        help="labels to take (default: all of the dataset)",
    )
    command.add_argument("--run", type=int, metavar="RUN", help="a run whose verdicts to add")
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="where to write (default: standard output)"
    )
    _team_and_person(command)


def _compare(command: argparse.ArgumentParser) -> None:
    command.add_argument("run", type=int, metavar="RUN", help="number of the run")
    command.add_argument(
        "--queue",
        action="append",
        default=[],
        metavar="N|NAME",
        help="labels to compare with (default: all that fit)",
    )
    command.add_argument(
        "--with",
        dest="baseline",
        type=int,
        metavar="BASELINE",
        help="compare with this earlier run over the same dataset instead",
    )
    command.add_argument("--json", action="store_true", help="print JSON, with intervals")
    _team_and_person(command)


def _agreement(command: argparse.ArgumentParser) -> None:
    command.add_argument("queue", metavar="QUEUE", help="number or name of the review queue")
    command.add_argument(
        "--criterion",
        default="",
        metavar="NAME",
        help="pairs, hardest items and weeks of this criterion only (default: all that are met or not)",
    )
    command.add_argument("--json", action="store_true", help="print JSON, with intervals")
    _team_and_person(command)


def _runs(room: argparse.ArgumentParser) -> None:
    room.description = "List, follow, pause, resume and retry runs."
    actions = room.add_subparsers(
        title="actions", prog="rubricweb runs", metavar="ACTION [ARGUMENTS …]", required=True
    )

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = _command(actions, name, what, "runs", function or name)
        if name not in ("list", "prune"):
            command.add_argument("run", type=int, metavar="RUN", help="the run's number")
        _team_and_person(command)
        return command

    listed = action("list", "the newest runs", "list_runs")
    listed.add_argument("--state", default="", help="only those that are running, paused, finished, …")
    listed.add_argument("--dataset", default="", metavar="DATASET", help="only over this one: N|NAME")
    listed.add_argument("--limit", type=_positive, default=20, metavar="N", help="how many (default 20)")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    shown = action("show", "one run, with what went wrong and its log")
    shown.add_argument("--json", action="store_true", help="print JSON")
    watched = action("watch", "follow a run until it has ended; Ctrl+C only stops the watching")
    watched.epilog = "exit codes: 0 finished, 1 cancelled or failed, 130 stopped by Ctrl+C"
    watched.add_argument("--json", action="store_true", help="print a JSON object a line at every change")
    watched.add_argument(
        "--every", type=_seconds, default=1.0, metavar="SECONDS", help="how often to look (default 1)"
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
    again.add_argument(
        "--item", action="append", default=[], metavar="ITEM", help="only this item: id:N|KEY; several times"
    )
    action("extend", "take in items that came into the dataset since")
    action("budget", "change what a run may cost").add_argument(
        "budget", type=_dollars_or_none, metavar="USD", help="US dollars, or none for no cap of its own"
    )
    action("prune", "clear prompts and replies older than the team keeps them")


def _queues(room: argparse.ArgumentParser) -> None:
    room.description = "List, open, edit, pause, resume, extend, reassign, close and reopen review queues."
    actions = room.add_subparsers(
        title="actions", prog="rubricweb queues", metavar="ACTION [ARGUMENTS …]", required=True
    )

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = _command(actions, name, what, "queues", function or name)
        if name not in ("list", "new"):
            command.add_argument("queue", metavar="QUEUE", help="the queue's number or name")
        _team_and_person(command)
        return command

    listed = action("list", "all queues, open ones first", "list_queues")
    listed.add_argument("--state", default="", choices=("open", "paused", "closed"), help="only these")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    action("show", "one queue, with its people").add_argument(
        "--json", action="store_true", help="print JSON"
    )
    opened = action("new", "open a queue over items of a dataset")
    opened.add_argument("name", metavar="NAME", help="what reviewers see in their list")
    opened.add_argument("--dataset", required=True, metavar="N|NAME")
    opened.add_argument(
        "--rubric",
        default="",
        metavar="id:N|-",
        help="rubric version (default: the dataset's; - is each item's)",
    )
    opened.add_argument(
        "--rater", action="append", default=[], metavar="USER", help="who reviews; several times"
    )
    opened.add_argument("--everyone", action="store_true", help="the whole team, whoever joins too")
    opened.add_argument("--raters-per-item", type=_positive, default=1, metavar="N", help="(default 1)")
    opened.add_argument("--run", type=int, metavar="RUN", help="the run that is revealed after submitting")
    opened.add_argument("--blind", default="both", choices=("both", "judge", "peers", "none"))
    opened.add_argument("--order", default="dataset", choices=("dataset", "shuffled", "informative"))
    opened.add_argument(
        "--rationale",
        default="never",
        choices=("never", "unmet", "always"),
        help="what needs a reason",
    )
    opened.add_argument("--hold", type=_positive, default=30, metavar="MINUTES", help="(default 30)")
    opened.add_argument("--instructions", type=Path, metavar="FILE", help="Markdown for the reviewers")
    opened.add_argument("--plan", action="store_true", help="only say what it would come to")
    _chosen_items(opened)
    edited = action("edit", "another name, other instructions, another time that places are kept")
    edited.add_argument("--name", metavar="NAME", help="what reviewers see in their list")
    edited.add_argument("--instructions", type=Path, metavar="FILE", help="Markdown for the reviewers")
    edited.add_argument("--hold", type=_positive, metavar="MINUTES", help="how long places are kept")
    edited.add_argument("--json", action="store_true", help="print JSON")
    for name, what in (
        ("pause", "hand nothing out and take nothing in until resumed; drafts are kept"),
        ("resume", "go on with a paused queue"),
        ("close", "no more reviews; blinding ends"),
        ("reopen", "open a closed queue again"),
    ):
        action(name, what)
    extended = action("extend", "more items, more people per item, or both")
    extended.add_argument("--raters-per-item", type=_positive, metavar="N", help="can only become more")
    extended.add_argument("--no-items", action="store_true", help="only more people per item")
    _chosen_items(extended)
    people = action("reassign", "put people in a queue and take others out")
    for name in ("--add", "--remove"):
        people.add_argument(name, action="append", default=[], metavar="USER", help="several times")
    people.add_argument("--everyone", choices=("yes", "no"), help="whether whoever joins the team comes in")


def _chosen_items(command: argparse.ArgumentParser) -> None:
    command.add_argument("--search", default="", metavar="TEXT", help="items with this text")
    command.add_argument("--metadata", default="", metavar="KEY=VALUE", help="items with this metadata")
    command.add_argument(
        "--item", action="append", default=[], metavar="ITEM", help="this item: id:N|KEY; several times"
    )
    command.add_argument("--from-run", type=int, metavar="RUN", help="what this run's judge is unsure of")
    command.add_argument(
        "--reason",
        action="append",
        default=[],
        metavar="REASON",
        help="only people, judge, flips, cannot_assess, low_confidence or errors; several times",
    )
    command.add_argument("--sample", type=_positive, metavar="N", help="a random sample of N items")
    command.add_argument("--even-by", default="", metavar="KEY", help="evenly by this metadata key")
    command.add_argument(
        "--even-by-verdict", default="", metavar="CRITERION", help="evenly by the verdicts of --from-run"
    )
    command.add_argument("--seed", type=int, metavar="N", help="draws the same sample again")


def _gold(room: argparse.ArgumentParser) -> None:
    room.description = "Gold items of a queue, and the calibration of its raters."
    actions = room.add_subparsers(
        title="actions", prog="rubricweb gold", metavar="ACTION [ARGUMENTS …]", required=True
    )

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = _command(actions, name, what, "gold", function or name)
        command.add_argument("queue", metavar="QUEUE", help="the queue's number or name")
        command.add_argument("--json", action="store_true", help="print JSON")
        _team_and_person(command)
        return command

    action("show", "gold items, rules, and how each rater did")
    marked = action("mark", "make items gold whose labels are known")
    marked.add_argument("--at-random", type=_positive, metavar="N", help="draw so many")
    unmarked = action("unmark", "make gold items like the others")
    for command in (marked, unmarked):
        command.add_argument(
            "--item", action="append", default=[], metavar="ITEM", help="id:N|KEY; several times"
        )
    rules = action("rules", "how raters are calibrated; what is not named stays")
    rules.add_argument(
        "--first",
        dest="calibration_items",
        type=int,
        default=argparse.SUPPRESS,
        metavar="N",
        help="gold items that come first for everybody; 0 for no round",
    )
    for name, what in (
        ("--pass-mark", "share of labels that must be right to go on"),
        ("--extra-rater-below", "agreement below which an item gets one more rater"),
    ):
        rules.add_argument(
            name, type=_share_or_none, default=argparse.SUPPRESS, metavar="SHARE", help=f"{what}, or none"
        )
    for name, what, function in (
        ("let-on", "let a rater go on below the mark", "let_on"),
        ("try-again", "let a rater try again with other gold items", "try_again"),
    ):
        action(name, what, function).add_argument("rater", metavar="RATER", help="name or user name")


def _prices(room: argparse.ArgumentParser) -> None:
    room.description = "What models cost the team, in US dollars per million tokens."
    actions = room.add_subparsers(
        title="actions", prog="rubricweb prices", metavar="ACTION [ARGUMENTS …]", required=True
    )
    listed = _command(actions, "list", "prices of the models judges ask", "prices", "list_prices")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    own = _command(actions, "set", "what a model costs the team from now on", "prices", "set_price")
    removed = _command(actions, "remove", "forget the team's own price of a model", "prices", "remove")
    for command in (own, removed):
        command.add_argument("model", metavar="MODEL", help="as endpoints name it, to the letter")
    for name, what, required in (
        ("--input", "US dollars per million tokens asked", True),
        ("--output", "US dollars per million tokens answered", True),
        ("--cached", "US dollars per million tokens the provider had in its cache", False),
    ):
        own.add_argument(name, type=_dollars, required=required, metavar="USD", help=what)
    for command in (listed, own, removed):
        _team_and_person(command)


def _spending(room: argparse.ArgumentParser) -> None:
    room.description = "What the team's month has cost, and the cap on it."
    actions = room.add_subparsers(
        title="actions", prog="rubricweb spending", metavar="ACTION [ARGUMENTS …]", required=True
    )
    shown = _command(actions, "show", "what the month has cost so far, run by run", "spending", "show")
    shown.add_argument("--json", action="store_true", help="print JSON")
    capped = _command(actions, "cap", "change the cap on a month", "spending", "cap")
    capped.add_argument(
        "cap", type=_dollars_or_none, metavar="USD", help="US dollars, all runs together, or none for no cap"
    )
    for command in (shown, capped):
        _team_and_person(command)


def _retention(room: argparse.ArgumentParser) -> None:
    room.description = "How long prompts and raw replies of judges are kept."
    actions = room.add_subparsers(
        title="actions", prog="rubricweb retention", metavar="ACTION [ARGUMENTS …]", required=True
    )
    shown = _command(actions, "show", "how long, and when some were pruned", "retention", "show")
    shown.add_argument("--json", action="store_true", help="print JSON")
    kept = _command(actions, "set", "keep them for so many days", "retention", "keep")
    kept.add_argument("days", type=_days_or_none, metavar="DAYS", help="days, or none for ever")
    for command in (shown, kept):
        _team_and_person(command)


def _judge(room: argparse.ArgumentParser) -> None:
    room.description = "List the judges a team can ask, test one."
    actions = room.add_subparsers(
        title="actions", prog="rubricweb judge", metavar="ACTION [ARGUMENTS …]", required=True
    )
    listed = _command(actions, "list", "the judges the team can ask", "judges", "list_judges")
    tested = _command(
        actions,
        "test",
        "ask a judge one tiny question, live: does it answer, and how",
        "judges",
        "test_judge",
    )
    tested.add_argument("name", metavar="NAME", help="environment, endpoint-N, offline, or a judge's name")
    for command in (listed, tested):
        command.add_argument("--json", action="store_true", help="print JSON")
        _team_and_person(command)


def _lint(command: argparse.ArgumentParser) -> None:
    command.add_argument("rubric", metavar="RUBRIC", help="file, or id:N of a stored rubric")
    command.add_argument(
        "--fail-on",
        default="",
        choices=("warning", "hint"),
        help="exit 100 when something of this weight is found",
    )
    command.add_argument(
        "--review", action="store_true", help="also ask the judge of OPENAI_API_KEY or OPENAI_BASE_URL"
    )
    command.add_argument("--model", default="", help="the model to ask (default OPENAI_MODEL)")
    command.add_argument("--json", action="store_true", help="print JSON")
    _team_and_person(command)


def _repeats(text: str) -> tuple[int, ...]:
    """(3,) for "3", (3, 1) for "3,1"."""
    return tuple(_positive(part) for part in text.split(","))


def _seconds(text: str) -> float:
    number = float(text)
    if not 0.05 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.05 and 3600")
    return number


def _dollars(text: str) -> float:
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no amount of dollars from 0")
    return amount


def _dollars_or_none(text: str) -> float | None:
    return None if text.lower() == "none" else _dollars(text)


def _share_or_none(text: str) -> float | None:
    if text.lower() == "none":
        return None
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most 1, nor none")
    return share


def _days_or_none(text: str) -> int | None:
    return None if text.lower() == "none" else _positive(text)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} is below 1")
    return number


if __name__ == "__main__":
    sys.exit(main())
