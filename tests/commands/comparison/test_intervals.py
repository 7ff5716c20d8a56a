"""What `rubricweb compare` prints stands with its interval, and almost all is not all."""

from collections import Counter

from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade
from tests.worlds import halves

N = 210
MANY = [halves.row(number) for number in range(N)]
ONLY = [{"name": "only", "weight": 1, "requirement": "Is right."}]


def one_line(text: str) -> str:
    return " ".join(text.split())


def test_figures_against_people_have_intervals_and_209_of_210_are_not_all(people: Cast, at_terminal) -> None:
    dataset = factories.dataset(people.team, people.ed, items=MANY)
    version = factories.version(people.team, people.ed, criteria=ONLY)
    halves.label(people, dataset, version, range(N), "labels")
    run = halves.judged(people, dataset, version, wrong=frozenset({7}))
    printed = one_line(at_terminal(people.bob)("compare", run.pk).out)
    # Wilson's interval of 209/210, z² = 3.8415: centre (209 + 1.9207) / 213.8415 = 0.98634, half
    # 1.96 · √(209/210 + 0.96037) / 213.8415 = 0.01282: 0.9735 to 0.9992.
    assert printed.count("n 210 · accuracy >0.99 [0.97, >0.99]") == 2  # all criteria and the one there is
    assert "accuracy 1.00" not in printed


def test_a_run_that_lost_one_of_210_is_not_said_to_have_all(people: Cast, at_terminal) -> None:
    dataset = factories.dataset(people.team, people.ed, items=MANY)
    version = factories.version(people.team, people.ed, criteria=ONLY)
    before, after = (
        grade(
            factories.run(people.team, people.ed, dataset=dataset, rubric_version=version),
            InProcessJudge(lambda _, text, lost=lost: "UNMET" if text.strip() == lost else "MET"),
        )
        for lost in ("none", "Answer 7")
    )
    printed = one_line(at_terminal(people.bob)("compare", after.pk, "--with", before.pk).out)
    # Bonett and Price: −1 and ±1 among 212, Σe² = 3 − 1/210, s² = 2.9952/211 = 0.014195, t of 210 degrees
    # 1.9713, half 1.9713 · √(0.014195/210) = 0.0162 about −0.0048: −0.0210 to 0.0114.
    # n, before, after, Δ, better, worse, p and what it adds to Δ:
    assert "only 210 1.00 >0.99 0.00 [−0.02, 0.01] 0 1 1.0000 0.00 [−0.02, 0.01] not measured" in printed
    assert "1.000 [0.982, 1.000] became >0.99 [0.97, >0.99]" in printed


def test_noise_is_printed_with_both_shares_it_is_read_off(people: Cast, at_terminal) -> None:
    rows = [halves.row(number) for number in range(4)]
    dataset = factories.dataset(people.team, people.ed, items=rows)
    version = factories.version(people.team, people.ed, criteria=ONLY)
    before = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version),
        InProcessJudge(lambda _, text: "UNMET" if text.strip() == "Answer 2" else "MET"),
    )
    asked: Counter[str] = Counter()

    def wavering(_: str, __: str, text: str) -> str:
        """Of three answers about the first two items the second is the other one."""
        asked[text] += 1
        return "UNMET" if text.strip() in ("Answer 0", "Answer 1") and asked[text] == 2 else "MET"

    run = factories.run(
        people.team,
        people.ed,
        dataset=dataset,
        rubric_version=version,
        judge_id=None,
        panel=Panel([PanelMember("offline")], repeats=3),
    )
    grade(run, LabelJudge(wavering))
    printed = one_line(at_terminal(people.bob)("compare", run.pk, "--with", before.pk).out)
    # One of four changed; Wilson of 1/4: 0.0456 to 0.6994. Of three answers two items had one apart: (2/3 +
    # 2/3) / 4 flips.
    assert "judge noise within: 25% [5%, 70%] changed, 33% [" in printed
    assert "] flips (n 4)" in printed
