"""Arguments of the commands about judges with versions."""

import argparse
from collections.abc import Callable
from pathlib import Path

from rubricweb.management.arguments.common import actions_of, archived, positive, subcommand, team_and_person


def judges(room: argparse.ArgumentParser) -> None:
    """`rubricweb judges`."""
    room.description = (
        "Judges and their versions: what a team grades with, and what changed in it. A run names one as "
        "support-judge@v3, or support-judge for its current version."
    )
    room.epilog = (
        "The models a team can ask, and whether one answers: rubricweb judge list, rubricweb judge test"
    )
    actions = actions_of(room)

    def action(name: str, what: str, function: str = "", *, takes: str = "JUDGE") -> argparse.ArgumentParser:
        command = subcommand(actions, name, what, "judges.judges", function or name)
        if takes == "JUDGE":
            command.add_argument("judge", metavar="JUDGE", help="its slug, such as support-judge")
        elif takes == "VERSION":
            command.add_argument(
                "version", metavar="VERSION", help="support-judge@v3, or support-judge for its current one"
            )
        team_and_person(command)
        return command

    found = action("list", "the team's judges by name", "list_judges", takes="")
    found.add_argument("--search", default="", metavar="TEXT", help="only those whose name holds this")
    found.add_argument("--limit", type=positive, default=50, metavar="N", help="how many (default 50)")
    archived(found)
    found.add_argument("--json", action="store_true", help="print a JSON object a line")
    seen = action("show", "a version with what it asks, and the versions of its judge", takes="VERSION")
    compared = action("diff", "what a version asks otherwise than another", takes="")
    compared.add_argument("baseline", metavar="VERSION", help="the earlier one: support-judge@v2")
    compared.add_argument("version", metavar="VERSION", help="the later one: support-judge, the current one")
    _files(action)
    _tries(action)
    edited = action("edit", "another name, slug or note")
    for name, what in (
        ("--name", "what the team calls it"),
        ("--slug", "what commands and runs call it"),
        ("--note", "what it is for"),
    ):
        edited.add_argument(name, metavar="TEXT", help=what)
    used = action("use", "make a version the current one: it is meant where none is named", takes="VERSION")
    action("archive", "leave it out of lists and choosers; its versions and runs stay")
    action("restore", "back into lists and choosers")
    for command in (seen, compared, edited, used):
        command.add_argument("--json", action="store_true", help="print JSON")


def _tries(action: Callable[..., argparse.ArgumentParser]) -> None:
    tried = action(
        "try", "ask a judge about one submission, and print each answer as it comes", "try_it", takes=""
    )
    tried.set_defaults(module="judges.tries")
    tried.add_argument(
        "judge", metavar="JUDGE", help="support-judge@v3, support-judge, or a model: endpoint-3, offline"
    )
    tried.add_argument("--dataset", metavar="id:N|NAME", help="the dataset the item is in")
    tried.add_argument("--item", default="", metavar="id:N|KEY", help="the item (default: the first one)")
    tried.add_argument(
        "--wrong", action="store_true", help="an item on which its latest run says otherwise than people"
    )
    tried.add_argument("--after", default="", metavar="id:N|KEY", help="the next one after this item")
    tried.add_argument(
        "--submission",
        type=Path,
        metavar="FILE",
        help="a text in the place of an item; - is what is piped in",
    )
    tried.add_argument(
        "--rubric", metavar="id:N|FILE", help="a version's number, or a file, which is not stored"
    )
    tried.add_argument("--before", metavar="VERSION", help="hold it against this version: support-judge@v2")
    tried.add_argument("--json", action="store_true", help="print a JSON object a line")


def _files(action: Callable[..., argparse.ArgumentParser]) -> None:
    written = action("export", "write a version to a file, without any key", takes="VERSION")
    written.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to (default: print it)")
    written.add_argument(
        "--shipped", action="store_true", help="write the shipped instructions too, to be edited"
    )
    read = action("import", "a judge, or its next version, from a file", "import_file", takes="")
    read.add_argument("file", type=Path, metavar="FILE", help="what `judges export` writes, YAML or JSON")
    read.add_argument("--plan", action="store_true", help="only say what would change")
    read.add_argument("--note", default="", metavar="TEXT", help="why the version is as it is")
    read.add_argument(
        "--after",
        metavar="VN",
        help="keep it after this version, though the file was written of an earlier one",
    )
    read.add_argument("--json", action="store_true", help="print the version as JSON")
