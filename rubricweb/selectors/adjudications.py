"""What an adjudication is about."""

from django.db.models import Q

from rubricweb.errors import NotFound
from rubricweb.models import Criterion, Item


def criterion_for(item: Item, criterion_id: int) -> Criterion:
    """The door to a criterion this item can be judged by: of its own rubric when it brings one, else of any
    version the item's team has published.
    """
    if item.rubric_version_id is not None:
        judged_by = Q(version=item.rubric_version_id)
    else:
        judged_by = Q(version__rubric__team=item.dataset.team_id)
    criterion = Criterion.objects.filter(judged_by, pk=criterion_id).first() if criterion_id < 2**63 else None
    if criterion is None:
        raise NotFound("criterion of this item")
    return criterion
