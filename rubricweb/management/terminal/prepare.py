"""What must be in order before people come: tables, the broker's folder, data, somebody to sign in as."""

import getpass
import shutil
from collections.abc import Callable

from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone
from sesame.utils import get_query_string

from rubricweb import tasks
from rubricweb.errors import Conflict
from rubricweb.management.terminal.serve_lock import is_running
from rubricweb.models import Team, User
from rubricweb.selectors.shared.clock import database_now
from rubricweb.selectors.teams import lookup
from rubricweb.services import demo
from rubricweb.services.grading.workers import reaper
from rubricweb.services.teams import teams

Say = Callable[[str], object]


def migrate(say: Say) -> None:
    """Brings the tables up to date; quick when they already are."""
    if _unapplied_migrations():
        say("Preparing the database")
        call_command("migrate", verbosity=0, interactive=False)


def require_tables(say: Say) -> None:
    """The embedded form migrates by itself; elsewhere that is the operator's decision.

    Not below a `rubricweb serve` of an older release, which would go on with tables it does not know.
    """
    count = _unapplied_migrations()
    if count and is_running():
        raise Conflict(
            "The database is older than this release, and `rubricweb serve` runs on it. "
            "Stop it and start it again with this release, which migrates."
        )
    if settings.LOCAL:
        migrate(say)
    elif count:
        raise Conflict(f"The database lacks {count} migrations. Run `rubricweb manage migrate` first.")


def migration_executor() -> MigrationExecutor:
    """Raises Conflict where a newer release has migrated: its tables are not the ones this one knows."""
    executor = MigrationExecutor(connection)
    loader = executor.loader
    known = {*loader.disk_migrations}
    for migration in loader.disk_migrations.values():
        known.update(migration.replaces)  # files of squashed ones may be gone
    unknown = sorted(name for app, name in {*loader.applied_migrations} - known if app == "rubricweb")
    if unknown:
        raise Conflict(
            f"The database was migrated by a newer release: this one does not know {unknown[-1]}. "
            "Install the newer release, or restore a backup from before."
        )
    return executor


def _unapplied_migrations() -> int:
    executor = migration_executor()
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def empty_broker() -> None:
    """A fresh folder of wake-ups (the reaper sends them again), its routes written before several would."""
    if not settings.CELERY_BROKER_URL.startswith("filesystem"):
        return
    for folder in ("messages", "processed", "control"):
        shutil.rmtree(settings.BROKER_DIR / folder, ignore_errors=True)
        # The web server starts at the same time and makes these folders too, where it is first to notify.
        (settings.BROKER_DIR / folder).mkdir(parents=True, exist_ok=True)
    from rubricweb.celery import app

    with app.connection_for_write() as broker, broker.default_channel as channel:
        for queue in app.amqp.queues.values():
            queue(channel).declare()


def load_demo(say: Say) -> None:
    """The demo team, where there is no team yet."""
    if not lookup.every_team():
        say("Loading the demo team")
        demo.load_demo(enqueue=tasks.notify, now=timezone.now())
    elif not lookup.has_team(demo.SLUG):
        say("There is a team already, so the demo was left out; `rubricweb load-demo` adds it.")


def somebody(say: Say, owner: str = "") -> Team | None:
    """A first person and team where there is none, so that there is somebody to sign in as.

    Returns the team it made, None when there were teams already.
    """
    if lookup.every_team():
        return None
    person = teams.ensure_person(owner or _login_name())
    team = teams.create_team("My team", owner=person)
    say(f"Created the team {team} with its owner {person.username}")
    return team


def _login_name() -> str:
    try:
        # Of an account of a directory the part before the @, as a user name has none.
        return getpass.getuser().partition("@")[0]
    except (KeyError, OSError):  # an account without a name, as in some containers
        return "owner"


def ring_for_interrupted_runs() -> None:
    reaper.reap(enqueue=tasks.notify, now=database_now())


def sign_in_link(user: User, base_url: str) -> str:
    """A link that signs this person in once, within half an hour."""
    return f"{base_url}/sign-in/{get_query_string(user)}"
