"""Arguments of the commands in which people settle what they differ on: adjudication, comments."""

import argparse

from rubricweb.management.arguments.common import actions_of, positive, subcommand, team_and_person

KINDS = ("people differ", "judge differs", "judge flips", "cannot assess")
CAUSES = ("judge_wrong", "human_wrong", "rubric_unclear", "item_broken")


# Long because it is one table of arguments.
def adjudication(room: argparse.ArgumentParser) -> None:
    """`rubricweb adjudication`."""
    room.description = "What people and judges differ on: the inbox, everybody's word, decisions."
    actions = actions_of(room)

    def action(name: str, what: str, function: str = "", *, unit: bool = False) -> argparse.ArgumentParser:
        command = subcommand(actions, name, what, "adjudication.adjudication", function or name)
        if unit:
            _item(command)
            command.add_argument("criterion", metavar="CRITERION", help="its name, or id:N")
        team_and_person(command)
        return command

    listed = action("list", "what waits, the most telling first", "inbox")
    listed.add_argument(
        "--queue",
        action="append",
        default=[],
        metavar="QUEUE",
        help="only what this queue labelled; several times",
    )
    listed.add_argument("--run", type=positive, metavar="N", help="with the judge of this run alone")
    listed.add_argument("--kind", default="", choices=KINDS, help="only for this reason")
    listed.add_argument(
        "--criterion",
        action="append",
        default=[],
        metavar="CRITERION",
        help="only this, by its name or id:N; several times",
    )
    listed.add_argument("--cause", default="", choices=CAUSES, help="what was decided for this cause")
    listed.add_argument("--decided", action="store_true", help="also what is decided already")
    listed.add_argument("--limit", type=positive, default=20, metavar="N", help="how many (default 20)")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    shown = action("show", "everybody's word on one criterion of one item", unit=True)
    shown.add_argument(
        "--names", action="store_true", help="say who it was; looking is written down in the audit log"
    )
    shown.add_argument("--json", action="store_true", help="print JSON")
    decided = action("decide", "say what stands for one criterion of one item", unit=True)
    decided.add_argument("verdict", metavar="VERDICT", help="MET, UNMET, CANNOT_ASSESS, or an option")
    decided.add_argument("--cause", required=True, choices=CAUSES, help="why they differed")
    decided.add_argument(
        "--reason", default="", metavar="TEXT", help="needed against the majority of people's labels"
    )
    withdrawn = action("withdraw", "take a decision back; the one before stands again", unit=True)
    for command in (decided, withdrawn):
        command.add_argument(
            "--seen",
            default="",
            metavar="TIME",
            help="replaces somebody else's decision: when that was made, as `show` says",
        )
        command.add_argument("--json", action="store_true", help="print JSON")
    for name, what in (
        ("agreed", "how many units of a queue all agree on"),
        ("accept", "decide those on which all people and the judge say the same"),
    ):
        command = action(name, what)
        command.add_argument("queue", metavar="QUEUE", help="the queue's number or name")
        command.add_argument("--json", action="store_true", help="print JSON")
    stands = action("truth", "what stands for an item, by which rule, from which labels")
    _item(stands)
    stands.add_argument("--names", action="store_true", help="say who it was; the audit log says you looked")
    stands.add_argument("--json", action="store_true", help="print JSON")


def comments(room: argparse.ArgumentParser) -> None:
    """`rubricweb comments`."""
    room.description = "What people say to each other about an item."
    actions = actions_of(room)

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = subcommand(actions, name, what, "adjudication.comments", function or name)
        team_and_person(command)
        return command

    listed = action("list", "the comments on an item, oldest first", "list_comments")
    _item(listed)
    listed.add_argument("--limit", type=positive, default=50, metavar="N", help="how many (default 50)")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    added = action("add", "say something, or answer; @name tells a member")
    _item(added)
    added.add_argument(
        "--criterion", default="", metavar="CRITERION", help="about this one: its name, or id:N"
    )
    added.add_argument(
        "--judgement", type=positive, metavar="N", help="about this verdict, by its number in the API"
    )
    edited = action("edit", "other words for your own comment")
    _comment(edited)
    for command in (added, edited):
        command.add_argument("text", metavar="TEXT", help="Markdown; - reads standard input")
        command.add_argument("--json", action="store_true", help="print JSON")
    for name, what in (
        ("resolve", "say that a comment is dealt with"),
        ("reopen", "say that it is not, after all"),
        ("remove", "take the words of your own comment away for good"),
    ):
        _comment(action(name, what))


def _item(command: argparse.ArgumentParser) -> None:
    command.add_argument("item", metavar="ITEM", help="its key, or id:N where several datasets have the key")


def _comment(command: argparse.ArgumentParser) -> None:
    command.add_argument("comment", type=positive, metavar="COMMENT", help="the comment's number")
