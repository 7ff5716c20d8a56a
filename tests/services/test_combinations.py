"""Datasets of several builds become one with cases and system versions."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.utils import timezone

from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    Combination,
    Dataset,
    Item,
    Judgement,
    Review,
    Rubric,
    RubricVersion,
    Run,
    System,
    Team,
)
from rubricweb.selectors.exports.ground_truth import ground_truth_items, settled_labels
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.services import adjudications, exports
from rubricweb.services.combinations import combinations, plans, reruns
from rubricweb.services.combinations.matching import AskedPart, suggested
from rubricweb.services.datasets import splits, systems
from rubricweb.services.datasets.changes import retirement
from rubricweb.services.datasets.halves import drawing
from rubricweb.services.datasets.tags import tagging
from rubricweb.services.deletions import deletions
from rubricweb.services.endpoints import endpoints
from rubricweb.services.reviews import queues
from rubricweb.services.shared import archiving
from tests import factories
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.services.datasets.test_imported_runs import while_uncommitted

CRITERIA = [{"name": "only", "weight": 1, "requirement": "Is right."}]
QUESTIONS = 8


def build(people: Cast, label: str, **more: Any) -> Dataset:
    """A dataset of one build: the same questions under the same ids, other answers."""
    items = [
        {"id": f"q{n}", "prompt": f"Question  {n}?", "submission": f"{label} says {n}", **more}
        for n in range(QUESTIONS)
    ]
    return factories.dataset(people.team, people.ed, items=items, name=f"Support replies {label}")


def asked(*datasets: Dataset, **more: Any) -> plans.CombinationRequest:
    systems = suggested(datasets)
    parts = tuple(AskedPart(one, system) for one, system in zip(datasets, systems, strict=True))
    return plans.CombinationRequest(**{"name": "Support", "parts": parts} | more)


def combined(people: Cast, *datasets: Dataset, **more: Any) -> Combination:
    found = combinations.start(people.team, asked(*datasets, **more), by=people.ed, enqueue=None)
    return combinations.work(found.pk, worker="w", now=timezone.now)


def label(people: Cast, dataset: Dataset, version: RubricVersion, verdicts: Sequence[str]) -> None:
    lines = ["item_id,criterion,rater,verdict,reason"]
    for n, verdict in enumerate(verdicts):
        lines += [f"q{n},only,{rater},{verdict},so" for rater in "xy"]
    data = "\n".join(lines).encode()
    factories.import_labels(
        dataset, version, by=people.ed, data=data, filename="labels.csv", queue_name=f"Of {dataset}"
    )


def truth(dataset: Dataset) -> dict[str, str | None]:
    """Submission → ground truth."""
    found = ground_truth_items(dataset, settled_labels(list(labelled_queues(dataset.pk, team=dataset.team))))
    return {item.submission: item.ground_truth[0] for item in found if item.ground_truth}


@pytest.fixture
def builds(people: Cast) -> list[Dataset]:
    return [build(people, "v1"), build(people, "v2")]


def test_versions_are_suggested_from_the_names_of_the_datasets(people: Cast, builds: list[Dataset]) -> None:
    assert suggested(builds) == ["support-replies@v1", "support-replies@v2"]
    assert suggested(builds, "assistant") == ["assistant@v1", "assistant@v2"]
    named = build(people, "v3", system="bot@3")
    assert suggested([named]) == [""]


def test_equal_prompts_become_shared_cases_and_labels_come_along(people: Cast, builds: list[Dataset]) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    label(people, builds[0], version, ["MET"] * 4 + ["UNMET"] * 4)
    label(people, builds[1], version, ["UNMET"] * 2 + ["MET"] * 6)
    criterion = version.criteria.get()
    adjudications.adjudicate(
        builds[1].items.get(key="q0"),
        criterion,
        by=people.rae,
        verdict=Verdict.MET,
        cause="item_broken",
        reason="Read again.",
    )
    plan = plans.plan(people.team, asked(*builds), viewer=people.ed)
    # Two raters label eight items of each of two datasets: 2 · 8 · 2.
    assert (plan.items, plan.cases, plan.shared) == (16, 8, ((2, 8),))
    assert (plan.labels, plan.reviews, plan.adjudications, plan.conflict_count) == (32, 32, 1, 0)
    assert [part.systems for part in plan.parts] == [("support-replies@v1",), ("support-replies@v2",)]

    found = combined(people, *builds)
    assert (found.state, found.message, found.items_copied) == ("done", "", 16)
    dataset = found.dataset
    assert dataset is not None
    assert dataset.team == people.team
    assert dataset.cases.count() == 8
    first = dataset.items.order_by("position").first()
    assert first is not None
    assert (first.key, first.case.key) == ("q0@support-replies@v1", "q0")
    assert truth(dataset) == truth(builds[0]) | truth(builds[1])
    [queue] = dataset.queues.all()
    assert (queue.state, queue.imported, queue.team) == ("closed", True, people.team)
    assert sorted(rater.name for rater in queue.raters.all()) == ["x", "y"]
    # The originals keep theirs, and no workshop is left.
    assert [one.items.count() for one in builds] == [8, 8]
    assert not Team.objects.filter(name="Workshop").exists()


@pytest.mark.parametrize("format", ["autorubric", "yaml"])
def test_no_prompt_is_none_in_an_export_that_is_imported_again(people: Cast, format: str) -> None:
    items = [{"id": f"q{n}", "reference": f"Answer {n}", "submission": f"v1 says {n}"} for n in range(2)]
    original = factories.dataset(people.team, people.ed, items=items, name="Support replies v1")
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    label(people, original, version, ["MET", "MET"])
    made = exports.export(
        people.team,
        viewer=people.bob,
        what="ground_truth",
        format=format,
        dataset=original,
        queues=list(labelled_queues(original.pk, team=original.team)),
    )
    data = b"".join(piece if isinstance(piece, bytes) else piece.encode() for piece in made.chunks)
    filename = "again.yaml" if format == "yaml" else "again.json"
    again = factories.import_dataset(
        people.team, by=people.ed, data=data, filename=filename, name="Support replies v2"
    )
    assert (original.prompt, again.prompt) == (None, None)
    assert plans.plan(people.team, asked(original, again), viewer=people.ed).cases == 2
    # As a file says it that was imported before.
    Dataset.objects.filter(pk=again.pk).update(prompt="")
    again.refresh_from_db()
    assert plans.plan(people.team, asked(original, again), viewer=people.ed).cases == 2


def test_runs_started_again_ask_nobody_and_pair_completely_by_case(
    people: Cast, builds: list[Dataset]
) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    judge = InProcessJudge(lambda _, response: "MET" if response[-1] in "0123" else "UNMET")
    runs = [
        grade(factories.run(people.team, people.ed, dataset=one, rubric_version=version), judge)
        for one in builds
    ]
    planned = reruns.planned(asked(*builds).parts, viewer=people.ed, now=timezone.now())
    assert [(one.run, one.calls, one.cached.low, one.refused) for one in planned] == [
        (run, 8, 8, "") for run in runs
    ]
    found = combined(people, *builds)
    assert Run.objects.count() == 2  # nothing starts by itself
    again = reruns.start(
        found, [run.pk for run in runs], by=people.ed, enqueue=lambda run_id: None, no_cap=True
    )
    silent = InProcessJudge(lambda _, response: "MET")
    again = [grade(run, silent) for run in again]
    assert silent.asked == []
    assert [run.system for run in again] == ["support-replies@v1", "support-replies@v2"]

    def verdicts(run: Run) -> dict[str, str | None]:
        said = Judgement.objects.filter(run=run).values_list("item__submission", "verdict")
        return dict(said)

    assert [verdicts(run) for run in again] == [verdicts(run) for run in runs]
    pairs = [set(run.run_items.values_list("item__case", flat=True)) for run in again]
    assert pairs[0] == pairs[1]
    assert len(pairs[0]) == 8
    with pytest.raises(Conflict, match="started again before"):
        reruns.start(found, [runs[0].pk], by=people.ed, enqueue=lambda run_id: None, no_cap=True)
    with pytest.raises(Invalid, match="a finished run over one of the originals"):
        reruns.start(found, [again[0].pk], by=people.ed, enqueue=lambda run_id: None, no_cap=True)


def combined_with_a_run(people: Cast, builds: list[Dataset], **options: Any) -> tuple[Combination, Run]:
    """The builds in one, and a finished run of the first of them."""
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    run = factories.run(people.team, people.ed, dataset=builds[0], rubric_version=version, **options)
    grade(run, InProcessJudge(lambda *_: "MET"))
    return combined(people, *builds), run


def started_again(found: Combination, run: Run, people: Cast) -> Run:
    [made] = reruns.start(found, [run.pk], by=people.ed, enqueue=lambda run_id: None, no_cap=True)
    return made


def test_a_run_is_started_again_over_the_copied_answers_whatever_their_system_is_called_now(
    people: Cast, builds: list[Dataset]
) -> None:
    found, run = combined_with_a_run(people, builds)
    systems.rename_system(System.objects.get(name="support-replies"), "support-bot", by=people.ed)
    build(people, "of another", system="support-replies@v1")
    [offered] = reruns.of_combination(found, viewer=people.ed, now=timezone.now())
    assert (offered.system, offered.calls, offered.refused) == ("support-bot@v1", QUESTIONS, "")
    again = started_again(found, run, people)
    assert (again.system, again.run_items.count()) == ("support-bot@v1", QUESTIONS)


def test_a_copy_that_goes_on_after_its_system_was_renamed_stays_with_that_system(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)

    def dies(self: combinations._Copier, batch: Any, *, first: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(combinations._Copier, "copy", dies)
        with pytest.raises(KeyboardInterrupt):
            combinations.work(found.pk, worker="w", now=timezone.now)
    systems.rename_system(System.objects.get(name="support-replies"), "support-bot", by=people.ed)
    combinations.due(timezone.now(), is_dead=lambda worker, now: True)
    found = combinations.work(found.pk, worker="other", now=timezone.now)
    copied = Item.objects.filter(dataset=found.dataset).values_list("system_version__system__name", flat=True)
    assert (found.state, set(copied)) == ("done", {"support-bot"})


def test_a_run_with_nothing_left_to_grade_is_not_started_again(people: Cast, builds: list[Dataset]) -> None:
    found, run = combined_with_a_run(people, builds)
    assert found.dataset is not None
    items = found.dataset.items.filter(system_version__label="v1")
    retirement.retire(found.dataset, [item.pk for item in items], by=people.ed)
    why = "Support has no answers of support-replies@v1"
    [offered] = reruns.of_combination(found, viewer=people.ed, now=timezone.now())
    assert why in offered.refused
    with pytest.raises(Conflict, match=why):
        started_again(found, run, people)
    found.refresh_from_db()
    assert (found.started, Run.objects.count()) == ({}, 1)


@pytest.mark.parametrize("kind", ["dataset", "rubric", "system"])
def test_no_run_is_started_again_over_what_is_archived(
    people: Cast, builds: list[Dataset], kind: str
) -> None:
    found, run = combined_with_a_run(people, builds)
    assert run.rubric_version is not None
    rows = {
        "dataset": found.dataset,
        "rubric": run.rubric_version.rubric,
        "system": System.objects.get(name="support-replies"),
    }
    row = rows[kind]
    assert row is not None
    archiving.archive(row, by=people.ed, now=timezone.now())
    found = Combination.objects.select_related("dataset").get(pk=found.pk)
    [offered] = reruns.of_combination(found, viewer=people.ed, now=timezone.now())
    assert f"The {kind} {row} is archived" in offered.refused
    with pytest.raises(Conflict, match=f"The {kind} .* is archived"):
        started_again(found, run, people)
    archiving.restore(row, by=people.ed)
    assert started_again(found, run, people).run_items.count() == QUESTIONS


def deleted(rubric: Rubric, people: Cast) -> Any:
    there = Rubric.objects.get(pk=rubric.pk)
    return deletions.delete(there, there.title, by=people.ed, now=timezone.now(), enqueue=None)


def test_runs_of_the_offline_judge_are_offered_and_started_where_nobody_knows_its_address(
    people: Cast, builds: list[Dataset], settings
) -> None:
    found, run = combined_with_a_run(people, builds)
    settings.OFFLINE_JUDGE_URL = ""
    [offered] = reruns.of_combination(found, viewer=people.ed, now=timezone.now())
    assert (offered.refused, offered.calls, offered.cached.low) == ("", QUESTIONS, QUESTIONS)
    assert started_again(found, run, people).run_items.count() == QUESTIONS


def test_a_run_of_an_endpoint_that_is_archived_is_offered_as_refused(
    people: Cast, builds: list[Dataset]
) -> None:
    endpoint = endpoints.add_endpoint(
        people.team, by=people.alice, name="mine", base_url="https://judge.example/v1", model="m"
    )
    found, run = combined_with_a_run(people, builds, judge_id=endpoint.judge_id)
    archiving.archive(endpoint, by=people.alice, now=timezone.now())
    [offered] = reruns.of_combination(found, viewer=people.ed, now=timezone.now())
    with pytest.raises(Conflict) as refused:
        started_again(found, run, people)
    assert offered.refused == str(refused.value)


def test_no_run_is_started_again_by_a_rubric_that_was_deleted_since_it_was_read(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, run = combined_with_a_run(people, builds)
    assert run.rubric_version is not None
    rubric, hold = run.rubric_version.rubric, reruns.hold_listed

    def meanwhile(read: Rubric) -> None:
        deleted(rubric, people)
        hold(read)

    monkeypatch.setattr(reruns, "hold_listed", meanwhile)
    with pytest.raises(NotFound, match="rubric"):
        started_again(found, run, people)
    assert not Run.objects.filter(dataset=found.dataset).exists()


@pytest.mark.django_db(transaction=True)
def test_a_rubric_is_not_deleted_while_a_run_is_started_again_by_it(
    people: Cast, builds: list[Dataset]
) -> None:
    found, run = combined_with_a_run(people, builds)
    assert run.rubric_version is not None
    rubric = run.rubric_version.rubric
    refused = while_uncommitted(lambda: started_again(found, run, people), lambda: deleted(rubric, people))
    assert isinstance(refused, Conflict)
    assert Rubric.objects.get(pk=rubric.pk).team == people.team


def test_no_run_is_started_again_over_a_dataset_archived_since_it_was_read(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    found, run = combined_with_a_run(people, builds)
    hold = reruns.hold_listed

    def meanwhile(rubric: Rubric) -> None:
        assert found.dataset_id is not None
        archiving.archive(Dataset.objects.get(pk=found.dataset_id), by=people.ed, now=timezone.now())
        hold(rubric)

    monkeypatch.setattr(reruns, "hold_listed", meanwhile)
    with pytest.raises(Conflict, match="The dataset Support is archived"):
        started_again(found, run, people)


def test_runs_of_archived_originals_can_be_started_again(people: Cast, builds: list[Dataset]) -> None:
    _, run = combined_with_a_run(people, builds)
    archiving.archive(builds[0], by=people.ed, now=timezone.now())
    [planned] = reruns.planned(asked(*builds).parts, viewer=people.ed, now=timezone.now())
    found = combined(people, *builds, name="Again")
    assert (planned.refused, started_again(found, run, people).dataset) == ("", found.dataset)


def test_conflicts_name_the_items_and_nothing_is_combined(people: Cast) -> None:
    def rows(name: str, *prompts: str, **more: str) -> Dataset:
        items = [
            {"id": f"i{n}", "prompt": prompt, "submission": f"{name} {n}", **more}
            for n, prompt in enumerate(prompts)
        ]
        return factories.dataset(people.team, people.ed, items=items, name=name)

    twice, once = rows("a v1", "Same?", " Same? "), rows("a v2", "Same?")
    plan = plans.plan(people.team, asked(twice, once), viewer=people.ed)
    [fault] = plan.conflicts
    assert fault.place == "a v1: item 'i1'"
    assert "a second answer of a@v1 to case 'i0'" in fault.found
    found = combined(people, twice, once)
    assert (found.state, found.dataset, Dataset.objects.count()) == ("refused", None, 2)
    assert not Team.objects.filter(name="Workshop").exists()

    attempts = combined(people, twice, once, as_attempts=True)
    assert attempts.dataset is not None
    assert list(attempts.dataset.items.order_by("position").values_list("key", "attempt")) == [
        ("i0@a@v1", 1),
        ("i0@a@v1#2", 2),
        ("i0@a@v2", 1),
    ]
    by_id = plans.plan(people.team, asked(twice, once, match="ids", name="Other"), viewer=people.ed)
    assert (by_id.cases, by_id.shared, by_id.conflict_count) == (2, ((2, 1), (1, 1)), 0)
    other = rows("a v3", "Another?", case_id="q")
    known = rows("a v4", "Something?", case_id="q")
    [fault] = plans.plan(people.team, asked(other, known, name="Other"), viewer=people.ed).conflicts
    assert fault.found == "case 'q' with another prompt, reference or rubric"


def test_what_cannot_be_combined_is_refused_by_name(people: Cast, builds: list[Dataset]) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    for wrong, why in (
        (asked(builds[0]), "2 to 20"),
        (asked(builds[0], builds[0]), "each dataset once"),
        (asked(*builds, name=" "), "a name of 1 to"),
        (asked(*builds, match="luck"), "cases, ids"),
    ):
        with pytest.raises(Invalid, match=why):
            plans.plan(people.team, wrong, viewer=people.ed)
    with pytest.raises(Conflict, match="already has a dataset called"):
        plans.plan(people.team, asked(*builds, name=builds[0].name), viewer=people.ed)
    queue = factories.queue(
        people.team,
        people.ed,
        dataset=builds[1],
        rubric_version=version,
        raters=[people.ann],
        name="Blind",
        blind="both",
    )
    with pytest.raises(Conflict, match="blind queue Blind"):
        combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)
    queues.close_queue(queue, by=people.ed)
    label(people, builds[0], version, ["MET"] * 4 + ["UNMET"] * 4)
    builds[1].cases.filter(key="q0").update(half="test")
    with pytest.raises(Conflict, match="divided in dev and test"):
        plans.plan(people.team, asked(*builds), viewer=people.ed)
    half = splits.split_dataset(builds[0], n_dev=4, by=people.ed).dev
    with pytest.raises(Conflict, match="sealed"):
        plans.plan(people.team, asked(half, builds[1]), viewer=people.ed)


def test_a_copy_that_broke_off_goes_on_where_it_was(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    label(people, builds[0], version, ["MET"] * 8)
    monkeypatch.setattr(combinations, "BATCH_ITEMS", 3)
    found = combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)
    whole = combinations._Copier.copy

    def dies(self: combinations._Copier, batch: Any, *, first: int) -> None:
        if first >= 6:
            raise KeyboardInterrupt  # as abrupt as it gets in one process
        whole(self, batch, first=first)

    monkeypatch.setattr(combinations._Copier, "copy", dies)
    with pytest.raises(KeyboardInterrupt):
        combinations.work(found.pk, worker="w", now=timezone.now)
    found.refresh_from_db()
    assert (found.state, found.items_copied) == ("running", 6)
    assert not Dataset.objects.filter(team=people.team, name="Support").exists()
    monkeypatch.setattr(combinations._Copier, "copy", whole)
    assert combinations.due(timezone.now(), is_dead=lambda worker, now: True) == [found.pk]
    found = combinations.work(found.pk, worker="other", now=timezone.now)
    assert (found.state, found.items_copied) == ("done", 16)
    assert found.dataset is not None
    assert found.dataset.items.count() == 16
    assert Review.objects.filter(queue__dataset=found.dataset).count() == 16
    assert truth(found.dataset) == truth(builds[0])


def test_originals_that_change_meanwhile_refuse_the_copy_and_a_cancelled_one_leaves_nothing(
    people: Cast, builds: list[Dataset]
) -> None:
    found = combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)
    combinations.cancel(found, now=timezone.now())
    assert combinations.work(found.pk, worker="w", now=timezone.now).state == "cancelled"
    found = combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)
    Dataset.objects.filter(pk=builds[0].pk).update(version=2)
    workshop = Team.objects.create(name="Workshop", slug="workshop-1")
    stamp = [[1, 0, None, None], [1, 0, None, None]]
    Combination.objects.filter(pk=found.pk).update(workshop=workshop, stamp=stamp)
    Dataset.objects.create(team=workshop, name="Support")
    found = combinations.work(found.pk, worker="w", now=timezone.now)
    assert found.state == "refused"
    assert "changed meanwhile" in found.message
    assert (Dataset.objects.count(), Team.objects.filter(name="Workshop").count()) == (2, 0)


@pytest.mark.parametrize("then", ["decided otherwise", "withdrawn", "put back", "decided"])
def test_decisions_that_change_while_it_is_copied_refuse_the_copy(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    version = factories.version(people.team, people.ed, criteria=CRITERIA)
    label(people, builds[0], version, ["MET"] * 8)
    criterion = version.criteria.all()[0]
    first, last = builds[0].items.all()[0], builds[0].items.all()[1]

    def decide(item: Item, verdict: str) -> None:
        adjudications.adjudicate(
            item, criterion, by=people.alice, verdict=verdict, cause="human_wrong", reason="So."
        )

    if then == "put back":
        decide(first, "MET")
    for item in (first, last):
        decide(item, "UNMET")
    found = combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)

    def dies(self: combinations._Copier, batch: Any, *, first: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(combinations._Copier, "copy", dies)
        with pytest.raises(KeyboardInterrupt):
            combinations.work(found.pk, worker="w", now=timezone.now)
    # The decision made last stays: how far their numbers go is as before.
    if then in ("withdrawn", "put back"):
        adjudications.withdraw(first, criterion, by=people.alice)
    else:
        decide(first if then == "decided otherwise" else builds[0].items.all()[2], "MET")
    combinations.due(timezone.now(), is_dead=lambda worker, now: True)
    found = combinations.work(found.pk, worker="other", now=timezone.now)
    assert (found.state, "changed meanwhile" in found.message) == ("refused", True)


def test_cases_divided_while_they_are_copied_refuse_the_copy(people: Cast, builds: list[Dataset]) -> None:
    found = combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)
    drawing.split_cases(builds[0], n_dev=4, by=people.ed)
    found = combinations.work(found.pk, worker="w", now=timezone.now)
    assert (found.state, found.dataset) == ("refused", None)
    assert "divided in dev and test" in found.message


@pytest.mark.parametrize("then", ["given", "taken away", "exchanged"])
def test_tags_that_change_while_cases_are_copied_refuse_the_copy(
    people: Cast, builds: list[Dataset], monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    first, last = builds[0].cases.order_by("position")[:2]
    for case in (first, last):
        tagging.change_tags(builds[0], by=people.ed, add=["hard"], case_ids=[case.pk])
    found = combinations.start(people.team, asked(*builds), by=people.ed, enqueue=None)
    add, remove = {
        "given": (["billing"], []),
        "taken away": ([], ["hard"]),
        "exchanged": (["billing"], ["hard"]),
    }[then]
    whole = combinations._Copier.copy

    def copy(self: combinations._Copier, batch: Any, *, first: int) -> None:
        whole(self, batch, first=first)
        tagging.change_tags(builds[0], by=people.ed, add=add, remove=remove, case_ids=[last.pk])

    monkeypatch.setattr(combinations._Copier, "copy", copy)
    found = combinations.work(found.pk, worker="w", now=timezone.now)
    assert (found.state, "changed meanwhile" in found.message) == ("refused", True)


def test_originals_are_archived_only_if_asked(people: Cast, builds: list[Dataset]) -> None:
    assert combined(people, *builds, name="Kept").state == "done"
    assert [one.archived_at for one in Dataset.objects.all()] == [None] * 3
    assert combined(people, *builds, name="Gone", archive_originals=True).state == "done"
    assert Dataset.objects.exclude(archived_at=None).count() == 2
    assert Item.objects.filter(dataset__in=builds).count() == 16
