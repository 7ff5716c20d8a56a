"""Arguments of the commands about review queues and their gold items."""

import argparse
from pathlib import Path

from rubricweb.management.arguments.common import (
    actions_of,
    archived,
    item_names,
    positive,
    share_or_none,
    subcommand,
    team_and_person,
)


# Long because it is one table of arguments.
def queues(room: argparse.ArgumentParser) -> None:
    """`rubricweb queues`."""
    room.description = "List, open, edit, pause, resume, extend, reassign, close and reopen review queues."
    actions = actions_of(room)

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = subcommand(actions, name, what, "reviews.queues", function or name)
        if name not in ("list", "new"):
            command.add_argument("queue", metavar="QUEUE", help="the queue's number or name")
        team_and_person(command)
        return command

    listed = action("list", "all queues, open ones first", "list_queues")
    listed.add_argument("--state", default="", choices=("open", "paused", "closed"), help="only these")
    archived(listed)
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    action("show", "one queue, with its people").add_argument(
        "--json", action="store_true", help="print JSON"
    )
    opened = action("new", "open a queue over items of a dataset")
    opened.add_argument("name", metavar="NAME", help="what reviewers see in their list")
    opened.add_argument("--dataset", required=True, metavar="id:N|NAME")
    opened.add_argument(
        "--rubric",
        default="",
        metavar="id:N|-",
        help="rubric version (default: the dataset's; - is each item's)",
    )
    opened.add_argument(
        "--criterion",
        action="append",
        default=[],
        metavar="NAME",
        help="ask about this criterion alone: id:N|NAME; several times; fixed once the queue is open",
    )
    opened.add_argument(
        "--system",
        action="append",
        default=[],
        metavar="SYSTEM@VERSION",
        help="ask about this version's answers alone; several times; fixed once the queue is open",
    )
    opened.add_argument(
        "--split",
        choices=("dev", "test"),
        default="",
        help="ask about answers to these cases alone; fixed once the queue is open",
    )
    opened.add_argument(
        "--rater", action="append", default=[], metavar="USER", help="who reviews; several times"
    )
    opened.add_argument("--everyone", action="store_true", help="the whole team, future members too")
    opened.add_argument("--raters-per-item", type=positive, default=1, metavar="N", help="(default 1)")
    opened.add_argument(
        "--run", type=positive, metavar="RUN", help="the run that is revealed after submitting"
    )
    opened.add_argument("--blind", default="both", choices=("both", "judge", "peers", "none", "self"))
    opened.add_argument(
        "--order",
        default="",
        choices=("dataset", "shuffled", "informative", "drawn"),
        help="(default: drawn for a sample, else dataset)",
    )
    opened.add_argument(
        "--needs-reason",
        default="never",
        choices=("never", "unmet", "always"),
        help="what needs a reason",
    )
    opened.add_argument("--hold", type=positive, default=30, metavar="MINUTES", help="(default 30)")
    opened.add_argument("--instructions", type=Path, metavar="FILE", help="Markdown for the reviewers")
    opened.add_argument("--plan", action="store_true", help="only say what it would come to")
    _chosen_items(opened)
    edited = action("edit", "another name, other instructions, another time until idle items are released")
    edited.add_argument("--name", metavar="NAME", help="what reviewers see in their list")
    edited.add_argument("--instructions", type=Path, metavar="FILE", help="Markdown for the reviewers")
    edited.add_argument(
        "--hold", type=positive, metavar="MINUTES", help="release items after so long without activity"
    )
    past = "whether labels of a file are of the past, to be settled by nobody"
    edited.add_argument("--history", choices=("yes", "no"), help=past)
    edited.add_argument("--grid", choices=("yes", "no"), help="whether raters may answer items in one table")
    edited.add_argument("--json", action="store_true", help="print JSON")
    for name, what in (
        ("pause", "hand nothing out and take nothing in until resumed; drafts are kept"),
        ("resume", "go on with a paused queue"),
        ("close", "no more reviews; blinding ends"),
        ("reopen", "open a closed queue again"),
    ):
        action(name, what)
    extended = action("extend", "more items, more people per item, or both")
    extended.add_argument("--raters-per-item", type=positive, metavar="N", help="can only become more")
    extended.add_argument("--no-items", action="store_true", help="only more people per item")
    _chosen_items(extended)
    _sent_back(actions)
    people = action("reassign", "put people in a queue and take others out")
    for name in ("--add", "--remove"):
        people.add_argument(name, action="append", default=[], metavar="USER", help="several times")
    people.add_argument("--everyone", choices=("yes", "no"), help="whether whoever joins the team comes in")


