"""The `rubricweb` command: reads the arguments, runs one sub-command, answers refusals.

Django is set up for the commands that work on tables; the others do without it being installed.
"""

import argparse
import atexit
import gc
import importlib
import os
import sys
from collections.abc import Sequence
from functools import cache
from io import TextIOWrapper
from pathlib import Path
from typing import NoReturn

from rubricweb import __version__
from rubricweb.engine.errors import Fault
from rubricweb.errors import Refusal
from rubricweb.management.arguments import data, datasets, discussion, judging, review, running, team
from rubricweb.management.arguments.common import subcommand
from rubricweb.management.terminal import installed
from rubricweb.management.terminal.remarks import HARMLESS, remark

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

exit codes: 0 done, 1 refused or failed, 2 wrong arguments, 100 a gate does not hold (--min-score,
--max-errors, --min-kappa, --fail-on, prices check), 130 stopped by Ctrl+C, 143 by SIGTERM
"""
CLIENT_SIDE = ("runs.grade_files", "rubrics.lint", "teams.price_check")
"""Modules of commands that need neither tables nor the app: files and judges will do."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one sub-command and gives back its exit code."""
    # What is imported stays: looking for garbage in it, as it grows and when the process ends, finds nothing
    # and would take a third of the time of a short command.
    gc.set_threshold(50_000, 20, 50)
    atexit.register(gc.freeze)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without κ shows a ? for it
    try:
        code = _run(sys.argv[1:] if arguments is None else list(arguments))
        sys.stdout.flush()  # here, where a reader who has gone can still be answered
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever read our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(arguments: Sequence[str]) -> int:
    manage = arguments[:1] == ["manage"]
    options = argparse.Namespace(module="manage") if manage else parser().parse_args(arguments)
    if options.module == "runs.grade" and (options.no_store or not installed.has_app()):
        options.module = "runs.grade_files"
    if not manage and options.data:
        os.environ["RUBRICWEB_VAR_DIR"] = str(options.data.resolve())
    try:
        if installed.has_app():
            name_settings()
        elif options.module not in CLIENT_SIDE:
            installed.require_app(f"`rubricweb {arguments[0]}`")
        if manage:
            return _manage(arguments[1:])
        return _call_app(options) if installed.has_app() else _call(options)
    except Refusal as error:
        said, faults = str(error), getattr(error, "faults", ())
        unsaid = (one for one in faults if str(one) not in said and one.allowed != said)
        return _refuse(said, *(f"  {fault}" for fault in unsaid), *_way_out(options, faults))
    except OSError as error:
        if not installed.has_app() or not _is_of_data_folder(error):
            raise
        return _refuse(
            f"The data folder {_data_folder()} cannot be used: {error.strerror}: {error.filename}. "
            "It must be a folder you may write in; RUBRICWEB_VAR_DIR or --data names another."
        )


def _data_folder() -> Path:
    from rubricweb import folders

    return folders.data_folder()


def _is_of_data_folder(error: OSError) -> bool:
    """Whether a file in there could not be read or written, or the folder could not be made."""
    if not isinstance(error.filename, str):
        return False
    folder, path = _data_folder(), Path(error.filename)
    return path.is_relative_to(folder) or (not os.path.exists(folder) and folder.is_relative_to(path))


def _way_out(options: argparse.Namespace, faults: Sequence[Fault]) -> list[str]:
    """With what a table that lacks the column of submissions is read all the same."""
    lacks = [one.found for one in faults if one.place == "submission"]
    nouns = {"the columns": "COLUMN", "the keys": "KEY"}
    noun = next((nouns[one] for one in nouns if lacks and lacks[0].startswith(one)), "")
    if not noun:
        return []
    named = f"--column submission={noun}"
    return [
        f"Name it: {named}" if "column" in options else f"Name it: rubricweb datasets import FILE {named}"
    ]


def _call_app(options: argparse.Namespace) -> int:
    import django
    from django.core.exceptions import ImproperlyConfigured
    from django.db import Error as DatabaseError
    from django.db import connection

    try:
        if options.module not in ("serving.serve", *CLIENT_SIDE):  # serve starts its children first
            django.setup()
        return _call(options)
    except ImproperlyConfigured as error:
        return _refuse(f"Settings: {error}")
    except DatabaseError as error:
        database = connection.settings_dict
        where = f" {database['NAME']}" if database["ENGINE"].endswith("sqlite3") else ""
        return _refuse(f"The database{where}: {error}".strip())


def _call(options: argparse.Namespace) -> int:
    command = importlib.import_module(f"rubricweb.management.{options.module}")
    return int(getattr(command, options.function)(options))


def name_settings() -> None:
    """Names the settings; without a key and a database of the operator's own, this is the embedded form."""
    import environ

    from rubricweb import folders

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")
    if folders.settings_file().exists():
        environ.Env.read_env(folders.settings_file())
    if not any(map(os.environ.get, ("SECRET_KEY", "SECRET_KEY_FILE", "DATABASE_URL", "DATABASE_URL_FILE"))):
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
    remark(*lines)
    return 1


class TerminalArgumentParser(argparse.ArgumentParser):
    """One whose refusals, which repeat the arguments, steer no terminal."""

    def error(self, message: str) -> NoReturn:
        super().error(message.translate(HARMLESS))


