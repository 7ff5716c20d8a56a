"""Who is asking: bearer tokens, and the role each operation demands of their holder."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import HttpBearer

from rubricweb import access
from rubricweb.errors import Forbidden, NotFound
from rubricweb.models import ApiToken, Membership, Role, Team, User
from rubricweb.selectors.teams.tokens import live_token
from rubricweb.services.shared.throttles import count_request
from rubricweb.services.teams.teams import digest, touch_token


class Unauthorized(Exception):
    """No live token came with the request; `str(error)` says what was wrong with the one that did."""


class TooManyRequests(Exception):
    """The token was used more often than allowed; `retry_after_seconds` says when it may be again."""

    def __init__(self, retry_after_seconds: int) -> None:
        allowed = settings.API_REQUESTS_PER_MINUTE
        super().__init__(
            f"This token may be used {allowed} times a minute. Try again in {retry_after_seconds} seconds."
        )
        self.retry_after_seconds = retry_after_seconds


@dataclass(frozen=True)
class Caller:
    """The member a token stands for, in the one team it is good for."""

    token: ApiToken
    membership: Membership

    @property
    def user(self) -> User:
        return self.token.user

    @property
    def team(self) -> Team:
        return self.membership.team


class BearerToken(HttpBearer):
    """Opens an operation to live tokens of members with at least `role`.

    Raises Unauthorized for tokens that are unknown, expired, revoked, or of somebody who left;
    TooManyRequests above the rate; Forbidden for a role that is too low and for a token that may only read
    where the operation writes; Conflict in an archived team where it writes more than a viewer's own, unless
    `archived_too`.
    """

    openapi_description = "A token from Settings → API tokens: `Authorization: Bearer rw_…`"

    def __init__(self, role: Role, *, writes: bool, archived_too: bool = False) -> None:
        super().__init__()
        self.role = role
        self.writes = writes
        self.archived_too = archived_too

    def __call__(self, request: HttpRequest) -> Any:
        caller = super().__call__(request)
        if caller is None:
            raise Unauthorized("Send a token: Authorization: Bearer rw_…")
        return caller

    def authenticate(self, request: HttpRequest, token: str) -> Caller:
        now = timezone.now()
        found = live_token(digest(token.strip()), now=now)
        if found is None:
            raise Unauthorized("The token is unknown, expired or revoked.")
        try:
            membership = access.access_membership(found.user, found.team.slug)
        except NotFound as error:
            raise Unauthorized("The token's owner is no longer a member of its team.") from error
        retry_after_seconds = count_request(found, now=now)
        if retry_after_seconds is not None:
            raise TooManyRequests(retry_after_seconds)
        access.require(membership, self.role)
        if self.writes and not found.may_write:
            raise Forbidden(f"The token {found} may only read; make one that may write.")
        if self.writes and self.role > Role.VIEWER and not self.archived_too:
            access.require_changeable(membership.team)
        touch_token(found, now=now)
        return Caller(found, membership)
