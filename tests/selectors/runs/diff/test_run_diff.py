"""A run against its baseline, on tables small enough to work out by hand."""

from dataclasses import replace

import pytest

from rubricweb.access import access_run
from rubricweb.engine.agreement import Figure
from rubricweb.errors import Invalid, Withheld
from rubricweb.judges.base import JudgeConfig, JudgeError
from rubricweb.models import ExampleSnapshot, FewShotSnapshot, Run
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.runs.diff.changes import within_noise
from rubricweb.selectors.runs.diff.criteria import MatchedCriteria
from rubricweb.selectors.runs.diff.diff import baseline_for, baselines, run_diff
from rubricweb.selectors.runs.diff.item import item_in_both
from rubricweb.selectors.runs.diff.items import (
    hidden_from,
    item_changes,
    item_page,
    items_around,
    narrowed,
)
from rubricweb.selectors.runs.diff.settings import settings_that_differ
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

PARIS = {"name": "paris", "weight": 6.0, "requirement": "Names Paris."}
RUDE = {"name": "rude", "weight": -4.0, "requirement": "Is rude."}
TONE = {
    "name": "tone",
    "weight": 4.0,
    "requirement": "How warm is it?",
    "options": [
        {"label": "Cold", "value": 0.0},
        {"label": "Fair", "value": 0.5},
        {"label": "Warm", "value": 1.0},
        {"label": "No tone", "na": True},
    ],
}
SHORT = {"name": "short", "weight": 0.0, "check": "length_between", "params": {"max": 40}}
CRITERIA = [PARIS, RUDE, TONE, SHORT]
KEYS = "abcd"

# (paris, rude, tone) by item; P = 6 + 4 unless the tone is not applicable.
BEFORE = {
    "a": ("MET", "UNMET", "Warm"),  # 10/10 = 1
    "b": ("MET", "MET", "Fair"),  # (6 − 4 + 2)/10 = 0.4
    "c": ("UNMET", "UNMET", "Cold"),  # 0
    "d": ("MET", "UNMET", "No tone"),  # 6/6 = 1
}
AFTER = {
    "a": ("UNMET", "UNMET", "Fair"),  # 2/10 = 0.2, a regression of 0.8
    "b": ("MET", "UNMET", "Fair"),  # 8/10 = 0.8, a fix of 0.4
    "c": ("UNMET", "UNMET", "Cold"),  # 0, unchanged
    "d": ("MET", "UNMET", "Warm"),  # 10/10 = 1, unchanged
}


def judge(table: dict[str, tuple[str, ...]], failing: tuple[str, str] = ("", "")) -> LabelJudge:
    """Answers by the table; times out on (item, criterion) `failing`."""
    places = {"Names Paris.": 0, "Is rude.": 1, "How warm is it?": 2}

    def answer(name: str, requirement: str, response: str) -> str | JudgeError:
        key, place = response.strip()[-1], next(at for text, at in places.items() if text in requirement)
        if failing == (key, ("paris", "rude", "tone")[place]):
            return JudgeError("timeout", "No answer within 60 s.")
        return table[key][place]

    return LabelJudge(answer)


def called(name: str) -> JudgeConfig:
    return JudgeConfig(name=name, base_url="http://127.0.0.1:9/v1", model=f"model of {name}")


@pytest.fixture
def dataset(people: Cast):
    items = [{"id": key, "submission": f"Paris, says {key}"} for key in KEYS]
    return factories.dataset(people.team, people.ed, items=items)


@pytest.fixture
def version(people: Cast):
    return factories.version(people.team, people.ed, criteria=CRITERIA)


def graded(people: Cast, dataset, version, table, *, failing=("", ""), **options) -> Run:
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, **options)
    return grade(run, judge(table, failing))


@pytest.fixture
def before(people: Cast, dataset, version) -> Run:
    return graded(people, dataset, version, BEFORE, name="before")


@pytest.fixture
def after(people: Cast, dataset, version, before: Run) -> Run:
    return graded(people, dataset, version, AFTER, name="after")


