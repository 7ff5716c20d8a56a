"""Files that come in as background work: all or nothing, whatever is stopped half-way."""

import fcntl
import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from rubricweb.errors import Busy, Conflict, Invalid
from rubricweb.models import (
    Case,
    Dataset,
    DatasetImport,
    ImportBatch,
    ImportState,
    Item,
    JournalEntry,
    Judgement,
    KeptFile,
)
from rubricweb.selectors.datasets.imports import faults_csv
from rubricweb.services import file_reading
from rubricweb.services.datasets import imports, systems
from rubricweb.services.grading.workers import reaper
from rubricweb.services.shared import uploads
from tests import factories
from tests.factories import Cast
from tests.services.datasets.test_imported_runs import while_uncommitted

ROWS = 1200
"""More than two batches, and more than is read in this process."""


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


MANY = lines(
    *({"id": f"i{n}", "prompt": "Why?", "submission": f"{n} times {'so ' * 20}"} for n in range(ROWS))
)


def started(people: Cast, data: bytes, filename: str = "items.jsonl", **asked: Any) -> DatasetImport:
    request = imports.ImportRequest(filename=filename, **asked)
    return imports.start(people.team, request, by=people.ed, upload_id=uploads.keep(data), enqueue=None)


def left_behind() -> tuple[int, int, int, int]:
    return tuple(table.objects.count() for table in (Dataset, Item, ImportBatch, KeptFile))  # type: ignore[return-value]  # four of them


