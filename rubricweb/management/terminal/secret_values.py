"""Secrets a command needs: from an environment variable, without echo, or a line of standard input."""

import getpass
import os
import sys

from rubricweb.errors import Invalid

ASKED = "-"


def secret_value(option: str, source: str, what: str) -> str:
    """The secret that `option` says is in `source`: the name of an environment variable, or -, which asks a
    terminal for `what` without echo and takes a line of anything else.

    Raises Invalid, and never repeats what was written: it may be the secret itself.
    """
    if source == ASKED:
        value = getpass.getpass(f"{what}: ") if sys.stdin.isatty() else sys.stdin.readline()
        empty = f"{option} -: nothing came; allowed: the value, on a line of its own."
    elif source in os.environ:
        value = os.environ[source]
        empty = f"{option}: the environment variable {source} is empty."
    else:
        raise Invalid(
            f"{option}: there is no environment variable of that name; allowed: the name of one, never the "
            f"secret itself, or - to be asked for it."
        )
    if not value.strip():
        raise Invalid(empty)
    return value.strip()
