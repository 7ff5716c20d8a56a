"""Every setting of the app, read from the environment; nonsense is refused at start.

`docs/settings.md` explains each variable (a test keeps the two in step).
"""

import logging
import os
import re
import secrets
from pathlib import Path

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured

from rubricweb import folders
from rubricweb.environment import Environment
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.rate_limit.knobs import Knobs

_WEB = ("http://", "https://")
_DATABASES = ("sqlite://", "postgres://", "postgresql://", "psql://", "pgsql://")
_BROKERS = ("filesystem://", "redis://", "rediss://", "sentinel://", "amqp://", "amqps://", "memory://")
_MAIL = tuple(f"{scheme}://" for scheme in environ.Env.EMAIL_SCHEMES)


env = Environment()
if folders.settings_file().exists():
    env.read_env(folders.settings_file())

# Set before numpy is loaded. The products in the statistics are narrow: threads would only wait for each
# other, and several web and grading processes share the cores as it is.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# ── Where and how we run ─────────────────────────────────────────────────────────────────────────
DEBUG = env.bool("DEBUG", default=False)
# The embedded form (`rubricweb serve`, `make run`): one machine, SQLite, a generated key.
LOCAL = env.bool("RUBRICWEB_LOCAL", default=False)
VAR_DIR = Path(env.str("RUBRICWEB_VAR_DIR", default=str(folders.data_folder()))).resolve()
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["localhost", "127.0.0.1", "[::1]"])
for _host in ALLOWED_HOSTS:
    if not re.fullmatch(r"\*|\.?[\w-]+(\.[\w-]+)*|\[[\da-fA-F:.]+\]", _host, re.ASCII):
        raise ImproperlyConfigured(
            f"ALLOWED_HOSTS names {_host!r}, which no request can match: write the host alone, as in "
            "rubrics.example.org, .example.org (with all below it) or [::1]; no http://, port, path or space."
        )
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
SITE_URL = env.address("SITE_URL", default="http://127.0.0.1:8000", schemes=_WEB).rstrip("/")
HTTPS = SITE_URL.startswith("https://")


def _secret_key() -> str:
    """SECRET_KEY from the environment, else from a 0600 file that only the embedded form may create."""
    key: str = env.str("SECRET_KEY", default="")
    if key:
        if len(key) < 32:
            raise ImproperlyConfigured(f"SECRET_KEY has {len(key)} characters; use at least 32.")
        return key
    path = VAR_DIR / "secret_key"
    if not (DEBUG or LOCAL):
        raise ImproperlyConfigured(
            "SECRET_KEY is not set. Set it to at least 32 random characters, "
            "or set RUBRICWEB_LOCAL=1 on a single machine to have one generated."
        )
    try:
        VAR_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
        with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    return path.read_text().strip()


SECRET_KEY = _secret_key()
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])

# ── The app ──────────────────────────────────────────────────────────────────────────────────────
INSTALLED_APPS = [
    "rubricweb.apps.RubricwebConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django.forms",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "csp",
    "django_htmx",
    "ninja",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "rubricweb.web.http.NothingStaysInCaches",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "rubricweb.web.bodies.BodiesHaveALimit",  # before the next one, which reads the body
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "rubricweb.web.http.SignedInByDefault",
    "rubricweb.web.whose_page.NobodySendsForAnother",
    "django_htmx.middleware.HtmxMiddleware",
    "rubricweb.web.http.MarkdownIsBudgeted",
    "rubricweb.web.errors.RefusalsBecomePages",
]
ROOT_URLCONF = "rubricweb.urls"
WSGI_APPLICATION = "rubricweb.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [folders.ASSETS / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "rubricweb.web.http.frame",
                "rubricweb.web.http.mail",
                "rubricweb.web.help.topics.help_link",
            ],
            "builtins": [f"rubricweb.templatetags.{name}" for name in ("display", "texts", "drawings")],
        },
    }
]
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
FORM_RENDERER = "django.forms.renderers.TemplatesSetting"
APPEND_SLASH = True

