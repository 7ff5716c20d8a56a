"""A rater of an open blind queue is shown no verdict of others before submitting, on any page of the team."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import groupby
from typing import Any
from unittest import mock

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client, RequestFactory
from django.urls import URLPattern, reverse
from django.utils import timezone

from rubricweb import tasks
from rubricweb.engine.formats import EXPORT_FORMATS
from rubricweb.engine.verdict import Verdict
from rubricweb.models import Cause, Item, JudgeCall, Judgement, Notice, Review, ReviewQueue, Run, Team, User
from rubricweb.selectors.reviews.queues import open_reviews_count
from rubricweb.selectors.teams.notices import unread_count
from rubricweb.services import adjudications, comments, notices
from rubricweb.services.endpoints import endpoints
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.teams import retention, teams
from rubricweb.web.urls import team_urls
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.blinding.two_worlds import cascade_world, copies_world, in_both_worlds, told_apart
from tests.worlds.remembered import remembered

# Words nobody else writes: wherever one of them appears, somebody's verdict was on the page.
JUDGE_SAYS = "zebrafinch-by-the-judge"
PEER_SAYS = "marmoset-by-the-peer"
PEER_NOTES = "okapi-in-the-note"
DECISION_SAYS = "axolotl-by-the-adjudicator"
PEER_COMMENTS = "quokka-in-a-comment"
# The mean of a run over a single item is as good as its verdicts.
MARKERS = (JUDGE_SAYS, PEER_SAYS, PEER_NOTES, DECISION_SAYS, PEER_COMMENTS, factories.TELLING_SCORE)

# What a page may be asked for by its query string or its headers: everything that changes what is shown.
HTMX = {"HX-Request": "true"}
EXPORTS = [(what, format) for format, one in EXPORT_FORMATS.items() for what in one.contents]


@dataclass
class Stage:
    """One graded item that a peer has reviewed and an adjudicator decided, in a blind queue of everybody."""

    cast: Cast
    run: Run
    queue: ReviewQueue
    other_queue: ReviewQueue
    ids: dict[str, Any]

    def review_of(self, rater: User) -> Review:
        return queues.start_review(self.queue, self.queue.dataset.items.get(key="good"), rater)

    def submit(self, review: Review, *, reason: str = "mine") -> Review:
        for criterion in reviews.criteria_of(review):
            reviews.save_verdict(review, criterion.pk, verdict=Verdict.UNMET, reason=reason)
        reviews.submit(review, now=timezone.now())
        return review


@pytest.fixture
def stage(people: Cast) -> Stage:
    return remembered(("blind stage", people.team.pk), lambda: staged(people))


def staged(people: Cast) -> Stage:
    """Everybody but the viewer is still to review what judge, peer and adjudicator have spoken on."""
    team, alice = people.team, people.alice
    version = factories.version(team, alice, criteria=factories.TELLING)
    dataset = factories.dataset(team, alice, items=factories.ITEMS[:1])
    earlier, run = (factories.run(team, alice, dataset=dataset, rubric_version=version) for _ in range(2))
    reply = f'{{"explanation": "{JUDGE_SAYS}", "criterion_status": "MET"}}'
    for one in (earlier, run):
        grade(one, InProcessJudge(lambda requirement, response: reply))
    peer = teams.create_person("peer", name="Peer")
    teams.add_member(team, peer, 20, by=alice)
    blind = [people.alice, people.ed, people.rae, people.ann]
    queue = factories.queue(
        team,
        alice,
        dataset=dataset,
        rubric_version=version,
        raters=[*blind, peer],
        raters_per_item=5,
        run=run,
    )
    item = dataset.items.get(key="good")
    open_to_peers = factories.queue(
        team,
        alice,
        dataset=dataset,
        rubric_version=version,
        raters=[peer],
        name="Earlier, not blind",
        blind="none",
    )
    stage = Stage(people, run, queue, open_to_peers, {})
    for place in (queue, open_to_peers):
        review = queues.start_review(place, item, peer)
        reviews.save_note(review, note=PEER_NOTES, flagged=True)
        stage.submit(review, reason=PEER_SAYS)
    criterion = version.criteria.first()
    adjudications.adjudicate(
        item, criterion, by=peer, verdict=Verdict.MET, cause=Cause.HUMAN_WRONG, reason=DECISION_SAYS
    )
    verdict = Judgement.objects.filter(run=run, item=item)[0]
    comment = comments.write(
        item, by=peer, text=f"{PEER_COMMENTS} @alice @ed @rae @ann @bob", judgement=verdict
    )
    endpoint = endpoints.add_endpoint(
        team, by=alice, name="mine", base_url="http://127.0.0.1:9/v1", model="m"
    )
    stage.ids = {
        **other_ids(team, alice),
        **ids_of_item(item),
        "rubric_id": version.rubric_id,
        "run_id": run.pk,
        "baseline_id": earlier.pk,
        "queue_id": queue.pk,
        "rater_id": review.rater_id,
        "criterion_id": criterion.pk,
        "endpoint_id": endpoint.pk,
        "judge_id": judge_of(run),
        "comment_id": comment.pk,
        "view_id": 0,
        "call_id": JudgeCall.objects.filter(run=run).values_list("pk", flat=True)[0],
    }
    return stage


def judge_of(run: Run) -> int:
    assert run.judge_version is not None, "a judge was picked"
    return run.judge_version.judge_id


def other_ids(team: Team, by: User) -> dict[str, Any]:
    """Ids that addresses take and no walk is about; the first two are made."""
    return {
        "import_id": factories.refused_import(team, by).pk,
        "combination_id": factories.combination(team, by, name="Both").pk,
        "number": 1,
        "format": "yaml",
        "kind": "dataset",
        "endpoint_id": 0,
        "judge_id": 0,
        "link_id": 0,
    }


def ids_of_item(item: Item) -> dict[str, Any]:
    """Ids of an item and of what it belongs to."""
    dataset_id = item.dataset_id
    return {"item_id": item.pk, "case_id": item.case_id, "dataset_id": dataset_id, "row_id": dataset_id}


def addresses(stage: Stage, rater: User, review: Review) -> Iterator[str]:
    """Every GET address of the team with real ids, plain and narrowed to the run and the queues."""
    membership = stage.cast.team.memberships.get(user=rater)
    token, _ = teams.create_token(membership, name="t", may_write=False, days=1, now=timezone.now())
    notice = Notice.objects.get(user=rater, comment=stage.ids["comment_id"])
    ids = stage.ids | {
        "review_id": review.pk,
        "user_id": rater.pk,
        "token_id": token.pk,
        "notice_id": notice.pk,
        "invitation_id": 1,
    }
    narrowed = f"run={stage.run.pk}&queue={stage.queue.pk}"
    queues = f"{narrowed}&queue={stage.other_queue.pk}"
    both = f"{queues}&dataset={stage.ids['dataset_id']}"
    # Rooms refuse what they do not know, so each narrowing is asked for by itself.
    asked = ("", f"?{narrowed}", f"?{queues}", f"?{queues}&decided=1", f"?{both}")
    of_the_inbox = (
        "?decided=1",
        "?cause=human_wrong",
        f"?{narrowed}&judged=MET&truth=MET",
        f"?{queues}&decided=1",
    )
    for pattern in team_urls:
        assert isinstance(pattern, URLPattern)
        names = re.findall(r"<(?:\w+:)?(\w+)>", str(pattern.pattern))
        unknown = set(names) - set(ids)
        assert not unknown, f"{pattern.name} takes {unknown}: give the walk an id for it"
        url = reverse(str(pattern.name), args=[stage.cast.team.slug, *(ids[name] for name in names)])
        for query in ("", *of_the_inbox) if str(pattern.name).startswith("adjudication") else asked:
            yield f"{url}{query}"
        if pattern.name == "export_download":
            for what, format in EXPORTS:
                yield download(stage, what, format)


def download(stage: Stage, what: str, format: str) -> str:
    """The export of the blind queue and the one before it, as a form of the exports page sends it."""
    queues = f"queues={stage.queue.pk}&queues={stage.other_queue.pk}"
    chosen = f"dataset={stage.ids['dataset_id']}&{queues}&run={stage.run.pk}"
    return f"{reverse('export_download', args=[stage.cast.team.slug])}?what={what}&format={format}&{chosen}"


def text_of(answer: Any) -> str:
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    headers = "\n".join(f"{name}: {value}" for name, value in answer.items())
    return f"{headers}\n{body.decode(errors='replace')}"


WAYS = {"page": {}, "fragment": HTMX, "json": {"Accept": "application/json"}}
HEADER = {"fragment": "HX-Request", "json": "Accept"}
Headers = type(RequestFactory().get("/").headers)


class Asked:
    """A client, and which headers were looked at on the way to its last answer."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.headers: set[str] = set()
        # The same on every page of a walk, and a third of its work: counted once.
        self._unread, self._to_review = cache(unread_count), cache(open_reviews_count)

    def get(self, url: str, way: str) -> Any:
        self.headers.clear()
        with (
            mock.patch.object(Headers, "__getitem__", self._read),
            mock.patch("rubricweb.web.http.notices.unread_count", self._unread),
            mock.patch("rubricweb.web.http.queues.open_reviews_count", self._to_review),
        ):
            return self.client.get(url, headers=WAYS[way])

    @property
    def _read(self) -> Callable[[Any, str], str]:
        plain = Headers.__getitem__

        def read(headers: Any, name: str) -> str:
            self.headers.add(name)
            return plain(headers, name)

        return read


