"""Until they submit, no page, mail or export tells a prober what they or others said before."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from allauth.account.models import EmailAddress
from django.core import mail
from django.urls import reverse

from rubricweb import tasks
from rubricweb.models import JudgeCall, Judgement, User
from rubricweb.services import notices
from rubricweb.services.reviews import reviews
from tests.factories import Cast
from tests.web.test_blinding import Stage, addresses, answers, ids_of_item, other_ids, text_of
from tests.worlds.blinding.probed import ProbedWorld, probed_world
from tests.worlds.blinding.two_worlds import in_both_worlds, told_apart

EARLIER = ("/reviews/", "/review/", "/rubrics/", "/compare/", "/exports/", "/adjudication/")
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def pages_of(
    people: Cast, sign_in, world: ProbedWorld, viewer: User, *, parts: Sequence[str] = ("",)
) -> dict[str, str]:
    """Everything the pages tell this person of the item under either version, and of the copy.

    With `parts` the addresses alone that have one of these in them.
    """
    client, found = sign_in(viewer), {}
    item = world.draft.item
    comment = item.comments.get(author=people.ann)
    others = other_ids(people.team, people.ed)
    for run, queue, version, reviewed in (
        (world.before, world.labelled, world.first, world.earlier),
        (world.run, world.probe, world.second, world.draft),
        (world.run, world.probe, world.second, world.of_copy),
    ):
        ids = {
            **others,
            **ids_of_item(item),
            "rubric_id": version.rubric_id,
            "number": version.number,
            "run_id": run.pk,
            "baseline_id": (world.run if run == world.before else world.before).pk,
            "queue_id": queue.pk,
            "rater_id": reviewed.rater_id,
            "comment_id": comment.pk,
            "view_id": 0,
            "criterion_id": version.criteria.get(name="capital").pk,
            "call_id": JudgeCall.objects.filter(run=run, item=item).values_list("pk", flat=True)[0],
        }
        stage = Stage(people, run, queue, world.labelled, ids)
        # All pages once, plain and narrowed to everything; then those about the other version or review.
        about = {world.draft: "", world.earlier: f"/runs/{run.pk}/", world.of_copy: "/reviews/"}[reviewed]
        of_earlier = reviewed == world.earlier
        urls = [
            url
            for url in addresses(stage, people.alice, reviewed)
            if ("?" not in url or "dataset=" in url)
            and (about in url or (of_earlier and any(part in url for part in EARLIER)))
            and any(part in url for part in parts)
        ]
        for url, _, answer in answers(client, urls, ["page"]):
            found[f"{reviewed.pk} {url}"] = text_of(answer)
    own = item.comments.get(author=people.alice)
    found["own comment"] = text_of(client.get(reverse("comment", args=[people.team.slug, own.pk])))
    return found


def looked_at(
    people: Cast, sign_in, viewer: User, *, met: bool, parts: Sequence[str] = ("",)
) -> dict[str, str]:
    EmailAddress.objects.get_or_create(user=viewer, email=viewer.email, primary=True, verified=True)
    world = probed_world(people, met=met)
    found = pages_of(people, sign_in, world, viewer, parts=parts)
    client, slug = sign_in(people.alice), people.team.slug
    if viewer == people.alice:
        # What is posted to the earlier review is refused in the same words as well.
        posts = {"review_note": [], "review_keep": [], "review_revision": [ids_of(world)]}
        for name, more in posts.items():
            for review in (world.earlier, world.of_copy):
                answer = client.post(
                    reverse(name, args=[slug, review.pk, *more]), {"note": "x", "choice": "keep"}
                )
                found[f"{name} {review.pk}"] = text_of(answer)
    notices.send_mails(now=lambda: NOON + timedelta(minutes=5), link=tasks._link)
    found["mails"] = "\n".join(f"{one.subject} {one.body}" for one in mail.outbox if viewer.email in one.to)
    mail.outbox.clear()
    return found


def ids_of(world: ProbedWorld) -> int:
    pk: int = world.first.criteria.get(name="capital").pk
    return pk


def test_no_page_or_mail_tells_a_prober_what_they_or_others_said_before(
    people: Cast, sign_in, settings
) -> None:
    """Two worlds that differ in two labels, notes and comments of everybody on an item that is to be labelled
    again. The prober owns the team. The clock stands still, so every time stamp and ETag is compared too.
    """
    settings.SENDS_MAIL = True
    found = in_both_worlds(lambda met: looked_at(people, sign_in, people.alice, met=met), at=NOON)
    assert "asks you to review" in found[0]["mails"]
    told = told_apart(*found)
    assert not told, "\n".join(told)


def test_who_is_not_asked_sees_what_was_said_before(people: Cast, sign_in) -> None:
    parts = ("/items/", "/compare/", "/rubrics/", "/review/")
    found = in_both_worlds(lambda met: looked_at(people, sign_in, people.ed, met=met, parts=parts), at=NOON)
    places = [line.split(": ")[0] for line in told_apart(*found)]
    for part in parts:
        assert [place for place in places if part in place], part


def test_a_prober_sees_everything_again_once_they_have_submitted(people: Cast, sign_in) -> None:
    world = probed_world(people, met=True)
    client, slug = sign_in(people.alice), people.team.slug
    page = reverse("review", args=[slug, world.earlier.pk])
    refused = client.get(page)
    assert refused.status_code == 403
    assert "to label this item again without seeing what you said before" in text_of(refused)
    [criterion] = reviews.criteria_of(world.draft)
    reviews.save_verdict(world.draft, criterion.pk, verdict="UNMET")
    reviews.submit(world.draft, now=NOON)
    # The copy of its words waits in a probe of its own.
    assert client.get(page).status_code == 403
    copy = world.of_copy.item.reviews.get(queue__label_decision__isnull=False)
    reviews.save_verdict(copy, criterion.pk, verdict="UNMET")
    reviews.submit(copy, now=NOON)
    assert client.get(page, follow=True).status_code == 200
    earlier = Judgement.objects.get(review=world.earlier, criterion__name="capital")
    assert earlier.reason in text_of(client.get(reverse("review_reveal", args=[slug, world.earlier.pk])))
