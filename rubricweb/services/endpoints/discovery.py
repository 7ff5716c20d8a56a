"""Models without typing an address: servers on this machine, keys in the environment, an endpoint's list."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from rubricweb.errors import Invalid
from rubricweb.judges.base import JudgeConfig
from rubricweb.judges.discovery.model_lists import ModelList, ask_for_models, without
from rubricweb.judges.discovery.providers import PROVIDERS, Provider
from rubricweb.models import JudgeEndpoint, Team, User
from rubricweb.services.endpoints import endpoints
from rubricweb.services.shared.names import numbered

LOCAL_SECONDS = 1.0
"""How long a server on this machine has to answer; one that is there does at once."""

LIST_SECONDS = 10.0
"""How long an endpoint has to list its models."""

LOCAL_PORTS: Mapping[int, str] = {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp", 8000: "vLLM"}
"""Where servers of models usually listen, and whose port it is."""

_OWNERS = {"library": "Ollama", "organization_owner": "LM Studio", "llamacpp": "llama.cpp", "vllm": "vLLM"}
_NO_JUDGES = ("embed", "whisper", "tts", "dall-e", "moderation", "rerank", "-image", "realtime", "transcribe")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server of models that answers on this machine. `models` are those that may judge."""

    name: str
    base_url: str
    models: tuple[str, ...]


def local_servers() -> list[LocalServer]:
    """Who answers on the usual ports of this machine, and with which models; one second, all at once.

    Nothing is asked, and nothing found, where private addresses may not be called: there this machine is
    somebody's server, and what listens on it is nobody's business.
    """
    if not settings.JUDGE_ALLOW_PRIVATE_HOSTS:
        return []
    asked = [
        JudgeConfig(name, f"http://127.0.0.1:{port}/v1", "any", allow_private_hosts=True)
        for port, name in LOCAL_PORTS.items()
    ]
    lists = ask_for_models(asked, seconds=LOCAL_SECONDS)
    return [
        LocalServer(_OWNERS.get(found.owner, config.name), found.base_url, models)
        for config, found in zip(asked, lists, strict=True)
        if (models := _judges_among(found))
    ]


def providers_with_keys() -> list[Provider]:
    """Providers whose key is in the environment of this process, on a machine of one's own alone.

    On somebody's server the environment is the operator's; OPENAI_API_KEY there is offered as it always was.
    """
    if not settings.JUDGE_ALLOW_PRIVATE_HOSTS:
        return []
    return [one for one in PROVIDERS if os.environ.get(one.environment, "").strip()]


def add_found(team: Team, *, by: User, base_url: str, model: str) -> JudgeEndpoint:
    """Adds a model that was found, under its own name: of a server on this machine, or of a provider with the
    key that is in the environment. Of a name that is taken it is the second, "m (2)".

    Raises Invalid for an address that nothing was found at.
    """
    known = {f"http://127.0.0.1:{port}/v1": "" for port in LOCAL_PORTS}
    marked = {one.base_url for one in PROVIDERS if one.cache_marks}
    known |= {one.base_url: os.environ[one.environment].strip() for one in providers_with_keys()}
    if base_url not in known or not settings.JUDGE_ALLOW_PRIVATE_HOSTS:
        raise Invalid.at("base_url", repr(base_url[:200]), "an address that a model was found at")
    taken = {endpoint.name for endpoint in endpoints.endpoints_of(team)}
    taken |= {endpoint.name for endpoint in endpoints.endpoints_of(team, archived=True)}
    name = next(one for one in numbered(model.strip()[:74] or "model") if one not in taken)
    return endpoints.add_endpoint(
        team,
        by=by,
        name=name,
        base_url=base_url,
        model=model,
        api_key=known[base_url],
        cache_marks=base_url in marked,
    )


def models_at(base_url: str, *, api_key: str = "", headers: Mapping[str, str] | None = None) -> ModelList:
    """What an endpoint that is not stored yet says it has. A wrong address is in `error`."""
    config = JudgeConfig(
        "new",
        base_url.strip() or "none",
        "any",
        api_key=api_key.strip() or None,
        extra_headers=tuple((headers or {}).items()),
        allow_private_hosts=settings.JUDGE_ALLOW_PRIVATE_HOSTS,
    )
    return _listed(config)


def models_of(team: Team, endpoint: JudgeEndpoint) -> ModelList:
    """What a stored endpoint says it has, asked with its key and headers."""
    return _listed(endpoints.judge_to_ask(team, endpoint.judge_id))


def _listed(config: JudgeConfig) -> ModelList:
    [found] = ask_for_models([config], seconds=LIST_SECONDS)
    return found


def _judges_among(found: ModelList) -> tuple[str, ...]:
    return tuple(without(found.models, _NO_JUDGES))


def offered(found: ModelList) -> Sequence[str]:
    """The models of a list that may judge, those left out that answer no questions; by name."""
    return sorted(_judges_among(found), key=str.lower)
