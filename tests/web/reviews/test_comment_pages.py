"""Comments under items and the notices they make, as people see them on the pages."""

import re
from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.parsers.mentions import Mentions, mentions
from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict
from rubricweb.models import Comment, Item, Judgement, Notice, Review, ReviewQueue, Run, User
from rubricweb.selectors.reviews import comments as selected
from rubricweb.services import comments
from rubricweb.services.reviews import queues, reviews
from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.remembered import remembered


@dataclass
class Place:
    """A graded item of the team, and the addresses of its pages."""

    people: Cast
    item: Item
    run: Run

    def url(self, name: str, *args: Any) -> str:
        return reverse(name, args=[self.people.team.slug, *args])

    @property
    def comments_url(self) -> str:
        return self.url("comments", self.item.pk)


@pytest.fixture
def place(people: Cast) -> Place:
    return remembered(("comment pages", people.team.pk), lambda: make_place(people))


def make_place(people: Cast) -> Place:
    version = factories.version(people.team, people.alice)
    dataset = factories.dataset(people.team, people.alice)
    run = factories.run(people.team, people.alice, dataset=dataset, rubric_version=version)
    grade(run, InProcessJudge(lambda requirement, response: "MET"))
    return Place(people, dataset.items.get(key="good"), run)


def blind_queue(place: Place, *raters: User) -> ReviewQueue:
    return factories.queue(
        place.people.team,
        place.people.alice,
        dataset=place.item.dataset,
        rubric_version=place.run.rubric_version,
        raters=raters,
        raters_per_item=len(raters),
        name=f"Blind {ReviewQueue.objects.count()}",
        run=place.run,
    )


def submitted(queue: ReviewQueue, item: Item, user: User) -> Review:
    review = queues.start_review(queue, item, user)
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET, reason="mine")
    reviews.submit(review, now=timezone.now())
    return review


def text(client: Client, url: str) -> str:
    answer = client.get(url)
    assert answer.status_code == 200, answer.status_code
    return answer.content.decode()


def bell(client: Client, place: Place) -> int:
    """The number a person's bell shows."""
    found = re.search(r'aria-label="Notifications(?:, (\d+) unread)?"', text(client, place.url("dashboard")))
    assert found is not None
    return int(found[1] or 0)


# ── Writing ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("page", ["item", "run_item", "compare_item", "review_reveal", "adjudication_unit"])
def test_a_comment_is_written_and_read_under_every_page_of_an_item(place: Place, sign_in, page: str) -> None:
    ann = place.people.ann
    review = submitted(blind_queue(place, ann), place.item, ann)
    criterion = reviews.criteria_of(review).get(name="capital")
    ids = {
        "run_item": (place.run.pk, place.item.pk),
        "review_reveal": (review.pk,),
        "adjudication_unit": (place.item.pk, criterion.pk),
    }
    url = place.url(page, *ids.get(page, (place.item.pk,)))
    client = sign_in(ann)
    assert f'action="{place.comments_url}"' in text(client, url)
    answer = client.post(place.comments_url, {"text": "Is **Lyon** meant?", "next": url})
    made = Comment.objects.get()
    assert answer["Location"] == f"{url}#comment-{made.pk}"
    assert "Is <strong>Lyon</strong> meant?" in text(client, url)


def test_a_viewer_reads_and_does_not_write(place: Place, sign_in) -> None:
    comments.write(place.item, by=place.people.ann, text="Seen by all.")
    bob = sign_in(place.people.bob)
    page = text(bob, place.url("item", place.item.pk))
    assert "Seen by all." in page
    assert 'name="text"' not in page
    assert bob.post(place.comments_url, {"text": "No."}).status_code == 403


@pytest.mark.parametrize(
    ("sent", "said"),
    [("", "Write something first."), (" \n", "Write something first."), ("x" * 10_001, "at most 10,000")],
)
def test_a_text_that_is_refused_is_still_in_the_form(place: Place, sign_in, sent: str, said: str) -> None:
    answer = sign_in(place.people.ann).post(place.comments_url, {"text": sent})
    page = answer.content.decode()
    assert answer.status_code == 422
    assert said in page
    assert sent.strip() in page
    assert not Comment.objects.exists()