# ── The difference of scores ─────────────────────────────────────────────────────────────────────


def test_scores_are_compared_item_by_item(people: Cast, before: Run, after: Run) -> None:
    found = run_diff(after, before, viewer=people.bob)
    # Before 1, 0.4, 0, 1 and after 0.2, 0.8, 0, 1: means 0.6 and 0.5.
    assert found.scores.n == 4
    assert found.scores.mean_one.value == pytest.approx(0.6)
    assert found.scores.mean_other.value == pytest.approx(0.5)
    assert found.scores.difference.value == pytest.approx(-0.1)
    # Two differences are left, −0.8 and 0.4: rank 2 below, rank 1 above.
    assert (found.scores.wilcoxon.n, found.scores.wilcoxon.zeros) == (2, 2)
    assert (found.scores.wilcoxon.above, found.scores.wilcoxon.below) == (1.0, 2.0)
    # −0.1 over the standard deviation of −0.8, 0.4, 0, 0: √(0.76 / 3) = 0.5033.
    assert found.scores.cohen_d.value == pytest.approx(-0.1987, abs=1e-4)
    assert found.direction == "open"
    assert (found.items, found.unpaired, found.hidden_items) == (4, 0, 0)
    assert dict(found.counts) == {"regression": 1, "fix": 1, "unchanged": 2, "unpaired": 0}


def test_the_other_way_round_every_sign_turns(people: Cast, before: Run, after: Run) -> None:
    found = run_diff(before, after, viewer=people.bob)
    assert found.scores.difference.value == pytest.approx(0.1)
    assert (found.counts["regression"], found.counts["fix"]) == (1, 1)
    paris = found.criteria[0]
    assert (paris.to_met, paris.to_unmet) == (1, 0)


def test_a_difference_is_one_only_when_its_interval_leaves_zero_out(people: Cast, dataset, version) -> None:
    low = graded(people, dataset, version, dict.fromkeys(KEYS, ("UNMET", "UNMET", "Cold")))
    high = graded(people, dataset, version, dict.fromkeys(KEYS, ("MET", "UNMET", "Warm")))
    # Four times the whole scale, with −½ and ½ more: 4/6 − 2.5706 · √(1.8333 / 5 / 6) = 0.0312.
    assert run_diff(high, low, viewer=people.bob).scores.difference.low == pytest.approx(0.0312, abs=1e-3)
    low, high = _all_met_or_not(people, items=30)
    found = run_diff(high, low, viewer=people.bob)
    assert found.direction == "up"
    # Thirty times 1, with −½ and ½ more: mean 30/32, Σ(x − m)² = 30.5 − 30²/32 = 2.375, t of 31 degrees 2.04.
    assert found.scores.difference.low == pytest.approx(30 / 32 - 2.0395 * (2.375 / 31 / 32) ** 0.5, abs=1e-4)
    assert run_diff(low, high, viewer=people.bob).direction == "down"


def _all_met_or_not(people: Cast, *, items: int) -> list[Run]:
    """A run that finds everything UNMET, and one that finds everything MET, on two binary criteria."""
    rows = [{"id": str(number), "submission": f"Text {number}"} for number in range(items)]
    dataset = factories.dataset(people.team, people.ed, items=rows, name="all met or not")
    criteria = [PARIS, RUDE | {"weight": 1}]
    version = factories.version(people.team, people.ed, criteria=criteria, title="Met or not")
    return [
        grade(
            factories.run(people.team, people.ed, dataset=dataset, rubric_version=version),
            LabelJudge(lambda name, requirement, response, said=said: said),
        )
        for said in ("UNMET", "MET")
    ]


# ── Criterion by criterion ───────────────────────────────────────────────────────────────────────


