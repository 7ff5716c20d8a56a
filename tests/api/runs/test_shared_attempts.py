"""Two runs over several attempts at each case, of which one is over another version's answers too."""

import re

import pytest
from django.urls import reverse

from rubricweb.models import Item, Run, RunItem
from tests import factories
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

CASES = 20
FACT = {"name": "fact", "weight": 1.0, "requirement": "Has the fact."}


def two_runs(people: Cast, attempts: int) -> tuple[Run, Run]:
    """(run, baseline): by v1's answers to 20 cases, all attempts at a case alike, 6 cases rise and 2 fall.

    The run is over v1's answers, the baseline over v1's and v2's, as runs were before they had a version.
    """
    rows = [
        {
            "case_id": f"c{case}",
            "system": f"assistant@{version}",
            "attempt": attempt,
            "prompt": f"Question {case}",
            "submission": f"Answer {case}, attempt {attempt} of {version} in {attempts}.",
        }
        for version in ("v1", "v2")
        for case in range(CASES)
        for attempt in range(1, attempts + 1)
    ]
    dataset = factories.dataset(people.team, people.ed, items=rows, name=f"of {attempts}")
    rubric_version = factories.version(people.team, people.ed, criteria=[FACT])
    answers = Item.objects.filter(dataset=dataset)
    of_v1 = list(answers.filter(system_version__label="v1").values_list("pk", flat=True))

    def run_of(name: str) -> Run:
        return factories.run(
            people.team,
            people.ed,
            dataset=dataset,
            rubric_version=rubric_version,
            item_ids=of_v1,
            name=name,
        )

    def graded(run: Run, right: range) -> Run:
        texts = {f"Answer {case}," for case in right}
        return grade(
            run, InProcessJudge(lambda _, text: "MET" if " ".join(text.split()[:2]) in texts else "UNMET")
        )

    before = run_of("before")
    RunItem.objects.bulk_create(
        RunItem(run=before, item=item, rubric_version=rubric_version)
        for item in answers.exclude(pk__in=of_v1)
    )
    Run.objects.filter(pk=before.pk).update(system_version=None)
    # Cases 0 to 7 were right, 2 to 13 are: 8 to 13 rose, 0 and 1 fell.
    return graded(run_of("after"), range(2, 14)), graded(Run.objects.get(pk=before.pk), range(8))


@pytest.mark.parametrize("attempts", [1, 5])
def test_attempts_of_a_shared_version_count_as_one_case(
    people: Cast, as_member, sign_in, capsys: pytest.CaptureFixture[str], attempts: int
) -> None:
    run, baseline = two_runs(people, attempts)
    found = as_member(people.bob).get(f"/runs/{run.pk}/against/{baseline.pk}")
    assert found["n"] == CASES
    assert found["paired_by"] == ("case" if attempts > 1 else "item")
    # v2's 20 cases are in no difference: the baseline alone judged them.
    nobody = {"n": 0, "keys": []}
    assert found["without_pair"] == {
        "only_run": nobody,
        "only_baseline": {"n": 20, "keys": []},
        "reworded": nobody,
        "unscored": 0,
    }
    assert found["item_counts"] == {"regression": 2, "fix": 6, "unchanged": 12, "unpaired": 20}
    # Mean 4/20, s² = (8 − 20 · 0.2²) / 19 = 0.37895, t of 19 degrees 2.0930, half 2.0930 · √(0.37895 / 20) =
    # 0.2881; with ±½ more t of 21 degrees is narrower, 2.0796 · √(0.37013 / 22) = 0.2697.
    assert found["difference"]["value"] == pytest.approx(0.2)
    assert found["difference"]["low"] == pytest.approx(-0.0881, abs=1e-4)
    assert found["difference"]["high"] == pytest.approx(0.4881, abs=1e-4)
    # Six rose and two fell, all by as much: 2 · (1 + 8 + 28) of the 2⁸ patterns, by McNemar and Wilcoxon.
    assert found["wilcoxon"]["p"] == found["criteria"][0]["p"] == 2 * 37 / 256
    [row] = found["criteria"]
    assert (row["n"], row["to_met"], row["to_unmet"]) == (CASES, 6, 2)

    address = reverse("run_diff", args=[people.team.slug, run.pk, baseline.pk])
    page = " ".join(sign_in(people.bob).get(address).content.decode().split())
    assert page.count("0.2891") == 2
    assert "[−0.09, 0.49]" in page
    printed = " ".join(
        terminal_of(people.team, people.bob, capsys)("compare", run.pk, "--with", baseline.pk).out.split()
    )
    assert "Wilcoxon p 0.2891" in printed
    assert re.search(r"Mean score \+0\.20 \[−0\.09, 0\.49\] over 20 (cases|items)", printed)


def test_what_both_judged_of_a_case_stands_together_and_what_one_judged_apart(
    people: Cast, as_member
) -> None:
    run, baseline = two_runs(people, attempts=2)
    bob = as_member(people.bob)
    at = f"/runs/{run.pk}/against/{baseline.pk}/items"
    answers = {
        version: list(Item.objects.filter(case__key="c0", system_version__label=version).order_by("attempt"))
        for version in ("v1", "v2")
    }
    fell = next(row for row in bob.get(at)["items"] if row["case_key"] == "c0")
    of_v1 = [item.pk for item in answers["v1"]]
    assert (fell["difference"], fell["run_items"], fell["baseline_items"]) == (-1.0, of_v1, of_v1)
    both = bob.get(f"{at}/{of_v1[1]}")
    assert (both["paired_by"], both["difference"], both["change"]) == ("case", -1.0, "regression")
    assert both["run_answer"]["item_id"] == both["baseline_answer"]["item_id"] == of_v1[1]
    # v2's answers were judged by the baseline alone.
    alone = bob.get(f"{at}/{answers['v2'][0].pk}")
    assert (alone["change"], alone["run_answer"]) == ("unpaired", None)
    assert alone["baseline_answer"]["item_id"] == answers["v2"][0].pk