def test_ten_thousand_characters_are_enough(place: Place, sign_in) -> None:
    sign_in(place.people.ann).post(place.comments_url, {"text": "x" * 10_000})
    assert len(Comment.objects.get().text) == 10_000


def test_what_is_written_cannot_run(place: Place, sign_in) -> None:
    nasty = "<script>alert(1)</script> [a](javascript:alert(1)) ![b](https://elsewhere.example/b.png)"
    comments.write(place.item, by=place.people.ann, text=nasty)
    page = text(sign_in(place.people.bob), place.url("item", place.item.pk))
    comment = page[page.index('id="comment-') :].partition("</li>")[0]
    assert "<script" not in comment
    assert "<a href" not in comment.replace('<a href="https://elsewhere.example', "")
    assert "<img" not in comment


def test_a_form_leads_back_to_pages_of_its_team_only(place: Place, sign_in) -> None:
    client = sign_in(place.people.ann)
    for there in ("https://evil.example/t/capitals/", "//evil.example", "/t/another/", "/t/capitals/\\evil"):
        answer = client.post(place.comments_url, {"text": "Hm.", "next": there})
        made = Comment.objects.latest("pk")
        ours = place.comments_url if "\\" not in there else answer["Location"].partition("#")[0]
        assert answer["Location"] == f"{ours}#comment-{made.pk}"
        assert "evil.example" not in answer["Location"]


def test_a_comment_on_a_criterion_names_it(place: Place, sign_in) -> None:
    criterion = place.run.rubric_version.criteria.get(name="capital")
    client = sign_in(place.people.ann)
    client.post(place.comments_url, {"text": "Which one?", "about": f"criterion-{criterion.pk}"})
    assert Comment.objects.get().criterion == criterion
    page = text(client, place.comments_url)
    assert '<span class="tag">capital</span>' in page[page.index('id="comment-') :]


def test_a_comment_on_a_verdict_shows_it(place: Place, sign_in) -> None:
    verdict = Judgement.objects.get(run=place.run, item=place.item, criterion__name="capital")
    client = sign_in(place.people.ann)
    page = text(client, place.url("run_item", place.run.pk, place.item.pk))
    assert f'value="verdict-{verdict.pk}"' in page
    client.post(place.comments_url, {"text": "Too kind.", "about": f"verdict-{verdict.pk}"})
    [line] = selected.thread(place.item, viewer=place.people.bob).lines
    assert (line.judgement_id, line.verdict, line.criterion) == (verdict.pk, "MET", verdict.criterion)


def test_a_draft_is_no_verdict_to_comment_on(place: Place, sign_in) -> None:
    queue = blind_queue(place, place.people.ann)
    review = queues.start_review(queue, place.item, place.people.ann)
    criterion = reviews.criteria_of(review)[0]
    draft = reviews.save_verdict(review, criterion.pk, verdict=Verdict.MET)
    assert draft is not None
    answer = sign_in(place.people.bob).get(place.comments_url)
    assert f"verdict-{draft.pk}" not in answer.content.decode()
    sent = {"text": "Early.", "about": f"verdict-{draft.pk}"}
    assert sign_in(place.people.ed).post(place.comments_url, sent).status_code == 404


@pytest.mark.parametrize("about", ["criterion-999999", "verdict-999999", "criterion-x", "model-1"])
def test_a_comment_about_nothing_there_is_refused(place: Place, sign_in, about: str) -> None:
    answer = sign_in(place.people.ann).post(place.comments_url, {"text": "Hm.", "about": about})
    assert answer.status_code in (400, 404)
    assert not Comment.objects.exists()


# ── Editing, removing, resolving, paging ─────────────────────────────────────────────────────────


