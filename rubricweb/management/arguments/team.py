"""Arguments of the commands about a team's settings: endpoints, members, tokens, the audit log."""

import argparse

from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS, SamplingOption
from rubricweb.management.arguments.common import (
    actions_of,
    archived,
    dollars_or_none,
    positive,
    positive_or_none,
    subcommand,
    team_and_person,
)

KINDS = ("rubric", "dataset", "run", "queue", "system", "team")
ARCHIVED = (*KINDS, "endpoint")
DELETED = (*KINDS, "system-version")
NAMED = (*KINDS, "system-version", "endpoint")
PAGES = ("dashboard", "comparison", "run-diff")
ROLES = ("viewer", "annotator", "reviewer", "editor", "owner")


def endpoints(room: argparse.ArgumentParser) -> None:
    """`rubricweb endpoints`."""
    room.description = "The endpoints judges live at: list, add, edit, test, remove and re-encrypt them."
    room.epilog = (
        "A key or the value of a header is never written on the command line, where other people and the "
        "shell's history would see it. Name the environment variable that holds it, or - to be asked for it "
        "without echo; from a pipe - reads a line."
    )
    actions = actions_of(room)

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = subcommand(actions, name, what, "judges.endpoints", function or name)
        if name not in ("list", "find", "add", "reencrypt"):
            command.add_argument("endpoint", metavar="ENDPOINT", help="its number, endpoint-N, or its name")
        if name != "reencrypt":  # it is about the whole installation
            team_and_person(command)
        return command

    listed = action("list", "the endpoints owners added, by name", "list_endpoints")
    archived(listed)
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    found = action("find", "servers of models on this machine, and providers with a key in the environment")
    found.add_argument("--json", action="store_true", help="print JSON")
    its_models = action("models", "ask an endpoint which models it has")
    its_models.add_argument("--json", action="store_true", help="print JSON")
    shown = action("show", "one endpoint with everything that is set")
    added = action("add", "add an OpenAI-compatible endpoint")
    added.add_argument("name", metavar="NAME", help="what the team calls it")
    edited = action("edit", "change what is named; running runs ask what they froze")
    edited.add_argument("--name", default=argparse.SUPPRESS, metavar="NAME", help="what the team calls it")
    for command, required in ((added, True), (edited, False)):
        command.epilog = room.epilog
        for name, metavar, what in (
            ("--base-url", "URL", "everything before /chat/completions"),
            ("--model", "MODEL", "what is asked for, to the letter"),
        ):
            command.add_argument(
                name, required=required, default=argparse.SUPPRESS, metavar=metavar, help=what
            )
        _endpoint_options(command)
    for name, what in (("--forget-key", "forget the stored key"), ("--forget-headers", "forget all headers")):
        edited.add_argument(name, action="store_true", help=what)
    edited.add_argument(
        "--forget-header", action="append", default=[], metavar="NAME", help="forget one; several times"
    )
    tested = action("test", "ask it one tiny question, live: does it answer, and how")
    for command in (shown, added, edited, tested):
        command.add_argument("--json", action="store_true", help="print JSON")
    action("remove", "take it out of use and forget its key; finished runs keep their results")
    reencrypted = action("reencrypt", "encrypt the secrets of all teams under today's SECRET_KEY")
    reencrypted.add_argument("--json", action="store_true", help="print JSON")