def answers(
    client: Client, urls: Iterable[str], ways: Sequence[str], *, narrowest: Sequence[str] = ("page",)
) -> Iterator[tuple[str, str, Any]]:
    """(address, way, answer) of every page, asked for plainly in these ways.

    In another way than as a page it is asked for only where the header that says so was looked at. Narrowed
    it is asked for only where it has read its query, and narrowed to most in ways of its own.
    """
    asked = Asked(client)
    for _, of_one_page in groupby(urls, key=lambda url: url.partition("?")[0]):
        plain, *narrowed = of_one_page
        seen = [(plain, "page", asked.get(plain, "page"))]
        others = [way for way in ways if way != "page" and HEADER[way] in asked.headers]
        seen += [(plain, way, asked.get(plain, way)) for way in others]
        yield from seen
        if any(reads_its_query(answer) for _, _, answer in seen):
            for url in narrowed:
                for way in narrowest if url == narrowed[-1] else ("page",):
                    yield url, way, asked.get(url, way)


def reads_its_query(answer: Any) -> bool:
    """Whether anything looked at the query on the way to this answer: Django parses it when first asked.

    What never looked says the same to every query, so that asking it again would prove nothing.
    """
    return "GET" in vars(answer.wsgi_request)


def leaks(client: Client, urls: Iterable[str]) -> Iterator[tuple[str, str]]:
    """(marker, where it was told) for every marker in what the addresses answer."""
    for url, way, answer in answers(client, urls, list(WAYS), narrowest=("page", "fragment")):
        broken = f"{url} breaks with {answer.status_code}"
        assert answer.status_code < 500 or answer.status_code == 501, broken
        text = text_of(answer)
        for marker in MARKERS:
            if factories.tells(text, marker):
                yield marker, f"{url} ({way}) says {marker}"


