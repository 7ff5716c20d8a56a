"""A database that loses what it had committed, under workers that go on: no run ends without its verdicts."""

import pytest
from django.db.models import Min
from django.utils import timezone

from rubricweb.models import Judgement, Run, RunEvent, RunState
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.services.runs import lifecycle
from rubricweb.services.runs.events import EVENT_KINDS
from tests import factories
from tests.factories import Cast, WakeUps
from tests.judging import InProcessJudge, LabelJudge, grade

pytestmark = pytest.mark.django_db(transaction=True)

CRITERIA = [
    {"name": "right", "weight": 1, "requirement": "Is right."},
    {"name": "kind", "weight": 1, "requirement": "Is kind."},
    {"name": "short", "weight": 1, "check": "length_between", "params": {"unit": "words", "max": 5}},
]


def started(people: Cast, **options: object) -> Run:
    return factories.run(
        people.team,
        people.ed,
        dataset=factories.dataset(people.team, people.ed),
        rubric_version=factories.version(people.team, people.ed, criteria=CRITERIA),
        **options,
    )


def lose_first_item(run: Run) -> None:
    judgements = Judgement.objects.filter(run=run)
    judgements.filter(item=judgements.aggregate(first=Min("item"))["first"]).delete()


def lose_checks(run: Run) -> None:
    Judgement.objects.filter(run=run, judge="check").delete()


def test_a_paused_run_that_lost_verdicts_does_not_end_before_they_were_given_again(people: Cast) -> None:
    run = grade(started(people), InProcessJudge(lambda requirement, response: "MET"))
    assert run.state == RunState.FINISHED
    Run.objects.filter(pk=run.pk).update(state=RunState.PAUSED, finished_at=None)
    lose_first_item(run)
    assert not lifecycle.finish_if_done(run, timezone.now())
    run.refresh_from_db()
    assert (run.state, run.run_items.filter(graded_at=None).count()) == (RunState.PAUSED, 1)
    told = RunEvent.objects.get(run=run, kind="lost_verdicts")
    assert told.message == "Verdicts on 1 item were lost; they are graded again."
    assert EVENT_KINDS[told.kind].startswith("The database had lost verdicts"), "and nothing that was kept"
    assert lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps()) == 1
    judge = InProcessJudge(lambda requirement, response: "MET")
    run = grade(run, judge)
    assert run.state == RunState.FINISHED
    # Two criteria of one item; the check answers for itself.
    assert len(judge.asked) == 2
    # Three items by three criteria.
    assert Judgement.objects.filter(run=run).count() == 9
    assert run.summary.verdicts == 9


def test_a_run_whose_database_lost_verdicts_while_workers_went_on_has_all_of_them_in_the_end(
    people: Cast,
) -> None:
    run = started(people)

    def answer(requirement: str, response: str) -> str:
        if len(judge.asked) == 4:
            lose_first_item(run)
        return "MET"

    judge = InProcessJudge(answer)
    run = grade(run, judge)
    assert run.state == RunState.FINISHED
    assert Judgement.objects.filter(run=run).count() == 9
    assert RunEvent.objects.filter(run=run, kind="lost_verdicts").count() == 1


@pytest.mark.parametrize("autograder", ["per_criterion", "one_shot", PER_ITEM])
def test_a_run_that_finished_and_lost_checks_since_is_mended_by_resuming_it(
    people: Cast, autograder: str
) -> None:
    judge = LabelJudge(lambda name, requirement, response: 80.0 if autograder == PER_ITEM else "MET")
    run = grade(started(people, autograder=autograder), judge)
    assert run.state == RunState.FINISHED
    whole = Judgement.objects.filter(run=run).count()
    scores = list(run.run_items.values_list("score", flat=True))
    asked = len(judge.prompts)
    lose_checks(run)
    assert lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps(), error_kinds=()) == 3
    run = grade(run, judge)
    assert run.state == RunState.FINISHED
    assert Judgement.objects.filter(run=run).count() == whole
    assert list(run.run_items.values_list("score", flat=True)) == scores
    assert len(judge.prompts) == asked, "what is still there is not asked for again"


@pytest.mark.parametrize("autograder", ["per_criterion", "one_shot", PER_ITEM])
def test_a_run_whose_verdicts_are_all_there_is_over_at_once(people: Cast, autograder: str) -> None:
    judge = LabelJudge(lambda name, requirement, response: 80.0 if autograder == PER_ITEM else "MET")
    run = grade(started(people, autograder=autograder), judge)
    assert run.state == RunState.FINISHED
    assert lifecycle.resume_run(run, by=people.ed, enqueue=WakeUps()) == 0
    assert not RunEvent.objects.filter(run=run, kind="lost_verdicts").exists()
