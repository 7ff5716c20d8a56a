"""The one Django app; loading it loads the Celery app, so importing the engine never does."""

from django.apps import AppConfig


class RubricwebConfig(AppConfig):
    name = "rubricweb"
    verbose_name = "rubricweb"

    def ready(self) -> None:
        import rubricweb.celery  # noqa: F401  registers the app that shared_task binds to
