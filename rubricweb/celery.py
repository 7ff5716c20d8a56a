"""The Celery app: brokers are bells only, so a lost or doubled message changes nothing."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")

from django.conf import settings

from rubricweb import bells

app = Celery("rubricweb")
app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    task_serializer="json",
    accept_content=["json"],
    result_backend=None,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_default_queue="rubricweb",
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    broker_connection_retry_on_startup=True,
    timezone="UTC",
    beat_schedule={"sweep": {"task": "rubricweb.tasks.sweep", "schedule": float(settings.SWEEP_SECONDS)}},
    beat_schedule_filename=str(settings.VAR_DIR / "beat-schedule"),
)
if settings.CELERY_BROKER_URL.startswith("filesystem"):
    bells.install()
    app.conf.broker_url = "filesystem://localhost/"  # without a host Kombu warns that it takes this one
    for folder in ("messages", "processed", "control"):
        (settings.BROKER_DIR / folder).mkdir(parents=True, exist_ok=True)
    app.conf.broker_transport_options = {
        "data_folder_in": str(settings.BROKER_DIR / "messages"),
        "data_folder_out": str(settings.BROKER_DIR / "messages"),
        "processed_folder": str(settings.BROKER_DIR / "processed"),
        "control_folder": str(settings.BROKER_DIR / "control"),
        "polling_interval": 0.05,
    }
app.autodiscover_tasks(["rubricweb"])
