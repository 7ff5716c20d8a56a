"""What a blind rater learns from pages and mails of who answered: nothing."""

from datetime import timedelta
from typing import Any

from allauth.account.models import EmailAddress
from django.core import mail
from django.urls import reverse

from rubricweb import tasks
from rubricweb.models import JudgeCall, User
from rubricweb.services import notices
from tests.factories import Cast
from tests.web.test_blinding import (
    HTMX,
    NOON,
    Stage,
    addresses,
    answers,
    ids_of_item,
    other_ids,
    text_of,
)
from tests.worlds.blinding.two_systems import systems_world
from tests.worlds.blinding.two_worlds import in_both_worlds, told_apart

ASKED = ("?q=v4", "?q=c1-by-v3", "?order=key", "?order=-key", "?where=build%3Dv4", "?where=language%3Den")


def told(people: Cast, sign_in: Any, viewer: User, *, swapped: bool, about: str = "") -> dict[str, str]:
    """Everything the pages and mails tell of the answers to c1."""
    world = systems_world(people, swapped=swapped)
    EmailAddress.objects.create(user=viewer, email=viewer.email, primary=True, verified=True)
    client, found = sign_in(viewer), {}
    slug, comment = people.team.slug, world.draft.item.comments.get()
    others = other_ids(people.team, people.ed)
    for run, other in (world.runs, world.runs[::-1]):
        for item in (world.draft.item, world.beside):
            ids = {
                **others,
                **ids_of_item(item),
                "rubric_id": world.version.rubric_id,
                "run_id": run.pk,
                "baseline_id": other.pk,
                "queue_id": world.queue.pk,
                "rater_id": world.draft.rater_id,
                "comment_id": comment.pk,
                "view_id": 0,
                "criterion_id": world.version.criteria.get().pk,
                "call_id": JudgeCall.objects.filter(run=run, item__case__key="c2").values_list(
                    "pk", flat=True
                )[0],
                "deletion_id": 0,
            }
            stage = Stage(people, run, world.queue, world.shared, ids)
            urls = [
                url
                for url in addresses(stage, people.alice, world.draft)
                if about in url
                and ("?" not in url or "dataset=" in url)
                # All pages once, then those that are about this place.
                and (
                    (run == world.runs[0] and item == world.beside)
                    or f"/items/{item.pk}/" in url
                    or f"/runs/{run.pk}/" in url
                )
            ]
            found |= {
                f"{run} {item.submission} {url}": text_of(answer)
                for url, _, answer in answers(client, urls, ["page"])
            }
    listed = reverse("dataset", args=[slug, world.dataset.pk])
    for asked in ASKED:
        found[f"list {asked}"] = text_of(client.get(f"{listed}{asked}", headers=HTMX))
    found["prefetched"] = text_of(client.post(reverse("review_prefetch", args=[slug, world.draft.pk])))
    notices.send_mails(now=lambda: NOON + timedelta(minutes=5), link=tasks._link)
    found["mails"] = "\n".join(
        f"{one.to} {one.subject} {one.body}" for one in mail.outbox if viewer.email in one.to
    )
    mail.outbox.clear()
    return found


def test_no_page_or_mail_tells_a_blind_rater_who_answered(people: Cast, sign_in: Any, settings: Any) -> None:
    """Two worlds that differ in which version gave which of two answers, one still to review. The rater owns
    the team.
    """
    settings.SENDS_MAIL = True
    found = in_both_worlds(lambda swapped: told(people, sign_in, people.alice, swapped=swapped), at=NOON)
    differing = told_apart(*found)
    assert not differing, "\n".join(differing)


def test_who_does_not_rate_sees_who_answered(people: Cast, sign_in: Any) -> None:
    found = in_both_worlds(
        lambda swapped: told(people, sign_in, people.ed, swapped=swapped, about="/items/"), at=NOON
    )
    differing = "\n".join(told_apart(*found))
    for place in ("c1 in other words", "c1 first", "list ?q=v4", "list ?where=build%3Dv4"):
        assert place in differing, place