def test_binary_criteria_are_tested_by_their_flips(people: Cast, before: Run, after: Run) -> None:
    paris, rude, _, _ = run_diff(after, before, viewer=people.bob).criteria
    # paris: MET MET UNMET MET became UNMET MET UNMET MET; one flip of one, p = 1.
    assert (paris.n, paris.to_met, paris.to_unmet) == (4, 0, 1)
    assert (paris.baseline_mean, paris.run_mean) == (0.75, 0.5)
    assert paris.difference.value == pytest.approx(-0.25)
    assert (paris.changed_count, paris.changed.value) == (1, 0.25)
    assert paris.p == 1.0
    assert (rude.to_met, rude.to_unmet) == (0, 1)


def test_p_values_are_adjusted_and_intervals_hold_for_all_criteria_at_once(people: Cast) -> None:
    runs = _all_met_or_not(people, items=8)
    paris, rude = run_diff(runs[1], runs[0], viewer=people.bob).criteria
    # Eight flips all one way: p = 2 / 2⁸ = 0.0078125 each, times two criteria.
    assert paris.mcnemar is not None
    assert paris.mcnemar.p == pytest.approx(2 / 2**8)
    assert (paris.p, rude.p) == (pytest.approx(4 / 2**8), pytest.approx(4 / 2**8))
    assert paris.p_alone == paris.mcnemar.p
    # Of two criteria each interval is at 97.5 %: t of 8 degrees 2.7515, s² = 2/9 of one more at each end.
    assert 1 - paris.difference.low == pytest.approx(2.7515 * (2 / 9 / 8) ** 0.5, abs=1e-4)


def test_choices_and_checks_have_a_mean_difference(people: Cast, before: Run, after: Run) -> None:
    _, _, tone, short = run_diff(after, before, viewer=people.bob).criteria
    # Values before 1, 0.5, 0 and after 0.5, 0.5, 0 on a, b, c; on d the baseline abstains.
    assert (tone.n, tone.abstained) == (3, 1)
    assert tone.difference.value == pytest.approx(-1 / 6)
    # Differences −½, 0, 0: t = −1/6 / (0.28868/√3) = −1, of two degrees p = 0.4226; after Holm at most 1.
    assert (tone.mcnemar, tone.p_alone, tone.changed_count) == (None, pytest.approx(0.4226, abs=1e-4), 1)
    assert tone.p == 1.0
    assert (short.p, short.test) == (1.0, "sign_flips")  # nothing differs
    # The same submissions: a check finds the same.
    assert (short.n, short.difference.value, short.changed_count) == (4, 0.0, 0)


def test_parts_of_the_criteria_and_the_rest_add_up_to_the_difference(
    people: Cast, before: Run, after: Run
) -> None:
    found = run_diff(after, before, viewer=people.bob)
    parts = {row.criterion.name: row.contribution.value for row in found.criteria if row.contribution}
    # paris: a loses 6/10, d goes from 6/6 to 6/10: (−0.6 − 0.4) / 4. rude: b wins 0.4. tone: a loses 2/10,
    # d wins 4/10.
    assert parts["paris"] == pytest.approx(-0.25)
    assert parts["rude"] == pytest.approx(0.1)
    assert parts["tone"] == pytest.approx(0.05)
    assert parts["short"] == 0.0
    assert found.rest == pytest.approx(0.0)
    assert sum(parts.values()) + found.rest == pytest.approx(-0.1)


def test_what_the_limits_take_off_is_the_rest(people: Cast, dataset, version) -> None:
    zero = graded(people, dataset, version, dict.fromkeys(KEYS, ("UNMET", "UNMET", "Cold")))
    below = graded(people, dataset, version, dict.fromkeys(KEYS, ("UNMET", "MET", "Cold")))
    found = run_diff(below, zero, viewer=people.bob)
    # −4/10 is kept at 0: the part of rude is −0.4, the limit gives it back.
    assert found.scores.difference.value == 0.0
    assert found.criteria[1].contribution is not None
    assert found.criteria[1].contribution.value == pytest.approx(-0.4)
    assert found.rest == pytest.approx(0.4)


