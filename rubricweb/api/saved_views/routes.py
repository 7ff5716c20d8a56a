"""Operations about saved views."""

from typing import Any

from ninja import Query

from rubricweb import access
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import whole
from rubricweb.api.saved_views import schemas
from rubricweb.api.schemas import list_of
from rubricweb.models import Role
from rubricweb.selectors import saved_views as selected
from rubricweb.services.teams import saved_views as services

saved_views = Room("views")


@saved_views.read("/views", Role.VIEWER, list_of(schemas.SavedView))
def list_views(request: TokenRequest, asked: Query[schemas.SavedViewQuery]) -> Any:
    """Your views of lists and the team's, by name; all on one page."""
    return whole(selected.saved_views(request.auth.team, request.auth.user, kind=asked.kind or ""))


@saved_views.write("POST", "/views", Role.VIEWER, schemas.SavedView, status=201)
def save_view(request: TokenRequest, body: schemas.NewView) -> Any:
    """Keep a list as it is narrowed under a name. What does not narrow it is left out of the query."""
    team = request.auth.team
    dataset = None if body.dataset_id is None else access.access_dataset(team, body.dataset_id)
    return services.save_view(
        access.access_membership(request.auth.user, team.slug),
        kind=body.kind,
        name=body.name,
        query=body.query,
        dataset=dataset,
        shared=body.shared,
    )


@saved_views.write("PATCH", "/views/{int:view_id}", Role.VIEWER, schemas.SavedView)
def change_view(request: TokenRequest, view_id: int, body: schemas.ViewChanges) -> Any:
    """Rename, share or pin a view; others' shared ones are an editor's to change."""
    view = access.access_view(request.auth.team, request.auth.user, view_id)
    member = access.access_membership(request.auth.user, request.auth.team.slug)
    return services.change_view(view, member, **body.model_dump())


@saved_views.write("DELETE", "/views/{int:view_id}", Role.VIEWER, None, status=204)
def delete_view(request: TokenRequest, view_id: int) -> Any:
    """Delete a view. The list stays what it is."""
    view = access.access_view(request.auth.team, request.auth.user, view_id)
    services.delete_view(view, access.access_membership(request.auth.user, request.auth.team.slug))
