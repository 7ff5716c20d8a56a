"""Operations about the endpoints that judges of a team live at."""

from typing import Any

from django.utils import timezone
from ninja import Query, Status

from rubricweb import access
from rubricweb.api.endpoints import schemas
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ArchivedQuery, leaving_out_archived, whole
from rubricweb.api.schemas import list_of
from rubricweb.judges.discovery.providers import PROVIDERS
from rubricweb.models import JudgeEndpoint, Role
from rubricweb.services.endpoints import discovery
from rubricweb.services.endpoints import endpoints as services
from rubricweb.services.endpoints.trials import try_judge

endpoints = Room("endpoints")


@endpoints.read("/endpoints", Role.VIEWER, list_of(schemas.Endpoint, leaves_out=True))
def list_endpoints(request: TokenRequest, asked: Query[ArchivedQuery]) -> Any:
    """The endpoints owners added, by name, all on one page."""
    rows = services.endpoints_of(request.auth.team, archived=asked.archived)
    shown = schemas.Endpoint.of_all(rows)
    return whole(shown) | leaving_out_archived(request, JudgeEndpoint, archived=asked.archived)


@endpoints.read("/endpoints/found", Role.OWNER, schemas.FoundModels)
def find_models(request: TokenRequest) -> Any:
    """Find models that need no address typed: servers on this machine's usual ports, and providers.

    Asks Ollama, LM Studio, llama.cpp, vLLM and LiteLLM on 127.0.0.1, for a second; where private addresses
    may not be called, nobody.
    """
    return {
        "servers": discovery.local_servers(),
        "with_key": discovery.providers_with_keys(),
        "providers": PROVIDERS,
    }


@endpoints.write("POST", "/endpoints/models", Role.OWNER, schemas.ModelList)
def list_models(request: TokenRequest, body: schemas.ModelsAsked) -> Any:
    """Ask an endpoint that is not stored yet which models it has. It has ten seconds; nothing is kept."""
    return discovery.models_at(body.base_url, api_key=body.api_key, headers=body.extra_headers)


@endpoints.read("/endpoints/{int:endpoint_id}/models", Role.OWNER, schemas.ModelList)
def list_models_of_endpoint(request: TokenRequest, endpoint_id: int) -> Any:
    """Ask a stored endpoint which models it has, with its own key. It has ten seconds."""
    endpoint = access.access_endpoint(request.auth.team, endpoint_id)
    return discovery.models_of(request.auth.team, endpoint)


@endpoints.write("POST", "/endpoints", Role.OWNER, schemas.Endpoint, status=201)
def add_endpoint(request: TokenRequest, body: schemas.NewEndpoint) -> Any:
    """Add an OpenAI-compatible endpoint."""
    added = services.add_endpoint(request.auth.team, by=request.auth.user, **body.model_dump())
    return schemas.Endpoint.of(added)


@endpoints.write("PATCH", "/endpoints/{int:endpoint_id}", Role.OWNER, schemas.Endpoint)
def edit_endpoint(request: TokenRequest, endpoint_id: int, body: schemas.EndpointChanges) -> Any:
    """Change what is named; archive or restore an endpoint.

    Runs that have started go on asking with the model, sampling and prices they started with; limits count
    for them at once.

    Archived, it keeps its key and is left out of lists and choosers, and new runs with it are refused (409);
    so is archiving while a run that asks it has not ended.
    """
    endpoint = access.access_endpoint(request.auth.team, endpoint_id)
    changes = body.model_dump(exclude_unset=True)
    changed = services.change_endpoint(endpoint, by=request.auth.user, now=timezone.now(), **changes)
    return schemas.Endpoint.of(changed)


@endpoints.write("DELETE", "/endpoints/{int:endpoint_id}", Role.OWNER, None, status=204, archived_too=True)
def remove_endpoint(request: TokenRequest, endpoint_id: int) -> Any:
    """Take an endpoint out of use and forget its key.

    Finished runs keep their results; running ones stop.
    """
    endpoint = access.access_endpoint(request.auth.team, endpoint_id)
    services.remove_endpoint(endpoint, by=request.auth.user, now=timezone.now())
    return Status(204, None)


@endpoints.write("POST", "/endpoints/{int:endpoint_id}/test", Role.OWNER, schemas.Trial)
def test_endpoint(request: TokenRequest, endpoint_id: int) -> Any:
    """Ask the judge one tiny question, live, and tell how that went.

    It takes half a minute at most, and is paid like any other call. Five in a minute are a team's limit.
    """
    endpoint = access.access_endpoint(request.auth.team, endpoint_id)
    return try_judge(request.auth.team, endpoint.judge_id, by=request.auth.user, now=timezone.now())
