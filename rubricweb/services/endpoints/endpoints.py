"""Judges a team can use: the operator's own, the offline one, and endpoints its owners added."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import transaction

from rubricweb.engine.errors import Fault
from rubricweb.errors import Conflict, Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.offline import lexical
from rubricweb.models import JudgeEndpoint, JudgeSnapshot, Run, Team, User, unarchived
from rubricweb.services.endpoints import prices
from rubricweb.services.endpoints.options import (
    COLUMNS,
    OPTIONS,
    SENDABLE,
    is_sendable,
    options_of,
    require_valid,
    sampling_in,
)
from rubricweb.services.shared import archiving
from rubricweb.services.shared.encryption import decrypt, encrypt
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken

OFFLINE = "offline"
ENVIRONMENT = "environment"
OFFLINE_NAME = "offline judge (not an LLM)"
OFFLINE_ABOUT = lexical.ABOUT


NAMED = ("name", "base_url", "model")
"""What an endpoint has beside its options and secrets."""


def judges_of(team: Team) -> dict[str, JudgeConfig]:
    """What the team may grade with, by the id a form or API call names: without keys and extra headers.

    Prices are those of `services.endpoints.prices`: the endpoint's own, the team's, or the shipped ones.
    Archived endpoints are left out: see `archived_judges`.
    """
    judges: dict[str, JudgeConfig] = {}
    if settings.OPENAI_API_KEY:
        judges[ENVIRONMENT] = _of_environment()
    for endpoint in endpoints_of(team):
        judges[endpoint.judge_id] = _of_row(endpoint)
    if settings.OFFLINE_JUDGE_URL:
        judges[OFFLINE] = _config(
            name=OFFLINE_NAME,
            base_url=settings.OFFLINE_JUDGE_URL,
            model=lexical.MODEL,
            identity=OFFLINE,
            input_usd_per_million=0.0,
            output_usd_per_million=0.0,
        )
    return prices.priced(team, judges)


def archived_judges(team: Team) -> dict[str, JudgeConfig]:
    """The same of its archived endpoints, which nobody grades with."""
    archived = endpoints_of(team, archived=True)
    return prices.priced(team, {endpoint.judge_id: _of_row(endpoint) for endpoint in archived})


def endpoints_of(team: Team, *, archived: bool = False) -> list[JudgeEndpoint]:
    """The endpoints its owners added and did not remove, by name; or those archived."""
    rows = JudgeEndpoint.objects.filter(unarchived(archived=archived), team=team, removed_at=None)
    return list(rows.order_by("name"))


def require_unarchived(team: Team, judge_ids: Iterable[str]) -> None:
    """Refuses, among judges of the team, an endpoint that is archived."""
    asked = [pk for pk in map(endpoint_of, judge_ids) if pk is not None]
    if not asked:
        return
    archived = JudgeEndpoint.objects.filter(unarchived(archived=True), team=team, removed_at=None)
    for endpoint in archived.filter(pk__in=asked).order_by("pk"):
        archiving.require_listed(endpoint)


def choose_judge(team: Team, judge_id: str, *, model: str = "") -> JudgeConfig:
    """The judge called `judge_id`, with another model of the same endpoint when one is named.

    Raises Invalid for one that is not there, Conflict for one that is archived.
    """
    judges = judges_of(team)
    if judge_id not in judges:
        require_unarchived(team, [judge_id])
        known = ", ".join(judges) or "none; set OPENAI_API_KEY, or let an owner add an endpoint"
        said = f"There is no judge {judge_id!r} here." if judge_id else "Choose a judge."
        fault = Fault("judge", repr(judge_id) if judge_id else "nothing", known)
        raise Invalid(f"{said} Known: {known}.", [fault])
    chosen = judges[judge_id]
    return prices.for_model(team, chosen, model) if model else chosen


def judge_to_ask(team: Team, judge_id: str) -> JudgeConfig:
    """The judge called `judge_id` with its key and extra headers, ready to be called."""
    config = choose_judge(team, judge_id)
    number = endpoint_of(judge_id)
    row = JudgeEndpoint.objects.get(team=team, pk=number) if number is not None else None
    return ready(JudgeSnapshot.of(judge_id, config), row)


def loaded(run: Run) -> JudgeConfig:
    """The run's judge ready to be called."""
    return ready(run.judge, run.endpoint)


