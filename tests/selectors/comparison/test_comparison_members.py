"""The judges of a panel one by one, against people and among themselves.

People say of the four items MET, MET, UNMET, UNMET; the members::

    strict   MET UNMET UNMET UNMET   right on 3 of 4; by chance 1/4·1/2 + 3/4·1/2: κ (3/4 − 1/2)/(1/2) = 1/2
    lenient  MET MET   MET   MET     right on 2 of 4; by chance 1/2: κ 0
    shaky    MET MET   UNMET error   right on 3 of 3: κ 1

α among them: 7 METs and 4 UNMETs; unlike ordered pairs over votes − 1: 0, 4/2, 4/2, 2/1, observed 6; expected
2·7·4/(11 − 1) = 5.6; α = 1 − 6/5.6 = −0.0714.
"""

import json
import re
from collections.abc import Mapping

import pytest
from django.urls import reverse
from django.utils import timezone

from rubricweb.judges.base import JudgeConfig, JudgeError
from rubricweb.models import ReviewQueue, Run
from rubricweb.selectors.comparison import comparison
from rubricweb.services.runs.panels import Panel, PanelMember
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.commands.terminal import terminal_of
from tests.factories import Cast
from tests.judging import InProcessJudge, LabelJudge, grade

pytestmark = pytest.mark.django_db

CRITERIA = [
    {"name": "only", "weight": 4.0, "requirement": "Says it."},
    {
        "name": "tone",
        "weight": 6.0,
        "requirement": "How friendly?",
        "options": [{"label": "Cold", "value": 0.0}, {"label": "Warm", "value": 1.0}],
    },
]
KEYS = ("a", "b", "c", "d")
PEOPLE = {"only": "MET MET UNMET UNMET", "tone": "Warm Warm Cold Cold"}
SAID = {"strict": "MET UNMET UNMET UNMET", "lenient": "MET MET MET MET", "shaky": "MET MET UNMET -"}


def answer(name: str, requirement: str, response: str) -> str | JudgeError:
    if "friendly" in requirement:
        return "Warm"
    label = SAID[name].split()[KEYS.index(response[-2])]
    return JudgeError("bad_request", "HTTP 400") if label == "-" else label


def member(name: str, stage: int = 0) -> PanelMember:
    config = JudgeConfig(name=name, base_url="http://127.0.0.1:9/v1", model=f"model of {name}")
    return PanelMember("command-line", name=name, stage=stage, config=config)


@pytest.fixture
def run(people: Cast) -> Run:
    items = [{"id": key, "submission": f"Text {key}."} for key in KEYS]
    return grade(
        factories.run(
            people.team,
            people.ed,
            dataset=factories.dataset(people.team, people.ed, items=items),
            rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA),
            judge_id="",
            panel=Panel([member(name) for name in SAID], rule="majority"),
        ),
        LabelJudge(answer),
    )


def labelled(run: Run, people: Cast, labels: Mapping[str, str] = PEOPLE) -> ReviewQueue:
    lines = ["item_id,criterion,rater,verdict,reason"]
    for name, said in labels.items():
        lines += [f"{key},{name},xavier,{label}," for key, label in zip(KEYS, said.split(), strict=True)]
    assert run.rubric_version is not None
    return factories.import_labels(
        run.dataset,
        run.rubric_version,
        by=people.ed,
        data="\n".join(lines).encode(),
        filename="labels.csv",
        queue_name="X",
    )


def test_every_member_is_held_against_people_like_the_panel(people: Cast, run: Run) -> None:
    found = comparison.compare(run, [labelled(run, people)], viewer=people.bob, resamples=50).panel
    assert found is not None
    figures = [
        (one.name, one.overall.n, one.overall.accuracy.value, one.overall.kappa.value, one.failed)
        for one in found.members
    ]
    assert figures == [
        ("strict", 4, 0.75, pytest.approx(0.5), 0),
        ("lenient", 4, 0.5, pytest.approx(0.0), 0),
        ("shaky", 3, 1.0, pytest.approx(1.0), 1),
    ]
    assert found.members[0].overall.accuracy.low is not None
    tone = found.members[0].criteria[1].options
    assert tone is not None
    # Warm each time, people half of it: right on 2 of 4, κ 0.
    assert (tone.n, tone.accuracy.value, tone.kappa.value) == (4, 0.5, pytest.approx(0.0))


def test_alpha_among_the_members_is_krippendorffs_over_their_votes(people: Cast, run: Run) -> None:
    found = comparison.compare(run, [labelled(run, people)], viewer=people.bob, resamples=50).panel
    assert found is not None
    assert found.alpha.value == pytest.approx(1 - 6 / 5.6)
    assert [(one.name, alpha.n) for one, alpha in found.alphas] == [("only", 4), ("tone", 4)]
    # All said Warm each time: nothing varies, so it is undefined and not 1.
    assert found.alphas[1][1].value is None


def test_a_run_of_one_judge_has_no_members(people: Cast) -> None:
    dataset = factories.dataset(people.team, people.ed)
    version = factories.version(people.team, people.ed)
    run = grade(
        factories.run(people.team, people.ed, dataset=dataset, rubric_version=version),
        InProcessJudge(lambda requirement, response: "MET"),
    )
    queue = factories.import_labels(
        dataset,
        version,
        by=people.ed,
        data=b"item_id,criterion,rater,verdict,reason\ngood,capital,xavier,MET,\n",
        filename="labels.csv",
        queue_name="X",
    )
    assert comparison.compare(run, [queue], viewer=people.bob, resamples=20).panel is None