def test_errors_are_counted_on_both_sides_and_are_no_flip(people: Cast, dataset, version) -> None:
    before = graded(people, dataset, version, BEFORE, failing=("a", "paris"))
    after = graded(people, dataset, version, AFTER, failing=("b", "paris"))
    found = run_diff(after, before, viewer=people.bob)
    paris = found.criteria[0]
    assert (paris.n, paris.run_errors, paris.baseline_errors, paris.changed_count) == (2, 1, 1, 0)
    run, baseline = found.sides
    assert (run.errors, baseline.errors) == (1, 1)
    # 14 is all of the weight, 6 of it failed on one of four items.
    assert run.coverage == pytest.approx((3 + 8 / 14) / 4)


# ── Other versions of the rubric ─────────────────────────────────────────────────────────────────


def test_criteria_of_two_versions_match_by_what_they_ask(people: Cast, dataset, before: Run) -> None:
    reworded = TONE | {"requirement": "How friendly is it?"}
    newer = factories.version(
        people.team, people.ed, title="Newer", criteria=[RUDE, PARIS | {"weight": 12.0}, reworded]
    )
    table = {key: (rude, paris, tone) for key, (paris, rude, tone) in AFTER.items()}
    places = {"Is rude.": 0, "Names Paris.": 1, "How friendly is it?": 2}
    after = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=newer),
        LabelJudge(
            lambda name, requirement, response: table[response.strip()[-1]][
                next(at for text, at in places.items() if text in requirement)
            ]
        ),
    )
    found = run_diff(after, before, viewer=people.bob)
    assert [(row.criterion.name, row.reweighted) for row in found.criteria] == [
        ("rude", False),
        ("paris", True),
    ]
    assert [one.criterion.name for one in found.only_run] == ["tone"]
    assert [one.criterion.name for one in found.only_baseline] == ["tone", "short"]
    assert not found.same_rubric
    assert ("Rubric", "Newer v1", "Capitals v1") in [
        (one.name, one.run, one.baseline) for one in found.settings
    ]
    parts = [row.contribution for row in (*found.criteria, *found.only_run, *found.only_baseline)]
    whole = sum(part.value for part in parts if part is not None and part.value is not None)
    assert found.rest is not None
    assert whole + found.rest == pytest.approx(found.scores.difference.value)


def test_every_setting_that_shapes_answers_is_told(people: Cast, dataset, version) -> None:
    """Judges and panels that lists call by the same name."""

    def differing(run: Run, baseline: Run) -> list[tuple[str, str, str]]:
        found = settings_that_differ(run, baseline, MatchedCriteria.of(run, baseline), people.ed)
        return [(one.name, one.run, one.baseline) for one in found]

    def planned(panel: Panel | None = None, **config) -> Run:
        options = {"judge": replace(called("x"), **config)} if panel is None else {"judge_id": None}
        return factories.run(
            people.team, people.ed, dataset=dataset, rubric_version=version, panel=panel, **options
        )

    def cascade(escalate_on: list[str], quorum: float, **config) -> Run:
        members = [
            PanelMember("offline", config=called("x")),
            PanelMember("offline", stage=1, config=replace(called("y"), **config)),
        ]
        return planned(Panel(members, escalate_on=escalate_on, quorum=quorum))

    plain = planned()
    assert differing(planned(), plain) == []
    elsewhere = "http://127.0.0.1:8/v1"
    changed = planned(
        base_url=elsewhere, top_p=0.5, reasoning_effort="low", logprobs=True, fallback_model="z"
    )
    assert differing(changed, plain) == [
        ("Asked at", elsewhere, "http://127.0.0.1:9/v1"),
        ("Top p", "0.5", "not set"),
        ("Reasoning effort", "low", "not set"),
        ("Token probabilities", "asked for", "not asked for"),
        ("Fallback model", "z", "not set"),
    ]
    rule = (
        "x × 1, then y × 1; asked 1 time, then 1 time; settled by binary majority, ordinal mean, nominal mode"
    )
    assert differing(cascade(["error"], 0.6, temperature=0.7), cascade(["abstention"], 0.0)) == [
        ("Temperature of y", "0.7", "0"),
        (
            "Panel",
            f"{rule}; goes on at error; at least 60% of the votes",
            f"{rule}; goes on at abstention; however few votes",
        ),
    ]
    shown = FewShotSnapshot(dataset.pk, None, (), 1, 7, "one", (ExampleSnapshot(1, 1, "MET", ""),))
    plain.few_shot, changed = shown, planned()
    changed.few_shot, changed.half = replace(shown, digest="two"), "dev"
    assert differing(changed, plain) == [
        ("Split of the dataset", "dev cases", "all cases"),
        ("Examples", "1 example, seed 7 (others)", "1 example, seed 7"),
    ]


