"""A run in which the endpoint refuses one of four items: what could be judged of it is all it is good at.

Weights 4, 3, 2, 1 for a judge and 1 for a check that every item meets, 11 in all. By the judge `one` has the
first three, `two` the first, `three` the second and the last; `four` fails::

    one (4 + 3 + 2 + 1)/11 = 10/11   two (4 + 1)/11 = 5/11   three (3 + 1 + 1)/11 = 5/11   four 1/1 = 1

The mean is 20/33 = 0.606 over the three that are fully judged; with `four` it would be (20/11 + 1)/4 = 0.705,
and `four` the best. Retried, `four` meets nothing but the check: 1/11, and the mean is 21/44 = 0.477.
"""

from typing import Any

from rubricweb.judges.base import JudgeError
from rubricweb.models import Run
from rubricweb.services.runs import lifecycle
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge, grade

CRITERIA: list[dict[str, Any]] = [
    {"name": "w4", "weight": 4.0, "requirement": "Names Paris.", "group": "Facts"},
    {"name": "w3", "weight": 3.0, "requirement": "Names the country.", "group": "Facts"},
    {"name": "w2", "weight": 2.0, "requirement": "Is friendly.", "group": "Tone"},
    {"name": "w1", "weight": 1.0, "requirement": "Is modest.", "group": "Tone"},
    {"name": "short", "weight": 1.0, "check": "length_between", "params": {"max": 20}},
]
ITEMS = [{"id": name, "submission": f"Answer {name}."} for name in ("one", "two", "three", "four")]
MET = {"one": ("Paris", "country", "friendly"), "two": ("Paris",), "three": ("country", "modest"), "four": ()}
MEAN, MEAN_WITH_FAILED, MEAN_RETRIED = 20 / 33, (20 / 11 + 1) / 4, 21 / 44


def by_the_table(requirement: str, response: str) -> str:
    met = next(words for name, words in MET.items() if f" {name}." in response)
    return "MET" if any(word in requirement for word in met) else "UNMET"


def refusing(requirement: str, response: str) -> str | JudgeError:
    if "four" in response:
        return JudgeError("bad_request", "HTTP 400: content policy")
    return by_the_table(requirement, response)


def failing_run(people: Cast, *, name: str = "With a failure", **options: Any) -> Run:
    """The run, finished, over a dataset and a rubric of that name; `retried` mends it."""
    run = factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed, name=name, items=ITEMS),
        rubric_version=factories.version(people.team, people.ed, title=name, criteria=CRITERIA),
        name=name,
        **options,
    )
    return grade(run, InProcessJudge(refusing))


def retried(run: Run, people: Cast) -> Run:
    lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps())
    return grade(run, InProcessJudge(by_the_table))
