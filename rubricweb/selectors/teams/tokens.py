"""API tokens by what their holder can show."""

from datetime import datetime

from rubricweb.models import ApiToken

TOKEN_STATES = ("live", "expired", "revoked")


def live_token(digest: str, *, now: datetime) -> ApiToken | None:
    """The token with this digest, its user and team loaded; None when unknown, expired or revoked."""
    return (
        ApiToken.objects.select_related("user", "team")
        .filter(digest=digest, revoked_at=None, expires_at__gt=now)
        .first()
    )


def token_state(token: ApiToken, *, now: datetime) -> str:
    """One of TOKEN_STATES."""
    if token.revoked_at is not None:
        return "revoked"
    return "expired" if token.expires_at <= now else "live"
