"""What people ask of a result page stands on its first screen, 1280 × 800, before anybody scrolls."""

import re

import pytest
from django.urls import reverse

from rubricweb.models import Run
from tests import factories
from tests.browser.conftest import Open
from tests.factories import Cast
from tests.judging import InProcessJudge, grade

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

CRITERIA = [
    {"name": "Right", "weight": 3, "requirement": "Is right."},
    {"name": "Kind", "weight": 1, "requirement": "Is kind."},
]
SCREEN = 800

# The question, the page one would open, and where and in which words it is answered there.
QUESTIONS = [
    (
        "Is the judge lenient?",
        "compare",
        ".verdict",
        r"Too lenient This judge passes 75% where people pass 50%",
    ),
    ("Which criterion is worst?", "compare", "tbody tr:first-child", r"^Kind"),
    (
        "How far does the judge agree with people?",
        "compare",
        ".verdict",
        r"Agreement \(κ\): judge \S+, one person",
    ),
    ("What should I do next?", "compare", ".verdict .button--primary", r"Decide 10 disagreements"),
    ("Did the second run beat the first?", "run_diff", ".verdict", r"Second scores higher than First"),
    ("By how much?", "run_diff", ".verdict", r"\+0\.38, interval 0\.\d+ to 0\.\d+, 20 items"),
    ("What became worse?", "run_diff", ".verdict", r"10 up, 0 down, 10 the same"),
    ("How good is the newest run?", "dashboard", ".answer-line", r"Second scores 1\.00"),
    ("How was it before?", "dashboard", ".answer-line", r"First had 0\.62"),
    ("What waits for me?", "dashboard", "#needs-title", r"Needs you"),
    (
        "How did the run go, and how bad is the worst?",
        "run",
        ".verdict",
        r"Mean score 0\.62; the lowest of 20 items has 0\.25",
    ),
    ("Do people agree among themselves?", "queue_agreement", ".verdict", r"whether people agree well enough"),
]


@pytest.fixture
def runs(people: Cast) -> tuple[Run, Run]:
    """Twenty items. People say Right of the odd ones, Kind of the first ten. The first run says Right of the
    odd ones and Kind of all, the second MET of everything.
    """
    version = factories.version(people.team, people.ed, title="Replies", criteria=CRITERIA)
    items = [{"id": str(key), "submission": f"Text {key}"} for key in range(20)]
    data = factories.dataset(people.team, people.ed, items=items, name="replies")
    lines = ["item_id,criterion,rater,verdict"]
    for key in range(20):
        for name in ("Xenia", "Yusuf"):
            lines.append(f"{key},Right,{name},{'MET' if key % 2 else 'UNMET'}")
            lines.append(f"{key},Kind,{name},{'MET' if key < 10 else 'UNMET'}")
    first = factories.run(people.team, people.ed, dataset=data, rubric_version=version, name="First")

    def odd(requirement: str, response: str) -> str:
        return "MET" if "kind" in requirement or int(response.split()[-1]) % 2 else "UNMET"

    grade(first, InProcessJudge(odd))
    factories.import_labels(
        data, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )
    second = factories.run(people.team, people.ed, dataset=data, rubric_version=version, name="Second")
    return first, grade(second, InProcessJudge(lambda requirement, response: "MET"))


def test_twelve_questions_are_answered_on_the_first_screen(
    people: Cast, open_as: Open, runs: tuple[Run, Run], violations: list[str]
) -> None:
    first, second = runs
    team, queue = people.team, people.team.queues.get()
    addresses = {
        "compare": f"{reverse('compare', args=[team.slug])}?run={first.pk}",
        "run_diff": reverse("run_diff", args=[team.slug, second.pk, first.pk]),
        "dashboard": reverse("dashboard", args=[team.slug]),
        "run": reverse("run", args=[team.slug, first.pk]),
        "queue_agreement": reverse("queue_agreement", args=[team.slug, queue.pk]),
    }
    missed = []
    for name, address in addresses.items():
        page = open_as(people.rae, address)
        page.set_viewport_size({"width": 1280, "height": SCREEN})
        for question, where, place, answer in QUESTIONS:
            if where != name:
                continue
            found = page.locator(place).first
            words = re.sub(r"\s+", " ", found.inner_text()).strip()
            box = found.bounding_box()
            if box is None or box["y"] + box["height"] > SCREEN or not re.search(answer, words):
                missed.append((question, words[:200], box))
        # With its folds closed a page of results is read in a minute.
        assert len(page.locator("main").inner_text().split()) < 600, name
    assert missed == []
    assert violations == []
