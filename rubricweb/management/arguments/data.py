"""Arguments of the commands that bring rubrics, datasets and labels in, and figures and files out."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from rubricweb.management.arguments.common import (
    actions_of,
    archived,
    from_minus_1_to_1,
    item_names,
    positive,
    subcommand,
    team_and_person,
)

RATER_KINDS = ("human", "machine", "settled")
SHAPES = ("long", "criteria", "raters", "both")


def import_rubric(command: argparse.ArgumentParser) -> None:
    """`rubricweb import-rubric`."""
    command.add_argument("file", type=Path, help="YAML, JSON, TOML, or a table (CSV, TSV)")
    command.add_argument("--title", default="", help="title of the rubric (default: from the file)")
    command.add_argument("--plan", action="store_true", help="print what it would be; nothing is stored")
    team_and_person(command)


def import_dataset(command: argparse.ArgumentParser) -> None:
    """`rubricweb import-dataset`."""
    command.add_argument("file", type=Path, help="JSON, JSONL, CSV, YAML or Parquet")
    command.add_argument("--name", default="", help="name of the dataset (default: from the file)")
    command.add_argument(
        "--system",
        default="",
        metavar="SYSTEM@VERSION",
        help="the version that answered, for example assistant@v5, where the rows name none",
    )
    column(command)
    strict_items(command)
    confirmed(command)
    command.add_argument("--plan", action="store_true", help="say what the file would bring; store nothing")
    team_and_person(command)


def add_items(command: argparse.ArgumentParser) -> None:
    """`rubricweb add-items`."""
    command.add_argument("file", type=Path, help="JSON, JSONL, CSV, YAML or Parquet; every id must be new")
    command.add_argument("--dataset", required=True, metavar="id:N|NAME", help="the dataset they belong to")
    column(command)
    strict_items(command)
    confirmed(command)
    command.add_argument("--plan", action="store_true", help="say what the file would bring; store nothing")
    team_and_person(command)


def confirmed(command: argparse.ArgumentParser) -> None:
    """--duplicates and --new-names."""
    command.add_argument(
        "--duplicates",
        choices=("ask", "keep", "skip"),
        default="ask",
        help="items whose words came before; ask (default) shows them and stores nothing",
    )
    command.add_argument(
        "--new-names",
        action="store_true",
        help="a new system or version that is named much like another is meant so",
    )


def strict_items(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--strict",
        action="store_true",
        help="refuse another program's file for what has no counterpart here, else left out and listed",
    )


def column(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="where a field is found, for example submission=reply_text",
    )


def rubrics(room: argparse.ArgumentParser) -> None:
    """`rubricweb rubrics`."""
    room.description = "The rubrics of the team and their published versions."
    actions = actions_of(room)
    listed = subcommand(actions, "list", "the rubrics, newest edit first", "rubrics.rubrics", "list_rubrics")
    versions = subcommand(
        actions, "versions", "the published versions of a rubric, newest first", "rubrics.rubrics", "versions"
    )
    versions.add_argument("rubric", metavar="RUBRIC", help="its number or title")
    shown = subcommand(
        actions, "show", "a version as the file import-rubric reads", "rubrics.rubrics", "show"
    )
    shown.add_argument("version", type=_version, metavar="id:N", help="the version, as `versions` lists it")
    form = shown.add_mutually_exclusive_group()
    form.add_argument(
        "--format", choices=("yaml", "json", "csv"), default="yaml", help="of the file (default yaml)"
    )
    form.add_argument("--json", action="store_true", help="print JSON: the version as the API answers it")
    restored = subcommand(
        actions, "restore", "put a version into the draft of its rubric", "rubrics.rubrics", "restore"
    )
    copied = subcommand(
        actions, "copy", "start a rubric of its own from a version", "rubrics.rubrics", "copy"
    )
    copied.add_argument("--title", default="", help="its title (default: that of the version, with (copy))")
    for command in (restored, copied):
        command.add_argument(
            "version", type=_version, metavar="id:N", help="the version, as `versions` lists it"
        )
        team_and_person(command)
    starters = subcommand(
        actions, "starters", "the rubrics to begin with that come along", "rubrics.starting", "list_starters"
    )
    new = subcommand(actions, "new", "start a rubric from a starter", "rubrics.starting", "new")
    new.add_argument("--starter", required=True, metavar="NAME", help="which, as `starters` lists it")
    new.add_argument("--title", default="", help="its title (default: that of the starter)")
    some(listed)
    archived(listed)
    for command in (listed, versions, starters):
        command.add_argument("--json", action="store_true", help="print a JSON object a line")
    for command in (listed, versions, shown, starters, new):
        team_and_person(command)


def labels_of_versions(room: argparse.ArgumentParser) -> None:
    """`rubricweb labels`."""
    room.description = "What becomes of people's labels where a version of a rubric asks in other words."
    actions = actions_of(room)
    changes = subcommand(
        actions,
        "changes",
        "what a version asks in other words, and what becomes of the labels before",
        "rubrics.labels",
        "changes",
    )
    decided = subcommand(
        actions,
        "decide",
        "carry labels to other words, or have them given again",
        "rubrics.labels",
        "decide_about",
    )
    for command in (changes, decided):
        command.add_argument(
            "version", type=_version, metavar="id:N", help="the version, as `versions` lists it"
        )
    decided.add_argument("criterion", metavar="CRITERION", help="its name or id, or guidelines: all others")
    decided.add_argument("kind", choices=("carry", "label_again", "probe", "later"), help="what to do")
    decided.add_argument(
        "--option",
        action="append",
        type=_carried,
        metavar="OLD=NEW",
        help="carried, the labels OLD count as NEW; OLD= counts as nothing (where the options changed)",
    )
    decided.add_argument("--reason", default="", help="why, for those who read it later")
    decided.add_argument(
        "--open-queue", action="store_true", help="with label_again or probe: open its review queue as well"
    )
    opened = subcommand(
        actions,
        "open-queue",
        "the review queue of a decision to label again or to probe, unless it is open",
        "rubrics.labels",
        "open_queue",
    )
    opened.add_argument("version", type=_version, metavar="id:N", help="the version, as `versions` lists it")
    opened.add_argument("criterion", metavar="CRITERION", help="its name or id, or guidelines: all others")
    for command in (decided, opened):
        command.add_argument(
            "--rater",
            action="append",
            default=[],
            metavar="USER",
            help="who labels; several times (default: those who gave the earlier labels)",
        )
        command.add_argument("--size", type=positive, metavar="N", help="items of a probe (default 12)")
        command.add_argument("--seed", type=int, metavar="N", help="draws the same items of a probe again")
        people = "people who label each item again (default: as many as labelled it before)"
        command.add_argument("--raters-per-item", type=positive, metavar="N", help=people)
    for command in (changes, decided, opened):
        command.add_argument("--json", action="store_true", help="print a JSON object a line")
        team_and_person(command)


def _carried(text: str) -> tuple[str, str | None]:
    """ "plain=fair" is ("plain", "fair"), "plain=" is ("plain", None)."""
    old, equals, new = text.partition("=")
    if not equals or not old.strip():
        raise argparse.ArgumentTypeError(f"{text!r} is not OLD=NEW, for example plain=fair")
    return old.strip(), new.strip() or None


# Long because it is one table of arguments.
def some(command: argparse.ArgumentParser) -> None:
    command.add_argument("--search", default="", metavar="TEXT", help="only those with this text")
    command.add_argument("--limit", type=positive, default=20, metavar="N", help="how many (default 20)")


def _version(text: str) -> int:
    """7 for "id:7". A number alone is refused: it could be meant for a rubric's."""
    if not text.startswith("id:"):
        raise argparse.ArgumentTypeError(
            f"{text!r} names no version; write id:N, as `rubrics list` and `rubrics versions` print it"
        )
    return positive(text.removeprefix("id:"))


