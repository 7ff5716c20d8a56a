"""Systems and their versions: made when a file first names them."""

from collections.abc import Iterable

from django.db import transaction
from django.db.models import Max

from rubricweb.engine.formats.datasets.cases import UNNAMED
from rubricweb.models import System, SystemVersion, Team


@transaction.atomic
def named_versions(team: Team, names: Iterable[str]) -> dict[str, SystemVersion]:
    """The versions called ``assistant@v4`` and so on, each made where it is new, behind the others.

    "" is the version of items whose file names none. Names are as `read_system` gives them.
    """
    found: dict[str, SystemVersion] = {}
    for name in dict.fromkeys(names):
        of, _, label = name.partition("@")
        system, _ = System.objects.get_or_create(team=team, name=of)
        version = SystemVersion.objects.filter(system=system, label=label).first()
        found[name] = version or _next_version(system, label)
        found[name].system = system
    return found


def _next_version(system: System, label: str) -> SystemVersion:
    # Locked, so that two imports at once make one version, and give no place twice.
    System.objects.select_for_update().get(pk=system.pk)
    last = SystemVersion.objects.filter(system=system).aggregate(last=Max("position"))["last"]
    position = 0 if last is None else last + 1
    version, _ = SystemVersion.objects.get_or_create(
        system=system, label=label, defaults={"position": position}
    )
    return version


def unnamed_version(team: Team) -> SystemVersion:
    """The version that items have whose file names no system."""
    return named_versions(team, [UNNAMED])[UNNAMED]
