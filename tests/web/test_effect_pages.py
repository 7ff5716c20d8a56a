"""Penalties on every page: words, colours and bias go by what an answer does to the score."""

import csv
import io
import re

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.engine.verdict import Verdict
from rubricweb.models import ReviewQueue, Run
from rubricweb.selectors.comparison.comparison import cell_units, compare, overview
from rubricweb.selectors.runs import results
from rubricweb.selectors.runs.diff.diff import run_diff
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

CRITERIA = [
    {"name": "names", "weight": 3, "requirement": "Names Paris."},
    {"name": "insults", "weight": -2, "requirement": "Insults the reader."},
]
ITEMS = [{"id": f"item {number}", "submission": f"Paris {number}."} for number in range(20)]


@pytest.fixture
def run(people: Cast) -> Run:
    """The judge says MET to everything: it sees an insult in all twenty texts."""
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, items=ITEMS),
        rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA),
    )
    return grade(run, InProcessJudge(lambda requirement, response: "MET"))


@pytest.fixture
def queue(people: Cast, run: Run) -> ReviewQueue:
    """People see Paris in all twenty texts and no insult in any."""
    lines = [
        f"{item['id']},{name},{rater},{verdict},"
        for item in ITEMS
        for rater in ("x", "y")
        for name, verdict in (("names", "MET"), ("insults", "UNMET"))
    ]
    data = "\n".join(["item_id,criterion,rater,verdict,reason", *lines]).encode()
    assert run.rubric_version is not None
    return factories.import_labels(
        run.dataset, run.rubric_version, by=people.ed, data=data, filename="labels.csv"
    )


def page(client: Client, people: Cast, name: str, *ids: object, **asked: object) -> str:
    answer = client.get(reverse(name, args=[people.team.slug, *ids]), asked)
    assert answer.status_code == 200
    return answer.content.decode()