# ── Database: SQLite in the embedded form, PostgreSQL when DATABASE_URL says so ──────────────────
_sqlite = f"sqlite:///{VAR_DIR / 'rubricweb.sqlite3'}"
_database = env.parts("DATABASE_URL", env.db_url_config, default=_sqlite, schemes=_DATABASES)
if _password := env.str("DATABASE_PASSWORD", default=""):
    _database["PASSWORD"] = _password
DATABASES = {"default": _database}
if _database["ENGINE"].endswith("sqlite3"):
    # IMMEDIATE: a writer waits for the lock at BEGIN instead of failing half-way through.
    _database.setdefault("OPTIONS", {}).update(
        transaction_mode="IMMEDIATE",
        timeout=30,
        init_command="PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-32000;",
    )
else:
    _database["CONN_MAX_AGE"] = env.count("DATABASE_CONN_MAX_AGE", default=60)
    _database["CONN_HEALTH_CHECKS"] = True
    # Compiling a query takes PostgreSQL longer than any of ours runs (1.7 s against 49 ms).
    _options = _database.setdefault("OPTIONS", {})
    # The address and PGOPTIONS come after, to be able to say otherwise; PGOPTIONS would else be left out.
    _said = ("-c jit=off", env("PGOPTIONS", default=""), _options.get("options", ""))
    _options["options"] = " ".join(filter(None, _said))

# Throttles count in the database, which all processes share; a cache of its own would count per process.
CACHES = {"default": {"BACKEND": "rubricweb.services.shared.shared_cache.SharedCache"}}
# How often a token may be used in a minute; 0 is as often as it likes.
API_REQUESTS_PER_MINUTE = env.count("API_REQUESTS_PER_MINUTE", default=1200)

# ── Background work ──────────────────────────────────────────────────────────────────────────────
CELERY_BROKER_URL = env.address("CELERY_BROKER_URL", default="filesystem://", schemes=_BROKERS)
BROKER_DIR = VAR_DIR / "broker"
# Where workers agree on how fast an endpoint is asked; without Redis they do so in the database.
_broker_is_redis = CELERY_BROKER_URL.startswith(("redis://", "rediss://"))
REDIS_URL = env.str("REDIS_URL", default=CELERY_BROKER_URL if _broker_is_redis else "")
if REDIS_URL and not REDIS_URL.startswith(("redis://", "rediss://", "unix://")):
    raise ImproperlyConfigured("REDIS_URL must start with redis://, rediss:// or unix://.")
# How many items a process claims at first, and how long a claim lives without a heartbeat.
GRADING_CHUNK_ITEMS = env.count("GRADING_CHUNK_ITEMS", default=16, least=1)
GRADING_LEASE_SECONDS = env.count("GRADING_LEASE_SECONDS", default=45, least=3)
# How long a worker process grades before it lets other tasks have a turn.
GRADING_SESSION_SECONDS = env.count("GRADING_SESSION_SECONDS", default=60, least=1)
SWEEP_SECONDS = env.count("SWEEP_SECONDS", default=10, least=1)
WORKER_PROCESSES = env.count("WORKER_PROCESSES", default=2, least=1)

# ── Judges ───────────────────────────────────────────────────────────────────────────────────────
OPENAI_API_KEY = env.str("OPENAI_API_KEY", default="")
OPENAI_BASE_URL = env.address("OPENAI_BASE_URL", default="https://api.openai.com/v1", schemes=_WEB)
OPENAI_MODEL = env.str("OPENAI_MODEL", default="gpt-5-mini")
OPENAI_FALLBACK_MODEL = env.str("OPENAI_FALLBACK_MODEL", default="")
OPENAI_SAMPLING = env.sampling(prefix="OPENAI_")
OPENAI_CACHE_MARKS = env.bool("OPENAI_CACHE_MARKS", default=False)
OPENAI_REQUESTS_PER_MINUTE = env.int("OPENAI_REQUESTS_PER_MINUTE", default=0) or None
OPENAI_TOKENS_PER_MINUTE = env.int("OPENAI_TOKENS_PER_MINUTE", default=0) or None
OPENAI_EXTRA_HEADERS: dict[str, str] = env.json("OPENAI_EXTRA_HEADERS", default={})
if not isinstance(OPENAI_EXTRA_HEADERS, dict) or not all(
    isinstance(value, str) for value in OPENAI_EXTRA_HEADERS.values()
):
    raise ImproperlyConfigured('OPENAI_EXTRA_HEADERS must be a JSON object of texts, {"X-Team": "blue"}.')
