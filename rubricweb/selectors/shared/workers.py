"""Workers: which are alive, and what to type when none is."""

from datetime import datetime, timedelta

from django.conf import settings

from rubricweb.models import Worker

# Three beats: one may be late without anybody being told that no worker is running.
SILENT_AFTER = timedelta(seconds=15)
# Whoever holds items for a provider's batch signs as "batch:<id>": no process, and never dead.
BATCH = "batch"
# Providers answer within a day; what is held for a batch only has to outlast that.
BATCH_HELD_FOR = timedelta(days=3)


def alive(now: datetime) -> list[Worker]:
    """The workers heard of within the last 15 seconds, by name."""
    return list(Worker.objects.filter(beat_at__gt=now - SILENT_AFTER).order_by("name"))


def is_process(owner: str) -> bool:
    """Whether the holder of a lease or a tally is a worker's process, "host:pid", and not a batch."""
    return not owner.startswith(f"{BATCH}:")


def start_command() -> str:
    """What starts a worker here: the embedded form is started as a whole, elsewhere Celery is."""
    if settings.CELERY_BROKER_URL.startswith("filesystem"):
        return "rubricweb serve"
    return "celery -A rubricweb worker"
