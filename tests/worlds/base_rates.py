"""A judge that reads nothing, but knows that one criterion is usually met and another usually not.

Of twenty items people say MET of `often` on 18 and of `rarely` on 2; x and y differ on item 2 alone, on both.
The judge says MET of `often` and UNMET of `rarely`. Decided are 19 items of each::

    within criteria   the judge is constant in each: κ 0, also in a seat
    one table         34 of 38 equal, by chance ½: κ (34/38 − ½)/½ = 15/19

People: of `often` 35 METs and 5 UNMETs, two unlike ordered pairs, by chance 2·35·5/39: α 1 − 2·39/350 =
0.7771, the same of `rarely`; in one table 40 of each, 1 − 4·79/3200 = 0.90125. κ of `often` is
(0.95 − 0.78)/0.22, with chance (18·17 + 2·3)/400 = 0.78; in one table (0.95 − 0.5)/0.5 = 0.9.
"""

from rubricweb.judges.base import JudgeConfig
from rubricweb.models import ReviewQueue, Run
from rubricweb.services.runs.panels import Panel, PanelMember
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade
from tests.worlds import halves

N = 20
CRITERIA = [
    {"name": "often", "weight": 1, "requirement": "Is often so."},
    {"name": "rarely", "weight": 1, "requirement": "Is rarely so."},
]
POOLED = 15 / 19
ALPHA, POOLED_ALPHA = 1 - 2 * 39 / 350, 1 - 4 * 79 / 3200
PAIR_KAPPA, POOLED_PAIR_KAPPA = 0.17 / 0.22, 0.9


def knows_rates(requirement: str) -> str:
    return "MET" if "often" in requirement else "UNMET"


def judged(people: Cast, *, members: int = 0) -> tuple[Run, ReviewQueue]:
    """A run of that judge, or of a panel of so many of them, and people's labels."""
    dataset = factories.dataset(people.team, people.ed, items=[halves.row(number) for number in range(N)])
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    lines = ["item_id,criterion,rater,verdict"]
    for number in range(N):
        for rater in "xy":
            usual = number >= 2 and not (rater == "y" and number == 2)
            often, rarely = ("MET", "UNMET") if usual else ("UNMET", "MET")
            lines += [f"i{number},often,{rater},{often}", f"i{number},rarely,{rater},{rarely}"]
    queue = factories.import_labels(
        dataset,
        version,
        by=people.ed,
        data="\n".join(lines).encode(),
        filename="labels.csv",
        queue_name="labels",
    )
    if not members:
        run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
        return grade(run, InProcessJudge(lambda requirement, _: knows_rates(requirement))), queue
    names = [f"judge {number}" for number in range(members)]
    panel = Panel([_member(name) for name in names], rule="majority")
    run = factories.run(
        people.team, people.ed, dataset=dataset, rubric_version=version, judge_id="", panel=panel
    )
    return grade(run, LabelJudge(lambda _, requirement, __: knows_rates(requirement))), queue


def _member(name: str) -> PanelMember:
    config = JudgeConfig(name=name, base_url="http://127.0.0.1:9/v1", model=f"model of {name}")
    return PanelMember("command-line", name=name, config=config)
