"""What criteria are called in a list that may hold one of them in several versions."""

from collections import defaultdict
from collections.abc import Iterable

from rubricweb.models import Criterion


def criterion_names(criteria: Iterable[Criterion]) -> dict[int, str]:
    """The name of each by its id: its title, with the version behind it where others have that title too.

    "ending (v1)" and "ending (v2)" of one rubric, "ending (Stories v1)" and "ending (Poems v1)" of two.
    Rubrics that items brought have no versions to tell. Reads `version`.
    """
    by_title: dict[str, list[Criterion]] = defaultdict(list)
    for one in criteria:
        by_title[one.title].append(one)
    names = {}
    for title, alike in by_title.items():
        rubrics = {one.version.rubric_id for one in alike}
        for one in alike:
            names[one.pk] = title
            if len(alike) > 1 and rubrics != {None}:
                names[one.pk] += f" (v{one.version.number})" if len(rubrics) == 1 else f" ({one.version})"
    return names
