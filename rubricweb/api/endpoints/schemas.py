"""Shapes of endpoints and of their trials."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

from django.utils import timezone
from ninja import Schema
from pydantic import Field, create_model

from rubricweb.api.runs.schemas import JudgeError
from rubricweb.api.schemas import Input, WithFields
from rubricweb.api.shapes import Shape
from rubricweb.engine.judging.sampling import SAMPLING_OPTIONS
from rubricweb.judges.discovery import model_lists, providers
from rubricweb.models import JudgeEndpoint
from rubricweb.services.endpoints import discovery, endpoints
from rubricweb.services.endpoints.caching import caching_of
from rubricweb.services.endpoints.options import MAX_KEY

Usd = Annotated[
    float | None, Field(description="US dollars per million tokens; null goes by the team's price list.")
]


if TYPE_CHECKING:

    class SamplingOptions(Schema):
        """As below."""

else:
    # Of each option its type: what is out of range is refused by the service, with all other faults.
    SamplingOptions = create_model(
        "SamplingOptions",
        __base__=Schema,
        **{
            option.name: (
                Annotated[
                    option.annotation,
                    Field(description=option.sentences('""' if option.kind is str else "null")),
                ],
                option.default,
            )
            for option in SAMPLING_OPTIONS
        },
    )


class EndpointOptions(SamplingOptions):
    """Null, and "" for texts, leaves a value out of requests, or says that a limit is not known."""

    fallback_model: Annotated[
        str, Field(description="Asked at the same address for what the model has failed at for good.")
    ] = ""
    cache_marks: Annotated[
        bool,
        Field(
            description="Mark the beginning that prompts share with `cache_control`, for providers that "
            "cache only what is marked."
        ),
    ] = False
    batches: Annotated[bool, Field(description="Whether the provider takes batches.")] = False
    max_concurrency: Annotated[int | None, Field(description="Calls in flight, at most.")] = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None
    input_usd_per_million: Usd = None
    cached_input_usd_per_million: Usd = None
    output_usd_per_million: Usd = None


class Endpoint(EndpointOptions):
    """An OpenAI-compatible address an owner added. Its key, and the values of headers, are in no answer."""

    id: int
    judge: Annotated[str, Field(description="What a new run names as its judge.", examples=["endpoint-3"])]
    name: str
    base_url: str
    model: str
    has_key: bool
    header_names: Annotated[
        list[str] | None, Field(description="Of the extra headers; null when they can no longer be opened.")
    ]
    caches_beginnings: Annotated[
        bool | None,
        Field(
            description="Whether its provider was found to cache the beginnings that prompts share; null as "
            "long as that is not known. It is found out anew every week."
        ),
    ]
    caching: Annotated[str, Field(description="The same in a sentence.")]
    created_at: datetime
    archived_at: datetime | None

    @classmethod
    def of(cls, row: JudgeEndpoint) -> WithFields:
        """The row as this shape shows it."""
        [shown] = cls.of_all([row])
        return shown

    @classmethod
    def of_all(cls, rows: Sequence[JudgeEndpoint]) -> list[WithFields]:
        """Several, in their order."""
        return [
            WithFields(
                row, caches_beginnings=known.caches, caching=known.sentence, **row.sampling.model_dump()
            )
            for row, known in zip(rows, caching_of(rows, now=timezone.now()), strict=True)
        ]

    @staticmethod
    def resolve_judge(row: Any) -> str:
        return str(row.judge_id)

    @staticmethod
    def resolve_has_key(row: Any) -> bool:
        return bool(row.sealed_key)

    @staticmethod
    def resolve_header_names(row: Any) -> list[str] | None:
        names = endpoints.header_names(row)
        return None if names is None else list(names)


Url = Annotated[
    str,
    Field(
        max_length=500,
        description="Everything before /chat/completions.",
        examples=["https://api.example.com/v1"],
    ),
]
Key = Annotated[str, Field(max_length=MAX_KEY, description="Stored encrypted, never shown again.")]


class NewEndpoint(EndpointOptions, Input):
    name: Annotated[str, Field(max_length=80)]
    base_url: Url
    model: Annotated[str, Field(max_length=200)]
    api_key: Key = ""
    extra_headers: Annotated[
        dict[str, str], Field(description="Sent with every call; stored encrypted, never shown again.")
    ] = {}


class EndpointChanges(EndpointOptions, Input):
    """Only what is named changes.

    `api_key` "" forgets the key. `extra_headers` replaces all headers; null keeps the value stored under a
    name. At another host both must be given again.
    """

    name: Annotated[str, Field(max_length=80)] = ""
    base_url: Url = ""
    model: Annotated[str, Field(max_length=200)] = ""
    api_key: Key = ""
    extra_headers: dict[str, str | None] = {}
    archived: bool | None = None


class LocalServer(Shape[discovery.LocalServer]):
    """A server of models that answers on this machine; `models` are those that may judge.

    There are none where `wants_key`: it lists them for a key alone. `runs_here`: they run on this machine, so
    that a token has no price.
    """

    name: str
    base_url: str
    models: list[str]
    wants_key: bool
    runs_here: bool


class Provider(Shape[providers.Provider]):
    """A provider whose address needs no typing; `environment` names the variable its key is usually in."""

    slug: str
    name: str
    base_url: str
    environment: str
    cache_marks: bool


class FoundModels(Schema):
    """What needs no typing: servers on this machine, providers with a key in the environment, and all that
    are known by name. The first two are empty where private addresses may not be called.
    """

    servers: list[LocalServer]
    with_key: list[Provider]
    providers: list[Provider]


class ModelList(Shape[model_lists.ModelList]):
    """The models an endpoint says it has; `error` says why there are none, `wants_key` whether a valid key
    is what it lacks.
    """

    base_url: str
    models: list[str]
    owner: str
    error: str
    reached: bool
    wants_key: bool


class ModelsAsked(Input):
    """An endpoint that is not stored yet; the key is used for this one request and not kept."""

    base_url: Url
    api_key: Key = ""
    extra_headers: dict[str, str] = {}


class Trial(Schema):
    """What came of one tiny question, asked live.

    `works` is whether an answer could be read, `verdict` that answer: it should be MET. `reached` is null
    when nothing answered in time. `confidence` is null where no token probabilities came.
    """

    works: bool
    reached: bool | None
    verdict: str | None
    reason: str
    model: Annotated[str, Field(description="What the endpoint says answered.")]
    reply_format: Annotated[
        str, Field(description="The form of reply asked for last.", examples=["json_schema"])
    ]
    seconds: float
    attempts: int
    prompt_tokens: int | None
    cached_prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    confidence: float | None
    reasoning: Annotated[str, Field(description="The beginning of what the model thought aloud.")]
    fallback: Annotated[bool, Field(description="Whether the fallback model was asked.")]
    log: Annotated[list[str], Field(description="What was decided on the way.")]
    error: JudgeError | None
    advice: Annotated[str, Field(description="What to do about the error.")]

    @staticmethod
    def resolve_reply_format(row: Any) -> str:
        return str(row.rung)

    @staticmethod
    def resolve_error(row: Any) -> JudgeError | None:
        return JudgeError(kind=row.error.kind, message=row.error.message) if row.error else None