def _endpoint_options(command: argparse.ArgumentParser) -> None:
    """Everything the page offers; what is not given keeps its value, `none` leaves it out again."""
    command.add_argument(
        "--key-from", metavar="VARIABLE|-", help="where the API key is: an environment variable, or -"
    )
    command.add_argument(
        "--header",
        action="append",
        default=[],
        metavar="NAME=VARIABLE|-",
        help="send this header with every call; where its value is, several times",
    )
    for option in SAMPLING_OPTIONS:
        _sampling_option(command, option)
    for name, reads, metavar, what in (
        ("--fallback-model", _word_or_none, "MODEL", "asked for what the model failed at for good, or none"),
        ("--max-concurrency", positive_or_none, "N", "calls in flight at most, or none"),
        ("--requests-per-minute", positive_or_none, "N", "what the plan allows, or none"),
        ("--tokens-per-minute", positive_or_none, "N", "what the plan allows, or none"),
        ("--input-usd", dollars_or_none, "USD", "its own price per million tokens asked, or none"),
        ("--cached-input-usd", dollars_or_none, "USD", "of those the provider had in its cache, or none"),
        ("--output-usd", dollars_or_none, "USD", "per million tokens answered, or none"),
    ):
        command.add_argument(
            name,
            dest=f"{name[2:].replace('-', '_')}{'_per_million' * name.endswith('-usd')}",
            type=reads,
            default=argparse.SUPPRESS,
            metavar=metavar,
            help=what,
        )
    command.add_argument(
        "--cache-marks",
        action=argparse.BooleanOptionalAction,
        default=argparse.SUPPRESS,
        help="mark what prompts share, for providers that cache only what is marked",
    )
    command.add_argument(
        "--batches",
        action=argparse.BooleanOptionalAction,
        default=argparse.SUPPRESS,
        help="the provider takes files of questions, answered within a day for less",
    )


def _sampling_option(command: argparse.ArgumentParser, option: SamplingOption) -> None:
    """Its range is looked at by the service, with everything else that was said."""
    name = f"--{option.name.replace('_', '-')}"
    if option.kind is bool:
        command.add_argument(
            name,
            action=argparse.BooleanOptionalAction,
            default=argparse.SUPPRESS,
            help=f"{option.says.title.lower()}; {option.says.what}",
        )
        return

    def read(text: str) -> object:
        try:
            return option.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    usual = "" if option.default == option.unset else f" (default {option.default:g})"
    what = f"{option.allowed_or('none')}; {option.says.what}{usual}"
    metavar = {float: "X", int: "N", str: "WORD"}[option.kind]
    command.add_argument(name, type=read, default=argparse.SUPPRESS, metavar=metavar, help=what)


def _word_or_none(text: str) -> str:
    """The word itself; "" for "none"."""
    return "" if text.lower() == "none" else text


def members(room: argparse.ArgumentParser) -> None:
    """`rubricweb members`."""
    room.description = "Who is in the team, and what they may do."
    actions = actions_of(room)

    def action(name: str, what: str, function: str = "") -> argparse.ArgumentParser:
        command = subcommand(actions, name, what, "teams.members", function or name)
        if name not in ("list", "invitations"):
            command.add_argument("person", metavar="USER", help="user name or e-mail address")
        team_and_person(command)
        return command

    listed = action("list", "everybody in the team, the highest role first", "list_members")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    waiting = action("invitations", "who was asked and has not come yet", "list_invitations")
    waiting.add_argument("--json", action="store_true", help="print a JSON object a line")
    invited = action("invite", "ask a person into the team: mails a link, or prints one to hand over")
    invited.add_argument("--role", default="annotator", choices=ROLES, help="(default annotator)")
    invited.add_argument("--name", default="", metavar="NAME", help="how others see somebody new")
    invited.add_argument(
        "--hand-over", action="store_true", help="print the link even where mail is set up; it is not mailed"
    )
    changed = action("role", "change what a member may do", "change_role")
    changed.add_argument("role", choices=ROLES, metavar="ROLE", help="one of %(choices)s")
    linked = action("link", "a new link for an invitation, or for a member who has never signed in")
    for command in (invited, changed, linked):
        command.add_argument("--json", action="store_true", help="print JSON")
    action("withdraw", "make the link of an open invitation stop working")
    action("remove", "take a person out at once: their tokens stop, their reviews stay")


def tokens(room: argparse.ArgumentParser) -> None:
    """`rubricweb tokens`."""
    room.description = "Your own API tokens in a team; --user says whose, nobody sees another's."
    actions = actions_of(room)
    listed = subcommand(actions, "list", "the tokens there are, newest first", "teams.tokens", "list_tokens")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    made = subcommand(actions, "new", "make a token; its secret is printed this once", "teams.tokens", "new")
    made.add_argument("name", metavar="NAME", help="what it is for")
    made.add_argument("--write", action="store_true", help="it may change things (default: only read)")
    made.add_argument("--days", type=positive, default=90, metavar="N", help="how long it lives (default 90)")
    made.add_argument("--json", action="store_true", help="print JSON")
    revoked = subcommand(
        actions, "revoke", "programs that use it stop working at once", "teams.tokens", "revoke"
    )
    revoked.add_argument("token", metavar="TOKEN", help="its number or name")
    for command in (listed, made, revoked):
        team_and_person(command)


