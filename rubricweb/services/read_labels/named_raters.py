"""The raters of a team behind the names in a file of labels."""

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import count as counting

from django.db.models import Q, QuerySet

from rubricweb.engine.errors import Fault
from rubricweb.engine.formats.label_files import LabelRecord
from rubricweb.engine.formats.label_files import RaterKind as FileRaterKind
from rubricweb.errors import Invalid
from rubricweb.models import Rater, Team
from rubricweb.selectors.labels.ground_truth import SETTLED_RATERS

MAX_RATERS = 1_000
"""So many raters a file may name: each is a row of the team's for good."""

MAX_MACHINES = 100
"""So many of them may be machines: each becomes a run, and while runs are stored others wait to write."""

MAX_NAME = 120

Named = tuple[str, FileRaterKind]
"""A rater as a file has them: name and kind."""


def named_in(labels: Iterable[LabelRecord]) -> set[Named]:
    return {(label.rater, label.rater_kind) for label in labels}


def too_many_raters(labels: Iterable[LabelRecord]) -> Fault | None:
    """What is wrong with labels of more raters than a file may name."""
    named = named_in(labels)
    machines = sum(kind == "machine" for _, kind in named)
    if len(named) > MAX_RATERS:
        return Fault("rater", f"{len(named):,} raters", f"at most {MAX_RATERS:,} in one file")
    if machines > MAX_MACHINES:
        return Fault("rater", f"{machines:,} machines", f"at most {MAX_MACHINES:,} in one file")
    return None


def require_few_raters(labels: Iterable[LabelRecord]) -> None:
    """Raises Invalid for labels of more raters than a file may name."""
    fault = too_many_raters(labels)
    if fault is not None:
        raise Invalid(f"The labels are of {fault.found}; {fault.allowed}. Nothing was imported.", [fault])


def named_raters(team: Team, named: Collection[Named], *, make: bool) -> dict[Named, Rater]:
    """The rater of each name and kind; a member is found by rater name, else by user name.

    Who is called like the ground truth of a dataset file, or of our exports, is that. The raters the team
    does not have yet are made; without `make` nothing is written, and unsaved ones stand in, with ids below
    zero. To make some, call it in a transaction. One query for each kind, a few more where some are made.
    """
    rows = Rater.objects.filter(team=team).select_related("user", "same_as__user").order_by("pk")
    if make:
        # Held, so that nobody says meanwhile that it is a machine.
        rows = rows.select_for_update(no_key=True, of=("self",))
    # Two long names may begin alike: they are one rater then.
    stored = {one: _as_stored(*one) for one in named}
    by_kind: dict[str, set[str]] = defaultdict(set)
    for name, kind in stored.values():
        by_kind[kind].add(name)
    found: dict[tuple[str, str], Rater] = {}
    stand_in_ids = counting(-1, -1)
    for kind, names in sorted(by_kind.items()):
        of_kind = _called(rows.filter(kind=kind), names)
        new = [Rater(team=team, name=name, kind=kind) for name in sorted(names - of_kind.keys())]
        if make and new:
            # Another import may have made some of them since.
            Rater.objects.bulk_create(new, ignore_conflicts=True, batch_size=500)
            of_kind |= _called(rows.filter(kind=kind), {rater.name for rater in new})
        elif new:
            for rater in new:
                rater.pk = next(stand_in_ids)
                of_kind[rater.name] = rater
        found |= {(name, kind): rater for name, rater in of_kind.items()}
    return {one: found[key] for one, key in stored.items()}


def _as_stored(name: str, kind: FileRaterKind) -> tuple[str, str]:
    name = name[:MAX_NAME]
    return name, "settled" if name in SETTLED_RATERS else kind


def _called(rows: QuerySet[Rater], names: Collection[str]) -> dict[str, Rater]:
    """Name → rater. One member may be called like the user name of another: rater names go first. A name
    that somebody said is a member is that one.
    """
    by_name: dict[str, Rater] = {}
    by_user_name: dict[str, Rater] = {}
    for rater in rows.filter(Q(name__in=names) | Q(user__username__in=names)):
        by_name[rater.name] = rater.same_as or rater
        if rater.user is not None:
            by_user_name[rater.user.username] = rater
    found = by_user_name | by_name
    return {name: found[name] for name in names if name in found}
