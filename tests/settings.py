"""Settings of the test suite: the real ones, with a key, a scratch folder and cheap passwords."""

import os
import tempfile

os.environ.setdefault("SECRET_KEY", "tests-only-" + "x" * 40)
os.environ.setdefault("RUBRICWEB_VAR_DIR", tempfile.mkdtemp(prefix="rubricweb-tests-"))
os.environ["OPENAI_API_KEY"] = ""
os.environ["OFFLINE_JUDGE_URL"] = "http://127.0.0.1:9/v1"
os.environ["JUDGE_ALLOW_PRIVATE_HOSTS"] = "1"
os.environ["FILES_READ_AT_ONCE"] = "100"  # of all test processes of this machine together

from rubricweb.settings import *  # noqa: F403  the environment above must come first

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
LOGGING = {"version": 1, "disable_existing_loggers": False}
STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # noqa: F405  WhiteNoise warns at every client otherwise
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405  from the settings
    # A file, as in real life: a database in memory refuses whoever comes while another writes.
    DATABASES["default"]["TEST"] = {"NAME": str(VAR_DIR / "tests.sqlite3")}  # noqa: F405  from the settings
    # The heartbeat of a session cannot write while its test holds a transaction: it need not wait for long.
    DATABASES["default"]["OPTIONS"]["timeout"] = 5  # noqa: F405  from the settings
elif DATABASES["default"]["ENGINE"] == "django.db.backends.postgresql":  # noqa: F405  from the settings
    DATABASES["default"]["ENGINE"] = "tests.postgresql"  # noqa: F405  from the settings