@contextmanager
def all_turns_taken(settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """As where another process reads as many files as may be read at once."""
    settings.FILES_READ_AT_ONCE = 1
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder = tmp_path / f"rubricweb-readers-{os.getuid()}"
    folder.mkdir()
    with (folder / "0").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield


def test_an_import_waits_its_turn_while_as_many_files_are_read_as_may_be(
    people: Cast, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    job = started(people, MANY)
    monkeypatch.setattr(file_reading, "WAIT_SECONDS", 0.0)
    with all_turns_taken(settings, monkeypatch, tmp_path):
        found = imports.work(job.pk, worker="w:1", now=timezone.now)
        assert (found.state, found.worker) == (ImportState.WAITING, "")
        with pytest.raises(Busy, match="another file is being read"):
            factories.import_dataset(people.team, by=people.ed, data=MANY, filename="items.jsonl", name="now")
    assert imports.work(job.pk, worker="w:1", now=timezone.now).state == ImportState.DONE


def test_a_large_file_stands_as_the_same_file_imported_at_once(people: Cast) -> None:
    found = factories.imported(people.team, people.ed, MANY, name="background")
    assert (found.state, found.rows_read, found.rows_stored) == (ImportState.DONE, ROWS, ROWS)
    assert left_behind() == (1, ROWS, 0, 0)
    whole = factories.import_dataset(
        people.team, by=people.ed, data=MANY, filename="items.jsonl", name="at once"
    )
    same = ("position", "key", "submission", "prompt", "content_hash", "metadata", "case__key", "attempt")
    assert found.dataset is not None
    assert list(found.dataset.items.values_list(*same)) == list(whole.items.values_list(*same))
    entry = JournalEntry.objects.filter(target_id=found.dataset.pk, verb="imported").get()
    assert (entry.actor, entry.detail) == (people.ed, {"items": ROWS, "file": "items.jsonl"})


def test_rubric_ground_truth_and_labels_come_along(people: Cast) -> None:
    rubric = [{"name": "short", "weight": 1.0, "requirement": "Is short."}]
    items = [
        {"id": "a", "submission": "A.", "ground_truth": ["MET"], "labels": {"ann": ["UNMET"]}},
        {"id": "b", "submission": "B.", "rubric": [{"name": "b", "weight": 2.0, "requirement": "Is B."}]},
    ]
    data = json.dumps({"name": "whole", "prompt": "Say it.", "rubric": rubric, "items": items}).encode()
    found = factories.imported(people.team, people.ed, data, "whole.json")
    assert found.dataset is not None
    assert (found.dataset.name, found.dataset.prompt) == ("whole", "Say it.")
    assert found.dataset.rubric_version is not None
    assert found.dataset.items.get(key="b").rubric_version is not None
    said = Judgement.objects.values_list("item__key", "review__rater__name", "verdict").order_by("verdict")
    assert list(said) == [("a", "ground truth", "MET"), ("a", "Ann", "UNMET")]


def test_a_file_with_faults_stores_nothing_and_reports_every_one(people: Cast) -> None:
    rows = [{"id": f"i{n}", **({"submission": "So."} if n % 2 else {})} for n in range(1000)]
    found = factories.imported(people.team, people.ed, lines(*rows))
    assert found.state == ImportState.REFUSED
    # Every second of a thousand: more than a refusal on a screen lists.
    assert (found.fault_count, len(found.faults)) == (500, 500)
    assert found.message == "items.jsonl, read as JSON Lines of items: 500 faults, nothing was imported."
    assert faults_csv(found).splitlines()[1].startswith("line 1: submission,nothing,")
    assert left_behind()[:3] == (0, 0, 0)


def test_a_byte_that_is_no_text_is_named_by_its_line(people: Cast) -> None:
    found = factories.imported(people.team, people.ed, b"id,answer\na,A.\nb,\xff\n", "items.csv")
    assert found.state == ImportState.REFUSED
    assert found.faults[0][0] == "line 3"


class TestDuplicates:
    DATA = lines(
        {"id": "a", "prompt": "Why?", "submission": "So."},
        {"id": "b", "prompt": "Why?", "submission": "So. "},
        {"id": "c", "prompt": "Who?", "submission": "So."},
    )

    def test_they_are_shown_before_anything_is_stored(self, people: Cast) -> None:
        found = factories.imported(people.team, people.ed, self.DATA)
        assert (found.state, found.duplicate_count) == (ImportState.ASKS, 1)
        assert found.found["duplicates"] == [["b", "a", "So."]]
        assert Item.objects.count() == 0

    @pytest.mark.parametrize(("choice", "keys"), [("skip", ["a", "c"]), ("keep", ["a", "b", "c"])])
    def test_they_are_skipped_or_kept_as_somebody_says(
        self, people: Cast, choice: str, keys: list[str]
    ) -> None:
        found = factories.imported(people.team, people.ed, self.DATA)
        imports.decide(found, choice, by=people.ed, enqueue=None)
        done = imports.work(found.pk, worker="w:1", now=timezone.now)
        assert done.dataset is not None
        assert list(done.dataset.items.values_list("key", flat=True)) == keys

    def test_who_says_so_at_once_is_not_asked(self, people: Cast) -> None:
        assert factories.imported(people.team, people.ed, self.DATA, duplicates="skip").rows_stored == 2

    def test_what_the_dataset_has_counts_too(self, people: Cast) -> None:
        dataset = factories.imported(people.team, people.ed, self.DATA, duplicates="keep").dataset
        more = lines({"id": "d", "prompt": "Who?", "submission": "So."}, {"id": "e", "submission": "New."})
        found = factories.imported(people.team, people.ed, more, dataset=dataset)
        assert found.found["duplicates"] == [["d", "c", "So."]]

    def test_another_version_or_attempt_may_say_the_same(self, people: Cast) -> None:
        rows = [
            {"case_id": "a", "system": system, "attempt": attempt, "prompt": "Why?", "submission": "So."}
            for system in ("x@1", "x@2")
            for attempt in (1, 2)
        ]
        assert factories.imported(people.team, people.ed, lines(*rows)).state == ImportState.DONE

    def test_only_an_import_that_asks_is_told(self, people: Cast) -> None:
        found = factories.imported(people.team, people.ed, self.DATA, duplicates="keep")
        with pytest.raises(Conflict):
            imports.decide(found, "skip", by=people.ed, enqueue=None)
        with pytest.raises(Invalid):
            imports.decide(found, "perhaps", by=people.ed, enqueue=None)


class TestAdding:
    def dataset(self, people: Cast) -> Dataset:
        rows = [
            {"case_id": f"c{n}", "system": "a@1", "prompt": f"Why {n}?", "submission": "So."}
            for n in range(3)
        ]
        return factories.import_dataset(people.team, by=people.ed, data=lines(*rows), filename="a.jsonl")

    def test_answers_of_a_version_are_asked_what_their_cases_ask(self, people: Cast) -> None:
        dataset = self.dataset(people)
        data = lines({"case_id": "c2", "submission": "2."}, {"case_id": "c0", "submission": "0."})
        found = factories.imported(people.team, people.ed, data, dataset=dataset, system="a@2")
        assert (found.state, found.rows_stored) == (ImportState.DONE, 2)
        assert found.found["plan"]["missing"] == ["c1"]
        of_second = dataset.items.filter(system_version__label="2")
        assert list(of_second.values_list("case__key", "prompt")) == [("c2", "Why 2?"), ("c0", "Why 0?")]
        assert Case.objects.filter(dataset=dataset).count() == 3

    def test_the_first_file_may_be_answers_of_a_version_as_well(self, people: Cast) -> None:
        rows = [{"id": f"c{n}", "prompt": f"Why {n}?", "submission": f"{n}."} for n in range(2)]
        first = factories.imported(people.team, people.ed, lines(*rows), system="a@1")
        dataset = first.dataset
        assert dataset is not None, first.message
        items = dataset.items.values_list("key", "case__key", "system_version__label")
        assert list(items) == [("c0", "c0", "1"), ("c1", "c1", "1")]
        found = factories.imported(people.team, people.ed, lines(*rows), dataset=dataset, system="a@2")
        assert (found.state, found.rows_stored, found.found["plan"]["missing"]) == (ImportState.DONE, 2, [])
        assert Case.objects.filter(dataset=dataset).count() == 2

    def test_a_new_dataset_takes_no_answers_of_an_archived_system(self, people: Cast) -> None:
        version = systems.named_versions(people.team, ["a@1"])["a@1"]
        systems.change_system(version.system, by=people.alice, name=None, archived=True, now=timezone.now())
        data = lines({"id": "c0", "submission": "0."})
        found = factories.imported(people.team, people.ed, data, system="a@2")
        assert (found.state, "is archived" in found.message) == (ImportState.REFUSED, True)
        assert not Dataset.objects.exists()

    def test_rows_of_unknown_and_answered_cases_are_each_a_fault(self, people: Cast) -> None:
        dataset = self.dataset(people)
        data = lines({"case_id": "c9", "submission": "9."}, {"case_id": "c0", "submission": "0."})
        found = factories.imported(people.team, people.ed, data, dataset=dataset, system="a@1")
        assert [fault[:2] for fault in found.faults] == [
            ["items[0].case_id", "'c9'"],
            ["items[1].case_id", "'c0'"],
        ]
        assert dataset.items.count() == 3

    def test_a_dataset_that_changed_meanwhile_is_checked_against_anew(self, people: Cast) -> None:
        dataset = self.dataset(people)
        data = lines({"id": "new", "submission": "N."}, {"id": "twice", "submission": "N."})
        found = factories.imported(people.team, people.ed, data, dataset=dataset)
        assert found.state == ImportState.ASKS
        factories.add_items(
            dataset, by=people.ed, data=b'{"id": "new", "submission": "Other."}', filename="b.jsonl"
        )
        imports.decide(found, "keep", by=people.ed, enqueue=None)
        done = imports.work(found.pk, worker="w:1", now=timezone.now)
        assert done.state == ImportState.REFUSED
        assert done.faults[0][:2] == ["items[0].id", "'new'"]
        assert dataset.items.count() == 4


class TestStopping:
    def test_cancelled_before_it_is_read_it_stores_nothing(self, people: Cast) -> None:
        found = started(people, MANY)
        imports.cancel(found, now=timezone.now())
        assert imports.work(found.pk, worker="w:1", now=timezone.now).state == ImportState.CANCELLED
        assert left_behind() == (0, 0, 0, 0)
        with pytest.raises(Conflict, match="ended already: cancelled"):
            imports.cancel(found, now=timezone.now())

    def test_cancelled_while_it_is_read_it_stores_nothing(self, people: Cast) -> None:
        found = started(people, MANY)
        after_a_batch = self.at_the_second_beat(
            lambda: imports.cancel(DatasetImport.objects.get(pk=found.pk), now=timezone.now())
        )
        assert imports.work(found.pk, worker="w:1", now=after_a_batch).state == ImportState.CANCELLED
        assert left_behind() == (0, 0, 0, 0)

    def test_a_process_that_died_while_reading_is_followed_by_another(self, people: Cast) -> None:
        class Killed(BaseException):
            pass

        def die() -> None:
            raise Killed

        found = started(people, MANY, name="many")
        with pytest.raises(Killed):
            imports.work(found.pk, worker="elsewhere:1", now=self.at_the_second_beat(die))
        now = timezone.now()
        assert left_behind()[:2] == (0, 0)
        # The dead process still holds it, until it is known to be dead.
        assert imports.work(found.pk, worker="w:2", now=timezone.now).state == ImportState.RUNNING
        assert imports.due(now, is_dead=lambda owner, now: False) == []
        assert imports.due(now, is_dead=lambda owner, now: owner == "elsewhere:1") == [found.pk]
        done = imports.work(found.pk, worker="w:2", now=timezone.now)
        assert (done.state, done.rows_stored) == (ImportState.DONE, ROWS)
        assert left_behind() == (1, ROWS, 0, 0)

    @pytest.mark.parametrize("then", ["goes on", "fails", "refuses"])
    def test_who_was_silent_for_too_long_leaves_the_import_to_the_one_that_has_it(
        self, people: Cast, then: str
    ) -> None:
        class Frozen(BaseException):
            pass

        def freeze() -> None:
            raise Frozen

        def be_followed_meanwhile() -> None:
            imports.due(timezone.now() + timedelta(minutes=11), is_dead=lambda owner, now: False)
            with pytest.raises(Frozen):
                imports.work(found.pk, worker="w:2", now=self.at_the_second_beat(freeze))
            if then != "goes on":
                raise {"fails": RuntimeError("late"), "refuses": Invalid("late")}[then]

        found = started(people, MANY, name="many")
        late = imports.work(found.pk, worker="w:1", now=self.at_the_second_beat(be_followed_meanwhile))
        assert (late.state, late.worker) == (ImportState.RUNNING, "w:2")
        assert list(ImportBatch.objects.values_list("number", flat=True)) == [0]
        imports.due(timezone.now() + timedelta(minutes=11), is_dead=lambda owner, now: False)
        done = imports.work(found.pk, worker="w:3", now=timezone.now)
        assert (done.state, done.rows_stored) == (ImportState.DONE, ROWS)

    def test_a_part_that_is_gone_is_an_error_and_not_the_end(self, people: Cast) -> None:
        found = started(people, MANY, name="many")
        clock = self.at_the_second_beat(lambda: ImportBatch.objects.filter(number=0).delete())
        failed = imports.work(found.pk, worker="w:1", now=clock)
        assert (failed.state, Dataset.objects.count(), Item.objects.count()) == (ImportState.FAILED, 0, 0)

    def test_a_silent_process_elsewhere_is_given_up_after_a_while(self, people: Cast) -> None:
        found = started(people, MANY)
        now = timezone.now()
        DatasetImport.objects.filter(pk=found.pk).update(
            state=ImportState.RUNNING, worker="elsewhere:1", beat_at=now
        )
        assert imports.due(now + timedelta(minutes=9), is_dead=reaper.is_dead) == []
        assert imports.due(now + timedelta(minutes=11), is_dead=reaper.is_dead) == [found.pk]

    def test_a_database_that_went_away_leaves_it_to_whoever_comes_next(self, people: Cast) -> None:
        def away() -> None:
            raise OperationalError("the database is away")

        found = started(people, MANY)
        with pytest.raises(OperationalError):
            imports.work(found.pk, worker="w:1", now=self.at_the_second_beat(away))
        assert imports.due(timezone.now(), is_dead=reaper.is_dead) == [found.pk]
        assert imports.work(found.pk, worker="w:2", now=timezone.now).state == ImportState.DONE

    def test_done_twice_it_is_done_once(self, people: Cast) -> None:
        found = factories.imported(people.team, people.ed, MANY)
        again = imports.work(found.pk, worker="w:2", now=timezone.now)
        assert (again.state, Item.objects.count()) == (ImportState.DONE, ROWS)

    @staticmethod
    def at_the_second_beat(do: Callable[[], object]) -> Callable[[], datetime]:
        """A clock that does something when it is asked for the fourth time: after a batch was kept."""
        asked = 0

        def now() -> datetime:
            nonlocal asked
            asked += 1
            if asked == 4:
                do()
            return timezone.now()

        return now


def test_a_name_that_is_taken_is_refused_before_anything_is_read(people: Cast) -> None:
    factories.dataset(people.team, people.ed, name="taken")
    with pytest.raises(Conflict, match="already has a dataset"):
        started(people, MANY, name="taken")
    found = factories.imported(people.team, people.ed, b'{"submission": "So."}', "taken.jsonl")
    assert (found.state, found.faults) == (ImportState.REFUSED, [])


@pytest.mark.django_db(transaction=True)
def test_of_two_imports_at_once_with_one_name_the_later_is_refused_and_keeps_its_file(people: Cast) -> None:
    found = started(people, lines({"id": "a", "submission": "A."}), name="Answers")

    def at_once() -> Dataset:
        data = b'{"id": "b", "submission": "B."}'
        return factories.import_dataset(
            people.team, by=people.ed, data=data, filename="b.jsonl", name="Answers"
        )

    ended = while_uncommitted(at_once, lambda: imports.work(found.pk, worker="w:1", now=timezone.now))
    assert (ended.state, ended.file is None) == (ImportState.REFUSED, False)
    assert ended.message == "The team already has a dataset called 'Answers'; give this one another name."
    assert Dataset.objects.count() == 1