def test_only_its_author_edits_and_removes_a_comment(place: Place, sign_in) -> None:
    made = comments.write(place.item, by=place.people.ann, text="First words.")
    url = place.url("comment", made.pk)
    for other in (place.people.alice, place.people.rae):
        assert sign_in(other).post(url, {"action": "edit", "text": "Mine."}).status_code == 403
        assert sign_in(other).post(url, {"action": "remove"}).status_code == 403
    ann = sign_in(place.people.ann)
    ann.post(url, {"action": "edit", "text": "Second words."})
    page = text(ann, place.comments_url)
    assert "First words." not in page
    assert "Second words." in page
    assert "edited" in page


def test_an_edit_that_is_refused_keeps_both_texts(place: Place, sign_in) -> None:
    made = comments.write(place.item, by=place.people.ann, text="Kept.")
    answer = sign_in(place.people.ann).post(
        place.url("comment", made.pk), {"action": "edit", "text": "y" * 10_001}
    )
    assert answer.status_code == 422
    assert "at most 10,000" in answer.content.decode()
    assert "y" * 10_001 in answer.content.decode()
    made.refresh_from_db()
    assert made.text == "Kept."


def test_a_removed_comment_keeps_its_place_without_its_words(place: Place, sign_in) -> None:
    made = comments.write(place.item, by=place.people.ann, text="Unsaid.")
    comments.write(place.item, by=place.people.rae, text="After it.")
    url = place.url("comment", made.pk)
    for _ in range(2):  # twice does no harm
        assert sign_in(place.people.ann).post(url, {"action": "remove"}).status_code == 302
    made.refresh_from_db()
    assert made.text == ""
    page = text(sign_in(place.people.bob), place.comments_url)
    assert "Ann removed this comment" in page
    assert page.index("removed this comment") < page.index("After it.")
    for action in ("edit", "resolve"):
        answer = sign_in(place.people.ann).post(url, {"action": action, "text": "Again."})
        assert answer.status_code == 409


def test_anybody_who_writes_resolves_and_reopens(place: Place, sign_in) -> None:
    made = comments.write(place.item, by=place.people.ann, text="To do.")
    url = place.url("comment", made.pk)
    rae = sign_in(place.people.rae)
    rae.post(url, {"action": "resolve"})
    assert "resolved</span>" in text(rae, place.comments_url)
    rae.post(url, {"action": "reopen"})
    assert "resolved</span>" not in text(rae, place.comments_url)
    assert sign_in(place.people.bob).post(url, {"action": "resolve"}).status_code == 403
    assert rae.post(url, {"action": "praise"}).status_code == 400


def test_a_long_thread_is_paged_and_every_comment_is_found(place: Place, sign_in) -> None:
    made = [comments.write(place.item, by=place.people.ann, text=f"Number {n}.") for n in range(60)]
    client = sign_in(place.people.bob)
    page = text(client, place.url("item", place.item.pk))
    assert re.findall(r"Number (\d+)\.", page) == [str(n) for n in range(10, 60)]
    assert "10 earlier" in page
    [earlier] = re.findall(rf'href="({re.escape(place.comments_url)}\?before=\d+)"', page)
    assert re.findall(r"Number (\d+)\.", text(client, earlier)) == [str(n) for n in range(10)]
    there = client.get(place.url("comment", made[3].pk))["Location"]
    assert there.endswith(f"#comment-{made[3].pk}")
    assert "Number 3." in text(client, there)


def test_the_audit_log_says_who_commented_and_not_what(place: Place, sign_in) -> None:
    made = comments.write(place.item, by=place.people.ann, text="Quokka.")
    comments.resolve(made, by=place.people.rae)
    page = " ".join(
        re.sub(r"<[^>]+>", " ", text(sign_in(place.people.alice), place.url("settings_audit_log"))).split()
    )
    assert "Ann commented on item 1 Paris is the capital of France." in page
    assert "Rae resolved a comment on item 1 Paris is the capital of France." in page
    assert "Quokka" not in page


# ── Mentions, answers, queues ────────────────────────────────────────────────────────────────────


def told(user: User) -> list[tuple[str, str]]:
    """(kind, text) of everything this person was told about comments."""
    rows = Notice.objects.filter(user=user, comment__isnull=False).order_by("pk")
    return [(row.kind, row.comment.text) for row in rows if row.comment]