def search(command: argparse.ArgumentParser) -> None:
    """`rubricweb search`."""
    command.add_argument("text", nargs="+", metavar="TEXT", help="words that must all stand in a name; an id")
    command.add_argument(
        "--kind", action="append", default=[], metavar="KIND", help="only these: run, item, …; several times"
    )
    command.add_argument(
        "--limit", type=positive, default=6, metavar="N", help="how many of each (default 6)"
    )
    command.add_argument("--json", action="store_true", help="print a JSON object a line")
    team_and_person(command)


def shared_links(room: argparse.ArgumentParser) -> None:
    """`rubricweb shared-links`."""
    room.description = "Links that show figures, as they were, to people without an account."
    actions = actions_of(room)
    where = "teams.shared_links"
    listed = subcommand(actions, "list", "the links there are, newest first", where, "list_links")
    listed.add_argument("--json", action="store_true", help="print a JSON object a line")
    made = subcommand(actions, "new", "make a link; it is printed this once", where, "new")
    made.add_argument("page", choices=PAGES, metavar="PAGE", help="one of %(choices)s")
    made.add_argument("--title", default="", metavar="TEXT", help="its heading (default: what it shows)")
    made.add_argument("--days", type=int, choices=(1, 7, 30), default=7, help="it ends after (default 7)")
    made.add_argument("--run", type=positive, metavar="N", help="the run of a comparison or a run-diff")
    made.add_argument(
        "--with", type=positive, dest="baseline", metavar="N", help="the other run of a run-diff"
    )
    made.add_argument(
        "--queue", action="append", default=[], metavar="QUEUE", help="whose labels a comparison is with"
    )
    made.add_argument("--dataset", default="", metavar="DATASET", help="of a dashboard (default: all)")
    made.add_argument("--rubric", default="", metavar="RUBRIC", help="narrows a dashboard")
    made.add_argument("--json", action="store_true", help="print JSON")
    revoked = subcommand(actions, "revoke", "the link shows nothing any more", where, "revoke")
    revoked.add_argument("link", metavar="LINK", help="its number or title")
    for command in (listed, made, revoked):
        team_and_person(command)


def audit_log(command: argparse.ArgumentParser) -> None:
    """`rubricweb audit-log`."""
    command.add_argument("--actor", default="", metavar="USER", help="only what this person did")
    command.add_argument(
        "--kind", default="", metavar="KIND", help="only what was done to a run, an item, a rubric version, …"
    )
    command.add_argument("--limit", type=positive, default=20, metavar="N", help="how many (default 20)")
    command.add_argument("--json", action="store_true", help="print a JSON object a line")
    team_and_person(command)


def renaming(command: argparse.ArgumentParser) -> None:
    """`rubricweb rename`."""
    _kind_and_row(command, NAMED)
    command.add_argument("name", metavar="NAME", help='what it is to be called; "" leaves a run without one')


def archiving(command: argparse.ArgumentParser) -> None:
    """`rubricweb archive`."""
    _kind_and_row(command, ARCHIVED)
    command.add_argument("--restore", action="store_true", help="back into lists and choosers")


def deleting(command: argparse.ArgumentParser) -> None:
    """`rubricweb delete`."""
    command.add_argument("--plan", action="store_true", help="only say what would go and what would stay")
    command.add_argument("--yes-delete", metavar="NAME", help="its name: delete it, for good")
    command.add_argument("--json", action="store_true", help="print JSON")
    _kind_and_row(command, DELETED)


def deletions(command: argparse.ArgumentParser) -> None:
    """`rubricweb deletions`."""
    command.add_argument("--limit", type=positive, default=20, metavar="N", help="how many (default 20)")
    command.add_argument("--json", action="store_true", help="print a JSON object a line")
    team_and_person(command)


def _kind_and_row(command: argparse.ArgumentParser, kinds: tuple[str, ...]) -> None:
    command.add_argument("kind", choices=kinds, help="what it is")
    command.add_argument(
        "row",
        metavar="WHICH",
        help="its number or its name; assistant@v4 of a system version, a team's address",
    )
    team_and_person(command)