def test_items_on_rubrics_of_their_own_are_counted(people: Cast, version) -> None:
    own = {"id": "own", "submission": "Paris, says a", "rubric": {"criteria": [PARIS]}}
    plain = {"id": "plain", "submission": "Paris, says b"}
    dataset = factories.dataset(people.team, people.ed, items=[own, plain])
    before, after = (graded(people, dataset, version, table) for table in (BEFORE, AFTER))
    found = run_diff(after, before, viewer=people.bob)
    assert found.on_own_rubrics == 1
    assert found.criteria[0].n == 1
    # own: 1 → 0, no criterion of the shared rubric has a part in it; plain: 0.4 → 0.8.
    assert found.scores.difference.value == pytest.approx(-0.3)
    assert found.rest == pytest.approx(-0.5)


# ── Whole scores, raw scores, unfinished runs ────────────────────────────────────────────────────


def test_a_run_of_whole_scores_has_no_parts_and_no_flips(people: Cast, dataset, version, before: Run) -> None:
    whole = grade(
        factories.run(
            people.team, people.ed, dataset=dataset, rubric_version=version, autograder="rubric_as_judge"
        ),
        LabelJudge(lambda name, requirement, response: 50),
    )
    found = run_diff(whole, before, viewer=people.bob)
    assert found.scores.difference.value == pytest.approx(0.5 - 0.6)
    assert found.holistic == (whole,)
    assert found.rest is None
    assert [(row.n, row.contribution) for row in found.criteria[:3]] == [(0, None)] * 3


def test_raw_and_normalised_runs_meet_on_the_raw_score(people: Cast, dataset, version, before: Run) -> None:
    raw = graded(people, dataset, version, BEFORE, normalize=False)
    found = run_diff(raw, before, viewer=people.bob)
    assert found.scale == "raw score"
    assert found.scores.difference.value == 0.0
    assert found.scores.mean_one.value == pytest.approx((10 + 4 + 0 + 6) / 4)


def test_items_without_a_score_on_both_sides_are_counted_not_hidden(
    people: Cast, dataset, version, before: Run
) -> None:
    planned = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    found = run_diff(planned, before, viewer=people.bob)
    assert (found.items, found.unpaired, found.scores.n) == (4, 4, 0)
    assert found.scores.difference.value is None
    assert (found.direction, found.rest) == ("", None)
    assert found.under_way == (planned,)
    assert (found.sides[0].graded, found.sides[1].graded) == (0, 4)
    page = item_page(item_changes(planned, before, set()), planned, before)
    assert [(row.change.change, row.change.difference) for row in page.rows] == [("unpaired", None)] * 4


def test_runs_over_different_datasets_are_refused(people: Cast, version, before: Run) -> None:
    other = factories.dataset(people.team, people.ed, name="others")
    elsewhere = factories.run(people.team, people.ed, dataset=other, rubric_version=version)
    with pytest.raises(Invalid, match="only runs over the same dataset"):
        run_diff(elsewhere, before, viewer=people.bob)
    with pytest.raises(Invalid, match="cannot be held against itself"):
        run_diff(before, before, viewer=people.bob)
    assert before not in baselines(elsewhere)


