"""Compare over several answers to a case: every number of a table counts the same, items."""

import re

import pytest
from django.urls import reverse

from rubricweb.selectors.reviews.queue_sources import Source
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.worlds.sampled import label, opened

pytestmark = pytest.mark.django_db


def test_tables_of_means_and_of_checks_count_items(people: Cast, sign_in) -> None:
    """Case a has three answers, b and c one each: five items, of which people were asked about two."""
    version = factories.version(
        people.team,
        people.ed,
        criteria=[
            {"name": "kind", "weight": 1.0, "requirement": "Is kind."},
            {"name": "short", "weight": 1.0, "check": "length_between", "params": {"max": 10}},
        ],
    )
    said = [("a", "Yes."), ("a", "No."), ("a", "Why."), ("b", "A long answer."), ("c", "A longer answer.")]
    items = [
        {"case_id": case, "attempt": place, "prompt": case, "submission": words}
        for place, (case, words) in enumerate(said, 1)
    ]
    run = grade(
        factories.run(
            people.team,
            people.ed,
            dataset=factories.dataset(people.team, people.ed, items=items),
            rubric_version=version,
        ),
        InProcessJudge(lambda *_: "MET"),
    )
    queue = opened(people, run, Source())
    label(queue, people.ann, 2, lambda item, name: "MET")
    page = sign_in(people.bob).get(f"{reverse('compare', args=[people.team.slug])}?run={run.pk}")
    rows = re.findall(r"<tr>.*?</tr>", page.content.decode(), re.DOTALL)
    words = [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]
    [everything] = [row for row in words if row.startswith("Judge, all items")]
    [same] = [row for row in words if row.startswith("Judge, the same items")]
    # The judge says MET of all; short are the three of a: (1 + ½ + ½) / 3 = 0.67 over cases, from 5 items.
    assert (everything.split()[-1], same.split()[-1]) == ("5", "2")
    assert "0.67" in everything
    [head] = [row for row in words if "Items measured" in row]
    [short] = [row for row in words if row.startswith("short")]
    assert head.split()[:4] == ["Criterion", "Check", "Items", "measured"]
    # A third of the cases is short; measured were five items.
    assert "length_between 5 0.33" in short
