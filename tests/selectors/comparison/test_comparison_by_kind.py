"""Judge against people on choices, checks and whole items, on tables worked out by hand."""

from collections.abc import Sequence

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from rubricweb.models import ReviewQueue, Run
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.labels.by_kind import CriterionComparison
from tests import factories
from tests.engine.agreement.oracles import krippendorff
from tests.factories import Cast
from tests.judging import LabelJudge, grade

TONE = ["Rude", "Plain", "Warm"]
CRITERIA = [
    {"name": "said", "weight": 2, "requirement": "Says it."},
    {
        "name": "tone",
        "weight": 2,
        "requirement": "How friendly is it?",
        "options": [
            *({"label": label, "value": value} for label, value in zip(TONE, (0, 0.5, 1), strict=True)),
            {"label": "Not applicable", "na": True},
        ],
    },
    {
        "name": "topic",
        "weight": 0,
        "requirement": "What is it about?",
        "scale_type": "nominal",
        "options": [{"label": "A", "value": 1}, {"label": "B", "value": 1}, {"label": "C", "value": 0}],
    },
    {"name": "short", "weight": 1, "check": "length_between", "params": {"unit": "words", "max": 5}},
]
NOT_APPLICABLE = "Not applicable"
# Item → what stands and what the judge says.
SAID = {1: ("MET", "UNMET"), 2: ("MET", "MET"), 3: ("MET", "MET"), 4: ("MET", "MET"), 5: ("MET", "MET")}
TONES = {
    1: ("Rude", "Rude"),
    2: ("Rude", "Plain"),
    3: ("Plain", "Plain"),
    4: ("Warm", "Warm"),
    5: (NOT_APPLICABLE, "Warm"),
}
TOPICS = {1: ("A", "A"), 2: ("A", "B"), 3: ("B", "B"), 4: ("B", "B"), 5: ("C", "C")}
TABLES = {"said": SAID, "tone": TONES, "topic": TOPICS}
UNLABELLED = {"said": "UNMET", "tone": "Rude", "topic": "C"}
REQUIREMENTS = {
    str(criterion["requirement"]): str(criterion["name"])
    for criterion in CRITERIA
    if "requirement" in criterion
}


def judged(people: Cast, copies: int = 1) -> tuple[Run, ReviewQueue]:
    """Six items, times `copies`, the sixth of them unlabelled; raters x and y agree but on one item's tone,
    where z joins y.
    """
    version = factories.version(people.team, people.ed, title=f"Kinds {copies}", criteria=CRITERIA)
    items = [
        {"id": f"{number}-{copy}", "submission": f"Text {copy} {number}"}
        for copy in range(copies)
        for number in range(1, 7)
    ]
    dataset = factories.dataset(people.team, people.ed, name=f"kinds {copies}", items=items)
    lines = ["item_id,criterion,rater,verdict"]
    for copy in range(copies):
        for name, table in TABLES.items():
            for number, (stands, _) in table.items():
                raters = "xyz" if (name, number) == ("tone", 3) else "xy"
                for rater in raters:
                    label = "Warm" if (name, number, rater) == ("tone", 3, "x") else stands
                    lines.append(f"{number}-{copy},{name},{rater},{label}")
    queue = factories.import_labels(
        dataset, version, by=people.ed, data="\n".join(lines).encode(), filename=f"labels{copies}.csv"
    )

    def answer(judge: str, requirement: str, response: str) -> str:
        name = next(name for text, name in REQUIREMENTS.items() if text in requirement)
        number = int(response.strip()[-1])
        return TABLES[name][number][1] if number in TABLES[name] else UNLABELLED[name]

    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    return grade(run, LabelJudge(answer)), queue


@pytest.fixture
def found(people: Cast) -> comparison.Comparison:
    run, queue = judged(people)
    return comparison.compare(run, [queue], viewer=people.bob)


def row(found: comparison.Comparison, name: str) -> CriterionComparison:
    return next(one for one in found.criteria if one.criterion.name == name)


def test_overall_figures_pool_binary_units_only(found: comparison.Comparison) -> None:
    # 5 items × 3 criteria people answer; of them 5 units of "said", 4 with equal verdicts.
    assert (found.units, found.judged, found.errors, found.n_binary) == (15, 15, 0, 5)
    assert found.overall.n == 5
    assert found.overall.accuracy.value == pytest.approx(0.8)
    assert found.on_own_rubrics == 0


def test_steps_are_compared_as_steps(found: comparison.Comparison) -> None:
    tone = row(found, "tone")
    assert tone.options is not None
    # Truth Rude Rude Plain Warm, judge Rude Plain Plain Warm; the fifth item's truth is not applicable.
    assert (tone.options.n, tone.options.abstained, tone.pair.n) == (4, 1, 0)
    assert tone.options.levels == tuple(TONE)
    assert tone.options.accuracy.value == pytest.approx(3 / 4)
    # κ: p_e = (2·1 + 1·2 + 1·1) / 16 = 0.3125, (0.75 − 0.3125) / 0.6875.
    assert tone.options.kappa.value == pytest.approx(0.6364, abs=1e-4)
    # Quadratic: observed 1 of squared steps; expected Σ n_i n_j (i − j)² / 4 = (2·2·1 + 2·1·4 + 1·1·1 + 1·1·1
    # + 1·1·4 + 1·2·1) / 4 = 20 / 4, so 1 − 4·1 / 20.
    assert tone.options.quadratic_kappa is not None
    assert tone.options.quadratic_kappa.value == pytest.approx(0.8)
    assert tone.options.figures["steps_apart"].value == pytest.approx(1 / 4)
    # 0.5 above on the second; on the third Plain, ½, beside a mean of Warm Plain Plain, 2/3. No majority.
    assert tone.value_bias == pytest.approx((1 / 2 - 1 / 6) / 4)
    assert tone.bias.n == 4
    assert [[cell.count for cell in line.cells] for line in tone.matrix] == [[1, 1, 0], [0, 1, 0], [0, 0, 1]]


