"""The Idempotency-Key header: a client that retries after a lost answer is given what the first one made."""

from collections.abc import Callable
from typing import Annotated

from django.utils import timezone
from ninja import Header
from pydantic import AfterValidator, BaseModel, WithJsonSchema

from rubricweb.api.operations import TokenRequest
from rubricweb.models import JudgeVersion
from rubricweb.services.shared.idempotency import HEADER, Done, Key, done_once, kept_once, sent_key

MAX_LENGTH = 255


def _checked(key: str) -> str:
    if not key.strip() or len(key) > MAX_LENGTH or not (key.isascii() and key.isprintable()):
        raise ValueError(f"1 to {MAX_LENGTH} printable ASCII characters, such as a random UUID")
    return key


IdempotencyKey = Annotated[
    Annotated[
        str,
        AfterValidator(_checked),
        WithJsonSchema({"type": "string", "minLength": 1, "maxLength": MAX_LENGTH, "pattern": "^[ -~]+$"}),
    ]
    | None,
    Header(
        alias=HEADER,
        description="A name of your own for this request, such as a random UUID. For 24 hours the same "
        "request with the same key is done once in the team, and answered with what it made; another "
        "request with it is refused (422).",
    ),
]


def once(request: TokenRequest, key: str | None, body: BaseModel | None, do: Callable[[], Done]) -> Done:
    """What `do` does, or did when this very request came before with the same key."""
    if key is None:
        return do()
    return done_once(request.auth.team, _known_by(request, key, body), do, now=timezone.now())


def kept(
    request: TokenRequest, key: str | None, body: BaseModel, do: Callable[[], JudgeVersion]
) -> JudgeVersion:
    """The version that `do` keeps, or kept when this very request came before with the same key."""
    if key is None:
        return do()
    return kept_once(request.auth.team, _known_by(request, key, body), do, now=timezone.now())


def _known_by(request: TokenRequest, key: str, body: BaseModel | None) -> Key:
    said = body.model_dump_json(exclude_unset=True) if body is not None else ""
    return sent_key(key, f"{request.method} {request.path}\n{said}")
