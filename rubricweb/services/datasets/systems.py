"""Systems and their versions: made when a file first names them."""

import re
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from rubricweb.engine.errors import FaultList
from rubricweb.engine.formats.datasets.cases import read_system
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import System, SystemVersion, Team, User, unarchived
from rubricweb.services.shared import archiving
from rubricweb.services.shared.journal import record
from rubricweb.services.shared.names import saved_unless_taken


@transaction.atomic
def named_versions(team: Team, names: Iterable[str]) -> dict[str, SystemVersion]:
    """The versions called ``assistant@v4`` and so on, each made where it is new, behind the others.

    Several new ones stand as people count: v9 before v10. "" is the version of items whose file names none.
    Names are as `read_system` gives them.
    """
    found: dict[str, SystemVersion] = {}
    for name in sorted(set(names), key=_as_people_count):
        of, _, label = name.partition("@")
        system, _ = System.objects.get_or_create(team=team, name=of)
        version = SystemVersion.objects.filter(system=system, label=label).first()
        found[name] = version or _next_version(system, label)
        found[name].system = system
    return found


def require_listed(team: Team, names: Iterable[str]) -> None:
    """Refuses new answers of archived systems, by the names of versions."""
    systems = {name.partition("@")[0] for name in names}
    archived = System.objects.filter(unarchived(archived=True), team=team, name__in=systems)
    for system in archived.order_by("name"):
        archiving.require_listed(system)


def _as_people_count(name: str) -> list[str | int]:
    """ "v10" is ["v", 10, ""]: every second part is a number, so any two can be compared."""
    return [int(part) if place % 2 else part for place, part in enumerate(re.split(r"([0-9]{1,18})", name))]


def _next_version(system: System, label: str) -> SystemVersion:
    # Locked, so that two imports at once make one version, and give no place twice.
    System.objects.select_for_update().get(pk=system.pk)
    last = SystemVersion.objects.filter(system=system).aggregate(last=Max("position"))["last"]
    position = 0 if last is None else last + 1
    version, _ = SystemVersion.objects.get_or_create(
        system=system, label=label, defaults={"position": position}
    )
    return version


@transaction.atomic
def rename_system(system: System, name: str, *, by: User) -> None:
    """Another name for it and so for all its versions; ids of items stay what they were.

    Raises Invalid for a name that is none, Conflict for one that another system of the team has.
    """
    name = read_system_name(name.strip(), "name", allowed="a name")
    if "@" in name:
        raise Invalid.at("name", repr(name), "a name without @: versions have their own labels")
    taken = f"The team already has a system called {name!r}; choose another name."
    if System.objects.filter(team=system.team_id, name=name).exclude(pk=system.pk).exists():
        raise Conflict(taken)
    before, system.name = system.name, name
    if name != before:
        with saved_unless_taken(taken):
            system.save(update_fields=["name"])
        record(system.team, by, "renamed", system, before=before)


@transaction.atomic
def change_system(
    system: System, *, by: User, name: str | None, archived: bool | None, now: datetime
) -> None:
    """Renames it, and archives or restores it with all its versions; None leaves either as it is.

    Raises as `rename_system`, and Conflict for one that a run or a queue is still about.
    """
    if name is not None:
        rename_system(system, name, by=by)
    archiving.archive_or_restore(system, archived, by=by, now=now)


@transaction.atomic
def rename_version(version: SystemVersion, label: str, *, by: User) -> None:
    """Another label, the v5 of assistant@v5. Reads `version.system`.

    Raises Invalid for a label that is none, Conflict for one that another version of the system has.
    """
    before = str(version)
    _, _, label = read_system_name(f"{version.system.name}@{label.strip()}", "label").partition("@")
    taken = f"{version.system} already has a version {label!r}; choose another label."
    same = SystemVersion.objects.filter(system=version.system_id, label=label)
    if same.exclude(pk=version.pk).exists():
        raise Conflict(taken)
    version.label = label
    if str(version) != before:
        with saved_unless_taken(taken):
            version.save(update_fields=["label"])
        record(version.system.team, by, "renamed", version, before=before)


def read_system_name(
    text: str, place: str = "system", *, allowed: str = "a system and its version, as assistant@v5"
) -> str:
    """A system, with or without a version, as it is stored. Raises Invalid for a text that names none."""
    faults = FaultList()
    read = read_system(text, place, faults)
    if read is None and not faults:
        faults.add(place, "nothing", allowed)
    if read is None:
        raise Invalid("; ".join(map(str, faults)), faults)
    return read
