"""Which datasets can be combined, and which are being combined."""

from rubricweb.models import Combination, CombinationState, Dataset, Team, unarchived

UNENDED = (CombinationState.WAITING, CombinationState.RUNNING)
OFFERED = 200


def combinable(team: Team) -> list[Dataset]:
    """The newest datasets that are no halves of a split and are not archived."""
    rows = Dataset.objects.filter(unarchived(), team=team, sealed_as="")
    return list(rows.order_by("-created_at", "-pk")[:OFFERED])


def unended(team: Team) -> list[Combination]:
    """Those under way, newest first."""
    return list(Combination.objects.filter(team=team, state__in=UNENDED).order_by("-pk")[:20])
