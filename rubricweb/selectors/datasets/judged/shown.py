"""What lists of items show of runs and people: the newest score, and who has labelled."""

from collections.abc import Sequence

from django.db.models import Exists, OuterRef, Q

from rubricweb.models import Dataset, Item, Rater, RaterKind, Team, User
from rubricweb.selectors.blinding import is_hidden
from rubricweb.selectors.datasets.judged.filters import Judged, gradings, labels_of_people


def name_scores(rows: Sequence[Item], judged: Judged, *, viewer: User, team: Team) -> bool:
    """Gives each item its `grading`, its row in the run that is asked for or in the newest that graded it;
    None without one and while the item is hidden from the viewer. Whether some item has one. Two queries.
    """
    ids = [row.pk for row in rows]
    shown = Item.objects.filter(~Q(is_hidden(viewer, team)), pk__in=ids).order_by()
    graded = gradings().filter(item__in=list(shown.values_list("pk", flat=True)))
    if judged.run is not None:
        graded = graded.filter(run=judged.run)
    found = {one.item_id: one for one in graded.order_by("run_id")}
    for row in rows:
        row.grading = found.get(row.pk)  # type: ignore[attr-defined]  # for lists
    return bool(found)


def raters_of(dataset: Dataset) -> list[Rater]:
    """Who has labelled items of the dataset, by name; a name in files as the member it is. One query."""
    rows = Rater.objects.filter(team=dataset.team, kind=RaterKind.HUMAN, same_as=None)
    labelled = labels_of_people().filter(item__dataset=dataset).order_by()
    own = Exists(labelled.filter(rater=OuterRef("pk")))
    in_files = Exists(labelled.filter(rater__same_as=OuterRef("pk")))
    return list(rows.filter(own | in_files).order_by("name"))