JUDGE_CONCURRENCY = env.int("JUDGE_CONCURRENCY", default=16)
JUDGE_TIMEOUT_SECONDS = env.float("JUDGE_TIMEOUT_SECONDS", default=60.0)
JUDGE_MAX_ATTEMPTS = env.int("JUDGE_MAX_ATTEMPTS", default=5)
_OF_EVERY_JUDGE = ("concurrency", "timeout_seconds", "max_attempts")


def _setting_of(field: "re.Match[str]") -> str:
    """What a field of `JudgeConfig` is set by."""
    return f"{'JUDGE' if field[1] in _OF_EVERY_JUDGE else 'OPENAI'}_{field[1].upper()}"


try:
    JudgeConfig(
        name=OPENAI_MODEL,
        base_url=OPENAI_BASE_URL,
        model=OPENAI_MODEL,
        sampling=OPENAI_SAMPLING,
        requests_per_minute=OPENAI_REQUESTS_PER_MINUTE,
        tokens_per_minute=OPENAI_TOKENS_PER_MINUTE,
        extra_headers=tuple(OPENAI_EXTRA_HEADERS.items()),
        concurrency=JUDGE_CONCURRENCY,
        timeout_seconds=JUDGE_TIMEOUT_SECONDS,
        max_attempts=JUDGE_MAX_ATTEMPTS,
    )
except ValueError as error:
    raise ImproperlyConfigured(re.sub(r"JudgeConfig\.(\w+)", _setting_of, str(error))) from error
OFFLINE_JUDGE_URL = env.address("OFFLINE_JUDGE_URL", default="", schemes=_WEB)
# How fast endpoints are asked, {"start": 16}: see docs/rate-limits.md.
_knobs = env.json("RATE_LIMITS", default={})
try:
    RATE_LIMIT_KNOBS = Knobs.read(_knobs)
except (ValueError, TypeError) as error:
    raise ImproperlyConfigured(
        f'RATE_LIMITS must be a JSON object such as {{"start": 16}}: {error}.'
    ) from error
# Owners may add endpoints on private addresses only when the operator says so.
JUDGE_ALLOW_PRIVATE_HOSTS = env.bool("JUDGE_ALLOW_PRIVATE_HOSTS", default=LOCAL)

# ── Sizes ────────────────────────────────────────────────────────────────────────────────────────
UPLOAD_MAX_BYTES = env.count("UPLOAD_MAX_BYTES", default=50 * 1024 * 1024, least=1)
# Files of items, which are read a part at a time: no process holds them in memory.
IMPORT_MAX_BYTES = env.count("IMPORT_MAX_BYTES", default=500 * 1024 * 1024, least=1)
# Bodies without a file, of addresses that take none.
REQUEST_MAX_BYTES = env.count("REQUEST_MAX_BYTES", default=8 * 1024 * 1024, least=64 * 1024)
# Each by a process of its own, which may take 4 GB.
FILES_READ_AT_ONCE = env.count("FILES_READ_AT_ONCE", default=2, least=1)
DATA_UPLOAD_MAX_MEMORY_SIZE = max(UPLOAD_MAX_BYTES, REQUEST_MAX_BYTES)
# The editor sends 14 for a criterion and 3 for an option: enough for 1,000 criteria of 25 options each.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 100_000
FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]

