"""One decision, sent twice at the same moment: by a double click, or by a program that tries again."""

import threading

import pytest
from django.db import connection

from rubricweb.engine.verdict import Verdict
from rubricweb.models import Adjudication, JournalEntry
from rubricweb.services import adjudications
from rubricweb.services.reviews import reviews
from tests import factories
from tests.factories import Cast


@pytest.mark.django_db(transaction=True)  # two connections have to see the same rows
@pytest.mark.parametrize("earlier", [False, True])
def test_the_same_decision_twice_at_once_is_written_down_once(people: Cast, earlier: bool) -> None:
    dataset, version = factories.dataset(people.team, people.ed), factories.version(people.team, people.ed)
    lines = "item_id,criterion,rater,verdict\ngood,concise,ann,MET\ngood,concise,ben,UNMET\n"
    reviews.import_labels(dataset, version, by=people.ed, data=lines.encode(), filename="labels.csv")
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
