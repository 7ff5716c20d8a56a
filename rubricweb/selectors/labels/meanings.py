"""Which criteria of other versions ask what a version asks, so that labels given to them count for it."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from rubricweb.models import Criterion
from rubricweb.selectors.shared.option_maps import flows


@dataclass
class SharedMeaning:
    """One meaning: version id → criterion id, and the meaning whose labels flow into it through
    `option_map`.
    """

    source_id: int | None
    option_map: Mapping[str, str | None] | None
    members: dict[int, int] = field(default_factory=dict)


def meanings_of(versions: Collection[int]) -> dict[int, SharedMeaning]:
    """Every meaning that one of these versions has, and those that flow into it. One query, and one more for
    each step of carried options.
    """
    found: dict[int, SharedMeaning] = {}
    wanted = Criterion.objects.filter(version__in=versions, meaning__isnull=False).values("meaning")
    rows = Criterion.objects.filter(meaning__in=wanted) if versions else Criterion.objects.none()
    while True:
        for pk, version_id, meaning_id, source, option_map in rows.order_by().values_list(
            "pk", "version_id", "meaning_id", "meaning__source_id", "meaning__option_map"
        ):
            assert meaning_id is not None  # asked for
            found.setdefault(meaning_id, SharedMeaning(source, option_map)).members[version_id] = pk
        missing = {one.source_id for one in found.values() if one.source_id is not None} - set(found)
        if not missing:
            return found
        rows = Criterion.objects.filter(meaning__in=missing)


def counting_criteria(version: int) -> dict[int, dict[int, int]]:
    """Criterion of the version → the criteria whose labels count for it, itself among them, by version.

    Nothing for a rubric that an item brought: it has no other versions. As many queries as `meanings_of`.
    """
    meanings = meanings_of([version])
    return {
        meaning.members[version]: {
            version_id: pk
            for flowing, _ in flows(meaning, meanings)
            for version_id, pk in flowing.members.items()
        }
        for meaning in meanings.values()
        if version in meaning.members
    }
