"""Why something is empty and what to do about it, at the terminal."""

from dataclasses import asdict
from typing import Any

from rubricweb.management.terminal.printed import terminal
from rubricweb.selectors.shared.lacking import Lacking


def print_lacking(lacking: Lacking, *, of: str = "") -> None:
    """Prints why and the next step, with the command for it where there is one."""
    console = terminal()
    console.print(" ".join(filter(None, (of, lacking.why, lacking.next_step))))
    if lacking.command:
        console.print(f"  {lacking.command}")


def as_json(lacking: Lacking | None) -> dict[str, Any] | None:
    """The same as the API gives it; None where nothing is lacking."""
    if lacking is None:
        return None
    answer = {name: getattr(lacking, name) for name in ("code", "why", "next_step", "queue_id", "run_id")}
    sample = None if lacking.sample is None else asdict(lacking.sample)
    return answer | {"sample": sample, "command": lacking.command}
