"""Labels of a file on items whose verdicts are hidden from whoever sent it."""

from collections.abc import Collection

from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.number_format import counted
from rubricweb.errors import Withheld
from rubricweb.models import Dataset, Item, User
from rubricweb.selectors.blinding import hidden_of, what_hides


def require_shown(dataset: Dataset, labels: Collection[LabelRecord], viewer: User | None) -> None:
    """Refuses labels on items this person must not see others' verdicts on: whether they were imported before
    would tell what was said.
    """
    if viewer is None or not labels:
        return
    hidden_ids = hidden_of(viewer, dataset.team, dataset.pk)
    if not hidden_ids:
        return
    named = {label.item_id for label in labels}
    keys = Item.objects.current().filter(dataset=dataset).order_by().values_list("pk", "key")
    hidden = sum(pk in hidden_ids and key in named for pk, key in keys)
    if hidden:
        raise Withheld(
            f"The verdicts on {counted(hidden, 'item')} of this file are hidden from you, and "
            "which labels were imported before would tell of them. "
            f"{what_hides(viewer, dataset.team, dataset.pk)} Or ask somebody who is not a rater."
        )
