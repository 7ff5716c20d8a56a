"""The endpoint of the environment behind the face of an OpenAI client, for reward functions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import httpx2
from openai import AsyncOpenAI, Omit

from rubricweb.judges.client.transport import GuardedTransport
from rubricweb.judges.defaults import environment_config

MAX_RETRIES = 4


def environment_client() -> Any:
    """An object with an async ``chat.completions.create(model=, messages=, …)``.

    Each call reads the environment (see ``environment_config``), opens a connection of its own and closes
    it, so that it works from any event loop. It raises NoEndpoint when the environment names no endpoint,
    and the openai package's errors, after MAX_RETRIES further attempts where trying again can help.
    """
    return SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=_create)))


async def _create(**request: Any) -> Any:
    config = environment_config()
    transport = GuardedTransport(allow_private_hosts=config.allow_private_hosts)
    client = AsyncOpenAI(
        api_key=config.api_key or "none",
        base_url=config.base_url,
        max_retries=MAX_RETRIES,
        timeout=config.timeout_seconds,
        http_client=httpx2.AsyncClient(transport=transport, follow_redirects=False, trust_env=False),
    )
    async with client:
        if config.api_key is None:  # the client insists on a key; the endpoint must not be sent a made-up one
            request = {**request, "extra_headers": {"Authorization": Omit()}}
        return await client.chat.completions.create(**request)
