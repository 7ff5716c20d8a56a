"""A web process that is asked a few times, at a moment of its own clock.

    python -m tests.processes.serving.knocker prepare
    python -m tests.processes.serving.knocker sign-in MOMENT PASSWORD TIMES
    python -m tests.processes.serving.knocker api MOMENT TOKEN TIMES

`prepare` makes ann with the password "right one, truly" and prints a token of hers; the others print a line
for each time: whether ann is signed in, or the status and Retry-After.
"""

import os
import sys
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


def main() -> None:
    import time_machine

    os.environ["DJANGO_SETTINGS_MODULE"] = "rubricweb.settings"
    os.environ["ALLOWED_HOSTS"] = "testserver"
    os.environ["RUBRICWEB_LOCAL"] = "1"
    django.setup()
    if sys.argv[1] == "prepare":
        prepare()
        return
    what, moment, secret, times = sys.argv[1:]
    with time_machine.travel(datetime.fromisoformat(moment), tick=False):
        for _ in range(int(times)):
            print(knock(what, secret))


if __name__ == "__main__":
    main()
