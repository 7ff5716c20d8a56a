#!/usr/bin/env python
"""Django's command line; `rubricweb` is the shorter door for everyday use."""

import atexit
import gc
import os
import sys


def main() -> None:
    # As `rubricweb.management.console` does, which says why.
    gc.set_threshold(50_000, 20, 50)
    atexit.register(gc.freeze)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")
    from django.core.management import execute_from_command_line

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
