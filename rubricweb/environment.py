"""How settings are read from the environment: nonsense is refused, secrets may stand in files."""

import json
from pathlib import Path
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS, Sampling, wrong_options

_WORDS = {int: "a whole number", float: "a number", bool: "1 for yes or 0 for no", json.loads: "JSON"}
_YES, _NO = environ.Env.BOOLEAN_TRUE_STRINGS, ("0", "false", "off", "n", "no", "")

SECRETS = (
    "SECRET_KEY",
    "SECRET_KEY_FALLBACKS",
    "DATABASE_URL",
    "DATABASE_PASSWORD",
    "CELERY_BROKER_URL",
    "REDIS_URL",
    "OPENAI_API_KEY",
    "OPENAI_EXTRA_HEADERS",
    "EMAIL_URL",
)
"""What may be read from a file that NAME_FILE names, as Docker and Kubernetes hand secrets over."""


class Environment(environ.Env):  # type: ignore[misc]  # it has no types
    """One that names the variable it cannot read, and reads a secret from the file that NAME_FILE names."""

    def get_value(self, var: str, cast: Any = None, **options: Any) -> Any:
        from_file = self._from_file(var)
        if from_file is not None:
            options["default"] = from_file if cast in (None, str) else self.parse_value(from_file, cast)
        try:
            return super().get_value(var, cast=cast, **options)
        except ValueError as error:
            raise ImproperlyConfigured(f"{var} must be {_WORDS.get(cast, 'readable')}: {error}.") from error

    @classmethod
    def parse_value(cls, value: Any, cast: Any) -> Any:
        if cast is not bool:
            return super().parse_value(value, cast)
        word = value.strip().lower()
        if word not in (*_YES, *_NO):
            raise ValueError(f"{value!r} is neither")
        return word in _YES

    def address(self, var: str, *, default: str, schemes: tuple[str, ...]) -> str:
        """One of these schemes. What was found instead is not repeated: it may hold a password."""
        value: str = self.str(var, default=default)
        if value != default and not value.startswith(schemes):
            raise ImproperlyConfigured(f"{var} must start with {', '.join(schemes[:-1])} or {schemes[-1]}.")
        return value

    def parts(self, var: str, read: Any, *, default: str, schemes: tuple[str, ...]) -> dict[str, Any]:
        """What `read` finds in such an address."""
        address = self.address(var, default=default, schemes=schemes)
        try:
            return dict(read(address))
        except ValueError:
            raise ImproperlyConfigured(
                f"{var} cannot be read: a port is a number, and / # ? in a password are %2F %23 %3F."
            ) from None  # what could not be read may be the password

    def count(self, var: str, *, default: int, least: int = 0) -> int:
        value: int = self.int(var, default=default)
        if value < least:
            raise ImproperlyConfigured(f"{var} is {value}; it must be at least {least}.")
        return value

    def sampling(self, prefix: str) -> Sampling:
        """Each option from the variable of its name: OPENAI_TEMPERATURE. 0 leaves out what cannot be 0."""
        said: dict[str, Any] = {}
        for option in SAMPLING_OPTIONS:
            var = f"{prefix}{option.name.upper()}"
            if option.kind is bool:
                said[option.name] = self.bool(var, default=option.default)
            elif text := self.str(var, default=""):
                try:
                    said[option.name] = option.read(text)
                except ValueError as error:
                    raise ImproperlyConfigured(f"{var}: {error}.") from error
        for fault in wrong_options(said):
            if said[fault.place] != 0:
                var = f"{prefix}{fault.place.upper()}"
                raise ImproperlyConfigured(f"{var} is {fault.found}; allowed is {fault.allowed}.")
            del said[fault.place]
        return Sampling(**said)

    def _from_file(self, var: str) -> str | None:
        """The text of the file that NAME_FILE names, without the end of its last line; None without one."""
        path = self.ENVIRON.get(f"{var}_FILE", "") if var in SECRETS else ""
        if not path:
            return None
        if self.ENVIRON.get(var):
            raise ImproperlyConfigured(f"{var} and {var}_FILE are both set; leave one of them out.")
        self.ENVIRON.pop(var, None)  # set to nothing, it would count as the value
        try:
            text = Path(path).read_text().rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is no text"
            raise ImproperlyConfigured(f"{var}_FILE names {path}, which cannot be read: {reason}.") from None
        if not text:
            raise ImproperlyConfigured(f"{var}_FILE names {path}, which is empty.")
        return text