# The owner's pages and the annotator's; what lies between them is walked at night.
@pytest.mark.parametrize(
    "role", ["alice", *(pytest.param(role, marks=pytest.mark.long) for role in ("ed", "rae")), "ann"]
)
def test_no_page_tells_a_blind_rater_what_others_said(stage: Stage, sign_in, role: str) -> None:
    rater = getattr(stage.cast, role)
    review = stage.review_of(rater)
    client = sign_in(rater)
    told = [where for _, where in leaks(client, addresses(stage, rater, review))]
    assert not told, "\n".join(told)


@pytest.mark.parametrize("role", ["alice", "ed", "rae", "ann"])
def test_saving_and_refused_submitting_tell_nothing_either(stage: Stage, sign_in, role: str) -> None:
    rater = getattr(stage.cast, role)
    review = stage.review_of(rater)
    slug, client = stage.cast.team.slug, sign_in(rater)
    criterion_id = stage.ids["criterion_id"]
    sent = [
        (reverse("review_verdict", args=[slug, review.pk, criterion_id]), {"verdict": "MET", "reason": "x"}),
        (reverse("review_note", args=[slug, review.pk]), {"note": "x"}),
        (reverse("review_submit", args=[slug, review.pk]), {f"verdict_{criterion_id}": "MET"}),
        (reverse("review_skip", args=[slug, review.pk]), {"reason": " "}),
        (reverse("adjudication_unit", args=[slug, stage.ids["item_id"], criterion_id]), {"verdict": "MET"}),
        (
            reverse("adjudication_unit", args=[slug, stage.ids["item_id"], criterion_id]),
            {"verdict": "MET", "cause": "human_wrong"},
        ),
        (reverse("adjudication_undo", args=[slug, stage.ids["item_id"], criterion_id]), {}),
        (reverse("queue_accept", args=[slug, stage.queue.pk]), {}),
        (reverse("review_revision", args=[slug, review.pk, criterion_id]), {"choice": "keep"}),
        (reverse("review_keep", args=[slug, review.pk]), {}),
    ]
    for url, data in sent:
        for headers in ({}, HTMX, {"Accept": "application/json"}):
            text = text_of(client.post(url, data, headers=headers))
            assert not [marker for marker in MARKERS if factories.tells(text, marker)], f"{url} tells"


