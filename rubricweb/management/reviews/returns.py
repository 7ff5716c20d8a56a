"""`rubricweb queues sent-back`, `send-back`, `send-again`: reviews their raters are to look at again."""

import argparse

from django.utils import timezone

from rubricweb import access
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.paging import first
from rubricweb.management.terminal.printed import say, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Role
from rubricweb.selectors.reviews.leads import returns as selected
from rubricweb.selectors.reviews.reviews import review_for
from rubricweb.selectors.teams import lookup
from rubricweb.services.reviews.leads import returns as services


def list_sent_back(options: argparse.Namespace) -> int:
    """Those of a queue: for a rater their own that wait, for a reviewer all."""
    actor = resolve_actor(options, Role.ANNOTATOR, archived_too=True)
    queue = lookup.queue_called(actor.team, options.queue)
    page = first(
        options.limit,
        lambda cursor, size: selected.shown_returns(queue, actor.user, cursor=cursor, size=size),
    )
    if options.json:
        from rubricweb.api.reviews.reveal_schemas import SentBack

        for row in page.rows:
            print_shape(SentBack, row)
        return 0
    listed = table(("review", "rater", "state", "note"))
    for row in page.rows:
        state = "submitted again" if row.answered_at else "waiting"
        listed.add_row(str(row.review_id), row.review.rater.name, state, row.note)
    terminal().print(listed)
    if page.more:
        note(f"There is more; --limit {options.limit * 2} shows it.")
    return 0


def send_back(options: argparse.Namespace) -> int:
    """Asks the rater of a submitted review to look at it again."""
    actor = resolve_actor(options, Role.REVIEWER)
    review = access.access_review(actor.team, options.review)
    services.send_back(review, by=actor.user, note=options.note, now=timezone.now())
    return say(f"Review {review.pk} is sent back to its rater.")


def send_again(options: argparse.Namespace) -> int:
    """Submits one's own review again."""
    actor = resolve_actor(options, Role.ANNOTATOR)
    review = review_for(actor.team, options.review, actor.user)
    services.send_again(review, now=timezone.now())
    return say(f"Review {review.pk} is submitted again.")
