"""What browsers load, copied and hashed once per change: quick to tell, slow to do."""

import hashlib
from importlib.metadata import version
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
    """Changes with every source file's name, size or time, and with the packages that bring their own."""
    digest = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for package in ("django", "django-allauth", "django-htmx", "django-ninja", "whitenoise"):
        digest.update(f"{package} {version(package)}\n".encode())
    for folder in settings.STATICFILES_DIRS:
        for path in sorted(Path(folder).rglob("*")):
            stat = path.stat()
            digest.update(f"{path} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()
