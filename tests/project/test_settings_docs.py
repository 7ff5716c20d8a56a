"""docs/settings.md lists every variable the settings read, and no others; examples use known ones only."""

import re
import runpy
from pathlib import Path

import pytest
import yaml
from django.core.exceptions import ImproperlyConfigured

ROOT = Path(__file__).resolve().parents[2]
READ = set(
    re.findall(r"""\benv\.\w+\(\s*["']([A-Z][A-Z0-9_]*)["']""", (ROOT / "rubricweb/settings.py").read_text())
)
APP, _, TESTS = (ROOT / "docs/settings.md").read_text().partition("## Tests only")
ROW = re.compile(r"^\| `([A-Z][A-Z0-9_]*)` \|", re.MULTILINE)


def test_settings_read_variables_at_all() -> None:
    assert {"SECRET_KEY", "DATABASE_URL", "LOG_LEVEL"} <= READ


def test_every_variable_has_a_line_and_every_line_a_variable() -> None:
    assert sorted(ROW.findall(APP)) == sorted(READ)


def test_every_test_variable_is_read_by_a_test() -> None:
    sources = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("*.py"))
    unread = [name for name in ROW.findall(TESTS) if f'"{name}"' not in sources]
    assert unread == []


# What compose itself reads: it hands the rest on to the app.
COMPOSE_ONLY = {"POSTGRES_PASSWORD", "PUBLISH"}


def test_example_environment_offers_known_variables_and_no_secret() -> None:
    lines = re.findall(r"^([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE)
    values = dict(lines)
    assert set(values) <= READ | COMPOSE_ONLY
    assert [values[name] for name in ("SECRET_KEY", "POSTGRES_PASSWORD", "OPENAI_API_KEY")] == ["", "", ""]


def test_compose_reads_what_the_example_offers_and_has_no_default_secrets() -> None:
    compose = (ROOT / "docker-compose.yml").read_text()
    used = dict(re.findall(r"\$\{([A-Z_]+)(:[?-][^}]*)?\}", compose))
    offered = set(re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert set(used) == offered
    assert all(used[name].startswith(":?") for name in ("SECRET_KEY", "POSTGRES_PASSWORD"))
    services = yaml.safe_load(compose)["services"]
    # Whatever else stands in .env reaches the app, and the offline judge nothing of it.
    for name in ("migrate", "web", "worker"):
        assert services[name]["env_file"] == [{"path": ".env", "required": False}]
    assert (services["judge"]["env_file"], services["judge"]["environment"]) == ([], {})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("JUDGE_CONCURRENCY", "0"),
        ("JUDGE_TIMEOUT_SECONDS", "-1"),
        ("JUDGE_MAX_ATTEMPTS", "0"),
        ("OPENAI_TEMPERATURE", "warm"),
        ("OPENAI_REQUESTS_PER_MINUTE", "-5"),
        ("OPENAI_EXTRA_HEADERS", "X-Team: blue"),
        ("RATE_LIMITS", "fast"),
        ("WORKER_PROCESSES", "two"),
        ("GRADING_SESSION_SECONDS", "0"),
        ("UPLOAD_MAX_BYTES", "-1"),
        ("IMPORT_MAX_BYTES", "0"),
        ("LOG_LEVEL", "loud"),
        ("SITE_URL", "rubrics.example.org"),
        ("DATABASE_URL", "rubricweb.sqlite3"),
        ("DATABASE_URL", "mysql://root@localhost/rubricweb"),
        ("DATABASE_URL", "postgres://me@db:port/rubricweb"),
        ("CELERY_BROKER_URL", "localhost:6379"),
        ("REDIS_URL", "localhost:6379"),
        ("EMAIL_URL", "mail.example.org:587"),
        ("EMAIL_URL", "smtp://mail.example.org:port"),
        ("OPENAI_BASE_URL", "foo"),
        ("OFFLINE_JUDGE_URL", "127.0.0.1:9100"),
        ("SECURE_SSL_REDIRECT", "oui"),
        ("JUDGE_ALLOW_PRIVATE_HOSTS", "2"),
    ],
)
def test_nonsense_is_refused_at_start_by_name(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("SECRET_KEY", "k" * 32)
    monkeypatch.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=name):
        runpy.run_path(str(ROOT / "rubricweb/settings.py"))


@pytest.mark.parametrize(
    "entry",
    [
        "https://rubrics.example.org",
        "rubrics.example.org:8000",
        "rubrics.example.org/",
        " rubrics.example.org",
        "*.example.org",
        "::1",
    ],
)
def test_a_host_that_no_request_can_match_is_refused_and_named(
    monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.setenv("SECRET_KEY", "k" * 32)
    monkeypatch.setenv("ALLOWED_HOSTS", f"localhost,{entry}")
    with pytest.raises(ImproperlyConfigured, match=re.escape(f"ALLOWED_HOSTS names {entry!r}")):
        runpy.run_path(str(ROOT / "rubricweb/settings.py"))


def test_hosts_are_names_addresses_and_what_is_below_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "k" * 32)
    hosts = ["Rubrics.example.org", "my_host", ".example.org", "10.0.0.1", "[::1]", "[::ffff:10.0.0.1]", "*"]
    monkeypatch.setenv("ALLOWED_HOSTS", ",".join(hosts))
    assert runpy.run_path(str(ROOT / "rubricweb/settings.py"))["ALLOWED_HOSTS"] == hosts


@pytest.mark.parametrize(
    ("written", "meant"), [("1", True), ("True", True), ("0", False), ("No", False), ("", False)]
)
def test_yes_and_no_may_be_words(monkeypatch: pytest.MonkeyPatch, written: str, meant: bool) -> None:
    monkeypatch.setenv("SECRET_KEY", "k" * 32)
    monkeypatch.setenv("SECURE_SSL_REDIRECT", written)
    assert runpy.run_path(str(ROOT / "rubricweb/settings.py"))["SECURE_SSL_REDIRECT"] is meant


def test_an_address_that_is_refused_is_not_repeated_for_it_may_hold_a_password(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SECRET_KEY", "k" * 32)
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "EMAIL_URL"):
        with monkeypatch.context() as patched:
            patched.setenv(name, "me:pa55word@host:5672")
            with pytest.raises(ImproperlyConfigured) as refused:
                runpy.run_path(str(ROOT / "rubricweb/settings.py"))
            assert "pa55word" not in str(refused.value)


@pytest.mark.parametrize("name", ["Dockerfile", "docker-compose.yml"])
def test_deployment_files_carry_no_key(name: str) -> None:
    assert not re.search(r"(SECRET_KEY|PASSWORD)[=:] ?[\"']?[A-Za-z0-9]{6,}", (ROOT / name).read_text())