def ready(frozen: JudgeSnapshot, endpoint: JudgeEndpoint | None) -> JudgeConfig:
    """What a run kept, ready to be called: its secrets fetched, the offline judge at today's address.

    `endpoint` is the row that `endpoint_of` names, None for the built-in judges. What is asked stays as it
    was frozen; how fast, with or without marks for a cache, and whether private addresses may be called, is
    as it is set today. Raises Conflict
    when the endpoint was removed or moved to another host: a key goes nowhere but where it was entered for;
    and when this process does not know where the offline judge answers.
    """
    judge_id, config = frozen.id, frozen.config
    assert config is not None, "panels and nobody are never called"
    if judge_id == OFFLINE:
        if not settings.OFFLINE_JUDGE_URL:
            raise Conflict(
                "The offline judge cannot be asked from here: OFFLINE_JUDGE_URL is not set. "
                "`rubricweb serve` sets it for the processes that it starts."
            )
        return replace(config, base_url=settings.OFFLINE_JUDGE_URL, api_key=None)
    if endpoint_of(judge_id) is not None:
        return _with_secrets(config, endpoint)
    if judge_id == ENVIRONMENT:
        _require_same_host(config, settings.OPENAI_BASE_URL, "Set OPENAI_BASE_URL back, or start a new run.")
        config = replace(config, extra_headers=tuple(settings.OPENAI_EXTRA_HEADERS.items()), **_pace_today())
    if not is_sendable(settings.OPENAI_API_KEY):
        raise Conflict(f"OPENAI_API_KEY holds characters that no request can carry; allowed is {SENDABLE}.")
    return replace(config, api_key=settings.OPENAI_API_KEY or None)


def _with_secrets(config: JudgeConfig, endpoint: JudgeEndpoint | None) -> JudgeConfig:
    if endpoint is None or endpoint.removed_at is not None:
        raise Conflict(f"The judge {config.name!r} was removed since the run started. Start a new run.")
    _require_same_host(config, endpoint.base_url, "Start a new run.")
    today = _of_row(endpoint)
    return replace(
        config,
        api_key=decrypt(endpoint.sealed_key) or None,
        extra_headers=tuple(_headers(endpoint).items()),
        allow_private_hosts=today.allow_private_hosts,
        concurrency=today.concurrency,
        requests_per_minute=today.requests_per_minute,
        tokens_per_minute=today.tokens_per_minute,
        cache_marks=today.cache_marks,
    )


def _require_same_host(config: JudgeConfig, today: str, remedy: str) -> None:
    if _origin(config.base_url) != _origin(today):
        raise Conflict(
            f"The judge {config.name!r} moved from {config.base_url} to {today} since the run started; "
            f"its key is not sent to the old address. {remedy}"
        )


def endpoint_of(judge_id: str) -> int | None:
    """The endpoint row behind a judge id, None for the built-in judges."""
    kind, _, number = judge_id.partition("-")
    is_number = number.isascii() and number.isdigit() and len(number) < 19
    return int(number) if kind == "endpoint" and is_number else None


@transaction.atomic
def add_endpoint(
    team: Team,
    *,
    by: User,
    name: str,
    base_url: str,
    model: str,
    api_key: str = "",
    extra_headers: Mapping[str, str] | None = None,
    **options: Any,
) -> JudgeEndpoint:
    """Adds an OpenAI-compatible endpoint; its address is checked here and again at every call.

    `options` are any of OPTIONS. Raises Invalid with a fault for every field that is wrong, Conflict for a
    name that is taken.
    """
    said = _normalized({"name": name, "base_url": base_url, "model": model, **options})
    headers = dict(extra_headers or {})
    api_key = api_key.strip()
    require_valid(said, headers, api_key)
    endpoint = JudgeEndpoint(team=team, sealed_key=encrypt(api_key), sealed_headers=_encrypted(headers))
    _set(endpoint, said)
    _save(endpoint)
    record(team, by, "added", endpoint)
    return endpoint


