"""Arguments of `rubricweb datasets`."""

import argparse
from pathlib import Path

from rubricweb.management.arguments.common import (
    actions_of,
    archived,
    dollars,
    item_names,
    positive,
    subcommand,
    team_and_person,
)
from rubricweb.management.arguments.data import RATER_KINDS, column, confirmed, some, strict_items

SPLITS = ("dev", "test", "none")


# Long because every action of the room is named here, with what they share.
def datasets(room: argparse.ArgumentParser) -> None:
    """`rubricweb datasets`."""
    room.description = (
        "The datasets of the team, their items and versions, answers of further versions of a system, who "
        "labelled them in files, and splitting one."
    )
    actions = actions_of(room)
    listed = subcommand(actions, "list", "the datasets, newest first", "datasets.datasets", "list_datasets")
    shown = subcommand(
        actions, "items", "the items of a dataset, without their bodies", "datasets.datasets", "items"
    )
    sealed = subcommand(
        actions,
        "seal",
        "copy the labelled items into two sealed datasets, dev and test",
        "datasets.datasets",
        "seal",
    )
    rated = subcommand(
        actions,
        "raters",
        "who labelled a dataset in files, and what they count as",
        "datasets.datasets",
        "raters",
    )
    changed = subcommand(
        actions,
        "rater-kind",
        "say whether such a rater is a person or a machine",
        "datasets.datasets",
        "rater_kind",
    )
    member = subcommand(
        actions,
        "rater-member",
        "say which member of the team such a person is, who joined later",
        "datasets.datasets",
        "rater_member",
    )
    answered = subcommand(
        actions,
        "add-answers",
        "store what one more version of a system answers to the cases of a dataset",
        "datasets.imports",
        "answers",
    )
    brought = _import(actions)
    combined, combinations = _combine(actions), _combinations(actions)
    named = subcommand(
        actions, "columns", "metadata that lists show and are narrowed by", "datasets.datasets", "columns"
    )
    one_case, changing = _case(actions), [*_changing(actions), _split(actions), _tag(actions)]
    for command in (shown, sealed, rated, changed, member, answered, named, one_case, *changing):
        command.add_argument("dataset", metavar="DATASET", help="its number, also as id:N, or its name")
    one_case.add_argument("case", metavar="CASE", help="its key, or id:N")
    _answers(answered)
    some(listed)
    archived(listed)
    some(shown)
    _columns(shown, named)
    shown.add_argument("--sort", default="position", metavar="ORDER", help="position (default), key, …")
    sealed.add_argument("--dev", type=positive, required=True, metavar="N", help="items for examples")
    sealed.add_argument("--seed", type=int, default=0, metavar="N", help="repeats the draw")
    sealed.add_argument(
        "--queue", action="append", default=[], metavar="N|NAME", help="labels that count (default: all)"
    )
    changed.add_argument("rater", metavar="RATER", help="the rater's name, or id:N as `raters` lists it")
    member.add_argument("rater", metavar="RATER", help="the rater's name, or id:N as `raters` lists it")
    member.add_argument("member", nargs="?", metavar="USER", help="the member's user name")
    member.add_argument("--none", action="store_true", help="no member after all")
    changed.add_argument("kind", choices=RATER_KINDS, help="machines count in no figure about people")
    for command in (
        listed,
        shown,
        sealed,
        rated,
        changed,
        member,
        answered,
        brought,
        combined,
        *combinations,
        named,
        one_case,
        *changing,
    ):
        command.add_argument("--json", action="store_true", help="print a JSON object a line")
        team_and_person(command)


