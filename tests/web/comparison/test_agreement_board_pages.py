"""The agreement board: figures worked out by hand, who sees whose, and nothing while one is blind."""

import csv
import html
import io
import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from rubricweb.errors import Withheld
from rubricweb.models import Judgement, QueueItem, Review, ReviewQueue, Revision, RevisionChoice, User
from rubricweb.selectors.comparison.board.board import agreement_board
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services import adjudications
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.worlds import agreeing

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""A Monday."""


def text(answer) -> str:
    """The page as one reads it: no tags, entities resolved, spaces single."""
    words = re.sub(r"<title>.*?</title>", " ", answer.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", words)))


def url(people: Cast, queue: ReviewQueue) -> str:
    return reverse("queue_agreement", args=[people.team.slug, queue.pk])


def board(client: Client, people: Cast, queue: ReviewQueue, **query: object) -> str:
    answer = client.get(url(people, queue), query)
    assert answer.status_code == 200, answer.content.decode()[:2000]
    return text(answer)


def numbers(client: Client, people: Cast, queue: ReviewQueue, **query: object) -> list[dict[str, str]]:
    answer = client.get(url(people, queue), {"format": "csv", **query})
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(answer.content.decode())))


@pytest.fixture
def labelled(people: Cast) -> ReviewQueue:
    return agreeing.imported(people)


def submit(
    queue: ReviewQueue, key: str, rater: User, *said: str, now: datetime = NOW, seconds: float | None = None
) -> Review:
    """A review of the item whose criteria were answered in order."""
    review = queues.start_review(queue, queue.dataset.items.get(key=key), rater, now=now)
    for criterion, verdict in zip(reviews.criteria_of(review), said, strict=True):
        reviews.save_verdict(review, criterion.pk, verdict=verdict)
    if seconds is not None:
        Judgement.objects.filter(review=review).update(seconds=seconds)
    reviews.submit(review, now=now)
    return review


class TestFigures:
    def test_each_is_the_one_worked_out_by_hand(self, people, sign_in, labelled) -> None:
        page = board(sign_in(people.rae), people, labelled)
        assert "Krippendorff α 0.39" in page
        assert "Mean κ of pairs 0.40" in page
        assert "Human ceiling, accuracy 0.67" in page
        assert "Raw agreement 0.67" in page
        assert "12 reviews by 3 reviewers" in page
        assert "too few to tell" in page  # four units
        assert "not measured" in page

    def test_pairs_of_raters(self, people, sign_in, labelled) -> None:
        rows = [row for row in numbers(sign_in(people.rae), people, labelled) if row["part"] == "pair"]
        found = {
            (row["rater"], row["other"], row["figure"]): (round(float(row["value"]), 4), row["n"])
            for row in rows
        }
        assert found["xavier", "yann", "kappa"] == (0.5, "4")
        assert found["zoe", "xavier", "kappa"] == (0.5, "4")
        assert found["yann", "zoe", "kappa"] == (0.2, "4")
        assert found["xavier", "yann", "raw_agreement"] == (0.75, "4")
        assert found["yann", "zoe", "raw_agreement"] == (0.5, "4")
        assert len(rows) == 12

    def test_the_hardest_items_come_first_and_open(self, people, sign_in, labelled) -> None:
        client = sign_in(people.rae)
        rows = [row for row in numbers(client, people, labelled) if row["part"] == "item"]
        assert [(row["item"], round(float(row["value"]), 4)) for row in rows] == [
            ("b", 0.3333),
            ("d", 0.3333),
        ]
        page = client.get(url(people, labelled)).content.decode()
        item = labelled.dataset.items.get(key="b")
        link = reverse("compare_item", args=[people.team.slug, item.pk])
        assert f'href="{link}?queue={labelled.pk}"' in page
        assert client.get(f"{link}?queue={labelled.pk}").status_code == 200
        assert "2 items with no disagreement" in text(client.get(url(people, labelled)))

    def test_leniency_of_everybody_most_lenient_first(self, people, sign_in, labelled) -> None:
        rows = [row for row in numbers(sign_in(people.rae), people, labelled) if row["figure"] == "leniency"]
        assert [(row["rater"], float(row["value"]), row["n"]) for row in rows] == [
            ("yann", 0.375, "4"),
            ("xavier", 0.0, "4"),
            ("zoe", -0.375, "4"),
        ]

    def test_every_figure_is_explained(self, people, sign_in, labelled) -> None:
        page = sign_in(people.rae).get(url(people, labelled)).content.decode()
        links = set(re.findall(r'href="#(about-\w+)"', page))
        assert {"about-alpha", "about-kappa", "about-ceiling", "about-leniency", "about-hardest"} <= links
        assert links <= set(re.findall(r'id="(about-\w+)"', page))

    def test_ordered_options_are_measured_as_such(self, people, sign_in) -> None:
        levels = [
            {"label": label, "value": value} for label, value in (("low", 0), ("mid", 0.5), ("high", 1))
        ]
        criteria = [{"name": "how good", "weight": 1, "requirement": "How good is it?", "options": levels}]
        version = factories.version(people.team, people.ed, criteria=criteria)
        dataset = factories.dataset(people.team, people.ed, items=agreeing.ITEMS[:3])
        said = ["a,how good,x,low", "a,how good,y,low", "b,how good,x,low", "b,how good,y,mid"]
        said += ["c,how good,x,high", "c,how good,y,high"]
        queue = factories.import_labels(
            dataset,
            version,
            by=people.ed,
            data="\n".join(["item_id,criterion,rater,verdict", *said]).encode(),
            filename="ordinal.csv",
        )
        [alpha] = [row for row in numbers(sign_in(people.rae), people, queue) if row["figure"] == "alpha"]
        # Values 3 low, 1 mid, 2 high with midranks 2, 4, 5.5: observed 2·4 = 8, expected 36: 1 − 8/36.
        assert (alpha["criterion"], round(float(alpha["value"]), 4)) == ("how good", 0.7778)
        assert "options of different criteria are no common scale" in board(
            sign_in(people.rae), people, queue
        )
        # Nobody is met or unmet, so pairs need a criterion: quadratic κ of low low high, low mid high:
        # 1 − n·Σv·o / Σv·margins = 1 − 3·(1/4) / (2·1/4 + 2·1 + 1·1 + 1·1/4) = 1 − 0.75 / 3.75 = 0.8.
        criterion = version.criteria.get()
        rows = numbers(sign_in(people.rae), people, queue, criterion=criterion.pk)
        kappas = [float(row["value"]) for row in rows if (row["part"], row["figure"]) == ("pair", "kappa")]
        assert kappas == [pytest.approx(0.8)] * 2

    def test_making_an_error_is_not_kind(self, people, sign_in) -> None:
        criteria = [{"name": "wrong", "weight": -5, "requirement": "Says something wrong."}]
        version = factories.version(people.team, people.ed, criteria=criteria)
        dataset = factories.dataset(people.team, people.ed, items=agreeing.ITEMS[:1])
        queue = factories.import_labels(
            dataset,
            version,
            by=people.ed,
            data=b"item_id,criterion,rater,verdict\na,wrong,strict,MET\na,wrong,kind,UNMET",
            filename="errors.csv",
        )
        rows = [row for row in numbers(sign_in(people.rae), people, queue) if row["figure"] == "leniency"]
        assert [(row["rater"], float(row["value"])) for row in rows] == [("kind", 1.0), ("strict", -1.0)]

    def test_an_abstention_is_counted_and_enters_no_figure(self, people, sign_in) -> None:
        version = factories.version(people.team, people.ed, criteria=agreeing.CRITERIA)
        dataset = factories.dataset(people.team, people.ed, items=agreeing.ITEMS[:2])
        lines = ["item_id,criterion,rater,verdict", "a,only,x,MET", "a,only,y,CANNOT_ASSESS"]
        lines += ["b,only,x,MET", "b,only,y,UNMET"]
        queue = factories.import_labels(
            dataset, version, by=people.ed, data="\n".join(lines).encode(), filename="gaps.csv"
        )
        rows = numbers(sign_in(people.rae), people, queue)
        [raw] = [
            row
            for row in rows
            if (row["part"], row["figure"], row["criterion"]) == ("criterion", "raw_agreement", "only")
        ]
        assert (float(raw["value"]), raw["n"]) == (0.0, "1")

    def test_an_empty_queue_says_so(self, people, sign_in) -> None:
        version = factories.version(people.team, people.ed, criteria=agreeing.CRITERIA)
        dataset = factories.dataset(people.team, people.ed, items=agreeing.ITEMS)
        queue = factories.queue(
            people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann]
        )
        page = board(sign_in(people.bob), people, queue)
        assert "Nobody has submitted a review yet." in page
        assert "Agreement is counted from the first item that two people have submitted." in page

    def test_a_criterion_of_elsewhere_is_not_found(self, people, sign_in, labelled) -> None:
        client = sign_in(people.rae)
        assert client.get(url(people, labelled), {"criterion": "999999"}).status_code == 404
        assert client.get(url(people, labelled), {"criterion": "x"}).status_code == 400


@pytest.fixture
def shared(people: Cast) -> ReviewQueue:
    """ann and rae, blind, on two items with two criteria; both have submitted a, ann alone b."""
    version = factories.version(
        people.team,
        people.ed,
        criteria=[*agreeing.CRITERIA, {"name": "other", "weight": 1, "requirement": "Says more."}],
    )
    dataset = factories.dataset(people.team, people.ed, items=agreeing.ITEMS[:2])
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        raters=[people.ann, people.rae],
        raters_per_item=2,
    )
    submit(queue, "a", people.ann, "MET", "UNMET", seconds=4)
    submit(queue, "b", people.ann, "MET", "UNMET", seconds=8)
    submit(queue, "a", people.rae, "UNMET", "UNMET", seconds=6)
    return queue


class TestWhoSeesWhat:
    def test_whoever_is_still_to_review_blind_sees_no_figure(self, people, sign_in, shared) -> None:
        client = sign_in(people.rae)
        page = board(client, people, shared)
        assert "Hidden until you finish your reviews" in page
        assert "The verdicts on 1 item of First look are hidden from you" in page
        assert "Submit your reviews in “First look”." in page
        assert "0." not in re.sub(r".*Hidden until you finish your reviews", "", page)
        assert client.get(url(people, shared), {"format": "csv"}).status_code == 403
        submit(shared, "b", people.rae, "MET", "UNMET")
        assert "Krippendorff α" in board(client, people, shared)

    def test_a_blind_queue_over_the_same_items_hides_this_board_too(self, people, sign_in, labelled) -> None:
        second = factories.queue(
            people.team,
            people.ed,
            dataset=labelled.dataset,
            rubric_version=labelled.rubric_version,
            raters=[people.rae, people.ann],
            name="Second look",
        )
        assert "Submit your reviews in “Second look”." in board(sign_in(people.rae), people, labelled)
        # Once ann has taken every item rae is asked to submit nothing; ann may still give one back.
        for key in labelled.dataset.items.values_list("key", flat=True):
            queues.start_review(second, second.dataset.items.get(key=key), people.ann)
        page = board(sign_in(people.rae), people, labelled)
        assert "Nothing is left for you to submit in “Second look”" in page
        assert "Krippendorff α" in board(sign_in(people.bob), people, labelled)

    def test_a_rater_sees_their_own_numbers_and_nobody_elses(self, people, sign_in, shared) -> None:
        client = sign_in(people.ann)
        page = board(client, people, shared)
        # Both labelled a: ann 1 and 0, rae 0 and 0, so ann gives 1/2 more over two units.
        assert "Your own labels" in page
        assert "+0.5" in page
        assert "rae" not in page
        assert re.search(r"Rater [12] ", page)
        rows = [row for row in numbers(client, people, shared) if row["part"] == "rater"]
        assert {row["rater"] for row in rows} == {name_of(shared, people.ann)}

    def test_a_rater_of_an_open_queue_waits_until_their_part_is_done(self, people, sign_in) -> None:
        version = factories.version(people.team, people.ed, criteria=agreeing.CRITERIA)
        dataset = factories.dataset(people.team, people.ed, items=agreeing.ITEMS[:2])
        queue = factories.queue(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=version,
            raters=[people.ann],
            blind="none",
        )
        submit(queue, "a", people.ann, "MET")
        client = sign_in(people.ann)
        assert "Your numbers appear here once you have submitted all" in board(client, people, queue)
        submit(queue, "b", people.ann, "MET")
        assert "nobody else has labelled what you labelled" in board(client, people, queue)

    def test_a_viewer_sees_no_name_and_nobodys_numbers(self, people, sign_in, labelled) -> None:
        client = sign_in(people.bob)
        page = board(client, people, labelled)
        assert not [name for name in agreeing.RATERS if name in page]
        assert "Krippendorff α 0.39" in page
        assert not [row for row in numbers(client, people, labelled) if row["part"] == "rater"]

    def test_reviewers_and_editors_see_everybody_by_name(self, people, sign_in, labelled) -> None:
        for person in (people.rae, people.ed):
            page = board(sign_in(person), people, labelled)
            assert all(name in page for name in agreeing.RATERS)


class TestFilesThatGrew:
    @pytest.fixture
    def grown(self, people, labelled) -> ReviewQueue:
        """A second week: yann has come round on b, and all three have labelled e."""
        dataset = labelled.dataset
        more = b'{"id": "e", "submission": "Text e."}'
        factories.add_items(dataset, by=people.ed, data=more, filename="more.jsonl")
        said = agreeing.labels_csv().replace("b,only,yann,MET", "b,only,yann,UNMET")
        said += "".join(f"\ne,only,{name},MET," for name in agreeing.RATERS)
        given = {"data": said.encode(), "filename": "week 2.csv"}
        return factories.import_labels(dataset, labelled.rubric_version, by=people.ed, **given)

    def test_the_board_of_each_week_is_over_all_of_them(self, people, sign_in, labelled, grown) -> None:
        client = sign_in(people.rae)
        for queue, other in ((labelled, grown), (grown, labelled)):
            page = board(client, people, queue)
            assert (
                "15 reviews by 3 reviewers, with the labels that the same people gave in other files: "
                f"{other}" in page
            )
            everything = numbers(client, people, queue)
            assert [row["other"] for row in everything if row["part"] == "other file"] == [str(other)]
            rows = [row for row in everything if row["part"] == "pair"]
            found = {
                (row["rater"], row["other"]): (float(row["value"]), row["n"])
                for row in rows
                if row["figure"] == "raw_agreement"
            }
            # On b yann is with zoe now: x and y are alike on a, c and e, y and z on all but d.
            assert found["xavier", "yann"] == (pytest.approx(3 / 5), "5")
            assert found["yann", "zoe"] == (pytest.approx(4 / 5), "5")

    def test_an_item_of_another_week_that_is_still_to_be_reviewed_blind_hides_it(
        self, people, sign_in, labelled, grown
    ) -> None:
        item = labelled.dataset.items.get(key="e")
        factories.queue(
            people.team,
            people.ed,
            dataset=labelled.dataset,
            rubric_version=labelled.rubric_version,
            raters=[people.ann],
            source=Source("items", item_ids=(item.pk,)),
        )
        assert "Hidden until you finish your reviews" in board(sign_in(people.ann), people, labelled)
        with CaptureQueriesContext(connection) as of_two, pytest.raises(Withheld, match="1 item of these"):
            agreement_board(labelled, people.ann)
        third = agreeing.labels_csv().replace("d,only,yann,MET", "d,only,yann,UNMET")
        given = {"data": third.encode(), "filename": "week 3.csv"}
        factories.import_labels(labelled.dataset, labelled.rubric_version, by=people.ed, **given)
        with CaptureQueriesContext(connection) as of_three, pytest.raises(Withheld):
            agreement_board(labelled, people.ann)
        assert len(of_three) == len(of_two)
        assert "Krippendorff α" in board(sign_in(people.rae), people, labelled)


class TestTimeGoldAndWeeks:
    def test_the_time_per_criterion_is_the_median(self, people, sign_in, shared) -> None:
        submit(shared, "b", people.rae, "MET", "UNMET", seconds=20)
        rows = numbers(sign_in(people.rae), people, shared)
        # 4, 6, 8 and 20 seconds on each criterion.
        assert [(row["criterion"], row["value"]) for row in rows if row["figure"] == "seconds"][1:] == [
            ("only", "7.0"),
            ("other", "7.0"),
        ]

    def test_gold_accuracy_is_held_against_what_was_decided(self, people, sign_in, shared) -> None:
        submit(shared, "b", people.rae, "MET", "UNMET")
        item = shared.dataset.items.get(key="a")
        first, second = shared.rubric_version.criteria.order_by("position")
        for criterion, verdict in ((first, "MET"), (second, "MET")):
            adjudications.adjudicate(
                item, criterion, by=people.ed, verdict=verdict, cause="human_wrong", reason="It does."
            )
        QueueItem.objects.filter(queue=shared, item=item).update(gold=True)
        rows = [row for row in numbers(sign_in(people.ed), people, shared) if row["figure"] == "gold"]
        # ann said MET, UNMET of item a, rae UNMET, UNMET: one of two right, and none.
        assert {row["rater"]: (float(row["value"]), row["n"]) for row in rows} == {
            name_of(shared, people.ann): (0.5, "2"),
            name_of(shared, people.rae): (0.0, "2"),
        }

    def test_weeks_appear_when_there_are_two(self, people, sign_in, shared) -> None:
        client = sign_in(people.ed)
        assert "Week by week" not in board(client, people, shared)
        submit(shared, "b", people.rae, "MET", "UNMET", now=NOW + timedelta(days=7))
        assert "2 Mar 2026" in board(client, people, shared)
        rows = [
            row
            for row in numbers(client, people, shared)
            if (row["part"], row["figure"]) == ("week", "raw_agreement")
        ]
        # Item a: one of two criteria equal; b a week later: both.
        assert [(row["week"], float(row["value"]), row["n"]) for row in rows] == [
            ("2026-03-02", 0.5, "2"),
            ("2026-03-09", 1.0, "2"),
        ]

    def test_what_was_said_first_counts_when_it_was_changed_after_the_reveal(
        self, people, sign_in, shared
    ) -> None:
        judgement = Judgement.objects.get(
            review__rater__user=people.rae, item__key="a", criterion__name="only"
        )
        Revision.objects.create(
            judgement=judgement, choice=RevisionChoice.CHANGE, verdict="MET", reason="I see."
        )
        rows = [
            row for row in numbers(sign_in(people.ed), people, shared) if row["figure"] == "raw_agreement"
        ]
        assert next(row["value"] for row in rows if row["criterion"] == "only") == "0.0"


def name_of(queue: ReviewQueue, user: User) -> str:
    return str(queue.raters.get(user=user).name)
