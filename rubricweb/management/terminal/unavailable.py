"""Why something is empty and what to do about it, at the terminal."""

from rubricweb.management.terminal.printed import terminal
from rubricweb.selectors.shared.unavailable import Unavailable


def print_unavailable(unavailable: Unavailable, *, of: str = "") -> None:
    """Prints why and the next step, with the command for it where there is one."""
    console = terminal()
    console.print(" ".join(filter(None, (of, unavailable.why, unavailable.next_step))))
    if unavailable.command:
        console.print(f"  {unavailable.command}")
