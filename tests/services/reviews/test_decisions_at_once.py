"""One decision, or its queue, asked for twice at the same moment: by a double click, or a program."""

import threading

import pytest
from django.db import connection

from rubricweb.engine.verdict import Verdict
from rubricweb.models import Adjudication, JournalEntry, ReviewQueue
from rubricweb.services import adjudications
from rubricweb.services.label_queues import QueueWish, decide, open_queues
from rubricweb.services.rubrics.label_decisions import NewLabelDecision
from tests import factories
from tests.factories import Cast
from tests.worlds.versions import changed, said


@pytest.mark.django_db(transaction=True)  # two connections have to see the same rows
@pytest.mark.parametrize("earlier", [False, True])
def test_the_same_decision_twice_at_once_is_written_down_once(people: Cast, earlier: bool) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    lines = "item_id,criterion,rater,verdict\ngood,concise,ann,MET\ngood,concise,ben,UNMET\n"
    factories.import_labels(dataset, version, by=people.ed, data=lines.encode(), filename="labels.csv")
    item, criterion = dataset.items.get(key="good"), version.criteria.get(name="concise")
    if earlier:
        adjudications.adjudicate(
            item, criterion, by=people.rae, verdict=Verdict.UNMET, cause="human_wrong", reason="First."
        )
    together = threading.Barrier(2)
    answers: list[Adjudication | BaseException] = []

    def decide() -> None:
        try:
            together.wait()
            answers.append(
                adjudications.adjudicate(
                    item, criterion, by=people.rae, verdict=Verdict.MET, cause="judge_wrong", reason="Both."
                )
            )
        except BaseException as error:  # what a thread raises would be lost
            answers.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=decide) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stands = Adjudication.objects.get()
    assert stands.verdict == "MET"
    assert [getattr(answer, "pk", answer) for answer in answers] == [stands.pk, stands.pk]
    assert JournalEntry.objects.filter(verb="adjudicated").count() == 1 + earlier


@pytest.mark.django_db(transaction=True)
def test_two_who_open_the_queue_of_a_decision_at_once_open_one(people: Cast) -> None:
    first = factories.version(people.team, people.ed)
    dataset = factories.dataset(people.team, people.ed)
    lines = "item_id,criterion,rater,verdict\ngood,capital,ann,MET\nbad,capital,rae,UNMET\n"
    factories.import_labels(dataset, first, by=people.ed, data=lines.encode(), filename="labels.csv")
    assert first.rubric is not None
    second = changed(first.rubric, said(requirement="Names Paris as the capital of France."))
    uid = second.criteria.get(name="capital").uid
    decided = decide(second, uid, NewLabelDecision("probe"), by=people.ed, seen=None)
    assert decided.decision is not None
    seen = decided.decision.pk
    together = threading.Barrier(2)
    answers: list[list[int] | BaseException] = []

    def open_one() -> None:
        try:
            together.wait()
            done = open_queues(second, uid, QueueWish(size=2), by=people.ed, seen=seen)
            answers.append([one.queue.pk for one in done.queues])
        except BaseException as error:  # what a thread raises would be lost
            answers.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=open_one) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    opened = ReviewQueue.objects.get(label_decision=seen)
    assert answers == [[opened.pk], [opened.pk]]
    assert opened.queue_items.count() == 2
