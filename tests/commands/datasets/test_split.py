"""`rubricweb datasets split`, and items of one half."""

import json

from rubricweb.api.datasets.split_schemas import DatasetSplit
from rubricweb.models import ReviewQueue
from rubricweb.services.datasets.halves import drawing
from tests import factories
from tests.commands.shapes import misfits
from tests.factories import Cast


def test_cases_are_split_shown_narrowed_and_extended(people: Cast, at_terminal) -> None:
    dataset = factories.dataset(people.team, people.ed, name="told")
    ed, bob = at_terminal(people.ed), at_terminal(people.bob)
    none = bob("datasets", "split", "told")
    assert (none.code, "are not split. Split them: rubricweb datasets split" in none.err) == (0, True)
    assert bob("datasets", "split", "told", "--dev", "1").code == 1
    refused = ed("datasets", "split", "told", "--dev", "3")
    assert (refused.code, "3 of 3 cases" in refused.err) == (1, True)
    both = ed("datasets", "split", "told", "--dev", "1", "--extend")
    assert (both.code, "one of them" in both.err) == (1, True)
    said = ed("datasets", "split", "told", "--dev", "1", "--seed", "7").out
    assert "dev: 1 case, test: 2 cases" in said
    printed = bob("datasets", "split", "told", "--json").out
    assert misfits(DatasetSplit, printed) == []
    assert json.loads(printed)["draws"][0]["seed"] == 7
    lines = bob("datasets", "items", "told", "--split", "test", "--json").out.splitlines()
    assert [json.loads(line)["split"] for line in lines] == ["test", "test"]
    assert bob("datasets", "items", "told", "--split", "test").out.count("test") >= 2
    data = b'{"id": "later", "prompt": "And Spain?", "submission": "Madrid."}'
    factories.add_items(dataset, by=people.ed, data=data, filename="more.jsonl")
    assert "in neither: 1 case; --extend draws them" in bob("datasets", "split", "told").out
    assert "dev: 1 case, test: 3 cases" in ed("datasets", "split", "told", "--extend").out
    again = ed("datasets", "split", "told", "--extend")
    assert (again.code, "no case of told without a split" in again.err) == (1, True)


def test_a_run_over_one_half_is_planned_and_shown(people: Cast, at_terminal, tmp_path) -> None:
    dataset = factories.dataset(people.team, people.ed, name="told")
    drawing.split_cases(dataset, n_dev=1, by=people.ed)
    version = factories.version(people.team, people.ed)
    ed = at_terminal(people.ed)
    run = factories.run(people.team, people.ed, dataset=dataset, rubric_version=version, half="test")
    assert "test cases" in ed("runs", "show", str(run.pk)).out
    assert json.loads(ed("runs", "show", str(run.pk), "--json").out)["split"] == "test"
    said = ("grade", f"id:{version.pk}", f"id:{dataset.pk}", "--plan")
    for half, items in ((("--split", "test"), 2), ((), 3)):
        planned = ed(*said, *half)
        assert (planned.code, f"items {items}" in " ".join((planned.out + planned.err).split())) == (0, True)
    resumed = ed("grade", "--resume", str(run.pk), "--split", "test")
    assert (resumed.code, "--split are for a run that is to be started" in resumed.err) == (1, True)


def test_a_queue_over_one_half_is_planned_opened_and_shown(people: Cast, at_terminal) -> None:
    dataset = factories.dataset(people.team, people.ed, name="told")
    drawing.split_cases(dataset, n_dev=1, by=people.ed)
    version = factories.version(people.team, people.ed)
    ed = at_terminal(people.ed)
    new = ("queues", "new", "Held", "--dataset", "told", "--rubric", f"id:{version.pk}", "--everyone")
    new += ("--split", "test")
    assert ed(*new, "--plan").out.startswith("2 items, 2 reviews")
    assert "is open with 2 items" in ed(*new).out
    queue = ReviewQueue.objects.get()
    assert "test cases" in ed("queues", "show", str(queue.pk)).out
    assert json.loads(ed("queues", "show", str(queue.pk), "--json").out)["split"] == "test"
