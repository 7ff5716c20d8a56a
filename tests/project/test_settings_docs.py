"""docs/settings.md lists every variable the settings read, and no others; examples use known ones only."""

import re
import runpy
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.core.exceptions import ImproperlyConfigured

from rubricweb.engine.judging.sampling import Sampling
from rubricweb.environment import SECRETS

ROOT = Path(__file__).resolve().parents[2]
READ = set(
    re.findall(r"""\benv\.\w+\(\s*["']([A-Z][A-Z0-9_]*)["']""", (ROOT / "rubricweb/settings.py").read_text())
) | {f"OPENAI_{name.upper()}" for name in Sampling.model_fields}
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
COMPOSE_ONLY = {
    *("POSTGRES_PASSWORD", "PUBLISH", "POSTGRES_IMAGE", "REDIS_IMAGE", "PYTHON_IMAGE"),
    *("WEB_CPUS", "WEB_MEMORY", "WORKER_CPUS", "WORKER_MEMORY", "POSTGRES_CPUS", "POSTGRES_MEMORY"),
}


def test_example_environment_offers_known_variables_and_no_secret() -> None:
    lines = re.findall(r"^([A-Z_]+)=(.*)$", (ROOT / ".env.example").read_text(), re.MULTILINE)
    values = dict(lines)
    assert set(values) <= READ | COMPOSE_ONLY
    assert [values[name] for name in ("SECRET_KEY", "POSTGRES_PASSWORD", "OPENAI_API_KEY")] == ["", "", ""]


def test_compose_reads_what_the_example_offers_and_has_no_default_secrets() -> None:
    compose = (ROOT / "docker-compose.yml").read_text()
    used = dict(re.findall(r"\$\{([A-Z_]+)(:?[?-][^}]*)?\}", compose))
    offered = set(re.findall(r"^([A-Z_]+)=", (ROOT / ".env.example").read_text(), re.MULTILINE))
    assert set(used) == offered
    # Empty where docker-compose.secrets.yml hands them over; the app and PostgreSQL refuse to start without.
    assert all(used[name].startswith("?") for name in ("SECRET_KEY", "POSTGRES_PASSWORD"))
    services = yaml.safe_load(compose)["services"]
    # Whatever else stands in .env reaches the app, and the offline judge nothing of it.
    for name in ("migrate", "web", "worker"):
        assert services[name]["env_file"] == [{"path": ".env", "required": False}]
    assert (services["judge"]["env_file"], services["judge"]["environment"]) == ([], {})


COMPOSE = yaml.safe_load((ROOT / "docker-compose.yml").read_text())


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_every_container_has_limits_and_no_rights_it_does_not_need(name: str) -> None:
    service = COMPOSE["services"][name]
    for limit in ("mem_limit", "cpus", "pids_limit"):
        assert service[limit], limit
    assert service["logging"]["options"].keys() == {"max-size", "max-file"}
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    # PostgreSQL's image begins as root, gives its folder to its own user, and goes on as that.
    added = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"] if name == "postgres" else []
    assert service.get("cap_add", []) == added


def test_only_what_people_or_judges_are_reached_through_is_on_the_outer_network() -> None:
    networks = {name: set(service["networks"]) for name, service in COMPOSE["services"].items()}
    assert {name for name, on in networks.items() if "front" in on} == {"web", "worker"}
    assert all("back" in on for on in networks.values())
    assert COMPOSE["networks"] == {"front": None, "back": {"internal": True}}


def test_with_secrets_in_files_no_container_has_them_in_its_environment() -> None:
    override = yaml.safe_load((ROOT / "docker-compose.secrets.yml").read_text())
    for name in ("migrate", "web", "worker"):
        service = override["services"][name]
        said = service["environment"]
        assert said["SECRET_KEY"] == ""
        assert "POSTGRES_PASSWORD" not in str(said)
        files = {said["SECRET_KEY_FILE"], said["DATABASE_PASSWORD_FILE"]}
        assert files == {f"/run/secrets/{secret}" for secret in service["secrets"]}
    database = override["services"]["postgres"]
    assert database["environment"]["POSTGRES_PASSWORD"] == ""
    assert database["environment"]["POSTGRES_PASSWORD_FILE"] == "/run/secrets/postgres_password"
    assert set(override["secrets"]) == {"secret_key", "postgres_password"}


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


def read_settings() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "rubricweb/settings.py"))


def test_a_secret_may_stand_in_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    key, password = tmp_path / "key", tmp_path / "password"
    key.write_text("k" * 40 + "\n")
    password.write_text("with / and #\n")
    monkeypatch.setenv("SECRET_KEY", "")  # set to nothing counts as not set
    monkeypatch.setenv("SECRET_KEY_FILE", str(key))
    monkeypatch.setenv("DATABASE_URL", "postgres://me@db:5432/rubricweb")
    monkeypatch.setenv("DATABASE_PASSWORD_FILE", str(password))
    found = read_settings()
    assert found["SECRET_KEY"] == "k" * 40
    database = found["DATABASES"]["default"]
    assert (database["USER"], database["PASSWORD"], database["HOST"]) == ("me", "with / and #", "db")


def test_every_secret_may_and_the_page_lists_them() -> None:
    listed = re.search(r"`NAME_FILE`[^:]*: ([^.]*)\.", APP)
    assert listed, "a sentence in docs/settings.md"
    assert tuple(re.findall(r"`([A-Z_]+)`", listed[1])) == SECRETS


@pytest.mark.parametrize(
    ("text", "key", "words"),
    [
        (None, "", "SECRET_KEY_FILE names .*, which cannot be read: No such file or directory"),
        (b"", "", "SECRET_KEY_FILE names .*, which is empty"),
        (b"\xff\xfe", "", "SECRET_KEY_FILE names .*, which cannot be read: it is no text"),
        (b"short", "", "SECRET_KEY has 5 characters; use at least 32"),
        (b"k" * 40, "o" * 40, "SECRET_KEY and SECRET_KEY_FILE are both set; leave one of them out"),
    ],
)
def test_a_file_that_holds_no_secret_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: bytes | None, key: str, words: str
) -> None:
    file = tmp_path / "key"
    if text is not None:
        file.write_bytes(text)
    monkeypatch.setenv("SECRET_KEY", key)
    monkeypatch.setenv("SECRET_KEY_FILE", str(file))
    with pytest.raises(ImproperlyConfigured, match=words):
        read_settings()


@pytest.mark.parametrize("name", ["Dockerfile", "docker-compose.yml"])
def test_deployment_files_carry_no_key(name: str) -> None:
    assert not re.search(r"(SECRET_KEY|PASSWORD)[=:] ?[\"']?[A-Za-z0-9]{6,}", (ROOT / name).read_text())