# ── People ───────────────────────────────────────────────────────────────────────────────────────
AUTH_USER_MODEL = "rubricweb.User"
AUTHENTICATION_BACKENDS = [
    "django.contrib.auth.backends.ModelBackend",
    "allauth.account.auth_backends.AuthenticationBackend",
    "sesame.backends.ModelBackend",
]
PASSWORD_HASHERS = [
    "django.contrib.auth.hashers.Argon2PasswordHasher",
    "django.contrib.auth.hashers.PBKDF2PasswordHasher",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "home"
ACCOUNT_ADAPTER = "rubricweb.web.teams.accounts.ClosedSignup"
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["email*", "username*", "password1*", "password2*"]
# An address counts once the link mailed to it was opened, and a new one takes over only then; people who
# have proven none may sign in all the same.
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_EMAIL_SUBJECT_PREFIX = ""
ACCOUNT_LOGOUT_ON_GET = False
ACCOUNT_RATE_LIMITS = {"login_failed": "10/m/ip,5/5m/key"}
MFA_SUPPORTED_TYPES = ["totp", "recovery_codes"]
# Where no mail goes out nobody could prove an address, and so set up no second factor. It keeps nobody out of
# an account of theirs: there is no sign-up, and an address that is not proven stands for nobody.
MFA_ALLOW_UNVERIFIED_EMAIL = True
# One-time sign-in links of the operator: good once, for half an hour.
SESAME_ONE_TIME = True
SESAME_MAX_AGE = 30 * 60
SESAME_TOKEN_NAME = "token"  # noqa: S105 the name of a query parameter, not a secret
EMAIL_CONFIG = env.parts("EMAIL_URL", env.email_url_config, default="consolemail://", schemes=_MAIL)
vars().update(EMAIL_CONFIG)
DEFAULT_FROM_EMAIL = env.str("DEFAULT_FROM_EMAIL", default="rubricweb@localhost")
EMAIL_TIMEOUT = 10
# Notifications are mailed where mails really go somewhere.
SENDS_MAIL = not EMAIL_CONFIG["EMAIL_BACKEND"].endswith(("console.EmailBackend", "dummy.EmailBackend"))

# ── Browser safety ───────────────────────────────────────────────────────────────────────────────
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SECURE_SSL_REDIRECT = env.bool("SECURE_SSL_REDIRECT", default=False)
SECURE_REDIRECT_EXEMPT = [r"^(health|ready)$"]  # asked from beside the app, without TLS
SECURE_HSTS_SECONDS = env.count("SECURE_HSTS_SECONDS", default=31_536_000 if HTTPS else 0)
SECURE_REFERRER_POLICY = "same-origin"
if env.bool("TRUST_X_FORWARDED_PROTO", default=False):
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
# allauth takes the client's address from X-Forwarded-For, so many places from its end; 0 never reads it.
ALLAUTH_TRUSTED_PROXY_COUNT = env.count("TRUSTED_PROXY_COUNT", default=0)
CSRF_FAILURE_VIEW = "rubricweb.web.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}

# ── Files the browser loads ──────────────────────────────────────────────────────────────────────
STATIC_URL = "/static/"
STATICFILES_DIRS = [folders.ASSETS / "static"]
STATIC_ROOT = VAR_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"
        if DEBUG
        else "rubricweb.web.stylesheet.HashedFiles"
        if LOCAL
        else "rubricweb.web.stylesheet.HashedCompressedFiles"
    },
}
MEDIA_ROOT = VAR_DIR / "uploads"

# ── Language, time, logs ─────────────────────────────────────────────────────────────────────────
LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
LOG_LEVEL = env.str("LOG_LEVEL", default="INFO").upper()
if LOG_LEVEL not in logging.getLevelNamesMapping():
    raise ImproperlyConfigured(
        f"LOG_LEVEL is {LOG_LEVEL}; it must be DEBUG, INFO, WARNING, ERROR or CRITICAL."
    )
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "{asctime} {levelname:<7} {name}: {message}", "style": "{"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    "loggers": {
        "django.server": {"level": "WARNING", "propagate": True},
        "httpx2": {"level": "WARNING"},
        "openai": {"level": "WARNING"},
        "aiohttp.access": {"level": "WARNING"},
    },
}
