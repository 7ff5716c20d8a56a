"""Which models an endpoint says it has: GET /models, as OpenAI-compatible servers answer it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus

import aiohttp
import yarl

from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.client.addresses import BlockedAddress, check_url
from rubricweb.judges.client.failures import is_about_key
from rubricweb.judges.client.transport import NoAnswer, Wire

MOST_MODELS = 2_000
MAX_ANSWER_BYTES = 2 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class ModelList:
    """What came of asking one endpoint: `models` as it calls them, `owner` its own word for who serves them.

    `error` says why there are none, "" where there are; `reached` is whether anything answered, `wants_key`
    whether it is a server of models that lists them for a key alone.
    """

    base_url: str
    models: tuple[str, ...] = ()
    owner: str = ""
    error: str = ""
    reached: bool = True
    wants_key: bool = False


def ask_for_models(configs: Sequence[JudgeConfig], *, seconds: float) -> list[ModelList]:
    """Asks all of them at once, each for at most so long; in their order. Nothing is raised."""

    async def ask_all() -> list[ModelList]:
        return await asyncio.gather(*(_ask(config, seconds) for config in configs))

    # In a thread of its own: in one whose event loop is running, as a notebook's is, none can be started.
    with ThreadPoolExecutor(max_workers=1) as apart:
        return apart.submit(lambda: asyncio.run(ask_all())).result()


async def _ask(config: JudgeConfig, seconds: float) -> ModelList:
    base_url = config.base_url.rstrip("/")
    headers = {"Accept": "application/json", **dict(config.extra_headers)}
    if config.api_key:
        headers["Authorization"] = f"Bearer {config.api_key}"
    wire = Wire(allow_private_hosts=config.allow_private_hosts, max_answer_bytes=MAX_ANSWER_BYTES)
    try:
        check_url(f"{base_url}/models", config.allow_private_hosts)
        timeout = aiohttp.ClientTimeout(total=seconds)
        answer = await wire.send("GET", yarl.URL(f"{base_url}/models"), headers, b"", timeout)
    except TimeoutError:
        return ModelList(base_url, error=f"no answer within {seconds:g} s", reached=False)
    except (BlockedAddress, NoAnswer) as error:
        return ModelList(base_url, error=str(error), reached=False)
    finally:
        await wire.aclose()
    listed = _parsed(answer.body)
    if answer.status != 200:
        refused = is_about_key(answer.status, listed)
        means = _MEANS.get(HTTPStatus.UNAUTHORIZED if refused else answer.status, "no list")
        # Another program that wants a password answers 401 too, but not with an error as these write it.
        wants_key = refused and isinstance(listed, dict) and "error" in listed
        return ModelList(base_url, error=f"it answered {answer.status}: {means}", wants_key=wants_key)
    return _read(base_url, listed)


_MEANS = {
    401: "the API key is missing or wrong",
    403: "the API key may not list models",
    404: "it has no list",
}


def _parsed(body: bytes) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _read(base_url: str, listed: object) -> ModelList:
    rows = listed.get("data") if isinstance(listed, dict) else None
    if not isinstance(rows, list):
        return ModelList(base_url, error="its answer is no list of models")
    named = [row for row in rows[:MOST_MODELS] if isinstance(row, dict) and _is_name(row.get("id"))]
    owners = {row["owned_by"] for row in named if isinstance(row.get("owned_by"), str)}
    return ModelList(
        base_url,
        tuple(dict.fromkeys(row["id"] for row in named)),
        owner=min(owners, default="") if len(owners) == 1 else "",
        error="" if named else "it has no model loaded",
    )


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 200 and value.isprintable()


def without(models: Iterable[str], parts: Sequence[str]) -> list[str]:
    """Those whose names hold none of these parts, in any case: "embed" leaves out what answers nothing."""
    return [model for model in models if not any(part in model.lower() for part in parts)]