def test_the_baseline_to_begin_with_is_the_newest_ended_run_before(
    people: Cast, dataset, version, before: Run, after: Run
) -> None:
    under_way = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    assert baseline_for(under_way) == after
    assert baseline_for(after) == before
    assert baseline_for(before) == under_way  # none is older: the newest other one
    few = [dataset.items.get(key="a").pk]
    a_try = graded(people, dataset, version, AFTER, item_ids=few)
    later = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    assert (baseline_for(later), baselines(later)[0]) == (after, a_try)
    alone = factories.dataset(people.team, people.ed, name="alone")
    assert baseline_for(factories.run(people.team, people.ed, dataset=alone, rubric_version=version)) is None


# ── Noise ────────────────────────────────────────────────────────────────────────────────────────


def test_noise_is_unknown_without_votes(people: Cast, before: Run, after: Run) -> None:
    assert {row.within_noise for row in run_diff(after, before, viewer=people.bob).criteria} == {"unknown"}


def test_noise_is_the_flip_rate_of_repeats(people: Cast, dataset, version, before: Run) -> None:
    asked: dict[tuple[str, str], int] = {}

    def wavering(name: str, requirement: str, response: str) -> str:
        """Of three answers on paris the second is the other one, on items a and b."""
        key = response.strip()[-1]
        if "Paris" not in requirement:
            return "UNMET" if "rude" in requirement else "Warm"
        asked[requirement, key] = asked.get((requirement, key), 0) + 1
        return "UNMET" if key in "ab" and asked[requirement, key] == 2 else "MET"

    run = factories.run(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        judge_id=None,
        panel=Panel([PanelMember("offline")], repeats=3),
    )
    paris, rude, _, _ = run_diff(grade(run, LabelJudge(wavering)), before, viewer=people.bob).criteria
    assert paris.noise is not None
    # Of three answers one differs on two of four items: chance 2/3 that two differ, so (2/3 + 2/3) / 4.
    assert (paris.noise.source, paris.noise.flip_rate.value) == ("repeats", pytest.approx(1 / 3))
    # One of four answers flipped (c from UNMET to MET): 0.25 is within 0.33.
    assert (paris.changed.value, paris.within_noise) == (0.25, "within")
    assert rude.noise is not None
    assert rude.noise.flip_rate.value == 0.0


def test_members_of_a_panel_stand_in_where_nobody_was_asked_again(
    people: Cast, dataset, version, before: Run
) -> None:
    run = factories.run(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        judge_id=None,
        panel=Panel([PanelMember("offline", config=called(name)) for name in "xyz"]),
    )

    def split(name: str, requirement: str, response: str) -> str:
        """z finds Paris nowhere."""
        if "Paris" not in requirement:
            return "UNMET" if "rude" in requirement else "Warm"
        return "UNMET" if name == "z" else "MET"

    paris = run_diff(grade(run, LabelJudge(split)), before, viewer=people.bob).criteria[0]
    assert paris.noise is not None
    assert (paris.noise.source, paris.noise.flip_rate.value) == ("members", pytest.approx(2 / 3))


@pytest.mark.parametrize(
    ("changed", "flips", "said"),
    [
        (Figure(0.05, 0.01, 0.1, 40), Figure(0.08, 0.02, 0.12, 40), "within"),
        (Figure(0.30, 0.20, 0.4, 40), Figure(0.08, 0.02, 0.12, 40), "beyond"),
        (Figure(0.15, 0.05, 0.3, 40), Figure(0.08, 0.02, 0.12, 40), "open"),
        (Figure(0.15, 0.05, 0.3, 40), None, "unknown"),
        (Figure(None, None, None, 0), Figure(0.08, 0.02, 0.12, 40), "unknown"),
    ],
)
def test_change_is_beyond_noise_when_the_intervals_part(changed, flips, said) -> None:
    assert within_noise(changed, flips) == said


# ── Items ────────────────────────────────────────────────────────────────────────────────────────


def test_items_lead_with_regressions_then_fixes(people: Cast, before: Run, after: Run) -> None:
    changes = item_changes(after, before, set())
    page = item_page(changes, after, before)
    assert [(row.item.key, row.change.change, row.answers_changed) for row in page.rows] == [
        ("a", "regression", 2),
        ("b", "fix", 1),
        ("c", "unchanged", 0),
        ("d", "unchanged", 1),
    ]
    assert page.rows[0].change.difference == pytest.approx(-0.8)
    assert (page.total, page.next_cursor) == (4, None)


