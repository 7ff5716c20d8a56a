"""Pages of a run against another one: what they show, to whom, and what they refuse."""

import re

import pytest
from django.urls import reverse

from rubricweb.judges.base import JudgeError
from rubricweb.models import Run, RunState
from rubricweb.selectors.reviews.queue_sources import Source
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade
from tests.worlds.systems import Versions, answer, versions

REASON = "quokka-by-the-judge"


def answered(labels: dict[str, str]) -> InProcessJudge:
    """One criterion; the label by the last word of the submission."""
    return InProcessJudge(
        lambda requirement, response: (
            f'{{"explanation": "{REASON}", "criterion_status": "{labels[response.split()[-1]]}"}}'
        )
    )


@pytest.fixture
def dataset(people: Cast):
    items = [{"id": key, "submission": f"Paris {key}"} for key in "abc"]
    return factories.dataset(people.team, people.ed, items=items)


@pytest.fixture
def version(people: Cast):
    criteria = [{"name": "paris", "weight": 2, "requirement": "Names Paris."}]
    return factories.version(people.team, people.ed, criteria=criteria)


@pytest.fixture
def pair(people: Cast, dataset, version) -> tuple[Run, Run]:
    """(run, baseline): a fell from MET to UNMET, b rose, c stayed."""
    labels = ({"a": "MET", "b": "UNMET", "c": "MET"}, {"a": "UNMET", "b": "MET", "c": "MET"})
    before, after = (
        grade(
            factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name=name),
            answered(said),
        )
        for name, said in zip(("before", "after"), labels, strict=True)
    )
    return after, before


def at(name: str, people: Cast, *ids: int) -> str:
    return reverse(name, args=[people.team.slug, *ids])


def shown(client, url: str, **headers) -> str:
    answer = client.get(url, headers=headers)
    assert answer.status_code == 200, answer.status_code
    return re.sub(r"\s+", " ", answer.content.decode())


def test_the_address_without_a_baseline_leads_to_the_likeliest(people: Cast, sign_in, pair) -> None:
    after, before = pair
    bob = sign_in(people.bob)
    assert bob.get(at("run_against", people, after.pk)).url == at("run_diff", people, after.pk, before.pk)
    asked = bob.get(at("run_against", people, before.pk), {"baseline": after.pk})
    assert asked.url == at("run_diff", people, before.pk, after.pk)
    assert bob.get(at("run_against", people, after.pk), {"baseline": "first"}).status_code == 400


def test_a_run_that_is_alone_says_what_to_do(people: Cast, sign_in, dataset, version) -> None:
    alone = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    page = shown(sign_in(people.ed), at("run_against", people, alone.pk))
    assert "No other run over this dataset" in page
    assert at("run_new", people) in page
    assert at("run_new", people) not in shown(sign_in(people.bob), at("run_against", people, alone.pk))


def test_the_page_shows_difference_flips_and_counts(people: Cast, sign_in, pair) -> None:
    after, before = pair
    page = shown(sign_in(people.bob), at("run_diff", people, after.pk, before.pk))
    # 1, 0, 1 became 0, 1, 1: the mean stays 2/3; one flip each way, p = 1.
    assert '0.67</span> <span class="text-muted">→</span> <span class="figure">0.67<' in page
    assert "Could be chance: the interval includes 0" in page
    assert "1 to met" in page
    assert "1 to unmet" in page
    assert "1.0000" in page
    assert "not measured" in page
    assert "the same rubric, judge and autograder" in page
    counts = re.findall(r'(Regressions|Fixes|Unchanged|Unpaired) <span class="count">(\d+)<', page)
    assert counts == [("Regressions", "1"), ("Fixes", "1"), ("Unchanged", "1"), ("Unpaired", "0")]


def test_items_lead_with_the_regression_and_can_be_narrowed(people: Cast, sign_in, pair) -> None:
    after, before = pair
    url = at("run_diff", people, after.pk, before.pk)
    bob = sign_in(people.bob)
    items = {item.key: item for item in after.dataset.items.all()}
    links = [at("run_diff_item", people, after.pk, before.pk, items[key].pk) for key in "abc"]
    page = shown(bob, url)
    assert page.index(links[0]) < page.index(links[1]) < page.index(links[2])
    part = shown(bob, f"{url}?change=fix", **{"HX-Request": "true"})
    assert "<html" not in part
    assert links[1] in part
    assert links[0] not in part
    assert bob.get(f"{url}?change=dataset__team").status_code == 400
    assert bob.get(f"{url}?cursor=x").status_code == 400


