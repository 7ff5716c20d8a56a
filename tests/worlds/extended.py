"""A run that was extended by the right words of an answer it had graded in wrong ones."""

from typing import NamedTuple

from rubricweb.models import Item, Run
from rubricweb.services.datasets.changes import corrections
from rubricweb.services.datasets.changes.corrections import Correction
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge, grade

IS_RIGHT = [{"name": "right", "weight": 1, "requirement": "Is right."}]


class Extended(NamedTuple):
    run: Run
    wrong: Item
    right: Item


def judge() -> InProcessJudge:
    return InProcessJudge(lambda requirement, response: "UNMET" if "WRONG" in response else "MET")


def extended_run(people: Cast) -> Extended:
    """Over four items, of which one said WRONG: its mean is 1, with the wrong words it was ¾."""
    items = [{"id": f"i{n}", "submission": f"Right {n}." if n else "WRONG."} for n in range(4)]
    dataset = factories.dataset(people.team, people.ed, items=items)
    version = factories.version(people.team, people.ed, criteria=IS_RIGHT)
    run = grade(factories.run(people.team, people.ed, dataset=dataset, rubric_version=version), judge())
    wrong = dataset.items.get(key="i0")
    corrections.correct_item(wrong, Correction(submission="Right 0."), by=people.ed)
    lifecycle.extend_run(run, by=people.ed, enqueue=WakeUps())
    grade(run, judge())
    return Extended(Run.objects.get(pk=run.pk), wrong, dataset.items.current().get(key="i0"))
