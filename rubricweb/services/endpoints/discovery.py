"""Models without typing an address: servers on this machine, keys in the environment, an endpoint's list."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings
from django.utils.text import slugify

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

LOCAL_PORTS: Mapping[int, str] = {
    11434: "Ollama",
    1234: "LM Studio",
    8080: "llama.cpp",
    8000: "vLLM",
    4000: "LiteLLM",
}
"""Where servers of models usually listen, and whose port it is."""

_OWNERS = {"library": "Ollama", "organization_owner": "LM Studio", "llamacpp": "llama.cpp", "vllm": "vLLM"}
"""What those that run the models themselves say of who owns one; LiteLLM hands questions on."""

_ANY_KEY = "none"
"""Sent to servers on this machine. Most read no key; LiteLLM without a database fails where there is none."""

_NO_JUDGES = ("embed", "whisper", "tts", "dall-e", "moderation", "rerank", "-image", "realtime", "transcribe")


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server of models that answers on this machine. `models` are those that may judge.

    There are none where `wants_key`: it lists them for a key alone. `runs_here`: they run on this machine, so
    that a token has no price.
    """

    name: str
    base_url: str
    models: tuple[str, ...]
    wants_key: bool = False
    runs_here: bool = False


def local_servers() -> list[LocalServer]:
    """Who answers on the usual ports of this machine, and with which models; one second, all at once.

    Nothing is asked, and nothing found, where private addresses may not be called: there this machine is
    somebody's server, and what listens on it is nobody's business.
    """
    if not settings.JUDGE_ALLOW_PRIVATE_HOSTS:
        return []
    return _ask_here({local_url(port): name for port, name in LOCAL_PORTS.items()})


def _ask_here(servers: Mapping[str, str]) -> list[LocalServer]:
    """Those of these addresses, each with its usual server, that have a model or want a key."""
    asked = [
        JudgeConfig(name, base_url, "any", api_key=_ANY_KEY, allow_private_hosts=True)
        for base_url, name in servers.items()
    ]
    lists = ask_for_models(asked, seconds=LOCAL_SECONDS)
    return [
        LocalServer(
            _OWNERS.get(found.owner, config.name),
            found.base_url,
            models,
            wants_key=found.wants_key,
            runs_here=found.owner in _OWNERS,
        )
        for config, found in zip(asked, lists, strict=True)
        if (models := _judges_among(found)) or found.wants_key
    ]


def not_added(team: Team, servers: Sequence[LocalServer]) -> list[LocalServer]:
    """The same servers with the models alone that the team has not added; those left with none go."""
    known = {(row.base_url, row.model) for row in endpoints.endpoints_of(team)}
    left = [
        replace(one, models=tuple(model for model in one.models if (one.base_url, model) not in known))
        for one in servers
    ]
    return [one for one in left if one.models or one.wants_key]


def local_url(port: int) -> str:
    """The base URL of a server on this machine."""
    return f"http://127.0.0.1:{port}/v1"


def presets() -> list[Provider]:
    """Whose address needs no typing: the usual servers on this machine, where they may be called, without a
    key; then the usual providers.
    """
    here = LOCAL_PORTS if settings.JUDGE_ALLOW_PRIVATE_HOSTS else {}
    local = [Provider(slugify(name), name, local_url(port), "") for port, name in here.items()]
    return [*local, *PROVIDERS]


def preset_called(name: str) -> Provider | None:
    """The one with this slug or base URL."""
    return next((one for one in presets() if name in (one.slug, one.base_url)), None)


def filled_in(preset: Provider) -> dict[str, Any]:
    """What is known of an endpoint at this address before anybody says more."""
    prices = FREE if not preset.environment and preset.name in _OWNERS.values() else {}
    return {"base_url": preset.base_url, "cache_marks": preset.cache_marks, **prices}


def providers_with_keys() -> list[Provider]:
    """Providers whose key is in the environment of this process, on a machine of one's own alone.

    On somebody's server the environment is the operator's; OPENAI_API_KEY there is offered as it always was.
    """
    if not settings.JUDGE_ALLOW_PRIVATE_HOSTS:
        return []
    return [one for one in PROVIDERS if os.environ.get(one.environment, "").strip()]


def add_found(team: Team, *, by: User, base_url: str, model: str) -> JudgeEndpoint:
    """Adds a model that was found, under its own name: of a server on this machine, or of a provider with the
    key that is in the environment. Of a name that is taken it is the second, "m (2)". One that runs on this
    machine costs nothing.

    Raises Invalid for an address that nothing was found at.
    """
    here = {local_url(port): name for port, name in LOCAL_PORTS.items()}
    marked = {one.base_url for one in PROVIDERS if one.cache_marks}
    known = {one.base_url: os.environ[one.environment].strip() for one in providers_with_keys()}
    if base_url not in {**known, **here} or not settings.JUDGE_ALLOW_PRIVATE_HOSTS:
        raise Invalid.at("base_url", repr(base_url[:200]), "an address that a model was found at")
    found = _ask_here({base_url: here[base_url]}) if base_url in here else []
    options: dict[str, Any] = {"cache_marks": base_url in marked}
    if any(one.runs_here for one in found) and not _is_hosted(model):
        options |= FREE
    taken = {endpoint.name for endpoint in endpoints.endpoints_of(team)}
    taken |= {endpoint.name for endpoint in endpoints.endpoints_of(team, archived=True)}
    name = next(one for one in numbered(name_of(model)) if one not in taken)
    return endpoints.add_endpoint(
        team,
        by=by,
        name=name,
        base_url=base_url,
        model=model,
        api_key=known.get(base_url, ""),
        **options,
    )


FREE: Mapping[str, float] = {"input_usd_per_million": 0.0, "output_usd_per_million": 0.0}
"""The prices of a model that runs on this machine."""


def _is_hosted(model: str) -> bool:
    """Whether Ollama has it answered elsewhere: gpt-oss:120b-cloud."""
    return model.endswith(("-cloud", ":cloud"))


def name_of(model: str) -> str:
    """What a found model is called: of a file, as llama.cpp may name it, its name without the folders."""
    name = model.strip()
    if name.lower().endswith(".gguf"):
        name = re.split(r"[/\\]", name)[-1][: -len(".gguf")]
    return name[:74] or "model"


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


def models_of_provider(slug: str) -> ModelList | None:
    """What a provider whose key is in the environment says it has, asked with that key; None of any other."""
    for one in providers_with_keys():
        if one.slug == slug:
            return models_at(one.base_url, api_key=os.environ[one.environment])
    return None


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