def test_a_mention_is_told_once_and_only_to_members(place: Place) -> None:
    people = place.people
    words = "@Rae, @rae and @bob: ask @charlie or mail alice@example.org, not @ann (me), says `x@ed`."
    comments.write(place.item, by=people.ann, text=words)
    assert told(people.rae) == [("mention", words)]
    assert told(people.bob) == [("mention", words)]
    for other in (people.charlie, people.alice, people.ann, people.ed):
        assert told(other) == []


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("@ann.", {"ann", "ann."}),
        ("(@ann)", {"ann"}),
        ("@ann's and @b-c!", {"ann", "b-c"}),
        ("@o'hara", {"o"}),
        ("a@b.org, x/@y, @@z", set()),
        ("@ ann", set()),
        ("@me@example.org", {"me@example.org"}),
    ],
)
def test_which_names_a_text_mentions(words: str, names: set[str]) -> None:
    assert mentions(words) == Mentions(frozenset(names), frozenset())


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ('@"Rae Lee", look', {"rae lee"}),
        ('@"  Rae\tLEE " and @“Ann”', {"rae lee", "ann"}),
        ('mail x@"Rae" or @ "Rae" or @""', set()),
        ('@"Rae\nLee"', set()),
        ('**@"Rae Lee"**', {"rae lee"}),
        ('`@"Rae Lee"`', set()),
    ],
)
def test_which_shown_names_a_text_mentions(words: str, shown: set[str]) -> None:
    assert mentions(words) == Mentions(frozenset(), frozenset(shown))


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("`@ann`", set()),
        ("``x ` @ann``", set()),
        ("`@ann` @bob", {"bob"}),
        ("`not closed @ann", {"ann"}),
        ("```\n@ann\n```\n@bob", {"bob"}),
        ("~~~py\n@ann\n~~~", set()),
        ("```\n@ann", set()),
        ("Look:\n\n    @ann\n\n@bob", {"bob"}),
        ("> - @ann", {"ann"}),
        ("\\`@ann\\`", {"ann"}),
        ("**@ann** _@bob_ ~~@rae~~", {"ann", "bob", "rae"}),
        ("[@ann](https://example.org/@bob)", {"ann"}),
        ("|a|b|\n|-|-|\n|@ann|`@bob`|", {"ann"}),
        ("@_ann_", {"ann", "_ann_"}),
        ("<code>@ann</code>", {"ann"}),
    ],
)
def test_code_mentions_nobody(words: str, names: set[str]) -> None:
    """What the page shows as code; raw HTML it shows as it was written."""
    assert mentions(words).usernames == names


def test_a_shown_name_is_told_where_only_one_member_has_it(place: Place) -> None:
    people = place.people
    for user, name in ((people.rae, "Rae Lee"), (people.bob, "Sam Doe"), (people.ed, "sam  doe")):
        user.name = name
        user.save()
    words = '@"rae lee" and @"Sam Doe", not `@"Rae Lee"` nor @"Charlie"'
    comments.write(place.item, by=people.ann, text=words)
    assert told(people.rae) == [("mention", words)]
    for other in (people.bob, people.ed, people.charlie, people.ann):
        assert told(other) == []  # two are called Sam Doe; charlie is no member


def test_ones_own_name_makes_another_of_it_ambiguous(place: Place) -> None:
    people = place.people
    for user in (people.rae, people.ann):
        user.name = "Rae Lee"
        user.save()
    comments.write(place.item, by=people.ann, text='@"Rae Lee"')
    assert told(people.rae) == []


def test_an_edit_tells_those_it_mentions_first(place: Place) -> None:
    people = place.people
    made = comments.write(place.item, by=people.ann, text="@rae look")
    comments.edit(made, by=people.ann, text="@rae and @ed look", now=timezone.now())
    assert len(told(people.rae)) == len(told(people.ed)) == 1


