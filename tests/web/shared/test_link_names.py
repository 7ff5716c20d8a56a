"""Links that open different things have different names, as they are read out in a list of links."""

import html
import re

import pytest
from django.test import Client
from django.urls import reverse

from rubricweb.models import Run
from tests import factories
from tests.factories import Cast
from tests.judging import LabelJudge, grade

OPTIONS = [{"label": label, "value": value} for label, value in (("Thin", 0), ("Fair", 0.5), ("Deep", 1))]
CRITERIA = [
    {"name": "capital", "weight": 1, "requirement": "Names the capital."},
    {"name": "brief", "weight": 1, "requirement": "Is brief."},
    {"name": "wrong", "weight": -1, "requirement": "Names another."},
    {"name": "depth", "weight": 1, "requirement": "How deep?", "options": OPTIONS},
    {"name": "width", "weight": 1, "requirement": "How wide?", "options": OPTIONS},
]


@pytest.fixture
def run(people: Cast) -> Run:
    """Judge and person differ on each criterion of each of three items; there is another rubric, too."""
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    factories.version(people.team, people.ed, title="Manners")
    dataset = factories.dataset(people.team, people.ed)
    lines = ["item_id,criterion,rater,verdict"]
    lines += [
        f"{item.key},{criterion['name']},zoe,{'Deep' if 'options' in criterion else 'UNMET'}"
        for item in dataset.items.all()
        for criterion in CRITERIA
    ]
    factories.import_labels(
        dataset, version, by=people.ed, data="\n".join(lines).encode(), filename="labels.csv"
    )
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version)
    return grade(
        run,
        LabelJudge(lambda name, requirement, response: "Fair" if requirement.startswith("How") else "MET"),
    )


def opened(client: Client, address: str, links: str) -> dict[str, set[str]]:
    """The addresses each name of the page's links opens, of those whose tag or surroundings match `links`."""
    page = client.get(address).content.decode()
    names: dict[str, set[str]] = {}
    for around in re.findall(links, page, re.DOTALL):
        for tag, words in re.findall(r"<a\b([^>]*)>(.*?)</a>", around, re.DOTALL):
            told = re.search(r'aria-label="([^"]*)"', tag)
            name = told[1] if told else re.sub(r"<[^>]+>", "", words)
            to = re.search(r'href="([^"]*)"', tag)
            assert to is not None
            names.setdefault(" ".join(html.unescape(name).split()), set()).add(to[1])
    return names


@pytest.mark.parametrize(
    ("name", "links", "example", "count"),
    [
        ("rubrics", r"<tbody>.*?</tbody>", "Manners v1", 2 * 2),  # title and version of each
        ("adjudication", r'<td class="table__main">.*?</td>', "3 I would rather not say., capital", 3 * 5),
        (
            "compare",
            r'<td\s+class="confusion__cell.*?</td>',
            "3 of depth, people Deep, judge Fair",
            4 + 3 * 4 + 2,  # of all verdicts, of three criteria each, and of two the one that is not empty
        ),
    ],
)
def test_each_name_opens_one_thing(people, sign_in, run, name, links, example, count) -> None:
    names = opened(sign_in(people.bob), reverse(name, args=[people.team.slug]), links)
    assert [words for words, to in names.items() if len(to) > 1] == []
    assert example in names
    assert len(names) == count
