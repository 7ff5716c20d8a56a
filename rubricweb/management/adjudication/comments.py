"""`rubricweb comments`: what people say to each other about an item, at the terminal."""

import argparse
import sys

from django.utils import timezone

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.management.terminal.actor import Actor, note, resolve_actor
from rubricweb.management.terminal.paging import first, note_more
from rubricweb.management.terminal.printed import moment, say, terminal, words
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Comment, Role
from rubricweb.selectors.datasets.titles import item_title
from rubricweb.selectors.labels.adjudications import criterion_for
from rubricweb.selectors.reviews import comments as selected
from rubricweb.selectors.teams import lookup
from rubricweb.services import comments as services

STANDARD_INPUT = "-"


def list_comments(options: argparse.Namespace) -> int:
    """The comments on an item, oldest first; while it is hidden from the person, their own only."""
    actor = resolve_actor(options, Role.VIEWER)
    item = access.access_item(actor.team, lookup.item_called(actor.team, options.item, viewer=actor.user).pk)
    page = first(
        options.limit,
        lambda cursor, size: selected.comments(item, viewer=actor.user, cursor=cursor, size=size),
    )
    for line in page.rows:
        if options.json:
            _print_shape(line)
        else:
            _print(line)
    if not page.rows and not options.json:
        note(f"Nobody has said anything about {item_title(item, viewer=actor.user, team=actor.team)} yet.")
    note_more(page, options.limit)
    return 0


def add(options: argparse.Namespace) -> int:
    """Says something about an item, one criterion of it, or one verdict on it."""
    actor = resolve_actor(options, Role.ANNOTATOR)
    item = access.access_item(actor.team, lookup.item_called(actor.team, options.item, viewer=actor.user).pk)
    if options.criterion and options.judgement is not None:
        raise Invalid("--criterion and --judgement say two things the comment is about; use one of them.")
    criterion = judgement = None
    if options.criterion:
        criterion = criterion_for(item, lookup.criterion_called(item, options.criterion).pk)
    if options.judgement is not None:
        judgement = selected.judgement_for(item, options.judgement, actor.user)
    title = item_title(item, viewer=actor.user, team=actor.team)
    comment = services.write(
        item, by=actor.user, text=_text(options.text), criterion=criterion, judgement=judgement
    )
    return _shown(options, actor, comment, f"Comment {comment.pk} is on {title}.")


def edit(options: argparse.Namespace) -> int:
    """Other words for one's own comment."""
    actor, comment = _comment(options)
    services.edit(comment, by=actor.user, text=_text(options.text), now=timezone.now())
    return _shown(options, actor, comment, f"Comment {comment.pk} has other words.")


def resolve(options: argparse.Namespace) -> int:
    """Says that a comment is dealt with. Safe to repeat."""
    actor, comment = _comment(options)
    services.resolve(comment, by=actor.user)
    return say(f"Comment {comment.pk} is resolved.")


def reopen(options: argparse.Namespace) -> int:
    """Says that it is not, after all. Safe to repeat."""
    actor, comment = _comment(options)
    services.resolve(comment, by=actor.user, resolved=False)
    return say(f"Comment {comment.pk} is open again.")


def remove(options: argparse.Namespace) -> int:
    """Takes the words of one's own comment away; its place stays. Safe to repeat."""
    actor, comment = _comment(options)
    services.remove(comment, by=actor.user, now=timezone.now())
    return say(f"Comment {comment.pk} is removed; its words are gone for good.")


def _comment(options: argparse.Namespace) -> tuple[Actor, Comment]:
    actor = resolve_actor(options, Role.ANNOTATOR)
    return actor, selected.comment_for(actor.team, options.comment, actor.user)


def _text(text: str) -> str:
    return sys.stdin.read() if text == STANDARD_INPUT else text


def _shown(options: argparse.Namespace, actor: Actor, comment: Comment, text: str) -> int:
    if not options.json:
        return say(text)
    _print_shape(selected.line(comment, actor.user))
    return 0


def _print(line: selected.CommentLine) -> None:
    """Who, when and about what on a line, then the words."""
    about = f" about {line.criterion}" if line.criterion else ""
    about += f", {line.verdict} by {line.judge or 'a person'}" if line.judgement_id else ""
    state = f"{', edited' * (line.edited_at is not None)}{', resolved' * line.resolved}"
    console = terminal()
    author = line.author or "somebody who is gone"
    console.print(words(f"{line.id}  {author}, {moment(line.created_at)}{about}{state}"))
    for text in (line.text or "(removed)").splitlines():
        console.print(words(f"    {text}"), soft_wrap=True)


def _print_shape(line: selected.CommentLine) -> None:
    from rubricweb.api.reviews.comment_schemas import Comment as Shown

    print_shape(Shown, line)