@transaction.atomic
def edit_endpoint(
    endpoint: JudgeEndpoint,
    *,
    by: User,
    api_key: str | None = None,
    extra_headers: Mapping[str, str | None] | None = None,
    **changes: Any,
) -> JudgeEndpoint:
    """Changes what is named of OPTIONS, name, address and model; runs go on asking what they froze.

    `api_key` None keeps the key, "" forgets it. `extra_headers` None keeps them all; a mapping takes their
    place, where None keeps the value stored under that name. At another host the stored secrets are of no
    use: they must be entered again, or given up. Raises Invalid with its faults, and Conflict for a name that
    is taken or an endpoint that was removed.
    """
    endpoint = JudgeEndpoint.objects.select_for_update().select_related("team").get(pk=endpoint.pk)
    if endpoint.removed_at is not None:
        raise Conflict(f"The endpoint {endpoint.name!r} was removed; it can no longer change.")
    options = _normalized(changes)
    kept = {name.lower(): value for name, value in _kept_headers(endpoint, extra_headers).items()}
    headers = None
    if extra_headers is not None:
        headers = {
            name: kept.get(name.lower(), "") if value is None else value
            for name, value in extra_headers.items()
        }
    api_key = api_key and api_key.strip()
    require_valid(options, headers or {}, api_key or "", endpoint)
    if "base_url" in options and _origin(options["base_url"]) != _origin(endpoint.base_url):
        _require_new_secrets(endpoint, api_key, extra_headers)
    before = options_of(endpoint) | {name: getattr(endpoint, name) for name in NAMED}
    changed = [name for name, value in options.items() if before[name] != value]
    _set(endpoint, {name: options[name] for name in changed})
    if api_key is not None:
        endpoint.sealed_key = encrypt(api_key)
        changed.append("api_key")
    if headers is not None and (headers or endpoint.sealed_headers):
        endpoint.sealed_headers = _encrypted(headers)
        changed.append("extra_headers")
    if changed:
        _save(endpoint)
        record(endpoint.team, by, "edited", endpoint, fields=", ".join(changed))
    return endpoint


@transaction.atomic
def change_endpoint(
    endpoint: JudgeEndpoint, *, by: User, now: datetime, archived: bool | None = None, **changes: Any
) -> JudgeEndpoint:
    """What `edit_endpoint` changes, and whether it is archived, None as it is; all or nothing.

    An archived one keeps its key and is asked by no new run. Raises Conflict for one that a run still asks.
    """
    endpoint = edit_endpoint(endpoint, by=by, **changes)
    archiving.archive_or_restore(endpoint, archived, by=by, now=now)
    return endpoint


@transaction.atomic
def remove_endpoint(endpoint: JudgeEndpoint, *, by: User, now: datetime) -> None:
    """Takes it out of use and forgets its secrets; runs that used it keep their results."""
    endpoint.sealed_key = endpoint.sealed_headers = ""
    endpoint.removed_at = now
    endpoint.save(update_fields=["sealed_key", "sealed_headers", "removed_at"])
    record(endpoint.team, by, "removed", endpoint)


def header_names(endpoint: JudgeEndpoint) -> tuple[str, ...] | None:
    """Which extra headers go with its requests, never what they say; None when they cannot be decrypted."""
    try:
        return tuple(_headers(endpoint))
    except Invalid:
        return None


def _of_environment() -> JudgeConfig:
    return _config(
        name=settings.OPENAI_MODEL,
        base_url=settings.OPENAI_BASE_URL,
        model=settings.OPENAI_MODEL,
        sampling=settings.OPENAI_SAMPLING,
        fallback_model=settings.OPENAI_FALLBACK_MODEL,
        **_pace_today(),
    )