def test_one_item_shows_both_reasons_and_its_neighbours(people: Cast, sign_in, pair) -> None:
    after, before = pair
    items = {item.key: item for item in after.dataset.items.all()}
    page = shown(sign_in(people.bob), at("run_diff_item", people, after.pk, before.pk, items["a"].pk))
    assert page.count(REASON) == 2
    assert "worse" in page
    assert "the score fell" in page
    assert at("run_diff_item", people, after.pk, before.pk, items["b"].pk) in page
    alone = at("run_diff_item", people, after.pk, before.pk, items["a"].pk) + "?change=regression"
    assert 'rel="next"' not in shown(sign_in(people.bob), alone)


def test_errors_stand_on_their_side(people: Cast, sign_in, dataset, version, pair) -> None:
    _, before = pair
    failing = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="failing"),
        InProcessJudge(lambda requirement, response: JudgeError("timeout", "No answer within 60 s.")),
    )
    page = shown(sign_in(people.bob), at("run_diff", people, failing.pk, before.pk))
    assert "0 / 3" in page
    assert "no item has a score in both" in page
    assert 'Unpaired <span class="count">3<' in page
    item = dataset.items.all()[0]
    one = shown(sign_in(people.bob), at("run_diff_item", people, failing.pk, before.pk, item.pk))
    assert "timeout: No answer within 60 s." in one


def test_unfinished_runs_say_so(people: Cast, sign_in, dataset, version, pair) -> None:
    _, before = pair
    under_way = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, name="new one")
    bob = sign_in(people.bob)
    url = at("run_diff", people, under_way.pk, before.pk)
    assert "new one is still under way" in shown(bob, url)
    item = dataset.items.all()[0]
    one = shown(bob, at("run_diff_item", people, under_way.pk, before.pk, item.pk))
    assert "Not graded yet" in one
    lifecycle.cancel_run(under_way, by=people.ed, now=under_way.created_at)
    assert under_way.state == RunState.CANCELLED
    assert "new one ended early" in shown(bob, url)


def test_whole_scores_other_rubrics_and_raw_sums_are_explained(
    people: Cast, sign_in, dataset, version, pair
) -> None:
    _, before = pair
    other = factories.version(
        people.team,
        people.ed,
        title="Longer",
        criteria=[
            {"name": "paris", "weight": 3, "requirement": "Names Paris."},
            {"name": "kind", "weight": 1, "requirement": "Is kind."},
        ],
    )
    start = {"dataset": dataset, "rubric_version": other}
    raw = grade(
        factories.run(people.team, people.ed, **start, normalize=False),
        InProcessJudge(lambda requirement, response: "MET"),
    )
    bob = sign_in(people.bob)
    page = shown(bob, at("run_diff", people, raw.pk, before.pk))
    for words in ("The rubrics differ", "Compared on raw scores", "only in this run", "Longer v1"):
        assert words in page
    whole = grade(
        factories.run(people.team, people.ed, **start, autograder="rubric_as_judge"),
        LabelJudge(lambda name, requirement, response: 50),
    )
    assert "has no answers per criterion" in shown(bob, at("run_diff", people, whole.pk, before.pk))


def test_runs_that_cannot_be_compared_are_refused(people: Cast, sign_in, version, pair) -> None:
    after, _ = pair
    other = factories.dataset(people.team, people.ed, name="others")
    elsewhere = factories.run(people.team, people.ed, dataset=other, rubric_version=version)
    bob = sign_in(people.bob)
    for baseline in (elsewhere, after):
        assert bob.get(at("run_diff", people, after.pk, baseline.pk)).status_code == 400
        asked = bob.get(at("run_against", people, after.pk), {"baseline": baseline.pk})
        assert asked.status_code == 400
    foreign = other.items.all()[0]
    assert bob.get(at("run_diff_item", people, *(run.pk for run in pair), foreign.pk)).status_code == 404


def test_a_blind_rater_is_told_how_many_items_are_left_out(
    people: Cast, sign_in, dataset, version, pair
) -> None:
    after, before = pair
    factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="blind"
    )
    ann = sign_in(people.ann)
    page = shown(ann, at("run_diff", people, after.pk, before.pk))
    assert "3 items left out for you" in page
    assert "Regressions" not in page
    item = dataset.items.all()[0]
    one = shown(ann, at("run_diff_item", people, after.pk, before.pk, item.pk))
    assert "Hidden until you finish your reviews" in one
    assert REASON not in one


def test_the_page_takes_as_many_queries_however_many_items(
    people: Cast, sign_in, version, django_assert_max_num_queries
) -> None:
    items = [{"id": str(number), "submission": f"Paris {'abc'[number % 3]}"} for number in range(30)]
    dataset = factories.dataset(people.team, people.ed, items=items, name="thirty")
    said = {"a": "MET", "b": "UNMET", "c": "MET"}
    after, before = (
        grade(factories.run(people.team, people.ed, dataset=dataset, rubric_version=version), answered(said))
        for _ in range(2)
    )
    bob = sign_in(people.bob)
    url = at("run_diff", people, after.pk, before.pk)
    bob.get(url)
    with django_assert_max_num_queries(27):
        bob.get(url)