def test_an_answer_is_told_to_who_wrote_before_and_not_to_its_author(place: Place) -> None:
    people = place.people
    comments.write(place.item, by=people.ann, text="One")
    comments.write(place.item, by=people.rae, text="Two")
    comments.write(place.item, by=people.ann, text="Three")
    elsewhere = place.item.dataset.items.get(key="bad")
    comments.write(elsewhere, by=people.ed, text="Four")
    comments.write(place.item, by=people.ed, text="Five, @ann")
    assert told(people.ann) == [("reply", "Two"), ("mention", "Five, @ann")]
    assert told(people.rae) == [("reply", "Three"), ("reply", "Five, @ann")]
    assert told(people.ed) == []


def test_a_queue_is_told_to_its_raters_but_for_who_opened_it(place: Place, sign_in) -> None:
    people = place.people
    queue = blind_queue(place, people.alice, people.ann)
    assert not Notice.objects.filter(user=people.alice).exists()
    ann = sign_in(people.ann)
    assert bell(ann, place) == 1
    page = text(ann, place.url("notifications"))
    assert f"The queue <strong>{queue.name}</strong> asks you to review" in page
    [notice] = Notice.objects.filter(user=people.ann)
    assert ann.get(place.url("notification", notice.pk))["Location"] == place.url("queue", queue.pk)
    assert bell(ann, place) == 0


def test_who_joins_later_is_told_of_the_queue(place: Place) -> None:
    from rubricweb.services.reviews import queue_changes

    people = place.people
    queue = blind_queue(place, people.ann)
    queue_changes.reassign_queue(queue, by=people.alice, add=[people.rae, people.ann])
    assert [notice.user for notice in queue.notices.order_by("pk")] == [people.ann, people.rae]


def test_opening_a_notice_reads_it_and_leads_to_the_comment(place: Place, sign_in) -> None:
    people = place.people
    made = comments.write(place.item, by=people.ann, text="@rae look")
    rae = sign_in(people.rae)
    assert bell(rae, place) == 1
    [notice] = Notice.objects.filter(user=people.rae)
    url = place.url("notification", notice.pk)
    assert sign_in(people.alice).get(url).status_code == 404
    answer = rae.get(url)
    assert answer["Location"].endswith(f"#comment-{made.pk}")
    assert "@rae look" in text(rae, answer["Location"])
    assert bell(rae, place) == 0


def test_notices_are_read_one_by_one_or_all_at_once(place: Place, sign_in) -> None:
    people = place.people
    for words in ("@rae one", "@rae two", "@rae three"):
        comments.write(place.item, by=people.ann, text=words)
    rae = sign_in(people.rae)
    first = Notice.objects.filter(user=people.rae).earliest("pk")
    rae.post(place.url("notifications"), {"action": "read", "notification": first.pk})
    assert bell(rae, place) == 2
    page = text(rae, place.url("notifications"))
    # Unread first, the newest of them first; then what was read.
    assert re.findall(r"@rae (\w+)", page) == ["three", "two", "one"]
    rae.post(place.url("notifications"), {"action": "read"})
    assert bell(rae, place) == 0
    assert "Mark all as read" not in text(rae, place.url("notifications"))


def test_nobody_reads_anothers_notices_away(place: Place, sign_in) -> None:
    people = place.people
    comments.write(place.item, by=people.ann, text="@rae look")
    [notice] = Notice.objects.filter(user=people.rae)
    sign_in(people.alice).post(place.url("notifications"), {"action": "read", "notification": notice.pk})
    assert bell(sign_in(people.rae), place) == 1


def test_what_was_removed_waits_for_nobody(place: Place, sign_in) -> None:
    people = place.people
    made = comments.write(place.item, by=people.ann, text="@rae look")
    comments.remove(made, by=people.ann, now=timezone.now())
    assert bell(sign_in(people.rae), place) == 0
    assert "Nothing waits for you" in text(sign_in(people.rae), place.url("notifications"))


# ── Blind ────────────────────────────────────────────────────────────────────────────────────────


