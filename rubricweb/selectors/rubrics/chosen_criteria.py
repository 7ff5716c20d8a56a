"""Some criteria of a rubric version, named by whoever opens a queue about them alone."""

from collections.abc import Sequence

from rubricweb.engine.errors import Fault, shown
from rubricweb.errors import Invalid
from rubricweb.models import Criterion, RubricVersion


def chosen_criteria(version: RubricVersion | None, asked: Sequence[int | str]) -> tuple[Criterion, ...]:
    """The criteria named by ids or names, in the order of the rubric; none where none, or all, are named.

    All are those people answer, without checks. Raises Invalid without a version to choose from, and naming
    the place of each that is unknown, a check, or named twice.
    """
    if not asked:
        return ()
    if version is None:
        why = "Criteria can be chosen of a rubric version only; here each item brings a rubric of its own."
        raise Invalid(why, [Fault("criteria", "a choice of criteria", "none, or a rubric version")])
    rows = list(Criterion.objects.filter(version=version).order_by("position"))
    known: dict[int | str, Criterion] = {row.pk: row for row in rows} | {row.name: row for row in rows}
    answered = [row for row in rows if row.kind != "check"]
    faults = []
    found: dict[int, Criterion] = {}
    for at, one in enumerate(asked):
        row, place = known.get(one), f"criteria[{at}]"
        if row is None:
            names = ", ".join(answer.name for answer in answered)
            faults.append(Fault(place, shown(one), f"a criterion of {version}: {names}"))
        elif row.kind == "check":
            faults.append(Fault(place, f"the check {row.name}", "what people answer: a check is computed"))
        elif row.pk in found:
            faults.append(Fault(place, f"{row.name} again", "each criterion once"))
        else:
            found[row.pk] = row
    if faults:
        raise Invalid(f"These are not criteria of {version} that people can be asked about.", faults)
    return () if len(found) == len(answered) else tuple(row for row in answered if row.pk in found)


def version_of(criterion_ids: Sequence[int]) -> RubricVersion | None:
    """The published version all these criteria are of; None for criteria of several, or of an item's own."""
    versions = RubricVersion.objects.filter(criteria__in=criterion_ids, rubric__isnull=False).distinct()
    candidates = list(versions[:2])
    return candidates[0] if len(candidates) == 1 else None
