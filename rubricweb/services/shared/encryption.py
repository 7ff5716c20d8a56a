"""Secrets at rest: encrypted under SECRET_KEY, so that the database alone opens nothing."""

import base64
import hashlib

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings

from rubricweb.errors import Invalid


def encrypt(secret: str) -> str:
    """The secret encrypted; "" stays ""."""
    return _fernet().encrypt(secret.encode()).decode() if secret else ""


def decrypt(encrypted: str) -> str:
    """What was encrypted. Raises Invalid when that was under a SECRET_KEY that is no longer known."""
    if not encrypted:
        return ""
    try:
        return _fernet().decrypt(encrypted.encode()).decode()
    except InvalidToken as error:
        raise Invalid(
            "The endpoint's key or headers were stored under another SECRET_KEY; "
            "an owner must enter them again."
        ) from error


def reencrypt(encrypted: str) -> str:
    """The same secret under today's SECRET_KEY; unchanged if it is already. Raises Invalid as `decrypt`."""
    try:
        if encrypted:
            _under(settings.SECRET_KEY).decrypt(encrypted.encode())
    except InvalidToken:
        return encrypt(decrypt(encrypted))
    return encrypted


def _fernet() -> MultiFernet:
    """Encrypts under today's key; those of SECRET_KEY_FALLBACKS still decrypt."""
    return MultiFernet([_under(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


def _under(secret: str) -> Fernet:
    digest = hashlib.sha256(b"rubricweb endpoint keys:" + secret.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))
