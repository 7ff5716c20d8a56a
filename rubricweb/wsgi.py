"""The door a WSGI server opens."""

import gc
import os
from typing import Any

# A tenth of the time that importing takes goes into walks of the collector, which find nothing.
gc.disable()

from django.core.wsgi import get_wsgi_application  # noqa: E402  see above

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "rubricweb.settings")
application = get_wsgi_application()

# Every page and operation takes a second to import: once where a server loads this before it forks
# (`--preload`), rather than in each of its workers at their first request.
from django.db import close_old_connections  # noqa: E402  see above

import rubricweb.urls  # noqa: E402, F401  after Django is set up; for what it imports
from rubricweb.celery import app as celery_app  # noqa: E402  see above
from rubricweb.services.grading import shared_limits  # noqa: E402  see above
from rubricweb.web.bodies import largest_body  # noqa: E402  see above

# Judges that are tried here keep to the limits of their endpoints together with those that grade.
shared_limits.install()

# So does the client of the broker; nothing is connected to here.
celery_app.connection_for_write().get_transport_cls()


def _largest_body(environ: dict[str, Any]) -> int:
    close_old_connections()
    try:
        return largest_body(environ)
    finally:
        close_old_connections()


# For our own server, which reads a whole request before it calls the application.
application.largest_body = _largest_body  # type: ignore[attr-defined]  # a function of ours at Django's object

# What is imported stays: the collector need not walk it, nor copy its memory into every forked process. Nor
# does it now: that takes a tenth of a second, for the few thousand small objects that importing leaves.
gc.freeze()
gc.enable()