def test_comments_and_notices_wait_until_the_reader_has_submitted(place: Place, sign_in) -> None:
    people = place.people
    queue = blind_queue(place, people.ann, people.rae)
    Notice.objects.all().delete()  # those of the queue itself
    submitted(queue, place.item, people.rae)
    own = comments.write(place.item, by=people.ann, text="Mine alone.")
    told_to_ann = comments.write(place.item, by=people.rae, text="@ann wombat: clearly MET.")
    ann = sign_in(people.ann)
    pages = [place.url("item", place.item.pk), place.comments_url, place.url("notifications")]
    for page in pages:
        assert "wombat" not in text(ann, page)
    assert bell(ann, place) == 0
    assert "Mine alone." in text(ann, place.comments_url)
    assert "appears once you have submitted" in text(ann, place.comments_url)
    assert selected.thread(place.item, viewer=people.ann).count == 1
    # Not even that there is one: its address is not found, nor its notice, and it cannot be resolved.
    assert ann.get(place.url("comment", told_to_ann.pk)).status_code == 404
    assert ann.post(place.url("comment", told_to_ann.pk), {"action": "resolve"}).status_code == 404
    [notice] = Notice.objects.filter(user=people.ann)
    assert ann.get(place.url("notification", notice.pk)).status_code == 404
    ann.post(place.url("notifications"), {"action": "read"})
    submitted(queue, place.item, people.ann)
    assert bell(ann, place) == 1
    assert "wombat" in text(ann, place.url("notifications"))
    assert "wombat" in text(ann, place.comments_url)
    assert ann.get(place.url("comment", own.pk)).status_code == 302


def test_a_hidden_verdict_cannot_be_commented_on(place: Place, sign_in) -> None:
    blind_queue(place, place.people.ann)
    verdict = Judgement.objects.filter(run=place.run, item=place.item)[0]
    ann = sign_in(place.people.ann)
    answer = ann.post(place.comments_url, {"text": "Hm.", "about": f"verdict-{verdict.pk}"})
    assert answer.status_code == 403
    assert f"verdict-{verdict.pk}" not in text(ann, place.url("compare_item", place.item.pk))
    assert not Comment.objects.exists()


def test_ones_own_comment_on_a_verdict_does_not_tell_it_once_it_is_hidden(place: Place, sign_in) -> None:
    verdict = Judgement.objects.filter(run=place.run, item=place.item)[0]
    comments.write(place.item, by=place.people.ann, text="Hm.", judgement=verdict)
    [before] = selected.thread(place.item, viewer=place.people.ann).lines
    blind_queue(place, place.people.ann)
    [after] = selected.thread(place.item, viewer=place.people.ann).lines
    assert (before.verdict, before.judgement_id) == ("MET", verdict.pk)
    assert (after.verdict, after.judgement_id, after.judge) == (None, None, "")
    assert after.criterion == verdict.criterion


def test_the_same_words_in_another_dataset_hide_their_comments_too(place: Place, sign_in) -> None:
    people = place.people
    copy = factories.dataset(people.team, people.alice, name="copy").items.get(key="good")
    comments.write(copy, by=people.rae, text="Numbat.")
    url = place.url("item", copy.pk)
    assert "Numbat." in text(sign_in(people.ann), url)
    blind_queue(place, people.ann)
    assert "Numbat." not in text(sign_in(people.ann), url)


def test_who_left_the_team_is_still_named_and_told_nothing(place: Place, sign_in) -> None:
    people = place.people
    comments.write(place.item, by=people.rae, text="Before I go.")
    teams.remove_member(people.team.memberships.get(user=people.rae), by=people.alice)
    comments.write(place.item, by=people.ann, text="@rae?")
    assert told(people.rae) == []
    assert "Rae" in text(sign_in(people.bob), place.comments_url)


def test_an_edit_that_meets_a_removal_does_not_put_the_words_back(place: Place) -> None:
    ann = place.people.ann
    comment = comments.write(place.item, by=ann, text="Too much.")
    on_another_page = Comment.objects.get(pk=comment.pk)
    comments.remove(comment, by=ann, now=timezone.now())
    with pytest.raises(Conflict, match="was removed"):
        comments.edit(on_another_page, by=ann, text="Far too much.", now=timezone.now())
    assert Comment.objects.get().text == ""