def import_labels(command: argparse.ArgumentParser) -> None:
    """`rubricweb import-labels`."""
    command.add_argument(
        "file",
        type=Path,
        help="CSV, JSONL, JSON or Parquet: one label a row, or columns by criterion, rater or both",
    )
    command.add_argument(
        "--dataset", required=True, metavar="id:N|NAME", help="the dataset that was labelled"
    )
    command.add_argument(
        "--rubric", default="-", help="file, id:N of a version, or - (default) for the items' own"
    )
    command.add_argument("--name", default="", help="name of the queue they become (default: from the file)")
    command.add_argument("--shape", choices=SHAPES, help="what the columns stand for (default: recognised)")
    command.add_argument(
        "--column",
        action="append",
        default=[],
        metavar="FIELD=COLUMN",
        help="where item_id, criterion, rater, verdict, reason, a criterion or a rater is found",
    )
    command.add_argument(
        "--value",
        action="append",
        default=[],
        metavar="VALUE=ANSWER",
        help="what a value stands for, as in good=MET, or for one criterion 'polite: 2=MET'",
    )
    command.add_argument(
        "--rater", default="", metavar="NAME", help="who gave the labels where no column says so"
    )
    command.add_argument(
        "--criterion", default="", metavar="NAME", help="what labels are about where no column says so"
    )
    command.add_argument(
        "--rater-kind",
        action="append",
        default=[],
        metavar="[RATER=]KIND",
        help="who gave the labels whose line has no rater_kind, or what one rater is: "
        f"{', '.join(RATER_KINDS)}; machines count in no figure about people",
    )
    command.add_argument(
        "--history",
        action="store_true",
        help="labels of the past: what their raters differ on is not to be settled in the inbox",
    )
    command.add_argument(
        "--strict",
        action="store_true",
        help="refuse the file for whatever does not fit, else left out; labels imported before always are",
    )
    command.add_argument(
        "--plan", action="store_true", help="say what the file would become, and by whom; store nothing"
    )
    command.add_argument(
        "--json", action="store_true", help="print JSON: the queue, or with --plan what the file would become"
    )
    team_and_person(command)