# Long because it is one table of commands.
@cache
def parser() -> argparse.ArgumentParser:
    """Every sub-command with its arguments; nothing here needs Django, so `--help` is quick."""
    root: argparse.ArgumentParser = TerminalArgumentParser(
        prog="rubricweb",
        usage="rubricweb COMMAND [ARGUMENTS …]\n       rubricweb COMMAND --help",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    root.add_argument("--version", action="version", version=f"rubricweb {__version__}")
    commands = root.add_subparsers(
        title="commands", prog="rubricweb", metavar="COMMAND [ARGUMENTS …]", required=True
    )
    running.serve(
        subcommand(
            commands, "serve", "run the whole app on this machine until Ctrl+C", "serving.serve", "run"
        )
    )
    running.grade(
        subcommand(commands, "grade", "grade a dataset against a rubric, here and now", "runs.grade", "run")
    )
    data.rubrics(commands.add_parser("rubrics", help="list rubrics and versions, show one"))
    words = "what becomes of labels where a version asks in other words"
    data.labels_of_versions(commands.add_parser("labels", help=words))
    datasets.datasets(commands.add_parser("datasets", help="list datasets and items, split one"))
    data.import_rubric(
        subcommand(commands, "import-rubric", "store a rubric file", "datasets.imports", "rubric")
    )
    data.import_dataset(
        subcommand(commands, "import-dataset", "store a dataset file", "datasets.imports", "dataset")
    )
    data.add_items(
        subcommand(
            commands, "add-items", "store more items of a dataset from a file", "datasets.imports", "items"
        )
    )
    data.import_labels(
        subcommand(
            commands, "import-labels", "store people's labels from a file", "datasets.imports", "labels"
        )
    )
    data.export(
        subcommand(commands, "export", "write ground truth or verdicts to a file", "exports.exports", "run")
    )
    data.compare(
        subcommand(
            commands,
            "compare",
            "agreement of a run with people's labels, or with another run",
            "comparison.compare",
            "run",
        )
    )
    data.agreement(
        subcommand(
            commands, "agreement", "how far the people of a queue agree", "comparison.agreement_board", "run"
        )
    )
    running.runs(commands.add_parser("runs", help="list, follow, pause, resume and retry runs"))
    review.queues(
        commands.add_parser("queues", help="list, open, edit, pause, extend and close review queues")
    )
    review.gold(commands.add_parser("gold", help="gold items of a queue, and the calibration of its raters"))
    discussion.adjudication(
        commands.add_parser("adjudication", help="what people and judges differ on, and deciding it")
    )
    discussion.comments(commands.add_parser("comments", help="what people say about an item"))
    team.endpoints(
        commands.add_parser(
            "endpoints", help="list, add, edit, test, remove and re-encrypt the endpoints of judges"
        )
    )
    words = "judges and their versions: list, show, compare, export, import, edit, archive, use"
    judging.judges(commands.add_parser("judges", help=words))
    running.judge(commands.add_parser("judge", help="list the models a team can ask, test one"))
    running.prices(commands.add_parser("prices", help="what models cost: list, set and remove prices"))
    running.spending(commands.add_parser("spending", help="what the month has cost, and the cap on it"))
    running.retention(commands.add_parser("retention", help="how long prompts and raw replies are kept"))
    data.lint(subcommand(commands, "lint", "what is likely to go wrong with a rubric", "rubrics.lint", "run"))
    team.members(commands.add_parser("members", help="who is in the team: list, invite, change, remove"))
    team.tokens(commands.add_parser("tokens", help="your own API tokens: list, make, revoke"))
    team.shared_links(
        commands.add_parser("shared-links", help="links for people without an account: list, make, revoke")
    )
    team.renaming(
        subcommand(
            commands, "rename", "rename a rubric, dataset, run, system, team, …", "teams.archive", "rename"
        )
    )
    team.archiving(
        subcommand(commands, "archive", "hide one of these, or restore it", "teams.archive", "archive")
    )
    team.deleting(subcommand(commands, "delete", "delete one of these for good", "teams.deletions", "delete"))
    team.deletions(
        subcommand(commands, "deletions", "what was deleted for good", "teams.deletions", "deletions")
    )
    team.search(subcommand(commands, "search", "find anything of the team by name", "teams.search", "run"))
    team.audit_log(subcommand(commands, "audit-log", "who did what in the team", "teams.audit_log", "run"))
    link = subcommand(
        commands, "sign-in-link", "a link that signs somebody in once", "teams.people", "sign_in_link"
    )
    words = "let somebody who lost phone and recovery codes sign in without them"
    removed = subcommand(commands, "remove-second-factor", words, "teams.people", "remove_second_factor")
    for command in (link, removed):
        command.add_argument("person", metavar="USER", help="user name or e-mail address")
    made = subcommand(commands, "create-team", "a new team with its owner", "teams.people", "create_team")
    made.add_argument("name", metavar="NAME", help="what the team is called")
    made.add_argument(
        "--owner", required=True, metavar="USER", help="user name; the person is made if missing"
    )
    made.add_argument("--email", default="", help="e-mail address of a person who is made")
    made.add_argument("--slug", default="", help="the team's place in addresses (default: from its name)")
    subcommand(commands, "load-demo", "add the demo team, ready to look at", "teams.people", "load_demo")
    commands.add_parser("manage", help="Django's own commands, for example `rubricweb manage migrate`")
    return root


if __name__ == "__main__":
    sys.exit(main())
