"""`rubricweb gold`: the gold items of a queue, and the calibration of its raters, at the terminal."""

import argparse
from typing import Any

from django.utils import timezone

from rubricweb import access
from rubricweb.engine.formats.content_ids import name_of
from rubricweb.engine.number_format import counted
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, resolve_actor
from rubricweb.management.terminal.printed import facts, table, terminal
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Rater, ReviewQueue, Role
from rubricweb.selectors.reviews import calibration as selected
from rubricweb.selectors.teams import lookup
from rubricweb.services.reviews import calibration as services
from rubricweb.services.reviews.leads import gold_pauses
from rubricweb.templatetags.display import count, percent


def show(options: argparse.Namespace) -> int:
    """The gold items that may be named to this person, the rules, and how each rater did."""
    return _shown(options, *_queue(options, archived_too=True))


def mark(options: argparse.Namespace) -> int:
    """Makes items gold: these, or so many drawn from those whose labels are known."""
    actor, queue = _queue(options)
    items = lookup.items_called(queue.dataset, options.item, viewer=actor.user)
    services.mark_gold(queue, by=actor.user, item_ids=items, at_random=options.at_random)
    return _shown(options, actor, queue)


def unmark(options: argparse.Namespace) -> int:
    """Makes gold items like the others."""
    actor, queue = _queue(options)
    for item in lookup.items_called(queue.dataset, options.item, viewer=actor.user):
        services.unmark_gold(queue, item, by=actor.user)
    return _shown(options, actor, queue)


def rules(options: argparse.Namespace) -> int:
    """How many gold items come first, which share must be right, and when an item gets one more rater."""
    actor, queue = _queue(options)
    names = ("calibration_items", "pass_mark", "extra_rater_below", "gold_floor", "gold_window")
    if not any(hasattr(options, name) for name in names):
        raise Invalid(
            "Nothing to change; allowed: --first, --pass-mark, --extra-rater-below, --gold-floor and "
            "--gold-window."
        )
    wanted = {name: getattr(options, name, getattr(queue, name)) for name in names}
    services.set_rules(queue, by=actor.user, **wanted)
    return _shown(options, actor, queue)


def let_on(options: argparse.Namespace) -> int:
    """Lets a rater go on, whatever the round said."""
    actor, queue = _queue(options)
    services.let_on(queue, _rater(queue, options.rater), by=actor.user)
    return _shown(options, actor, queue)


def try_again(options: argparse.Namespace) -> int:
    """Lets a rater below the mark try again with other gold items."""
    actor, queue = _queue(options)
    services.try_again(queue, _rater(queue, options.rater), by=actor.user)
    return _shown(options, actor, queue)


def end_pause(options: argparse.Namespace) -> int:
    """Lets a rater go on who was paused after too many wrong gold labels."""
    actor, queue = _queue(options)
    gold_pauses.end(queue, _rater(queue, options.rater), by=actor.user, now=timezone.now())
    return _shown(options, actor, queue)


def _queue(options: argparse.Namespace, *, archived_too: bool = False) -> tuple[Actor, ReviewQueue]:
    actor = resolve_actor(options, Role.EDITOR, archived_too=archived_too)
    return actor, access.access_queue(actor.team, lookup.queue_called(actor.team, options.queue).pk)


def _rater(queue: ReviewQueue, name: str) -> Rater:
    raters = [
        rater
        for rater in queue.raters.select_related("user").order_by("name")
        if name in (rater.name, rater.user.username if rater.user else None)
    ]
    if len(raters) != 1:
        known = ", ".join(queue.raters.order_by("name").values_list("name", flat=True)[:20])
        raise Invalid(f"{len(raters)} raters of {queue} are called {name!r}. Known: {known or 'nobody'}.")
    return raters[0]


def _name(item: Any) -> str:
    """The key of an item that `gold_overview` names; its number where that is kept from them, or made."""
    return name_of(item.shown_key, id=item.pk)


def _floor(queue: ReviewQueue) -> str:
    if queue.gold_floor is None:
        return "never"
    return f"below {queue.gold_floor:.0%} right over the last {counted(queue.gold_window, 'gold item')}"


def _shown(options: argparse.Namespace, actor: Actor, queue: ReviewQueue) -> int:
    overview = selected.gold_overview(queue, actor.user)
    if options.json:
        from rubricweb.api.reviews import calibration_schemas as schemas

        print_shape(schemas.Gold, schemas.gold(queue, overview))
        return 0
    asked = f"{queue.pass_mark:.0%} must be right" if queue.pass_mark is not None else "no mark to pass"
    below = queue.extra_rater_below
    console = terminal()
    console.print(
        facts(
            [
                ("gold items", f"{count(overview.gold)}; {count(overview.more)} more could be"),
                ("named", ", ".join(map(_name, overview.items)) or "none"),
                ("come first", f"{queue.calibration_items}, {asked}" if queue.calibration_items else "none"),
                ("pauses", _floor(queue)),
                ("one more rater", "never" if below is None else f"below {below:.0%} agreement"),
            ]
        )
    )
    rows = table(("rater", "round"), ("right", "of", "share"))
    for row in overview.raters:
        stage = row.round.stage.value + (", paused" if row.pause else "")
        if row.withheld:
            rows.add_row(row.rater.name, stage, "withheld while you review blind", "", "")
        else:
            right, total = row.accuracy.right, row.accuracy.total
            rows.add_row(row.rater.name, stage, count(right), count(total), percent(row.accuracy.share))
    console.print(rows)
    return 0