class _ExportFormats:
    """The names of the export formats, which are only looked up when somebody asks for them."""

    def __iter__(self) -> Iterator[str]:
        from rubricweb.engine.formats import EXPORT_FORMATS

        return iter(EXPORT_FORMATS)

    def __contains__(self, name: object) -> bool:
        return name in list(self)


def export(command: argparse.ArgumentParser) -> None:
    """`rubricweb export`."""
    command.add_argument("--dataset", required=True, metavar="id:N|NAME")
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
    command.add_argument("--run", type=positive, metavar="RUN", help="a run whose verdicts to add")
    item_names(command, "only this item")
    command.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="where to write (default: standard output)"
    )
    command.add_argument(
        "--earlier", action="store_true", help="list earlier exports of the dataset; nothing is written"
    )
    command.add_argument("--json", action="store_true", help="with --earlier: print a JSON object a line")
    team_and_person(command)


def compare(command: argparse.ArgumentParser) -> None:
    """`rubricweb compare`."""
    command.add_argument(
        "run", metavar="RUN", help="number of the run; or a system version, as assistant@v4, with --with"
    )
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
        metavar="BASELINE",
        help="compare with this earlier run over the same dataset instead; or with another system version, "
        "by the newest runs over the two that were graded alike",
    )
    command.add_argument(
        "--dataset", default="", metavar="id:N|NAME", help="of two versions: over this dataset"
    )
    command.add_argument("--judge", default="", metavar="NAME", help="of two versions: graded by this judge")
    command.add_argument(
        "--fail-on",
        default="",
        choices=("down", "open"),
        help="with --with: exit 100 when the mean score went down, or (open) unless it went up; where the "
        "interval of the difference holds 0 it did neither",
    )
    command.add_argument(
        "--min-kappa",
        type=from_minus_1_to_1,
        metavar="X",
        help="exit 100 when κ with people's labels, over all criteria that are met or not, chance counted "
        "within each, is below X",
    )
    command.add_argument("--json", action="store_true", help="print JSON, with intervals")
    command.epilog = (
        "Exit codes: 0 done, 1 refused or nothing to compare, 2 wrong arguments, 100 --fail-on or "
        "--min-kappa does not hold."
    )
    team_and_person(command)


def agreement(command: argparse.ArgumentParser) -> None:
    """`rubricweb agreement`."""
    command.add_argument("queue", metavar="QUEUE", help="number or name of the review queue")
    command.add_argument(
        "--criterion",
        default="",
        metavar="NAME",
        help="pairs, hardest items and weeks of this criterion only (default: all that are met or not)",
    )
    command.add_argument("--json", action="store_true", help="print JSON, with intervals")
    team_and_person(command)


def lint(command: argparse.ArgumentParser) -> None:
    """`rubricweb lint`."""
    command.add_argument("rubric", metavar="RUBRIC", help="file, or id:N of a stored version")
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
    command.epilog = "Exit codes: 0 done, 1 refused, 2 wrong arguments, 100 --fail-on found something."
    team_and_person(command)
