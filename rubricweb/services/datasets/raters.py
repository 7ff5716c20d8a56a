"""What a rater that came with a file is: a person, a machine, or a column of settled labels."""

from django.db import IntegrityError, transaction

from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Rater, RaterKind, Review, Run, User
from rubricweb.services import imported_runs
from rubricweb.services.labels import queue_of_run
from rubricweb.services.shared.journal import record


@transaction.atomic
def change_kind(rater: Rater, kind: str, *, by: User) -> None:
    """Says what a rater whose labels all came in files is; figures follow at once, labels stay.

    Labels of a machine are a run of their own: those of a rater that becomes one move there, and back into
    a closed queue where it was a person after all. Raises Invalid for an unknown kind, Conflict for somebody
    who labelled here, or is a member, and where the team has another rater of this name and kind.
    """
    if kind not in RaterKind.values:
        raise Invalid.at("rater_kind", repr(kind[:40]), ", ".join(RaterKind.values))
    locked = Rater.objects.select_for_update(no_key=True).get(pk=rater.pk)
    if locked.user_id is not None or Review.objects.filter(rater=locked, imported=False).exists():
        raise Conflict(f"{locked} labels here as a person: only raters whose labels came in files change.")
    before, locked.kind = locked.kind, kind
    try:
        with transaction.atomic():
            locked.save(update_fields=["kind"])
    except IntegrityError:
        raise Conflict(f"The team has another rater called {locked} who is that already.") from None
    if kind == RaterKind.MACHINE:
        imported_runs.from_reviews(locked, by=by)
    elif before == RaterKind.MACHINE:
        for run in Run.objects.filter(rater=locked).order_by("pk"):
            queue_of_run(run, by=by)
    record(locked.team, by, "said what a rater is", locked, before=before, kind=kind)
