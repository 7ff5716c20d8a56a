"""What arguments of several commands share: how a command is named, and how numbers are read."""

import argparse
import sys
from pathlib import Path


def subcommand(
    commands: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    what: str,
    module: str,
    function: str,
) -> argparse.ArgumentParser:
    """A command that calls `function` of `module` in `rubricweb.management`; `what` is its help."""
    command = commands.add_parser(name, help=what, description=f"{what[0].upper()}{what[1:]}.")
    command.set_defaults(module=module, function=function)
    command.add_argument(
        "--data",
        type=Path,
        metavar="FOLDER",
        help="where the app keeps its data",
    )
    return command


def actions_of(room: argparse.ArgumentParser) -> "argparse._SubParsersAction[argparse.ArgumentParser]":
    """Where the actions of a room such as `rubricweb queues` are added."""
    return room.add_subparsers(title="actions", prog=room.prog, metavar="ACTION", required=True)


def team_and_person(command: argparse.ArgumentParser) -> None:
    """Which team, and in whose name."""
    command.add_argument("--team", default="", metavar="SLUG", help="the team (default: the only one)")
    command.add_argument("--user", default="", help="who does it (default: the team's first owner)")


def item_names(command: argparse.ArgumentParser, what: str = "this item") -> None:
    """Items by key or id, one by one or a file of them, as one list in `options.item`."""
    command.add_argument(
        "--item", action="append", default=[], metavar="ITEM", help=f"{what}: id:N|KEY; several times"
    )
    command.add_argument(
        "--items-from",
        dest="item",
        action=_LinesOfFile,
        default=argparse.SUPPRESS,
        metavar="FILE",
        help="the items a file names, one a line; - is what is piped in",
    )


class _LinesOfFile(argparse.Action):
    """Adds the lines of a file that are not empty to a list."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        options: argparse.Namespace,
        value: object,
        option: str | None = None,
    ) -> None:
        path = str(value)
        try:
            text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            why = (
                error.strerror.lower() if isinstance(error, OSError) and error.strerror else "not UTF-8 text"
            )
            raise argparse.ArgumentError(self, f"{path} cannot be read: {why}") from error
        names = [line.strip() for line in text.splitlines() if line.strip()]
        if not names:
            raise argparse.ArgumentError(self, f"{path} names no item; one a line is expected")
        setattr(options, self.dest, [*getattr(options, self.dest), *names])


def positive(text: str) -> int:
    """A whole number from 1."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 2**31):
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1")
    return int(text)


def seconds(text: str) -> float:
    """A time from 0.05 seconds to an hour."""
    number = float(text)
    if not 0.05 <= number <= 3600:
        raise argparse.ArgumentTypeError(f"{text} is not between 0.05 and 3600")
    return number


def dollars(text: str) -> float:
    """US dollars, 0 or more."""
    try:
        amount = float(text)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no amount of dollars from 0")
    return amount


def finite(text: str, *, allowed: str = "finite number") -> float:
    """A number that is neither infinite nor NaN; `allowed` is how the refusal of other texts calls it."""
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if not -float("inf") < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is no {allowed}")
    return number


def from_minus_1_to_1(text: str) -> float:
    """A number as κ has it."""
    number = finite(text)
    if not -1 <= number <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not from -1 to 1")
    return number


def count_or_share(text: str) -> int | float:
    """5 for "5", and 0.05 for "5%"."""
    if text.isascii() and text.isdigit():
        return int(text)
    share = finite(text.removesuffix("%")) / 100 if text.endswith("%") else -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is neither a whole number from 0 nor a share such as 5%")
    return share


def positive_or_none(text: str) -> int | None:
    """A whole number from 1; None for "none"."""
    return None if text.lower() == "none" else positive(text)


def dollars_or_none(text: str) -> float | None:
    """US dollars; None for "none"."""
    return None if text.lower() == "none" else dollars(text)


def share_or_none(text: str) -> float | None:
    """A share above 0 and at most 1; None for "none"."""
    if text.lower() == "none":
        return None
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0 and at most 1, nor none")
    return share


def repeats(text: str) -> tuple[int, ...]:
    """(3,) for "3", (3, 1) for "3,1"."""
    return tuple(positive(part) for part in text.split(","))


def archived(command: argparse.ArgumentParser) -> None:
    command.add_argument("--archived", action="store_true", help="those that are archived")
