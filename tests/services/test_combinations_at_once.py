"""Combinations while somebody else deletes, or takes the names that they are about to take."""

import threading
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models import QuerySet
from django.utils import timezone

from rubricweb.errors import Conflict, NotFound
from rubricweb.models import Combination, CombinationState, Dataset, RubricVersion, Run
from rubricweb.services import dataset_versions, labels
from rubricweb.services.combinations import combinations, reruns
from rubricweb.services.datasets import datasets
from rubricweb.services.deletions import deletions
from tests import factories
from tests.factories import Cast
from tests.services.test_combinations import (
    CRITERIA,
    asked,
    build,
    combined,
    combined_with_a_run,
    label,
    started_again,
)

GONE_AFTER_SECONDS = 20
"""Who waits for us would wait for ever."""


@pytest.fixture
def builds(people: Cast) -> list[Dataset]:
    return [build(people, "v1"), build(people, "v2")]


@pytest.mark.django_db
def test_originals_are_held_in_the_same_order_however_they_are_listed(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two combinations that list them in opposite orders would wait for each other."""
    hold, held = dataset_versions.hold, []

    def noted(dataset: Dataset) -> None:
        held.append(dataset.name)
        hold(dataset)

    monkeypatch.setattr(dataset_versions, "hold", noted)
    for several in (builds, builds[::-1]):
        assert combined(people, *several, name=f"Support from {several[0]}").state == "done"
    assert held == ["Support replies v1", "Support replies v2"] * 2


@pytest.mark.skipif(connection.vendor == "sqlite", reason="SQLite locks its whole database")
@pytest.mark.django_db(transaction=True)
def test_who_deletes_the_dataset_does_not_wait_for_who_starts_a_run_over_it_and_is_waited_for(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, run = combined_with_a_run(people, builds)
    said: list[Any] = []

    def delete() -> None:
        try:
            dataset = Dataset.objects.get(pk=found.dataset_id)
            deletions.delete(dataset, dataset.name, by=people.alice, now=timezone.now(), enqueue=None)
        except Exception as error:  # what a thread raises would be lost
            said.append(error)
        finally:
            connections.close_all()

    hold = reruns.hold_listed
    thread = threading.Thread(target=delete)

    def meanwhile(rubric: Any) -> None:
        hold(rubric)
        thread.start()
        thread.join(GONE_AFTER_SECONDS)

    monkeypatch.setattr(reruns, "hold_listed", meanwhile)
    with pytest.raises(NotFound, match="dataset"):
        started_again(found, run, people)
    thread.join()
    assert said == []
    assert not Run.objects.filter(team=people.team, dataset=found.dataset_id).exists()


@pytest.mark.django_db
def test_a_dataset_name_taken_while_a_combination_is_put_in_its_place_refuses_it_in_words(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)
    factories.dataset(people.team, people.ed, name="Support")
    exists = QuerySet.exists
    # It has looked before the other was there.
    monkeypatch.setattr(QuerySet, "exists", lambda rows: rows.model is not Dataset and exists(rows))
    refused = combinations.work(found.pk, worker="w", now=timezone.now)
    assert refused.state == CombinationState.REFUSED
    assert refused.message == datasets.name_taken("Support")


def labelled(people: Cast, builds: list[Dataset]) -> RubricVersion:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    label(people, builds[0], version, ["MET"] * 8)
    return version


@pytest.mark.django_db
def test_a_queue_name_taken_while_a_combination_is_put_in_its_place_refuses_it_in_words(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = labelled(people, builds)
    wanted = f"Labels by {version} of Support"
    other = factories.dataset(people.team, people.ed)
    factories.queue(
        people.team, people.ed, dataset=other, rubric_version=version, raters=[people.ann], name=wanted
    )
    # It has looked before the other was there.
    monkeypatch.setattr(labels, "free_queue_name", lambda dataset, name: name)
    refused = combined(people, *builds)
    assert refused.state == CombinationState.REFUSED
    said = f"The team got a queue called {wanted!r} just now. Nothing was combined: start it again."
    assert refused.message == said
    assert Combination.objects.get(pk=refused.pk).dataset is None
    monkeypatch.undo()
    again = combined(people, *builds)
    assert again.dataset is not None, again.message
    assert [queue.name for queue in again.dataset.queues.all()] == [f"{wanted} (2)"]


@pytest.mark.django_db
def test_what_is_deleted_before_anything_is_held_is_no_combination(
    people: Cast, builds: list[Dataset]
) -> None:
    found, run = combined_with_a_run(people, builds)
    dataset = Dataset.objects.get(pk=found.dataset_id)
    deletions.delete(dataset, dataset.name, by=people.alice, now=timezone.now(), enqueue=None)
    with pytest.raises(Conflict, match="is not combined"):
        started_again(found, run, people)