def _sent_back(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Reviews that go back to their raters."""
    module = "reviews.returns"
    listed = subcommand(actions, "sent-back", "reviews that were sent back", module, "list_sent_back")
    listed.add_argument("queue", metavar="QUEUE", help="the queue's number or name")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    listed.add_argument("--limit", type=positive, default=20, metavar="N", help="how many (default 20)")
    back = subcommand(actions, "send-back", "ask a rater to look again", module, "send_back")
    again = subcommand(actions, "send-again", "submit your review again", module, "send_again")
    for command in (back, again):
        command.add_argument("review", type=positive, metavar="REVIEW", help="the number of the review")
    back.add_argument("--note", required=True, metavar="TEXT", help="what to look at again")
    for command in (listed, back, again):
        team_and_person(command)


def _chosen_items(command: argparse.ArgumentParser) -> None:
    command.add_argument("--search", default="", metavar="TEXT", help="items with this text")
    command.add_argument("--metadata", default="", metavar="KEY=VALUE", help="items with this metadata")
    item_names(command)
    command.add_argument(
        "--from-run", type=positive, metavar="RUN", help="what this run's judge is unsure of"
    )
    command.add_argument(
        "--reason",
        action="append",
        default=[],
        metavar="REASON",
        help="only people, judge, flips, cannot_assess, low_confidence or errors; several times",
    )
    command.add_argument("--sample", type=positive, metavar="N", help="a random sample of N items")
    command.add_argument("--even-by", default="", metavar="KEY", help="evenly by this metadata key")
    command.add_argument(
        "--even-by-verdict", default="", metavar="CRITERION", help="evenly by the verdicts of --from-run"
    )
    command.add_argument("--seed", type=int, metavar="N", help="draws the same sample again")


def gold(room: argparse.ArgumentParser) -> None:
    """`rubricweb gold`."""
    room.description = "Gold items of a queue, and the calibration of its raters."
    actions = actions_of(room)

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = subcommand(actions, name, what, "reviews.gold", function or name)
        command.add_argument("queue", metavar="QUEUE", help="the queue's number or name")
        command.add_argument("--json", action="store_true", help="print JSON")
        team_and_person(command)
        return command

    action("show", "gold items, rules, and how each rater did")
    marked = action("mark", "make items gold whose labels are known")
    marked.add_argument("--at-random", type=positive, metavar="N", help="draw so many")
    unmarked = action("unmark", "make gold items like the others")
    for command in (marked, unmarked):
        item_names(command)
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
        ("--gold-floor", "share of a rater's last gold labels below which they are paused"),
        ("--extra-rater-below", "agreement below which an item gets one more rater"),
    ):
        rules.add_argument(
            name, type=share_or_none, default=argparse.SUPPRESS, metavar="SHARE", help=f"{what}, or none"
        )
    rules.add_argument(
        "--gold-window",
        type=positive,
        default=argparse.SUPPRESS,
        metavar="N",
        help="over how many of their last gold items",
    )
    for name, what, function in (
        ("let-on", "let a rater go on below the mark", "let_on"),
        ("end-pause", "let a paused rater go on", "end_pause"),
        ("try-again", "let a rater try again with other gold items", "try_again"),
    ):
        action(name, what, function).add_argument("rater", metavar="RATER", help="name or user name")
