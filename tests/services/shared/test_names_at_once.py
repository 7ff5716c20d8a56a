"""Two people who give a name at once: both have looked and found it free, and the second is told."""

from collections.abc import Callable
from unittest import mock

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from rubricweb.errors import Conflict
from rubricweb.models import Dataset, JournalEntry, ReviewQueue, System, SystemVersion, Team
from rubricweb.services.datasets import systems
from rubricweb.services.reviews import queue_changes, queues
from rubricweb.services.shared import archiving
from rubricweb.services.teams import teams
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db

Save = Callable[[], object]
NAMED = Dataset, ReviewQueue, System, SystemVersion


def answers(people: Cast) -> Dataset:
    items = [
        {"id": system, "submission": "Paris.", "system": system}
        for system in ("a@v1", "a@v2", "b@v1", "b@v2")
    ]
    return factories.dataset(people.team, people.ed, items=items)


def taken_names(people: Cast) -> dict[str, Save]:
    """What saves a row of each kind under a name that another has."""
    dataset, ed = answers(people), people.ed
    other = factories.dataset(people.team, ed, name="other")
    version = factories.version(people.team, ed)
    first, second = (
        factories.queue(
            people.team, ed, dataset=dataset, rubric_version=version, raters=[people.ann], name=name
        )
        for name in ("first", "second")
    )
    asked = queues.QueueRequest("first", dataset, version, [people.ann])
    system = System.objects.get(team=people.team, name="b")
    label = SystemVersion.objects.get(system=system, label="v2")
    return {
        "a dataset": lambda: archiving.rename(other, dataset.name, by=ed),
        "a queue": lambda: archiving.rename(second, str(first), by=ed),
        "words of a queue": lambda: queue_changes.edit_queue(second, by=ed, name=str(first)),
        "a new queue": lambda: queues.create_queue(people.team, asked, by=ed),
        "a system": lambda: systems.change_system(system, by=ed, name="a", archived=None, now=timezone.now()),
        "a version": lambda: systems.rename_version(label, "v1", by=ed),
    }


@pytest.mark.parametrize(
    "kind", ["a dataset", "a queue", "words of a queue", "a new queue", "a system", "a version"]
)
def test_a_name_that_somebody_takes_meanwhile_is_refused_and_nothing_is_changed(
    people: Cast, kind: str
) -> None:
    save, exists = taken_names(people)[kind], QuerySet.exists
    entries = JournalEntry.objects.count()

    def free(looked: QuerySet) -> bool:
        return looked.model not in NAMED and exists(looked)

    with mock.patch.object(QuerySet, "exists", free), pytest.raises(Conflict, match="already has"):
        save()
    assert JournalEntry.objects.count() == entries


def test_an_address_that_another_team_takes_meanwhile_is_refused(people: Cast) -> None:
    exists = QuerySet.exists

    def free(looked: QuerySet) -> bool:
        return looked.model is not Team and exists(looked)

    with mock.patch.object(QuerySet, "exists", free), pytest.raises(Conflict, match="already a team at"):
        teams.create_team("Another", owner=people.ed, slug=people.team.slug.upper())
    assert not Team.objects.filter(name="Another").exists()
