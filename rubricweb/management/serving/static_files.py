"""What browsers load, copied and hashed once per change: quick to tell, slow to do."""

import hashlib
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from django.conf import settings
from django.core.management import call_command


def are_fresh() -> bool:
    """Whether the collected files still match their sources; needs the settings only, not Django set up."""
    return settings.DEBUG or (_stamp().exists() and _stamp().read_text() == _fingerprint())


def collect() -> None:
    fingerprint = _fingerprint()
    call_command("collectstatic", verbosity=0, interactive=False, clear=True)
    _stamp().write_text(fingerprint)


def _stamp() -> Path:
    return Path(settings.STATIC_ROOT) / ".fingerprint"


def _fingerprint() -> str:
    """Changes with every source file's name, size or time, with the packages that bring their own, and with
    the module that writes them.
    """
    backend = settings.STORAGES["staticfiles"]["BACKEND"]
    digest = hashlib.sha256(backend.encode())
    if (writer := find_spec(backend.rpartition(".")[0])) and writer.origin:
        digest.update(Path(writer.origin).read_bytes())
    for package in ("django", "django-allauth", "django-htmx", "django-ninja", "whitenoise"):
        digest.update(f"{package} {version(package)}\n".encode())
    for folder in settings.STATICFILES_DIRS:
        for path in sorted(Path(folder).rglob("*")):
            stat = path.stat()
            digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
