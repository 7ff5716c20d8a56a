"""The salts of seals."""

from secrets import token_hex

SALT_BYTES = 16


def new_salt() -> str:
    """A random salt of 32 hexadecimal digits."""
    return token_hex(SALT_BYTES)
