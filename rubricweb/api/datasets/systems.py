"""Operations about systems and their versions: what gave the answers."""

from typing import Any

from django.utils import timezone
from ninja import Query

from rubricweb import access
from rubricweb.api.datasets import system_schemas as schemas
from rubricweb.api.deletions import schemas as deletion_schemas
from rubricweb.api.deletions.deleting import deleted, planned
from rubricweb.api.operations import Room, TokenRequest
from rubricweb.api.paging import ArchivedQuery, leaving_out_archived, whole
from rubricweb.api.schemas import list_of
from rubricweb.models import Role, System
from rubricweb.selectors.datasets import systems as selected
from rubricweb.services.datasets import systems as services

systems = Room("systems")


@systems.read("/systems", Role.VIEWER, list_of(schemas.System, leaves_out=True))
def list_systems(request: TokenRequest, asked: Query[ArchivedQuery]) -> Any:
    """The systems whose answers the team has, with their versions, by name; all on one page."""
    rows = selected.systems(request.auth.team, archived=asked.archived)
    return whole(rows) | leaving_out_archived(request, System, archived=asked.archived)


@systems.write("PATCH", "/systems/{int:system_id}", Role.EDITOR, schemas.ChangedSystem)
def change_system(request: TokenRequest, system_id: int, body: schemas.SystemChanges) -> Any:
    """Rename a system, and so all its versions; archive or restore it. Ids of items stay what they were.

    Archived, it is left out of lists and choosers with its versions, and new answers of it, runs and queues
    over them are refused (409); so is archiving while a run over them has not ended or a queue about them is
    not closed.
    """
    system = access.access_system(request.auth.team, system_id)
    services.change_system(system, by=request.auth.user, now=timezone.now(), **body.model_dump())
    return system


@systems.read("/systems/{int:system_id}/deletion", Role.OWNER, deletion_schemas.DeletionPlan)
def plan_system_deletion(request: TokenRequest, system_id: int) -> Any:
    """What deleting a system would take with it."""
    return planned(access.access_system(request.auth.team, system_id))


@systems.write("DELETE", "/systems/{int:system_id}", Role.OWNER, deletion_schemas.Deletion, status=202)
def delete_system(request: TokenRequest, system_id: int, body: deletion_schemas.DeletionName) -> Any:
    """Delete a system with its versions. Refused (409) while a dataset has answers of it."""
    return deleted(request, access.access_system(request.auth.team, system_id), body)


@systems.write("PATCH", "/system-versions/{int:system_version_id}", Role.EDITOR, schemas.Renamed)
def change_system_version(
    request: TokenRequest, system_version_id: int, body: schemas.SystemVersionLabel
) -> Any:
    """Give a system version another label."""
    version = access.access_system_version(request.auth.team, system_version_id)
    services.rename_version(version, body.label, by=request.auth.user)
    return {"id": version.pk, "name": str(version)}


@systems.read("/system-versions/{int:system_version_id}/deletion", Role.OWNER, deletion_schemas.DeletionPlan)
def plan_system_version_deletion(request: TokenRequest, system_version_id: int) -> Any:
    """What deleting a system version would take with it."""
    return planned(access.access_system_version(request.auth.team, system_version_id))


@systems.write(
    "DELETE",
    "/system-versions/{int:system_version_id}",
    Role.OWNER,
    deletion_schemas.Deletion,
    status=202,
)
def delete_system_version(
    request: TokenRequest, system_version_id: int, body: deletion_schemas.DeletionName
) -> Any:
    """Delete a system version. Refused (409) while a dataset has answers of it."""
    return deleted(request, access.access_system_version(request.auth.team, system_version_id), body)