@pytest.mark.parametrize("role", ["alice", "ed", "rae", "ann"])
def test_the_reveal_shows_judge_and_peer_once_submitted(stage: Stage, sign_in, role: str) -> None:
    rater = getattr(stage.cast, role)
    review = stage.submit(stage.review_of(rater))
    answer = sign_in(rater).get(reverse("review_reveal", args=[stage.cast.team.slug, review.pk]))
    assert answer.status_code == 200
    assert JUDGE_SAYS in text_of(answer)
    assert PEER_SAYS in text_of(answer)


def test_the_reveal_of_a_draft_goes_back_to_the_sheet(stage: Stage, sign_in) -> None:
    review = stage.review_of(stage.cast.ann)
    client, slug = sign_in(stage.cast.ann), stage.cast.team.slug
    answer = client.get(reverse("review_reveal", args=[slug, review.pk]))
    assert answer["Location"] == reverse("review", args=[slug, review.pk])


def test_a_second_blind_queue_over_the_item_keeps_the_reveal_closed(stage: Stage, sign_in) -> None:
    ann, team = stage.cast.ann, stage.cast.team
    factories.queue(
        team,
        stage.cast.alice,
        dataset=stage.queue.dataset,
        rubric_version=stage.queue.rubric_version,
        raters=[ann],
        name="Again, later",
    )
    review = stage.submit(stage.review_of(ann))
    answer = sign_in(ann).get(reverse("review_reveal", args=[team.slug, review.pk]))
    assert answer.status_code == 200
    assert not [marker for marker in MARKERS if factories.tells(text_of(answer), marker)]
    assert "stay hidden for now" in text_of(answer)


def test_a_queue_that_is_not_blind_shows_the_judge_beside_the_open_criterion(stage: Stage, sign_in) -> None:
    queues.close_queue(stage.queue, by=stage.cast.alice)
    queue = factories.queue(
        stage.cast.team,
        stage.cast.alice,
        dataset=stage.queue.dataset,
        rubric_version=stage.queue.rubric_version,
        raters=[stage.cast.ann],
        name="With the judge's help",
        blind="none",
        run=stage.run,
    )
    review = queues.next_review(queue, stage.cast.ann, now=timezone.now())
    assert review is not None
    text = text_of(sign_in(stage.cast.ann).get(reverse("review", args=[stage.cast.team.slug, review.pk])))
    assert JUDGE_SAYS in text
    assert PEER_SAYS not in text


def test_somebody_elses_review_is_not_found_whatever_the_role(stage: Stage, sign_in) -> None:
    review = stage.review_of(stage.cast.ann)
    for page in ("review", "review_reveal", "review_skip"):
        url = reverse(page, args=[stage.cast.team.slug, review.pk])
        assert sign_in(stage.cast.alice).get(url).status_code == 404