def _pace_today() -> dict[str, Any]:
    return {
        "concurrency": settings.JUDGE_CONCURRENCY,
        "requests_per_minute": settings.OPENAI_REQUESTS_PER_MINUTE,
        "tokens_per_minute": settings.OPENAI_TOKENS_PER_MINUTE,
        "cache_marks": settings.OPENAI_CACHE_MARKS,
    }


def _of_row(endpoint: JudgeEndpoint) -> JudgeConfig:
    return _config(
        name=endpoint.name,
        base_url=endpoint.base_url,
        model=endpoint.model,
        concurrency=endpoint.max_concurrency or settings.JUDGE_CONCURRENCY,
        allow_private_hosts=settings.JUDGE_ALLOW_PRIVATE_HOSTS,
        sampling=endpoint.sampling,
        **{name: getattr(endpoint, name) for name in COLUMNS if name not in ("max_concurrency", "batches")},
    )


def _config(**fields: Any) -> JudgeConfig:
    return JudgeConfig(
        **{
            "timeout_seconds": settings.JUDGE_TIMEOUT_SECONDS,
            "max_attempts": settings.JUDGE_MAX_ATTEMPTS,
            "concurrency": settings.JUDGE_CONCURRENCY,
            "allow_private_hosts": True,  # the operator chose the address
            **fields,
        }
    )


def _normalized(options: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := options.keys() - {*OPTIONS, *NAMED}:
        raise TypeError(f"an endpoint has no {', '.join(sorted(unknown))}")
    tidy = {name: value.strip() if isinstance(value, str) else value for name, value in options.items()}
    if "base_url" in tidy:
        tidy["base_url"] = tidy["base_url"].rstrip("/")
    return tidy


def _set(endpoint: JudgeEndpoint, said: Mapping[str, Any]) -> None:
    sampling = sampling_in(said)
    endpoint.sampling = endpoint.sampling.changed(**sampling)
    for name in said.keys() - sampling.keys():
        setattr(endpoint, name, said[name])


def _save(endpoint: JudgeEndpoint) -> None:
    with saved_unless_taken(f"The team already has an endpoint called {endpoint.name!r}."):
        endpoint.save()


def _encrypted(headers: Mapping[str, str]) -> str:
    return encrypt(json.dumps(headers)) if headers else ""


def _headers(endpoint: JudgeEndpoint) -> dict[str, str]:
    decrypted = decrypt(endpoint.sealed_headers)
    return dict(json.loads(decrypted)) if decrypted else {}


def _kept_headers(endpoint: JudgeEndpoint, asked: Mapping[str, str | None] | None) -> dict[str, str]:
    """What is stored, where some of it is to be kept: headers that cannot be decrypted can be replaced."""
    if asked is None or None not in asked.values():
        return {}
    kept = _headers(endpoint)
    known = {name.lower() for name in kept}
    faults = [
        Fault("extra_headers", f"{name} without a value", "a value: none is stored under that name")
        for name, value in asked.items()
        if value is None and name.lower() not in known
    ]
    if faults:
        raise Invalid("; ".join(map(str, faults)), faults)
    return kept


def _require_new_secrets(
    endpoint: JudgeEndpoint, api_key: str | None, headers: Mapping[str, str | None] | None
) -> None:
    """A key that one owner entered for one host must not reach a host that another owner names."""
    faults = []
    if endpoint.sealed_key and api_key is None:
        faults.append(
            Fault(
                "api_key", "the key of the old address", "the key again, for it is not sent to another host"
            )
        )
    if endpoint.sealed_headers and (headers is None or None in headers.values()):
        faults.append(
            Fault(
                "extra_headers",
                "values kept from the old address",
                "the values again, for they are not sent to another host",
            )
        )
    if faults:
        raise Invalid("; ".join(map(str, faults)), faults)


def _origin(url: str) -> tuple[str, str | None, int | None]:
    """Scheme, host and port; what cannot be read is its own host, and refused when it is called."""
    try:
        parts = urlsplit(url)
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", url, None