def test_what_a_later_stage_was_not_asked_is_counted(people: Cast) -> None:
    items = [{"id": key, "submission": f"Text {key}."} for key in KEYS]
    run = grade(
        factories.run(
            people.team,
            people.ed,
            dataset=factories.dataset(people.team, people.ed, items=items),
            rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA[:1]),
            judge_id="",
            panel=Panel([member("shaky"), member("strict", stage=1)]),
        ),
        LabelJudge(answer),
    )
    lines = [f"{key},only,xavier,{label}," for key, label in zip(KEYS, PEOPLE["only"].split(), strict=True)]
    queue = factories.import_labels(
        run.dataset,
        run.rubric_version,
        by=people.ed,
        data="\n".join(["item_id,criterion,rater,verdict,reason", *lines]).encode(),
        filename="labels.csv",
        queue_name="X",
    )
    found = comparison.compare(run, [queue], viewer=people.bob, resamples=20).panel
    assert found is not None
    # strict was asked about d alone, where shaky failed.
    assert [(one.name, one.overall.n, one.failed, one.unasked) for one in found.members] == [
        ("shaky", 3, 1, 0),
        ("strict", 1, 0, 3),
    ]


def test_members_are_on_the_page_in_the_api_and_at_the_terminal(
    people: Cast, run: Run, sign_in, capsys: pytest.CaptureFixture[str]
) -> None:
    queue = labelled(run, people)
    asked = {"run": run.pk, "queue": queue.pk}
    page = sign_in(people.bob).get(reverse("compare", args=[people.team.slug]), asked).content.decode()
    card = page.split('id="panel-members"')[1].split("</section>")[0]
    assert ["strict" in card, "lenient" in card, "shaky" in card] == [True] * 3
    assert "among the members is" in card
    terminal = terminal_of(people.team, people.bob, capsys)
    said = terminal("compare", run.pk).out
    assert "α among the members −0." in said
    assert "shaky" in said
    [*_, last] = json.loads(terminal("compare", run.pk, "--json").out)["panel"]["members"]
    assert (last["name"], last["failed"], last["overall"]["accuracy"]["n"]) == ("shaky", 1, 3)
    membership = people.team.memberships.get(user=people.bob)
    _, secret = teams.create_token(membership, name="tests", may_write=False, days=1, now=timezone.now())
    panel = ApiClient(secret).get(f"/runs/{run.pk}/comparison", queue=queue.pk)["panel"]
    assert (panel["alpha"]["value"], panel["alpha"]["n"]) == (pytest.approx(1 - 6 / 5.6), 4)
    assert [(one["name"], one["overall"]["kappa"]["value"]) for one in panel["members"]] == [
        ("strict", pytest.approx(0.5)),
        ("lenient", pytest.approx(0.0)),
        ("shaky", pytest.approx(1.0)),
    ]
    assert panel["members"][0]["criteria"][1]["options"]["n"] == 4


def cells(printed: str, name: str) -> list[str]:
    """What stands in the table row that begins with this name."""
    [line] = [line for line in printed.splitlines() if line.startswith(f"  {name}  ")]
    return re.split(r" {2,}", line.strip())


def test_ordered_options_have_one_kappa_wherever_it_is_shown(
    people: Cast, sign_in, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [{"label": label, "value": value} for label, value in (("thin", 0), ("fair", 0.5), ("deep", 1))]
    criterion = {"name": "depth", "weight": 4.0, "requirement": "How deep?", "options": options}
    items = [{"id": key, "submission": f"Text {key}."} for key in KEYS]
    said = dict(zip(KEYS, ["thin", "fair", "fair", "deep"], strict=True))
    run = grade(
        factories.run(
            people.team,
            people.ed,
            dataset=factories.dataset(people.team, people.ed, items=items),
            rubric_version=factories.version(people.team, people.ed, criteria=[criterion]),
            judge_id="",
            panel=Panel([member("one"), member("two")], rule="majority"),
        ),
        LabelJudge(lambda name, requirement, response: said[response[-2]]),
    )
    queue = labelled(run, people, {"depth": "thin thin fair deep"})
    # People say thin thin fair deep: with quadratic weights κ is 1 − 4·1 / 20 = 0.80, without them
    # (0.75 − 0.3125) / 0.6875 = 0.64.
    printed = terminal_of(people.team, people.bob, capsys)("compare", run.pk).out
    [of_depth] = re.findall(r"\ndepth\n([^\n]*(?:\n {4}[^\n]*)*)", printed)
    assert "κ 0.80 [" in " ".join(of_depth.split())
    assert cells(printed, "one")[4].startswith("0.80 [")
    asked = {"run": run.pk, "queue": queue.pk}
    page = sign_in(people.bob).get(reverse("compare", args=[people.team.slug]), asked).content.decode()
    members = page.split('aria-label="Judges of the panel by criterion"')[1].split("</table>")[0]
    assert members.count(">0.80 <") == 2
    assert "0.64" not in members