# ── Two system versions ──────────────────────────────────────────────────────────────────────────


@pytest.fixture
def by_case(people: Cast) -> tuple[Versions, Run, Run]:
    """(world, v4's run, v3's run)"""
    world = versions(people, answer("v4", "c1", attempt=2, submission="v4 c1 again"))
    baseline = world.run_over("v3")
    return world, world.run_over("v4"), baseline


def test_two_versions_are_shown_by_case(people: Cast, sign_in, by_case) -> None:
    _, run, baseline = by_case
    page = shown(sign_in(people.bob), at("run_diff", people, run.pk, baseline.pk))
    assert "paired by case over 3 cases of questions" in page
    assert "<strong>assistant@v4</strong> against <strong>assistant@v3</strong>" in page
    assert "over the 3 cases both scored" in page
    assert "4 cases without a pair" in page
    assert re.search(r"Answered only by assistant@v4: 1, <[^>]*>c6<", page)
    assert re.search(r"Answered only by assistant@v3: 1, <[^>]*>c5<", page)
    assert re.search(r"Asked in words that the other was not asked: 2, <[^>]*>c4<", page)
    assert page.index("case c1") < page.index("case c2") < page.index("case c3")
    assert "mean of 1 and 2 answers" in page


def test_cases_without_a_pair_of_two_runs_over_one_version_are_told_apart(people: Cast, sign_in) -> None:
    world = versions(people, answer("v4", "c1", attempt=2, submission="v4 c1 again"))
    ids = {item.submission: item.pk for item in world.answers("v4")}
    baseline, run = (
        world.run_over("v4", item_ids=[pk for words, pk in ids.items() if words != left_out])
        for left_out in ("v4 c6", "v4 c2")
    )
    page = shown(sign_in(people.bob), at("run_diff", people, run.pk, baseline.pk))
    assert re.search(r"Answered only by this run: 1, <[^>]*>c6<", page)
    assert re.search(r"Answered only by the baseline: 1, <[^>]*>c2<", page)
    assert "Answered only by assistant" not in page


def test_both_answers_to_a_case_are_shown_with_the_words_that_differ(people: Cast, sign_in, by_case) -> None:
    world, run, baseline = by_case
    bob = sign_in(people.bob)
    v3, v4, again = (world.dataset.items.get(submission=words) for words in ("v3 c1", "v4 c1", "v4 c1 again"))
    page = shown(bob, at("run_diff_item", people, run.pk, baseline.pk, v4.pk))
    assert "<del>v3</del> c1" in page
    assert "<ins >v4</ins> c1" in page
    assert "judge says MET" in page
    assert "judge says UNMET" in page
    assert "Question c1?" in page
    # The first attempt is shown, the second is a link away and beside the same answer.
    other = at("run_diff_item", people, run.pk, baseline.pk, again.pk)
    assert f'href="{other}?beside={v3.pk}"' in page
    second = shown(bob, f"{other}?beside={v3.pk}")
    assert "<ins >v4</ins> c1<ins > again</ins>" in second
    assert "judge says UNMET" not in second


def test_a_blind_rater_sees_neither_answer_to_the_case(people: Cast, sign_in, by_case) -> None:
    world, run, baseline = by_case
    waiting = world.dataset.items.get(submission="v3 c1")
    world.queue(source=Source(kind="items", item_ids=(waiting.pk,)))
    ann = sign_in(people.ann)
    assert "case c1" not in shown(ann, at("run_diff", people, run.pk, baseline.pk))
    answer_of_v4 = world.dataset.items.get(submission="v4 c1")
    one = shown(ann, at("run_diff_item", people, run.pk, baseline.pk, answer_of_v4.pk))
    assert "Hidden until you finish your reviews" in one
    assert "judge says" not in one
    assert "v3 c1" not in one
    assert "assistant@v3" not in one


def test_a_version_of_which_there_are_only_tries_says_so(people: Cast, sign_in) -> None:
    world = versions(people)
    before = world.run_over("v3")
    few = [one.pk for one in world.answers("v4")[1:3]]
    world.run_over("v4", item_ids=few, name="dry run")
    bob, asked = sign_in(people.bob), {"version": "assistant@v4", "baseline": "assistant@v3"}
    address = at("versions_against", people, world.dataset.pk)
    page = " ".join(bob.get(address, asked, follow=True).content.decode().split())
    assert "dry run is a try" in page
    assert "It is over 2 of the 5 items there were" in page
    whole = world.run_over("v4")
    world.run_over("v4", item_ids=few, name="dry run")
    answer = bob.get(address, asked, follow=True)
    assert answer.redirect_chain[-1][0] == at("run_diff", people, whole.pk, before.pk)
    assert "is a try" not in answer.content.decode()