def test_peoples_alpha_on_steps_is_ordinal(found: comparison.Comparison) -> None:
    gap = np.nan
    # x, y, z over the items 1 to 5 as places on the scale; not applicable is a gap.
    table = np.array([[0, 0, 2, 2, gap], [0, 0, 1, 2, gap], [gap, gap, 1, gap, gap]])
    expected = krippendorff.alpha(table, level_of_measurement="ordinal", value_domain=[0, 1, 2])
    assert row(found, "tone").human_alpha.value == pytest.approx(expected)


def test_unordered_options_have_no_steps(found: comparison.Comparison) -> None:
    topic = row(found, "topic")
    assert topic.options is not None
    # Truth A A B B C, judge A B B B C. κ: p_e = (2·1 + 2·3 + 1·1) / 25 = 0.36, (0.8 − 0.36) / 0.64.
    assert topic.options.kappa.value == pytest.approx(0.6875)
    # F1 of A 2/3, of B 4/5, of C 1.
    assert topic.options.figures["macro_f1"].value == pytest.approx((2 / 3 + 4 / 5 + 1) / 3)
    assert topic.options.quadratic_kappa is None
    assert topic.human_alpha.value == 1.0


def test_a_check_has_a_mean_and_nothing_to_agree_with(found: comparison.Comparison) -> None:
    short = row(found, "short")
    # Every text has three words.
    assert short.mean_value is not None
    assert (short.mean_value.value, short.mean_value.n) == (1.0, 6)
    assert (short.units, short.pair.n, short.options) == (0, 0, None)
    assert short.human_alpha.value is None


def test_whole_items_are_compared_by_score(found: comparison.Comparison) -> None:
    # Of 2 + 2 + 1: x and y 3/5, 3/5, then x 5/5 and y 4/5, so 9/10, then 5/5 and, where the tone does not
    # apply, 3/3. z answered one criterion alone and has no score. The judge 1/5, 4/5, 4/5, 5/5, 5/5.
    # Differences −0.4, 0.2, −0.1, 0, 0.
    scores = found.scores.agreement
    assert scores.n == 5
    assert scores.bias.value == pytest.approx(-0.06)
    assert scores.mae.value == pytest.approx(0.14)
    assert scores.rmse.value == pytest.approx((0.21 / 5) ** 0.5)
    estimate = found.scores.estimate
    # Five of six items, whose labels came in a file.
    assert estimate.unavailable is not None
    assert estimate.unavailable.code == "not_a_random_sample"
    assert "came in a file" in estimate.unavailable.why
    assert (estimate.items, estimate.labelled.n, estimate.judged.n) == (6, 5, 6)
    assert estimate.labelled.value == pytest.approx((0.6 + 0.6 + 0.9 + 1 + 1) / 5)
    # The sixth item: not said, rude, short: 1/5.
    assert estimate.judged.value == pytest.approx((0.2 + 0.8 + 0.8 + 1 + 1 + 0.2) / 6)


def test_disagreements_name_options(people: Cast) -> None:
    run, queue = judged(people)
    where = inbox.scope(people.team, people.bob, [queue], run)
    rows = inbox.shown(where, inbox.inbox(where))
    told = {(one.item_key, one.criterion.name): (one.stands, one.judged[0], one.kind) for one in rows}
    assert told == {
        ("1-0", "said"): ("MET", "UNMET", "judge differs"),
        ("2-0", "tone"): ("Rude", "Plain", "judge differs"),
        ("5-0", "tone"): (NOT_APPLICABLE, "Warm", "judge differs"),
        ("2-0", "topic"): ("A", "B", "judge differs"),
        ("3-0", "tone"): ("Plain", "Plain", "people differ"),
    }
    tone = next(one.criterion for one in rows if one.criterion.name == "tone")
    cell = comparison.cell_units(run, [queue], judged="Plain", truth="Rude", criterion=tone)
    assert [run.dataset.items.get(pk=item_id).key for item_id, _ in cell] == ["2-0"]


def queries_of(run: Run, queues: Sequence[ReviewQueue], people: Cast) -> int:
    with CaptureQueriesContext(connection) as captured:
        comparison.compare(run, queues, viewer=people.bob, resamples=10)
    return len(captured)


def test_more_items_ask_no_more_queries(people: Cast) -> None:
    few, few_labels = judged(people)
    many, many_labels = judged(people, copies=3)
    few, many = Run.objects.get(pk=few.pk), Run.objects.get(pk=many.pk)
    assert queries_of(few, [few_labels], people) == queries_of(many, [many_labels], people)
