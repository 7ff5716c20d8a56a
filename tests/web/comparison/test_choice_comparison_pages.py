"""Comparison and adjudication of rubrics with options and checks, as a browser gets them."""

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.models import Adjudication, Criterion, Judgement, ReviewQueue, Run, RunState
from rubricweb.services.reviews import queues, reviews
from tests import factories
from tests.factories import Cast
from tests.worlds.remembered import remembered

CRITERIA: list[dict[str, Any]] = [
    {
        "name": "depth",
        "weight": 4,
        "requirement": "How deep is it?",
        "options": [
            {"label": "thin & flat", "value": 0},
            {"label": "fair", "value": 0.5},
            {"label": "deep", "value": 1},
            {"label": "nothing there", "na": True},
        ],
    },
    {
        "name": "tone",
        "weight": 1,
        "requirement": "Which tone?",
        "scale_type": "nominal",
        "options": [{"label": "warm", "value": 1}, {"label": "cold", "value": 0}],
    },
    {"name": "short", "weight": 1, "check": "length_between", "params": {"max": 1}},
]
ITEMS = [{"id": str(number), "submission": "x" * (1 + number // 4)} for number in range(1, 5)]
PEOPLE = {"1": "thin & flat", "2": "thin & flat", "3": "fair", "4": "deep"}
JUDGE = {"1": "thin & flat", "2": "fair", "3": "fair", "4": "deep"}


@pytest.fixture
def graded(people: Cast) -> tuple[Run, ReviewQueue]:
    """Four items labelled by one person and answered by a judge, as in `compare_options`' worked example."""
    return remembered(("choice comparison pages", people.team.pk), lambda: label_and_grade(people))


def label_and_grade(people: Cast) -> tuple[Run, ReviewQueue]:
    version = factories.version(people.team, people.alice, criteria=CRITERIA)
    dataset = factories.dataset(people.team, people.alice, items=ITEMS)
    queue = factories.queue(
        people.team, people.alice, dataset=dataset, rubric_version=version, raters=[people.rae, people.ann]
    )
    for key, label in PEOPLE.items():
        labelled(queue, people.rae, key, depth=label, tone="warm")
    queues.close_queue(queue, by=people.alice)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    criteria = {criterion.name: criterion for criterion in version.criteria.all()}
    for item in dataset.items.all():
        for name, answer in (("depth", JUDGE[item.key]), ("tone", "warm")):
            Judgement.objects.create(
                run=run, item=item, criterion=criteria[name], judge="judge", verdict=answer
            )
        Judgement.objects.create(
            run=run,
            item=item,
            criterion=criteria["short"],
            judge="check",
            value=1.0 if item.key != "4" else 0.0,
        )
    run.state, run.finished_at = RunState.FINISHED, timezone.now()
    run.save()
    return run, queue


def labelled(queue: ReviewQueue, user: Any, key: str, **labels: str) -> None:
    review = queues.start_review(queue, queue.dataset.items.get(key=key), user)
    for criterion in reviews.criteria_of(review).exclude(kind="check"):
        reviews.save_verdict(review, criterion.pk, verdict=labels[criterion.name])
    reviews.submit(review, now=timezone.now())


def url(people: Cast, name: str, *args: object) -> str:
    return reverse(name, args=[people.team.slug, *args])


def text(content: str) -> str:
    words = re.sub(r"<title>.*?</title>", " ", content, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", words)))


def page(client: Client, address: str, **query: object) -> str:
    answer = client.get(address, query)
    assert answer.status_code == 200, answer.content.decode()[:2000]
    return answer.content.decode()


def criterion(run: Run, name: str) -> Criterion:
    return run.rubric_version.criteria.get(name=name)


def part(content: str, run: Run, name: str) -> str:
    """The block about one criterion with options."""
    found = re.search(rf'id="options-{criterion(run, name).pk}".*?</details>', content, re.DOTALL)
    assert found is not None
    return found.group(0)


# ── Figures ──────────────────────────────────────────────────────────────────────────────────────


def test_an_ordinal_criterion_has_the_figures_of_a_scale(people: Cast, sign_in, graded) -> None:
    run, _ = graded
    depth = text(part(page(sign_in(people.bob), url(people, "compare")), run, "depth"))
    # People thin thin fair deep, judge thin fair fair deep: three equal, one a step off.
    assert "Accuracy 0.75" in depth
    assert "Adjacent accuracy 1.00" in depth
    assert "Quadratic κ 0.80" in depth  # 1 − 4·1 / 20
    assert "Cohen κ 0.64" in depth  # (0.75 − 0.3125) / 0.6875
    assert "Steps apart mean, places on the scale 0.25" in depth  # 1 step on one of 4 units
    assert "Value error mean, in option values 0.12" in depth  # 0.5 on one of 4 units


def test_a_nominal_criterion_has_no_scale_and_its_undefined_kappa_is_said_in_words(
    people: Cast, sign_in, graded
) -> None:
    run, _ = graded
    tone = text(part(page(sign_in(people.bob), url(people, "compare")), run, "tone"))
    assert "Accuracy 1.00" in tone
    assert "Cohen κ undefined" in tone  # both sides said warm throughout
    assert "Adjacent" not in tone
    assert "Steps apart" not in tone


def test_the_kappa_in_the_row_of_a_criterion_is_named_as_in_its_table(people: Cast, sign_in, graded) -> None:
    content = page(sign_in(people.bob), url(people, "compare"))
    found = re.search(r'aria-label="Agreement on options by criterion".*?</table>', content, re.DOTALL)
    assert found is not None
    _, depth, tone = found.group(0).split("<tr>")[1:]
    assert re.search(r"0\.80 .*quadratic", text(depth))  # κ without weights is 0.64
    assert 'data-label="Quadratic κ"' in depth
    assert 'data-label="Cohen κ"' in tone
    assert "quadratic" not in text(tone)


def test_without_a_second_label_the_human_ceiling_is_undefined_not_zero(
    people: Cast, sign_in, graded
) -> None:
    run, _ = graded
    depth = text(part(page(sign_in(people.bob), url(people, "compare")), run, "depth"))
    assert "Human ceiling, κ one person against the others undefined" in depth


def test_a_check_has_its_mean_and_nobody_to_agree_with(people: Cast, sign_in, graded) -> None:
    content = text(page(sign_in(people.bob), url(people, "compare")))
    assert re.search(r"short \+1 .*? length_between 4 0\.75", content)  # 1, 1, 1, 0


def test_a_rubric_without_binary_criteria_says_why_there_are_no_common_figures(
    people: Cast, sign_in, graded
) -> None:
    content = text(page(sign_in(people.bob), url(people, "compare")))
    assert "No criterion is simply met or unmet here" in content
    assert "Coverage 100% a verdict on 8 of 8 units" in content  # four items, two criteria that are asked
    assert "MCC" not in content.partition("Criteria with options")[0]


def test_scores_of_whole_items_are_held_against_each_other(people: Cast, sign_in, graded) -> None:
    content = text(page(sign_in(people.bob), url(people, "compare")))
    assert "Estimated human score" in content
    assert "No item has a score of people yet" in content  # nothing is graded: the run has answers only


def test_every_figure_links_to_what_it_means(people: Cast, sign_in, graded) -> None:
    content = page(sign_in(people.bob), url(people, "compare"))
    links = set(re.findall(r'href="#(about-[\w-]+)"', content))
    anchors = set(re.findall(r'id="(about-[\w-]+)"', content))
    assert {"about-weighted", "about-adjacent", "about-ceiling", "about-ppi"} <= links | {"about-ppi"}
    assert links <= anchors


def test_a_cell_of_the_matrix_opens_exactly_its_units(people: Cast, sign_in, graded) -> None:
    run, _ = graded
    bob = sign_in(people.bob)
    block = part(page(bob, url(people, "compare")), run, "depth")
    cells = re.findall(r'<a href="([^"]+judged=[^"]+)">(\d+)<', block)
    assert sorted(int(count) for _, count in cells) == [1, 1, 1, 1]
    for address, count in cells:
        answer = bob.get(html.unescape(address))
        assert answer.status_code == 200
        assert len(answer.context["page"].rows) == int(count), address


def test_a_cell_of_an_unknown_option_is_refused(people: Cast, sign_in, graded) -> None:
    run, _ = graded
    query = {"judged": "bottomless", "truth": "deep", "criterion": criterion(run, "depth").pk}
    assert sign_in(people.bob).get(url(people, "adjudication"), query).status_code == 400


# ── Differences and decisions ────────────────────────────────────────────────────────────────────


def test_the_list_shows_options_and_how_far_they_are_apart(people: Cast, sign_in, graded) -> None:
    content = page(sign_in(people.bob), url(people, "adjudication"))
    assert "thin &amp; flat" in content
    assert "1 step apart" in content
    assert "judge differs" in content


def test_the_item_is_decided_by_an_option(people: Cast, sign_in, graded) -> None:
    run, _ = graded
    rae, item, depth = sign_in(people.rae), run.dataset.items.get(key="2"), criterion(run, "depth")
    content = page(rae, url(people, "adjudication_unit", item.pk, depth.pk))
    assert re.search(r'value="thin &amp; flat" data-label-key="1"', content)
    assert re.search(r'value="judge_wrong" data-cause-key="1"', content)
    sent = {"verdict": "deep", "cause": "human_wrong", "reason": "Read it again."}
    answer = rae.post(url(people, "adjudication_unit", item.pk, depth.pk), sent)
    assert answer.status_code == 302
    assert Adjudication.objects.get(item=item, criterion=depth).verdict == "deep"


def test_a_decision_for_an_option_of_another_criterion_is_refused_beside_the_field(
    people: Cast, sign_in, graded
) -> None:
    run, _ = graded
    item, depth = run.dataset.items.get(key="2"), criterion(run, "depth")
    sent = {"verdict": "warm", "cause": "judge_wrong"}
    answer = sign_in(people.rae).post(url(people, "adjudication_unit", item.pk, depth.pk), sent)
    assert answer.status_code == 422
    assert not Adjudication.objects.exists()


def test_a_check_on_the_item_is_measured_and_asks_for_no_decision(people: Cast, sign_in, graded) -> None:
    run, _ = graded
    item, short = run.dataset.items.get(key="4"), criterion(run, "short")
    content = page(sign_in(people.rae), url(people, "compare_item", item.pk))
    shown = re.search(rf'<article[^>]*id="criterion-{short.pk}".*?</article>', content, re.DOTALL)
    assert shown is not None
    assert "2 characters" in shown.group(0)
    assert "<form" not in shown.group(0)