def test_pages_of_items_follow_on(people: Cast, before: Run, after: Run) -> None:
    changes = item_changes(after, before, set())
    seen, cursor = [], None
    for _ in range(4):
        page = item_page(changes, after, before, cursor=cursor, size=1)
        seen += [row.item.key for row in page.rows]
        cursor = int(page.next_cursor) if page.next_cursor else None
    assert (seen, cursor) == (["a", "b", "c", "d"], None)
    only = item_page(changes, after, before, change="fix")
    assert ([row.item.key for row in only.rows], only.total, only.counts["regression"]) == (["b"], 1, 1)
    with pytest.raises(Invalid, match="Allowed: regression, fix, unchanged, unpaired"):
        narrowed(changes, "item__dataset__team")


def test_an_item_knows_its_neighbours_in_the_list(people: Cast, before: Run, after: Run) -> None:
    changes = item_changes(after, before, set())
    a, b, c, d = (one.item_id for one in changes)
    assert items_around(changes, a) == items_around(changes, a).__class__(1, 4, None, b)
    assert (items_around(changes, d).before, items_around(changes, d).after) == (c, None)
    assert items_around(narrowed(changes, "fix"), a).after == b


def test_both_answers_stand_side_by_side(people: Cast, before: Run, after: Run) -> None:
    item = before.dataset.items.get(key="a")
    seen = item_in_both(after, before, item, viewer=people.bob)
    assert seen is not None
    paris, rude, tone, short = seen.criteria
    assert paris.run is not None
    assert paris.baseline is not None
    assert (paris.baseline.verdict, paris.run.verdict, paris.difference) == ("MET", "UNMET", -1.0)
    assert paris.run.reason == "judge says UNMET"
    assert (paris.answers_differ, rude.answers_differ) == (True, False)
    assert tone.difference == -0.5
    assert short.difference == 0.0
    assert (seen.differing, seen.change.change) == (2, "regression")


# ── Blinding, and the number of queries ──────────────────────────────────────────────────────────


def test_a_blind_rater_gets_nothing_of_items_still_to_do(
    people: Cast, dataset, version, before: Run, after: Run
) -> None:
    factories.queue(
        people.team, people.ed, dataset=dataset, rubric_version=version, raters=[people.ann], name="blind"
    )
    found = run_diff(after, before, viewer=people.ann)
    assert (found.hidden_items, found.items, found.scores.n) == (4, 0, 0)
    assert [row.n for row in found.criteria] == [0, 0, 0, 0]
    assert found.sides[0].errors == 0
    assert list(item_changes(after, before, hidden_from(after, people.ann))) == []
    with pytest.raises(Withheld):
        item_in_both(after, before, dataset.items.get(key="a"), viewer=people.ann)
    # Of two runs over one item the others are not left out: they were never in them.
    only = [dataset.items.get(key="a").pk]
    few = [graded(people, dataset, version, table, item_ids=only) for table in (BEFORE, AFTER)]
    assert run_diff(*few, viewer=people.ann).hidden_items == 1
    assert comparison.compare(few[0], [], viewer=people.ann).hidden_items == 1


@pytest.mark.parametrize("items", [2, 20])
def test_the_summary_takes_as_many_queries_however_many_items(
    people: Cast, version, items: int, django_assert_num_queries
) -> None:
    many = [{"id": str(number), "submission": f"{number} {KEYS[number % 4]}"} for number in range(items)]
    dataset = factories.dataset(people.team, people.ed, items=many)
    runs = [graded(people, dataset, version, table) for table in (BEFORE, AFTER)]
    after, before = (access_run(people.team, run.pk) for run in reversed(runs))
    # Hidden items, items of each run, criteria, answers of each run; how many items the runs are over and
    # the dataset has; whose judges may be told. The team came with the runs.
    with django_assert_num_queries(9):
        assert run_diff(after, before, viewer=people.bob).scores.n == items
