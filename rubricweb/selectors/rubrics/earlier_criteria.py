"""What a rubric's versions asked, so that a criterion that comes without an id is known again."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from rubricweb.models import Criterion, Rubric


def earlier_criteria(rubric: Rubric, taken: Sequence[str | None]) -> Iterator[list[dict[str, Any]]]:
    """The criteria of each of the rubric's versions, newest first, without those whose ids are `taken`.

    One that a newer version has just so is left out too: who did not find it there does not find it now. Two
    queries, the second only where there are such criteria; none before the first version is asked for.
    """
    rows = Criterion.objects.filter(version__rubric=rubric)
    uids = rows.order_by().values_list("uid", flat=True).distinct()
    free = [uid for uid in uids if uid not in taken]
    if not free:
        return
    rows = rows.filter(uid__in=free).order_by("-version__number", "position")
    seen: set[str] = set()
    for _, of_version in groupby(rows, key=lambda row: row.version_id):
        asked = {repr((row.uid, row.name, row.question)): row for row in of_version}
        yield [row.to_engine().to_dict() for key, row in asked.items() if key not in seen]
        seen |= asked.keys()