def test_the_walk_narrows_the_pages_that_read_their_query(stage: Stage, sign_in) -> None:
    """Among them those whose figures can be narrowed to a run or a queue."""
    ann = stage.cast.ann
    urls = list(addresses(stage, ann, stage.review_of(ann)))
    slug, client = stage.cast.team.slug, sign_in(ann)
    for name, narrows in (
        ("dashboard", True),
        ("compare", True),
        ("adjudication", True),
        ("rubric_import", False),
    ):
        of_this = [url for url in urls if url.partition("?")[0] == reverse(name, args=[slug])]
        asked = [(url, way) for url, way, _ in answers(client, of_this, ["page"])]
        assert asked == [(url, "page") for url in (of_this if narrows else of_this[:1])], name


def test_the_walk_notices_what_somebody_who_is_not_a_rater_may_see(stage: Stage, sign_in) -> None:
    ann = stage.cast.ann
    client = sign_in(stage.cast.bob)
    unseen = {JUDGE_SAYS, PEER_SAYS, PEER_NOTES, PEER_COMMENTS, factories.TELLING_SCORE}
    for marker, _ in leaks(client, addresses(stage, ann, stage.review_of(ann))):
        unseen.discard(marker)
        if not unseen:  # the pages that are left would tell the same once more
            return
    assert not unseen


@pytest.mark.parametrize("name", ["run_item", "compare_item"])
def test_the_pages_of_one_items_verdicts_open_once_submitted(stage: Stage, sign_in, name: str) -> None:
    ann, ids, slug = stage.cast.ann, stage.ids, stage.cast.team.slug
    args = [slug, ids["run_id"], ids["item_id"]] if name == "run_item" else [slug, ids["item_id"]]
    url = f"{reverse(name, args=args)}?run={ids['run_id']}&queue={ids['queue_id']}"
    assert JUDGE_SAYS not in text_of(sign_in(ann).get(url))
    stage.submit(stage.review_of(ann))
    assert JUDGE_SAYS in text_of(sign_in(ann).get(url))


@pytest.mark.parametrize("name", ["runs", "dashboard"])
def test_a_runs_score_waits_in_lists_until_one_has_submitted(stage: Stage, sign_in, name: str) -> None:
    """Also as htmx asks for it, and in the files of the chart."""
    ann, url = stage.cast.ann, reverse(name, args=[stage.cast.team.slug])
    client, asked = sign_in(ann), [({}, {}), ({}, HTMX)]
    if name == "dashboard":
        asked += [({"format": "csv"}, {}), ({"format": "svg"}, {})]
    before = [text_of(client.get(url, query, headers=headers)) for query, headers in asked]
    assert not [text for text in before if factories.tells(text, factories.TELLING_SCORE)]
    stage.submit(stage.review_of(ann))
    after = [text_of(client.get(url, query, headers=headers)) for query, headers in asked]
    assert all(factories.tells(text, factories.TELLING_SCORE) for text in after)


def test_a_peers_note_waits_on_the_queue_page_until_one_has_submitted(stage: Stage, sign_in) -> None:
    ann = stage.cast.ann
    url = reverse("queue", args=[stage.cast.team.slug, stage.queue.pk])
    assert PEER_NOTES not in text_of(sign_in(ann).get(url))
    stage.submit(stage.review_of(ann))
    assert PEER_NOTES in text_of(sign_in(ann).get(url))


def test_the_audit_log_leaves_out_decisions_on_items_still_to_review(stage: Stage, sign_in) -> None:
    ann = stage.cast.ann
    url = reverse("settings_audit_log", args=[stage.cast.team.slug])
    assert "adjudicated" not in text_of(sign_in(ann).get(url))
    stage.submit(stage.review_of(ann))
    assert "adjudicated" in text_of(sign_in(ann).get(url))


@pytest.mark.parametrize(("what", "format"), EXPORTS)
def test_an_export_is_withheld_from_a_blind_rater_and_not_from_others(
    stage: Stage, sign_in, what: str, format: str
) -> None:
    """Withheld as a whole: an export without the hidden items would look complete and not be."""
    url, ann = download(stage, what, format), stage.cast.ann
    assert sign_in(ann).get(url).status_code == 403
    stage.submit(stage.review_of(ann))
    for person in (ann, stage.cast.bob):
        answer = sign_in(person).get(url)
        assert answer.status_code == 200
        assert "attachment" in answer["Content-Disposition"]


