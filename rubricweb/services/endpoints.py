"""Judges a team can use: the operator's own, the offline one, and endpoints its owners added."""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from django.conf import settings
from django.db import transaction

from rubricweb.engine.errors import Fault
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.judges.addresses import BlockedAddress, check_url
from rubricweb.judges.base import JudgeConfig
from rubricweb.models import JudgeEndpoint, Run, Team, User
from rubricweb.services.journal import record

OFFLINE = "offline"
ENVIRONMENT = "environment"
OFFLINE_NAME = "offline judge (not an LLM)"
OFFLINE_MODEL = "offline-lexical"


def judges_of(team: Team) -> dict[str, JudgeConfig]:
    """What the team may grade with, by the id a form or API call names: without keys."""
    judges: dict[str, JudgeConfig] = {}
    if settings.OPENAI_API_KEY:
        judges[ENVIRONMENT] = _config(
            name=settings.OPENAI_MODEL, base_url=settings.OPENAI_BASE_URL, model=settings.OPENAI_MODEL
        )
    for endpoint in JudgeEndpoint.objects.filter(team=team, removed_at=None).order_by("name"):
        judges[f"endpoint-{endpoint.pk}"] = _config(
            name=endpoint.name,
            base_url=endpoint.base_url,
            model=endpoint.model,
            input_usd_per_million=endpoint.input_usd_per_million,
            output_usd_per_million=endpoint.output_usd_per_million,
            allow_private_hosts=settings.JUDGE_ALLOW_PRIVATE_HOSTS,
        )
    if settings.OFFLINE_JUDGE_URL:
        judges[OFFLINE] = _config(
            name=OFFLINE_NAME,
            base_url=settings.OFFLINE_JUDGE_URL,
            model=OFFLINE_MODEL,
            input_usd_per_million=0.0,
            output_usd_per_million=0.0,
        )
    return judges


def choose_judge(team: Team, judge_id: str, *, model: str = "") -> JudgeConfig:
    """The judge called `judge_id`, with another model of the same endpoint when one is named."""
    judges = judges_of(team)
    if judge_id not in judges:
        known = ", ".join(judges) or "none; set OPENAI_API_KEY, or let an owner add an endpoint"
        said = f"There is no judge {judge_id!r} here." if judge_id else "Choose a judge."
        fault = Fault("judge", repr(judge_id) if judge_id else "nothing", known)
        raise Invalid(f"{said} Known: {known}.", [fault])
    chosen = judges[judge_id]
    return replace(chosen, model=model, name=model) if model else chosen


def frozen(judge_id: str, config: JudgeConfig) -> dict[str, Any]:
    """What a run remembers of its judge: everything but the key."""
    stored = asdict(config)
    stored.pop("api_key")
    return {"id": judge_id, **stored}


def thawed(run: Run) -> JudgeConfig:
    """The run's judge ready to be called."""
    return ready(run.judge, run.endpoint)


def ready(stored: Mapping[str, Any], endpoint: JudgeEndpoint | None) -> JudgeConfig:
    """What `frozen` kept, ready to be called: its key fetched, the offline judge at today's address.

    `endpoint` is the row that `endpoint_of` names, None for the built-in judges.
    """
    fields = dict(stored)
    judge_id = fields.pop("id")
    config = JudgeConfig(**fields)
    if judge_id == OFFLINE:
        if not settings.OFFLINE_JUDGE_URL:
            raise NotFound("offline judge: OFFLINE_JUDGE_URL is not set, `rubricweb serve` sets it,")
        return replace(config, base_url=settings.OFFLINE_JUDGE_URL, api_key=None)
    if endpoint is not None:
        return replace(config, api_key=_unseal(endpoint.sealed_key) or None)
    return replace(config, api_key=settings.OPENAI_API_KEY or None)


def endpoint_of(judge_id: str) -> int | None:
    """The endpoint row behind a judge id, None for the built-in judges."""
    kind, _, number = judge_id.partition("-")
    return int(number) if kind == "endpoint" and number.isdigit() else None


@transaction.atomic
def add_endpoint(
    team: Team,
    *,
    by: User,
    name: str,
    base_url: str,
    model: str,
    api_key: str = "",
    input_usd_per_million: float | None = None,
    output_usd_per_million: float | None = None,
) -> JudgeEndpoint:
    """Adds an OpenAI-compatible endpoint; its address is checked here and again at every call."""
    name, base_url, model = name.strip(), base_url.strip().rstrip("/"), model.strip()
    if not name or not model:
        raise Invalid("An endpoint needs a name and the model to ask.")
    try:
        check_url(base_url, allow_private_hosts=settings.JUDGE_ALLOW_PRIVATE_HOSTS)
    except BlockedAddress as error:
        raise Invalid(str(error)) from error
    for price in (input_usd_per_million, output_usd_per_million):
        if price is not None and not 0 <= price < 1e6:
            raise Invalid(f"A price is in US dollars per million tokens, at least 0; not {price}.")
    if JudgeEndpoint.objects.filter(team=team, name=name, removed_at=None).exists():
        raise Conflict(f"The team already has an endpoint called {name!r}.")
    endpoint = JudgeEndpoint.objects.create(
        team=team,
        name=name[:80],
        base_url=base_url,
        model=model[:200],
        sealed_key=_seal(api_key.strip()),
        input_usd_per_million=input_usd_per_million,
        output_usd_per_million=output_usd_per_million,
    )
    record(team, by, "added", endpoint)
    return endpoint


@transaction.atomic
def remove_endpoint(endpoint: JudgeEndpoint, *, by: User, now: Any) -> None:
    """Takes it out of use and forgets its key; runs that used it keep their results."""
    endpoint.sealed_key = ""
    endpoint.removed_at = now
    endpoint.save(update_fields=["sealed_key", "removed_at"])
    record(endpoint.team, by, "removed", endpoint)


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


def _seal(key: str) -> str:
    return _fernet().encrypt(key.encode()).decode() if key else ""


def _unseal(sealed: str) -> str:
    if not sealed:
        return ""
    try:
        return _fernet().decrypt(sealed.encode()).decode()
    except InvalidToken as error:
        raise Invalid(
            "The endpoint's key was stored under another SECRET_KEY; an owner must enter it again."
        ) from error


def _fernet() -> MultiFernet:
    """Keys derived from SECRET_KEY, so that the database alone opens nothing; old ones still open."""
    secrets = [settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS]
    digests = [hashlib.sha256(b"rubricweb endpoint keys:" + secret.encode()).digest() for secret in secrets]
    return MultiFernet([Fernet(base64.urlsafe_b64encode(digest)) for digest in digests])