def words(content: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", content))


def test_a_judge_that_sees_errors_people_do_not_is_strict_in_verdicts_and_scores(
    people: Cast, run: Run, queue: ReviewQueue
) -> None:
    found = compare(run, [queue], viewer=people.bob)
    # Each item: people score 3/3 = 1, the judge (3 − 2)/3; of the weight 3 + 2 the judge takes 2.
    assert found.scores.agreement.bias.value == pytest.approx(-2 / 3)
    assert found.bias.value == pytest.approx(-0.4)
    assert [row.bias.value for row in found.criteria] == [0, -1]
    assert found.leaning == "strict"


def test_pooled_shares_count_what_helped_whatever_the_sign(
    people: Cast, run: Run, queue: ReviewQueue
) -> None:
    found = compare(run, [queue], viewer=people.bob)
    # People help on all 40 units; the judge on the 20 of `names` alone. By the word it said MET on all 40.
    assert (found.rates.people.value, found.rates.judge.value) == (1, 0.5)
    assert found.overall.confusion[0] == (20, 20)
    assert overview(run, [queue], viewer=people.bob).overall.confusion == found.overall.confusion
    # A cell of the pooled matrix opens its own units; that of one criterion goes by the word.
    insults = found.criteria[1].criterion
    cell = {"judged": "UNMET", "truth": "MET"}
    assert {criterion_id for _, criterion_id in cell_units(run, [queue], **cell)} == {insults.pk}
    assert cell_units(run, [queue], criterion=insults, **cell) == []


def test_the_comparison_page_tells_one_story(people: Cast, sign_in, run: Run, queue: ReviewQueue) -> None:
    shown = words(page(sign_in(people.bob), people, "compare"))
    assert "The judge is strict" in shown
    assert "lenient" not in shown.split("What these figures mean")[0].replace("above 0 lenient", "")
    assert "Judge gives credit" in shown
    assert "Judge pass" in shown
    assert "J present" in shown
    assert "P absent" in shown


def test_cards_are_green_where_an_error_is_absent(
    people: Cast, sign_in, run: Run, queue: ReviewQueue
) -> None:
    item = run.dataset.items.get(key="item 0")
    insults = run.rubric_version.criteria.get(name="insults")  # type: ignore[union-attr]  # the run has one rubric
    bob, ed = sign_in(people.bob), sign_in(people.ed)
    for content in (
        page(bob, people, "compare_item", item.pk),
        page(ed, people, "adjudication_unit", item.pk, insults.pk),
        page(bob, people, "run_item", run.pk, item.pk),
    ):
        chips = re.findall(r'chip--(helped|hurt)[^"]*"[^>]*>.*?</svg>([^<]+)<', content, re.DOTALL)
        assert ("hurt", "Error present") in chips
        assert ("helped", "Error present") not in chips
        assert ("hurt", "Error absent") not in chips
    decide = page(ed, people, "adjudication_unit", item.pk, insults.pk)
    assert re.search(r'option--hurt"><input[^>]*value="MET"[^>]*> Error present', decide)
    assert re.search(r'option--helped"><input[^>]*value="UNMET"[^>]*> Error absent', decide)


def test_the_review_page_and_the_reveal_read_penalties_as_errors(people: Cast, sign_in, run: Run) -> None:
    made = factories.queue(
        people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version, raters=[people.ann]
    )
    review = queues.start_review(made, run.dataset.items.get(key="item 0"), people.ann)
    ann = sign_in(people.ann)
    asked = page(ann, people, "review", review.pk)
    assert re.search(r'option--helped"><input[^>]*value="UNMET"[^>]*> Error absent', asked)
    assert "data-chips" in asked  # what the script puts into the head of the criterion
    for criterion in reviews.criteria_of(review):
        reviews.save_verdict(review, criterion.pk, verdict=Verdict.UNMET)
    assert "Error absent" in page(ann, people, "review", review.pk)


def test_run_pages_count_what_helped_and_what_hurt(people: Cast, sign_in, run: Run) -> None:
    # Twenty texts, MET twice on each: the merit helped, the penalty hurt.
    found = results.result(run, viewer=people.bob).totals
    assert (found.met, found.unmet, found.helped, found.hurt, found.idle) == (40, 0, 20, 20, 0)
    shown = words(page(sign_in(people.bob), people, "run", run.pk))
    assert "Points earned 20" in shown
    assert "Points lost 20" in shown
    assert "1 earned points · 1 lost them" in shown
    assert "error present, 20 of 20" in shown


def test_a_run_diff_calls_an_error_that_went_better(people: Cast, sign_in, run: Run) -> None:
    after = grade(
        factories.run(people.team, people.ed, dataset=run.dataset, rubric_version=run.rubric_version),
        InProcessJudge(lambda requirement, response: "UNMET" if "Insults" in requirement else "MET"),
    )
    insults = run_diff(after, run, viewer=people.bob).criteria[1]
    assert (insults.to_met, insults.to_unmet, insults.better, insults.worse) == (0, 20, 20, 0)
    content = page(sign_in(people.bob), people, "run_diff", after.pk, run.pk)
    assert re.search(r'text-success">\s*20 to error absent', content)


def test_files_say_the_effect_beside_the_verdict(people: Cast, sign_in, run: Run, queue: ReviewQueue) -> None:
    for what, said in (("verdicts", ("MET", "hurt")), ("ground_truth", ("UNMET", "helped"))):
        query = {"dataset": run.dataset_id, "queues": queue.pk, "run": run.pk, "what": what, "format": "csv"}
        answer = sign_in(people.bob).get(reverse("export_download", args=[people.team.slug]), query)
        text = b"".join(answer.streaming_content).decode()
        assert "effect" in text.splitlines()[0].split(",")
        rows = list(csv.DictReader(io.StringIO(text)))
        assert said in {(row["verdict"], row["effect"]) for row in rows if row["criterion"] == "insults"}