# ── What a cascade asked tells what its first judge said ─────────────────────────────────────────


def cascade_pages(
    people: Cast, sign_in, viewer: User, *, unsure: bool, about: Sequence[str] = ("",)
) -> dict[str, str]:
    """Everything the pages tell this person in one of the two worlds: address and way → text.

    With `about` the addresses alone that have one of these in them.
    """
    world = cascade_world(people, unsure=unsure)
    item = world.dataset.items.get(key="empty-ish")
    review = queues.start_review(world.blind, item, people.alice)
    comment = comments.write(item, by=people.rae, text="Seen, @alice?")
    client, found = sign_in(viewer), {}
    others = other_ids(world.dataset.team, world.dataset.created_by)
    for run in world.runs:
        ids = {
            **others,
            **ids_of_item(item),
            "rubric_id": world.version.rubric_id,
            "run_id": run.pk,
            "baseline_id": world.earlier.pk,
            "queue_id": world.blind.pk,
            "rater_id": review.rater_id,
            "comment_id": comment.pk,
            "view_id": 0,
            "criterion_id": world.version.criteria.all()[0].pk,
            "endpoint_id": int(world.large.removeprefix("endpoint-")),
            "call_id": JudgeCall.objects.filter(run=world.cascade).values_list("pk", flat=True)[0],
        }
        stage = Stage(people, run, world.blind, world.shared, ids)
        # Plain, and narrowed to everything at once.
        urls = [
            url
            for url in addresses(stage, people.alice, review)
            if ("?" not in url or "dataset=" in url) and (run == world.cascade or f"/runs/{run.pk}/" in url)
            if any(part in url for part in about)
        ]
        found |= pages(client, urls)
    slug = people.team.slug
    again = client.get(reverse("run_new", args=[slug]), {"again": world.again.pk}, headers=HTMX)
    assert "answered before" in text_of(again) or viewer != people.ed
    found["plan"] = text_of(again)
    people.team.keep_calls_days = 1
    retention.prune(people.team, now=timezone.now() + timedelta(days=2))
    pruned = [reverse(name, args=[slug]) for name in ("settings_retention", "settings_audit_log")]
    return found | {f"pruned {url}": text for url, text in pages(client, pruned).items()}


# ── The same words elsewhere ─────────────────────────────────────────────────────────────────────

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def copies_pages(people: Cast, sign_in, viewer: User, *, met: bool, about: str = "") -> dict[str, str]:
    """Everything the pages and mails tell this person of words that are in several places.

    With `about` the addresses alone that have it in them.
    """
    world = copies_world(people, met=met)
    EmailAddress.objects.create(user=viewer, email=viewer.email, primary=True, verified=True)
    client, found = sign_in(viewer), {}
    comment = world.draft.item.comments.get()
    others = other_ids(world.run.team, world.run.created_by)
    for run, item in world.places:
        ids = {
            **others,
            **ids_of_item(item),
            "rubric_id": world.version.rubric_id,
            "run_id": run.pk,
            "baseline_id": world.again.pk,
            "queue_id": world.queue.pk,
            "rater_id": world.draft.rater_id,
            "comment_id": comment.pk,
            "view_id": 0,
            "criterion_id": world.version.criteria.all()[0].pk,
            "call_id": JudgeCall.objects.filter(run=run, item=item).values_list("pk", flat=True)[0],
        }
        stage = Stage(people, run, world.queue, world.shared, ids)
        places = (f"/items/{item.pk}/", f"/runs/{run.pk}/", f"/datasets/{item.dataset_id}/", "format=csv")
        urls = []
        for url in addresses(stage, people.alice, world.draft):
            of_this = any(part in url for part in places) and ("?" not in url or "dataset=" in url)
            # All pages once, then those that are about this place.
            if about in url and (of_this or ("?" not in url and item.key == "bad again")):
                urls.append(url)
        found |= {f"{item} {url}": text_of(answer) for url, _, answer in answers(client, urls, ["page"])}
    prefetch = reverse("review_prefetch", args=[people.team.slug, world.draft.pk])
    found["prefetched"] = text_of(client.post(prefetch))
    notices.send_mails(now=lambda: NOON + timedelta(minutes=5), link=tasks._link)
    found["mails"] = "\n".join(
        f"{one.to} {one.subject} {one.body}" for one in mail.outbox if viewer.email in one.to
    )
    mail.outbox.clear()
    return found