def _case(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """`case`."""
    command = subcommand(
        actions, "case", "the words of a case and every answer to it", "datasets.cases", "show_case"
    )
    command.add_argument("--limit", type=positive, default=50, metavar="N", help="answers (default 50)")
    return command


def _split(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """`split`: cases marked dev or test."""
    marked = subcommand(
        actions, "split", "mark cases dev or test, and show which are", "datasets.splits", "split"
    )
    marked.add_argument("--dev", type=positive, metavar="N", help="split: so many cases for examples")
    marked.add_argument("--extend", action="store_true", help="draw the cases that came after the split")
    marked.add_argument("--seed", type=int, metavar="N", help="repeats the draw (default: 0)")
    return marked


def _tag(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """`tag`: words that cases are found by."""
    tagged = subcommand(
        actions, "tag", "give cases tags, take tags away, and show which there are", "datasets.tags", "tag"
    )
    _items_and_cases(tagged, "this case", "the case of this item")
    for option, what in (("--add", "give them this tag"), ("--remove", "take this tag away from them")):
        tagged.add_argument(
            option, action="append", default=[], metavar="TAG", help=f"{what}; several times, or with commas"
        )
    return tagged


def _items_and_cases(command: argparse.ArgumentParser, case: str, item: str = "this item") -> None:
    item_names(command, item)
    command.add_argument(
        "--case", action="append", default=[], metavar="CASE", help=f"{case}: id:N|KEY; several times"
    )


def _changing(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> list[argparse.ArgumentParser]:
    """`versions`, `retire`, `restore`, `correct`, `undo`: what was done to a dataset, and what changes it."""
    history = subcommand(
        actions, "versions", "what was done to a dataset when, newest first", "datasets.versions", "versions"
    )
    retired = subcommand(
        actions,
        "retire",
        "take items out of a dataset; runs and labels keep them",
        "datasets.versions",
        "retire",
    )
    restored = subcommand(actions, "restore", "put retired items back", "datasets.versions", "restore")
    for command in (retired, restored):
        _items_and_cases(command, "all answers to this case")
    corrected = subcommand(
        actions, "correct", "put right words in the place of wrong ones", "datasets.versions", "correct"
    )
    corrected.add_argument("--item", default="", metavar="ITEM", help="the answer to correct: id:N|KEY")
    corrected.add_argument("--case", default="", metavar="CASE", help="the case to correct: id:N|KEY")
    for field in ("submission", "thinking", "prompt", "reference", "rubric"):
        corrected.add_argument(f"--{field}", type=Path, metavar="FILE", help=f"a file with its {field}")
    for command in (retired, restored, corrected):
        command.add_argument("--note", default="", help="why, for those who read it later")
        command.add_argument("--plan", action="store_true", help="say what it would do, and change nothing")
    undone = subcommand(
        actions, "undo", "put a dataset back into the version before its newest", "datasets.versions", "undo"
    )
    undone.add_argument("--version", type=positive, metavar="N", help="undo only if this is the newest")
    undone.add_argument("--plan", action="store_true", help="say what it would do, and change nothing")
    return [history, retired, restored, corrected, undone]


def _import(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """`import`: a file of any size."""
    brought = subcommand(
        actions,
        "import",
        "bring a file of items in, however large, and say how far it is",
        "datasets.background",
        "bring_in",
    )
    brought.add_argument("file", type=Path, help="JSON, JSONL, CSV, YAML or Parquet")
    brought.add_argument("--name", default="", help="name of a new dataset (default: from the file)")
    brought.add_argument("--into", default="", metavar="id:N|NAME", help="a dataset the items are added to")
    brought.add_argument("--system", default="", metavar="SYSTEM@VERSION", help="the rows are its answers")
    brought.add_argument(
        "--as-attempt", action="store_true", help="answers to cases it has answered are its next attempt"
    )
    brought.add_argument("--plan", action="store_true", help="say what the file would bring; store nothing")
    confirmed(brought)
    column(brought)
    strict_items(brought)
    return brought


def _combine(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> argparse.ArgumentParser:
    """`combine`: a dataset for each build becomes one with system versions."""
    combined = subcommand(
        actions,
        "combine",
        "copy several datasets into one, each as answers of a system version",
        "datasets.combining",
        "combine",
    )
    combined.add_argument(
        "datasets", nargs="+", metavar="DATASET", help="2 to 20, by number (also id:N) or name"
    )
    combined.add_argument("--name", required=True, help="what the new dataset is called")
    combined.add_argument(
        "--system", default="", metavar="SYSTEM", help="what was built (default: from the datasets' names)"
    )
    combined.add_argument(
        "--versions",
        metavar="V1,V2,…",
        help="a version for each dataset, or assistant@v1; an empty place keeps those its items name "
        "(default: from the datasets' names)",
    )
    combined.add_argument(
        "--as-attempts", action="store_true", help="further answers of a version to a case are its attempts"
    )
    combined.add_argument(
        "--match",
        choices=("cases", "ids"),
        default="cases",
        help="by case id, else by what is asked (default), or by the ids of items",
    )
    combined.add_argument(
        "--archive-originals", action="store_true", help="put the datasets out of sight once they are copied"
    )
    combined.add_argument("--plan", action="store_true", help="say what would come of it, and store nothing")
    return combined


def _combinations(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]",
) -> list[argparse.ArgumentParser]:
    """`combinations`, `combination-runs`, `cancel-combination`: what came of combining datasets."""
    listed = subcommand(
        actions,
        "combinations",
        "what was combined of which datasets, and how far it is",
        "datasets.combining",
        "list_combinations",
    )
    listed.add_argument("--limit", type=positive, default=20, metavar="N", help="how many (default 20)")
    again = subcommand(
        actions,
        "combination-runs",
        "runs of the datasets that were combined; those named are started again over the combined one",
        "datasets.combining",
        "runs",
    )
    again.add_argument(
        "--run",
        type=positive,
        action="append",
        default=[],
        metavar="N",
        help="start this one again; several times",
    )
    again.add_argument("--budget", type=dollars, metavar="USD", help="what each may cost at most")
    again.add_argument("--no-cap", action="store_true", help="start without a budget where no price is known")
    cancelled = subcommand(
        actions,
        "cancel-combination",
        "stop combining datasets; nothing of it stays",
        "datasets.combining",
        "cancel",
    )
    for command in (again, cancelled):
        command.add_argument("combination", metavar="COMBINATION", help="its number or name")
    return [listed, again, cancelled]


def _answers(answered: argparse.ArgumentParser) -> None:
    """`add-answers`: what a version answers."""
    answered.add_argument(
        "file", type=Path, help="JSON, JSONL, CSV, YAML or Parquet: case_id (or id) and submission"
    )
    answered.add_argument("--system", required=True, metavar="SYSTEM@VERSION", help="which version answers")
    answered.add_argument(
        "--as-attempt", action="store_true", help="answers to cases it has answered are its next attempt"
    )
    answered.add_argument("--plan", action="store_true", help="count them and store nothing")
    confirmed(answered)
    column(answered)


def _columns(shown: argparse.ArgumentParser, named: argparse.ArgumentParser) -> None:
    """`columns`, and `items --where`."""
    shown.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="COLUMN=VALUE",
        help="of a declared column; several must all hold",
    )
    shown.add_argument(
        "--version",
        default="current",
        metavar="N|retired",
        help="those of a version of the dataset, or those that are retired (default: current)",
    )
    shown.add_argument(
        "--tag",
        action="append",
        default=[],
        metavar="TAG",
        help="of cases with this tag; several must all be",
    )
    shown.add_argument(
        "--system",
        default="",
        metavar="SYSTEM[@VERSION]",
        help="answers of a system, or of one version of it",
    )
    for name, metavar, what in (
        ("--labels", "N", "by how many people they are labelled: none, some, 1, 2, 3 (or more)"),
        ("--by", "RATER", "labelled by this rater, by id"),
        ("--score-from", "SCORE", "with at least this score in --run, else in the newest run of each"),
        ("--score-to", "SCORE", "with at most this score there"),
        ("--errors", "yes|no", "with errors there, or without"),
        ("--run", "RUN", "only items of this run, by its number"),
    ):
        shown.add_argument(name, default="", metavar=metavar, help=what)
    shown.add_argument("--split", choices=SPLITS, help="those of dev or test cases, or of neither (none)")
    named.add_argument("name", nargs="*", metavar="NAME", help="keys of the metadata, at most eight")
    named.add_argument("--none", action="store_true", help="declare none any more")
