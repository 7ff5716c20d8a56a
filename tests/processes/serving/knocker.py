"""Web processes, one after the other, each asked a few times at a moment of its own clock.

    python -m tests.processes.serving.knocker prepare
    python -m tests.processes.serving.knocker '[["sign-in", MOMENT, PASSWORD, 3], ["api", MOMENT, TOKEN, 1]]'

`prepare` makes ann with the password "right one, truly" and prints a token of hers. Each process prints a
JSON list, with an entry for each time: whether ann is signed in, or the status and Retry-After.
"""

import importlib
import json
import os
import sys
import traceback
from datetime import datetime

import django


def prepare() -> None:
    from django.utils import timezone

    from rubricweb.services.teams import teams
    from tests import factories

    people = factories.cast()
    people.ann.set_password("right one, truly")
    people.ann.save()
    membership = people.team.memberships.get(user=people.ann)
    print(teams.create_token(membership, name="t", may_write=False, days=1, now=timezone.now())[1])


def knock(what: str, secret: str) -> str:
    from django.test import Client

    client = Client()
    if what == "sign-in":
        answer = client.post("/accounts/login/", {"login": "ann", "password": secret})
        return "in" if answer.status_code == 302 else "out"
    answer = client.get("/api/v1/me", headers={"Authorization": f"Bearer {secret}"})
    return f"{answer.status_code} {answer.headers.get('Retry-After', '')}".strip()


def knocks(what: str, moment: str, secret: str, times: int) -> None:
    """In a process of its own, forked before anything was asked: it knows nothing of the other ones."""
    import time_machine

    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == 0
        return
    try:
        with time_machine.travel(datetime.fromisoformat(moment), tick=False):
            said = [knock(what, secret) for _ in range(times)]
        print(json.dumps(said), flush=True)
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "rubricweb.settings"
    os.environ["ALLOWED_HOSTS"] = "testserver"
    os.environ["RUBRICWEB_LOCAL"] = "1"
    django.setup()
    if sys.argv[1] == "prepare":
        prepare()
        return
    importlib.import_module("rubricweb.urls")  # once for all that are forked
    for what, moment, secret, times in json.loads(sys.argv[1]):
        knocks(what, moment, secret, times)


if __name__ == "__main__":
    main()