def test_no_page_or_mail_tells_a_blind_rater_what_was_said_of_the_same_words(
    people: Cast, sign_in, settings
) -> None:
    """Two worlds that differ in one verdict on words still to review: in their queue, a second time in that
    dataset, and in a subset. The rater owns the team. The clock stands still, so every time stamp, ETag and
    Last-Modified is compared too.
    """
    settings.SENDS_MAIL = True
    found = in_both_worlds(lambda met: copies_pages(people, sign_in, people.alice, met=met), at=NOON)
    assert "asks you to review" in found[0]["mails"]
    told = told_apart(*found)
    assert not told, "\n".join(told)


def test_who_does_not_rate_sees_what_was_said_of_the_same_words(people: Cast, sign_in) -> None:
    found = in_both_worlds(
        lambda met: copies_pages(people, sign_in, people.ed, met=met, about="/items/"), at=NOON
    )
    told = told_apart(*found)
    places = [line.split(": ")[0] for line in told]
    for key in ("bad again", "of the subset"):
        assert [place for place in places if place.startswith(f"{key} ") and "/items/" in place], key


def test_an_item_that_was_submitted_stays_hidden_while_its_copy_waits(people: Cast, sign_in) -> None:
    """Who submits one of two equal items in one queue sees what the judge said once both are submitted."""
    version = factories.version(people.team, people.ed)
    dataset = factories.dataset(
        people.team, people.ed, items=[{"id": key, "submission": "Paris."} for key in ("one", "two")]
    )
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda *_: f'{{"explanation": "{JUDGE_SAYS}", "criterion_status": "MET"}}'))
    queue = factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], run=run
    )
    first, second = (queues.start_review(queue, item, people.ann) for item in dataset.items.all())
    client, stage = sign_in(people.ann), Stage(people, run, queue, queue, {})
    slug = people.team.slug
    pages_of_first = [
        reverse("review_reveal", args=[slug, first.pk]),
        reverse("run_item", args=[slug, run.pk, first.item_id]),
    ]
    assert not client.get(reverse("review", args=[slug, first.pk])).context["reveals"]
    stage.submit(first)
    for page in pages_of_first:
        assert JUDGE_SAYS not in text_of(client.get(page))
    stage.submit(second)
    for page in pages_of_first:
        assert JUDGE_SAYS in text_of(client.get(page))


def pages(client: Client, urls: Iterable[str]) -> dict[str, str]:
    asked = answers(client, urls, ["page", "fragment"])
    return {f"{url} ({way})": text_of(answer) for url, way, answer in asked}


def test_no_page_tells_a_blind_rater_whether_a_cascade_went_on(people: Cast, sign_in) -> None:
    """Two worlds that differ in a verdict on an item still to review, and in what was asked for its sake,
    look the same: calls, cost, errors, the log, the month, what earlier answers were used again.
    """
    told = told_apart(
        *in_both_worlds(lambda unsure: cascade_pages(people, sign_in, people.alice, unsure=unsure))
    )
    assert not told, "\n".join(told)


def test_who_does_not_rate_sees_what_a_cascade_asked(people: Cast, sign_in) -> None:
    about = ["runs/2/live", "runs/3/live", "runs/4/live", "runs/5/live", "runs/4/log", "settings/spending"]
    found = in_both_worlds(
        lambda unsure: cascade_pages(people, sign_in, people.ed, unsure=unsure, about=about)
    )
    told = told_apart(*found)
    expected = [*about, "plan", "pruned /t/capitals/settings/retention"]
    assert not [place for place in expected if not any(place in line.split(": ")[0] for line in told)]
