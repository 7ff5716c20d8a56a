"""Grades of machines in files are imported runs: shown, compared and summarised, never asked again."""

import json
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, connections, transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from rubricweb.engine.formats.label_files import LabelChoices
from rubricweb.errors import Conflict, Invalid, NotFound
from rubricweb.models import (
    Dataset,
    Judgement,
    Rater,
    Review,
    ReviewQueue,
    Rubric,
    Run,
    RunItem,
    RunSummary,
    User,
)
from rubricweb.selectors.adjudication import inbox
from rubricweb.selectors.comparison import comparison
from rubricweb.selectors.comparison.board.board import agreement_board
from rubricweb.selectors.dashboard import dashboard
from rubricweb.selectors.datasets.new_items import new_item_count
from rubricweb.selectors.labels import comparable, ground_truth
from rubricweb.selectors.runs.diff.diff import run_diff
from rubricweb.selectors.runs.listing import runs
from rubricweb.selectors.runs.planning.judge_history import histories
from rubricweb.selectors.runs.progress import progress
from rubricweb.services import label_files
from rubricweb.services.datasets import raters, splits
from rubricweb.services.deletions import deletions
from rubricweb.services.reviews.raters import rater_for
from rubricweb.services.runs import lifecycle
from rubricweb.services.shared import archiving
from rubricweb.services.teams import teams
from tests import factories
from tests.api.client import ApiClient
from tests.factories import Cast
from tests.judging import InProcessJudge, grade
from tests.services.datasets.test_machine_labels import FOREIGN, LABEL_STUDIO
from tests.worlds.remembered import remembered

RUBRIC = [
    {"name": "right", "weight": 3, "requirement": "Is right."},
    {"name": "kind", "weight": 1, "requirement": "Is kind."},
    {"name": "short", "weight": 4, "check": "length_between", "params": {"unit": "words", "max": 5}},
]


@pytest.fixture
def tasks(people: Cast) -> Dataset:
    """Six answers: ann says MET of all, ben of all but the first, the model UNMET of all."""
    return remembered(("imported runs", people.team.pk), lambda: import_tasks(people))


def import_tasks(people: Cast) -> Dataset:
    data = json.dumps(LABEL_STUDIO).encode()
    return factories.import_dataset(people.team, by=people.ed, data=data, filename="tasks.json", name="tasks")


@pytest.fixture
def imported(tasks: Dataset) -> Run:
    return Run.objects.get(dataset=tasks)


@pytest.fixture
def client(people: Cast) -> Callable[[Any], ApiClient]:
    def of(user: Any) -> ApiClient:
        _, secret = teams.create_token(
            people.team.memberships.get(user=user), name="t", may_write=True, days=1, now=timezone.now()
        )
        return ApiClient(secret)

    return of


def labels(dataset: Dataset, *lines: str, **options: Any) -> label_files.ImportedLabels:
    head = "item_id,criterion,rater,verdict,rater_kind"
    given: dict[str, Any] = {"by": dataset.created_by, "filename": "labels.csv", **options}
    return label_files.import_label_file(
        dataset, dataset.rubric_version, data="\n".join([head, *lines]).encode(), **given
    )


# ── What becomes of a file ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("filename", FOREIGN)
def test_machine_grades_of_every_foreign_format_become_a_finished_run(people: Cast, filename: str) -> None:
    text, machine = FOREIGN[filename]
    dataset = factories.import_dataset(
        people.team, by=people.ed, data=text.encode(), filename=filename, name="foreign"
    )
    run = Run.objects.get(dataset=dataset)
    assert (run.judge.name, run.state, run.imported, run.origin) == (
        machine,
        "finished",
        True,
        "machine_imported",
    )
    assert not Review.objects.filter(rater__kind="machine").exists()
    assert RunItem.objects.filter(run=run, graded_at=None).count() == 0
    assert [event.kind for event in run.events.all()] == ["imported"]
    summary = RunSummary.objects.get(run=run)
    assert (summary.items, summary.scored, summary.errors, summary.cost_usd) == (
        dataset.items.count(),
        dataset.items.count(),
        0,
        None,
    )


def test_scores_are_of_what_the_machine_judged(people: Cast) -> None:
    items = [
        {"id": "a", "submission": "One.", "labels": {"gpt": ["MET", "UNMET", None]}},
        {"id": "b", "submission": "Two.", "labels": {"gpt": ["MET", None, None]}},
    ]
    items = [item | {"machine_raters": ["gpt"]} for item in items] + [{"id": "c", "submission": "Three."}]
    dataset = factories.import_dataset(
        people.team,
        by=people.ed,
        data=json.dumps({"rubric": RUBRIC, "items": items}).encode(),
        filename="own.json",
    )
    run = Run.objects.get(dataset=dataset)
    rows = {
        row.item.key: (row.score, row.coverage, row.errors) for row in run.run_items.select_related("item")
    }
    # a: 3 of the weights 3 + 1 that were judged; half of all weight 8. b: 3 of 3, covering 3 of 8.
    assert rows == {"a": (0.75, 0.5, 0), "b": (1.0, 0.375, 0)}
    summary = RunSummary.objects.get(run=run)
    assert (summary.score_mean, summary.fully_judged, summary.verdicts) == (0.875, 2, 3)


def test_a_file_of_labels_parts_people_from_machines(tasks: Dataset, people: Cast) -> None:
    stored = labels(tasks, "0,polite,kim,MET,human", "0,polite,gpt,UNMET,machine", "1,polite,gpt,MET,machine")
    assert stored.queue is not None
    assert list(stored.queue.reviews.values_list("rater__name", flat=True)) == ["kim"]
    [run] = stored.runs
    assert str(run) == "gpt from labels.csv"
    assert sorted(run.run_items.values_list("item__key", "score")) == [("0", 0.0), ("1", 1.0)]
    alone = labels(tasks, "2,polite,claude,UNMET,judge", filename="claude.csv")
    assert alone.queue is None
    assert [one.judge.name for one in alone.runs] == ["claude"]


def test_the_inbox_tells_imported_judges_from_those_asked_here(
    tasks: Dataset, people: Cast, client: Callable[[Any], ApiClient]
) -> None:
    rows = client(people.ed).get("/adjudication")["items"]
    assert {(*row["judged"], *row["judged_origins"]) for row in rows} == {("UNMET", "machine_imported")}
    planned = factories.run(people.team, people.ed, dataset=tasks, rubric_version=tasks.rubric_version)
    run = grade(planned, InProcessJudge(lambda requirement, response: "UNMET"))
    where = inbox.scope(people.team, people.ed, (), run)
    asked = {origin for row in inbox.shown(where, inbox.inbox(where)) for _, origin in row.by_judges}
    assert asked == {None}


def test_a_file_is_imported_once(tasks: Dataset, people: Cast) -> None:
    lines = ("0,polite,kim,MET,human", "0,polite,gpt,UNMET,machine")
    first = labels(tasks, *lines)
    for strict in (True, False):
        with pytest.raises(Conflict, match="imported before, as the queue labels and the run gpt from"):
            labels(tasks, *reversed(lines), filename="again.csv", strict=strict)
    assert ReviewQueue.objects.filter(dataset=tasks).count() == 2  # of the dataset's file, and this one
    assert Run.objects.filter(dataset=tasks).count() == 2
    # What is new beside it is imported, and the rest named, however strict the import is.
    stored = labels(tasks, *lines, "1,polite,claude,MET,machine", filename="more.csv")
    assert (stored.queue, [str(run) for run in stored.runs]) == (None, ["claude from more.csv"])
    assert [str(group) for group in stored.left_out] == [
        "1 label that was imported before: the queue labels",
        "1 label that was imported before: the run gpt from labels.csv",
    ]
    assert first.queue is not None


@pytest.mark.django_db(transaction=True)
def test_the_same_file_twice_at_once_is_imported_once(tasks: Dataset) -> None:
    lines = [f"{number},polite,gpt,MET,machine" for number in range(6)]
    start, said = threading.Barrier(2), []

    def bring(name: str) -> None:
        try:
            start.wait()
            said.append(labels(tasks, *lines, filename=name).runs[0].name)
        except Exception as error:
            said.append(type(error).__name__)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=bring, args=(name,)) for name in ("a.csv", "b.csv")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Run.objects.filter(dataset=tasks, judge__name="gpt").count() == 1
    assert len([one for one in said if one.startswith("gpt from")]) == 1, said


def while_uncommitted(first: Callable[[], object], second: Callable[[], object]) -> Any:
    """What `second` says that begins before what `first` stored is committed."""
    said: list[Any] = []

    def begin() -> None:
        try:
            said.append(second())
        except Exception as error:  # what a thread raises would be lost
            said.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=begin)
    with transaction.atomic():
        first()
        thread.start()
        thread.join(0.5)  # it waits for us, unless nothing keeps it from going on
    thread.join()
    return said[0]


@pytest.mark.django_db(transaction=True)
def test_two_files_at_once_that_name_a_new_rater_are_both_imported(people: Cast, tasks: Dataset) -> None:
    other = factories.dataset(people.team, people.ed, name="other", items=[{"id": "0", "submission": "A."}])
    other.rubric_version = tasks.rubric_version
    lines = ("0,polite,kim,MET,human", "0,polite,gpt,UNMET,machine")
    second = while_uncommitted(
        lambda: labels(tasks, *lines), lambda: labels(other, *lines, filename="other.csv")
    )
    assert second.queue.name == "other"
    assert Rater.objects.filter(name__in=["kim", "gpt"]).count() == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_files_at_once_with_one_name_the_later_is_refused(people: Cast, tasks: Dataset) -> None:
    other = factories.dataset(people.team, people.ed, name="other", items=[{"id": "0", "submission": "A."}])
    other.rubric_version = tasks.rubric_version
    people.team.raters.create(name="lee")
    second = while_uncommitted(
        lambda: labels(tasks, "0,polite,kim,MET,human"), lambda: labels(other, "0,polite,lee,MET,human")
    )
    assert isinstance(second, Conflict)
    assert str(second) == "The team already has a queue called 'labels'; give these labels another name."
    assert not ReviewQueue.objects.filter(dataset=other).exists()


@pytest.mark.django_db(transaction=True)
def test_who_becomes_a_machine_while_one_of_that_name_comes_in_stays_a_person(
    people: Cast, tasks: Dataset
) -> None:
    labels(tasks, "0,polite,gpt,MET,human")
    gpt = Rater.objects.get(name="gpt")
    second = while_uncommitted(
        lambda: labels(tasks, "1,polite,gpt,MET,machine", filename="gpt.csv"),
        lambda: raters.change_kind(gpt, "machine", by=people.ed),
    )
    assert isinstance(second, Conflict)
    assert "another rater called gpt who is that already" in str(second)
    assert sorted(Rater.objects.filter(name="gpt").values_list("kind", flat=True)) == ["human", "machine"]


# ── Never asked, never billed ────────────────────────────────────────────────────────────────────


def test_nothing_may_happen_to_it(people: Cast, imported: Run) -> None:
    more = json.dumps([{"id": "new", "submission": "Came later."}]).encode()
    factories.add_items(imported.dataset, by=people.ed, data=more, filename="more.json")
    assert new_item_count(imported) == 0
    for what in (
        lambda: lifecycle.resume_run(imported, by=people.ed, enqueue=lambda *_: None),
        lambda: lifecycle.extend_run(imported, by=people.ed, enqueue=lambda *_: None),
        lambda: lifecycle.set_budget(imported, by=people.ed, budget_usd=1.0),
        lambda: lifecycle.set_budget_and_go_on(
            imported, by=people.ed, enqueue=lambda *_: None, budget_usd=1.0
        ),
        lambda: lifecycle.cancel_run(imported, by=people.ed, now=timezone.now()),
        lambda: lifecycle.pause_run(imported, by=people.ed),
    ):
        with pytest.raises(Conflict, match="was imported: its grades came in a file"):
            what()
    assert Run.objects.get().state == "finished"


def test_it_is_no_history_of_any_judge_and_costs_nothing(people: Cast, imported: Run) -> None:
    assert imported.asked_judges == ()
    own = factories.run(
        people.team, people.ed, dataset=imported.dataset, rubric_version=imported.rubric_version
    )
    assert own.judge.config is not None
    assert histories(people.team, {"judge": own.judge.config}, viewer=people.ed) == {}
    seen = progress(imported, viewer=people.ed, now=timezone.now())
    assert (seen.graded, seen.items, seen.calls, seen.cost_usd) == (6, 6, 0, 0.0)


@pytest.mark.parametrize(("who", "code"), [("bob", 403), ("ann", 403), ("rae", 403), ("ed", 409)])
def test_the_api_refuses_in_a_sentence(
    people: Cast, imported: Run, client: Callable[[Any], ApiClient], who: str, code: int
) -> None:
    api = client(getattr(people, who))
    for method, action, body in (
        ("POST", "resume", {}),
        ("POST", "extend", {}),
        ("PUT", "budget", {"budget_usd": 1.0}),
    ):
        answered = api.call(method, f"/runs/{imported.pk}/{action}", body)
        assert answered.status_code == code
        if code == 409:
            assert "was imported" in answered.json()["detail"]
    shown = api.get(f"/runs/{imported.pk}")
    assert (shown["imported"], shown["origin"], shown["judge"]["id"]) == (
        True,
        "machine_imported",
        "imported",
    )


def test_its_page_says_imported_and_offers_nothing_to_ask(
    people: Cast, imported: Run, sign_in: Callable[..., Client]
) -> None:
    browser = sign_in(people.ed)
    page = browser.get(reverse("run", args=[people.team.slug, imported.pk])).content.decode()
    main = " ".join(page.split("<main")[1].split())
    assert "These grades were imported" in main
    assert "a machine, imported" in main
    for word in ("Run again", "Retry", "Budget", "Spent", "Calls"):
        assert word not in main, word
    listed = browser.get(reverse("runs", args=[people.team.slug])).content.decode()
    assert "a machine, imported" in listed
    refused = browser.post(reverse("run_resume", args=[people.team.slug, imported.pk]), follow=True)
    assert "was imported" in refused.content.decode()
    for bad in ("run_pause", "run_cancel"):
        assert browser.post(reverse(bad, args=[people.team.slug, imported.pk])).status_code in (302, 409)


def test_what_it_said_of_an_item_is_shown_without_any_call(
    people: Cast, imported: Run, sign_in: Callable[..., Client], client: Callable[[Any], ApiClient]
) -> None:
    item = imported.dataset.items.get(key="0")
    page = sign_in(people.bob).get(reverse("run_item", args=[people.team.slug, imported.pk, item.pk]))
    assert page.status_code == 200
    api = client(people.bob)
    [said] = api.get(f"/runs/{imported.pk}/items/{item.pk}")["verdicts"]
    assert said["verdict"] == "UNMET"
    assert api.get(f"/runs/{imported.pk}/items/{item.pk}/calls")["items"] == []


# ── Compared and summarised ──────────────────────────────────────────────────────────────────────


def test_it_is_compared_with_people_and_is_no_rater_among_them(people: Cast, imported: Run) -> None:
    queues = comparable.queues_to_compare(imported)
    found = comparison.compare(imported, queues, viewer=people.bob)
    # On the first item people are tied; on the other five both say MET and the model UNMET.
    assert (found.units, found.undecided, found.raters) == (5, 1, 2)
    assert (found.overall.accuracy.value, found.overall.accuracy.n) == (0.0, 5)
    # α of two people over six units: 11 MET, 1 UNMET; D_o = 2/12, D_e = 2·11·1/(12·11) = 1/6: α = 0. With the
    # model as a third rater it would be 1 − (12/18)/(2·11·7/(18·17)) = −0.32.
    assert found.human_alpha.value == pytest.approx(0.0)
    assert found.ceiling.raters == 2
    [queue] = queues
    assert agreement_board(queue, people.bob).raters_total == 2
    truth = ground_truth.ground_truth(queues)
    assert sorted((one.verdict or "tied", one.rule, one.labels) for one in truth.values()) == [
        *[("MET", "unanimous", 2)] * 5,
        ("tied", "majority", 2),
    ]


def test_it_is_compared_with_other_runs_and_stands_on_the_dashboard(people: Cast, imported: Run) -> None:
    planned = factories.run(
        people.team, people.ed, dataset=imported.dataset, rubric_version=imported.rubric_version
    )
    own = grade(planned, InProcessJudge(lambda requirement, response: "MET"))
    diff = run_diff(own, imported, viewer=people.bob)
    # MET everywhere against UNMET everywhere: 1 − 0 on all six.
    assert (diff.scores.difference.value, diff.scores.difference.n) == (1.0, 6)
    rows = runs(people.team, viewer=people.bob).rows
    assert [(row.run.pk, row.run.shown_state, row.summary and row.summary.score_mean) for row in rows] == [
        (own.pk, "finished", 1.0),
        (imported.pk, "imported", 0.0),
    ]
    board = dashboard(people.team, people.bob)
    assert {point.run_id: point.scored for one in board.series for point in one.points} == {
        own.pk: 6,
        imported.pk: 6,
    }


def test_halves_of_a_split_hold_their_part_of_it(people: Cast, tasks: Dataset) -> None:
    half = splits.split_dataset(tasks, n_dev=2, by=people.ed).dev
    run = Run.objects.get(dataset=half)
    assert (run.rater.name if run.rater else "", run.run_items.count()) == ("model v1", 2)


# ── Truth that a file settled ────────────────────────────────────────────────────────────────────


def test_a_column_of_ground_truth_is_truth_and_nobodys_vote(people: Cast) -> None:
    item = {"rubric": [{"name": "only", "weight": 1, "requirement": "Is right."}], "ground_truth": ["MET"]}
    items = [item | {"id": str(number), "submission": f"Text {number}"} for number in range(3)]
    dataset = factories.dataset(people.team, people.ed, items=items)
    queues = list(comparable.labelled_queues(dataset.pk, team=people.team))
    truth = ground_truth.ground_truth(queues)
    assert {(one.verdict, one.rule) for one in truth.values()} == {("MET", "settled")}
    [queue] = queues
    assert agreement_board(queue, people.bob).raters_total == 0


# ── A machine that was a person, and the other way round ─────────────────────────────────────────


def test_who_turns_out_to_be_a_machine_or_a_person_takes_the_labels_along(
    people: Cast, tasks: Dataset
) -> None:
    before = sorted(Judgement.objects.values_list("pk", "verdict"))
    ben = Rater.objects.get(name="ben@example.org")
    raters.change_kind(ben, "machine", by=people.ed)
    run = Run.objects.get(rater=ben)
    assert sorted(run.run_items.values_list("item__key", "score")) == [
        ("0", 0.0),
        *[(str(number), 1.0) for number in range(1, 6)],
    ]
    assert not Review.objects.filter(rater=ben).exists()
    raters.change_kind(ben, "human", by=people.ed)
    assert not Run.objects.filter(rater=ben).exists()
    [queue] = ReviewQueue.objects.filter(dataset=tasks)
    assert {len(said) for said in ground_truth.labels([queue]).values()} == {2}
    model = Rater.objects.get(name="model v1")
    raters.change_kind(model, "human", by=people.ed)
    assert {len(said) for said in ground_truth.labels([queue]).values()} == {3}
    assert sorted(Judgement.objects.values_list("pk", "verdict")) == before


def test_a_queue_of_a_machine_alone_is_gone_with_its_labels(people: Cast, tasks: Dataset) -> None:
    labels(tasks, "0,polite,gpt-4,MET,human", filename="gpt.csv")
    raters.change_kind(Rater.objects.get(name="gpt-4"), "machine", by=people.ed)
    assert list(ReviewQueue.objects.values_list("name", flat=True)) == ["Labels of tasks"]


def test_a_file_that_grew_by_somebody_who_turns_out_to_be_a_machine_is_one_run(
    people: Cast, tasks: Dataset
) -> None:
    unsaid(tasks, "0,polite,kim,MET", "0,polite,gpt,MET", "1,polite,gpt,MET", filename="week 1.csv")
    grown = ("0,polite,gpt,UNMET", "1,polite,gpt,MET", "2,polite,gpt,MET")
    unsaid(tasks, *grown, filename="week 2.csv")
    gpt = Rater.objects.get(name="gpt")
    raters.change_kind(gpt, "machine", by=people.ed)
    run = Run.objects.get(rater=gpt)
    assert str(run) == "gpt from week 1 and week 2"
    # 0 was corrected in the second week, 1 stayed, 2 is new.
    assert sorted(run.run_items.values_list("item__key", "score")) == [("0", 0.0), ("1", 1.0), ("2", 1.0)]
    assert sorted(run.judgements.values_list("item__key", "verdict")) == [
        ("0", "UNMET"),
        ("1", "MET"),
        ("2", "MET"),
    ]
    assert not Review.objects.filter(rater=gpt).exists()
    [left] = ReviewQueue.objects.filter(name__startswith="week")
    assert (left.name, [rater.name for rater in left.raters.all()]) == ("week 1", ["kim"])
    with pytest.raises(Conflict, match="imported before, as the run gpt from week 1 and week 2"):
        unsaid(tasks, *grown, filename="again.csv")


def test_what_somebody_said_last_counts_once_they_turn_out_to_be_a_machine(
    people: Cast, tasks: Dataset
) -> None:
    data = (
        b"item_id,criterion,rater,verdict,reason,final_verdict,final_reason\n"
        b"0,polite,gpt,MET,,UNMET,on reflection\n"
        b"1,polite,gpt,MET,at once,MET,still\n"
        b"2,polite,gpt,MET,clear,,\n"
    )
    unsaid(tasks, data=data, filename="final.csv")
    gpt = Rater.objects.get(name="gpt")
    said = ("item__key", "verdict", "reason")
    final = ("revision__choice", "revision__verdict", "revision__reason")
    before = sorted(Judgement.objects.filter(review__rater=gpt).values_list(*said, *final))
    raters.change_kind(gpt, "machine", by=people.ed)
    run = Run.objects.get(rater=gpt)
    assert sorted(run.judgements.values_list(*said)) == [
        ("0", "UNMET", "on reflection"),
        ("1", "MET", "still"),
        ("2", "MET", "clear"),
    ]
    assert sorted(run.run_items.values_list("item__key", "score")) == [("0", 0.0), ("1", 1.0), ("2", 1.0)]
    # As a machine's from the start the file says the same.
    machine = LabelChoices(rater_kinds={"gpt": "machine"})
    with pytest.raises(Conflict, match="imported before"):
        unsaid(tasks, data=data, filename="again.csv", choices=machine)
    raters.change_kind(gpt, "human", by=people.ed)
    assert sorted(Judgement.objects.filter(review__rater=gpt).values_list(*said, *final)) == before
    assert before[0] == ("0", "MET", "", "change", "UNMET", "on reflection")


def unsaid(dataset: Dataset, *lines: str, **options: Any) -> label_files.ImportedLabels:
    """A file that says of nobody what they are."""
    data = "\n".join(["item_id,criterion,rater,verdict", *lines]).encode()
    given: dict[str, Any] = {"by": dataset.created_by, "data": data, "filename": "unsaid.csv", **options}
    return label_files.import_label_file(dataset, dataset.rubric_version, **given)


def test_the_same_labels_again_are_known_whatever_their_raters_were_said_to_be(
    people: Cast, tasks: Dataset
) -> None:
    lines = ("0,polite,kim,MET", "1,polite,kim,UNMET", "0,polite,gpt,MET")
    unsaid(tasks, *lines)
    gpt = Rater.objects.get(name="gpt")
    raters.change_kind(gpt, "machine", by=people.ed)
    before = Judgement.objects.count()
    where = "imported before, as the queue unsaid and the run gpt from unsaid"
    for choices in (None, LabelChoices(rater_kinds={"gpt": "machine"})):
        with pytest.raises(Conflict, match=where):
            unsaid(tasks, *lines, filename="again.csv", choices=choices)
    raters.change_kind(gpt, "human", by=people.ed)
    with pytest.raises(Conflict, match="All labels in this file were imported before"):
        unsaid(tasks, *lines, filename="again.csv")
    assert Judgement.objects.count() == before
    # More by the same rater, or something else, is new; the others are left out.
    more = unsaid(tasks, *lines, "2,polite,gpt,MET", filename="more.csv")
    assert more.queue is not None
    assert [rater.name for rater in more.queue.raters.all()] == ["gpt"]
    assert [str(group) for group in more.left_out] == [
        "3 labels that were imported before: the queue unsaid, the queue gpt from unsaid"
    ]
    assert Judgement.objects.filter(review__queue=more.queue).count() == 1


def test_people_of_a_file_are_known_one_by_one(tasks: Dataset) -> None:
    known = ("0,polite,kim,MET", "1,polite,kim,UNMET")
    unsaid(tasks, *known, filename="a.csv")
    both = (*known, "0,polite,lee,MET")
    with pytest.raises(Invalid, match="1 fault, nothing was imported"):
        unsaid(tasks, *both, "none,polite,lee,MET", filename="b.csv")
    stored = unsaid(tasks, *both, filename="b.csv")
    assert [str(group) for group in stored.left_out] == ["2 labels that were imported before: the queue a"]
    given = Judgement.objects.filter(review__rater__name__in=["kim", "lee"])
    assert sorted(given.values_list("review__rater__name", "review__queue__name")) == [
        ("kim", "a"),
        ("kim", "a"),
        ("lee", "b"),
    ]
    # By now all of it is there, and what was new is known by itself as well.
    for lines, where in ((both, "the queue a and the queue b"), (both[2:], "the queue b")):
        with pytest.raises(Conflict, match=f"All labels in this file were imported before, as {where}"):
            unsaid(tasks, *lines, filename="again.csv")
    # A member whose user name is the shown name of another does not get their labels.
    other = Rater.objects.create(team=tasks.team, name="Earlier", user=User.objects.create_user("sam"))
    named = Rater.objects.create(team=tasks.team, name="sam", user=User.objects.create_user("samuel"))
    unsaid(tasks, "0,polite,sam,MET", filename="c.csv")
    assert (other.reviews.count(), named.reviews.count()) == (0, 1)


def test_who_goes_back_to_an_earlier_label_says_something_new(tasks: Dataset) -> None:
    for number, said in enumerate(["MET", "UNMET", "MET"]):
        unsaid(tasks, f"0,polite,kim,{said}", "1,polite,kim,MET", filename=f"{number}.csv")
    given = Judgement.objects.filter(review__rater__name="kim").order_by("pk")
    assert list(given.values_list("review__queue__name", "item__key", "verdict")) == [
        ("0", "0", "MET"),
        ("0", "1", "MET"),
        ("1", "0", "UNMET"),
        ("2", "0", "MET"),
    ]
    # The newest counts.
    counting = ground_truth.labels(list(ReviewQueue.objects.filter(raters__name="kim")))
    assert [list(said.values()) for said in counting.values()] == [["MET"], ["MET"]]
    # As it stands it is known, with another reason it is new.
    with pytest.raises(Conflict, match="All labels in this file were imported before, as the queue 2"):
        unsaid(tasks, "0,polite,kim,MET", filename="again.csv")
    data = b"item_id,criterion,rater,verdict,reason\n0,polite,kim,MET,It greets."
    assert unsaid(tasks, data=data, filename="why.csv").queue is not None


def test_more_grades_of_a_machine_are_another_run_and_whole(tasks: Dataset) -> None:
    labels(tasks, "0,polite,gpt,MET,machine", filename="one.csv")
    [run] = labels(tasks, "0,polite,gpt,MET,machine", "1,polite,gpt,MET,machine", filename="two.csv").runs
    assert sorted(run.run_items.values_list("item__key", flat=True)) == ["0", "1"]
    with pytest.raises(Conflict, match="imported before, as the run gpt from one"):
        labels(tasks, "0,polite,gpt,MET,machine", filename="again.csv")


@pytest.mark.django_db(transaction=True)
def test_of_two_files_that_grew_at_once_each_label_is_stored_once(tasks: Dataset) -> None:
    lines = [f"{number},polite,kim,MET,human" for number in range(4)]
    labels(tasks, *lines[:2], filename="before.csv")
    second = while_uncommitted(
        lambda: labels(tasks, *lines[:3], filename="three.csv"),
        lambda: labels(tasks, *lines, filename="four.csv"),
    )
    assert [str(group) for group in second.left_out] == [
        "3 labels that were imported before: the queue before, the queue three"
    ]
    given = Judgement.objects.filter(review__rater__name="kim")
    assert sorted(given.values_list("review__queue__name", "item__key")) == [
        ("before", "0"),
        ("before", "1"),
        ("four", "3"),
        ("three", "2"),
    ]


def test_a_file_by_a_rubric_deleted_since_it_was_read_is_refused(
    people: Cast, tasks: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = factories.version(people.team, people.ed, criteria=[{"name": "polite", "requirement": "Is."}])
    rubric, whole, before = version.rubric, label_files._refuse, ReviewQueue.objects.count()
    given = {
        "by": people.ed,
        "data": b"item_id,criterion,rater,verdict\n0,polite,kim,MET",
        "filename": "k.csv",
    }

    def meanwhile(*args: Any, **options: Any) -> None:
        there = Rubric.objects.get(pk=rubric.pk)
        deletions.delete(there, there.title, by=people.ed, now=timezone.now(), enqueue=None)
        whole(*args, **options)

    with monkeypatch.context() as patched:
        patched.setattr(label_files, "_refuse", meanwhile)
        with pytest.raises(NotFound, match="rubric"):
            label_files.import_label_file(tasks, version, **given)
    assert ReviewQueue.objects.count() == before


def test_a_file_by_an_archived_rubric_is_imported(people: Cast, tasks: Dataset) -> None:
    version = factories.version(people.team, people.ed, criteria=[{"name": "polite", "requirement": "Is."}])
    archiving.archive(version.rubric, by=people.ed, now=timezone.now())
    data = b"item_id,criterion,rater,verdict\n0,polite,kim,MET"
    found = label_files.import_label_file(tasks, version, by=people.ed, data=data, filename="k.csv")
    assert found.queue is not None


def test_labels_that_joined_a_queue_of_others_are_known_by_their_raters(people: Cast, tasks: Dataset) -> None:
    ReviewQueue.objects.all().delete()
    labels(tasks, "0,polite,kim,MET,human", filename="kim.csv")
    labels(tasks, "0,polite,gpt,MET,machine", filename="gpt.csv")
    raters.change_kind(Rater.objects.get(name="gpt"), "human", by=people.ed)
    for rater in ("kim", "gpt"):
        with pytest.raises(Conflict, match="imported before, as the queue kim"):
            unsaid(tasks, f"0,polite,{rater},MET", filename="again.csv")


def test_who_is_known_as_a_machine_is_one_where_a_file_does_not_say_otherwise(
    people: Cast, tasks: Dataset
) -> None:
    labels(tasks, "0,polite,gpt,MET,machine", filename="first.csv")
    assert [run.judge.name for run in unsaid(tasks, "1,polite,gpt,MET").runs] == ["gpt"]
    assert unsaid(tasks, "2,polite,gpt,MET", choices=LabelChoices(rater_kinds={"gpt": "human"})).queue
    # From now on the team knows a person of this name, too.
    assert unsaid(tasks, "3,polite,gpt,MET", filename="both.csv").runs == ()


def test_who_is_said_to_be_a_person_is_one_though_known_as_a_machine(people: Cast, tasks: Dataset) -> None:
    labels(tasks, "0,polite,gpt,MET,machine", filename="first.csv")
    data = b"item_id,criterion,rater,verdict\n1,polite,gpt,MET"
    planned = {
        kind: label_files.plan_labels(
            tasks,
            tasks.rubric_version,
            data=data,
            filename="plan.csv",
            choices=label_files.said_choices(rater_kind=kind),
        )
        for kind in (None, "human")
    }
    assert [[one.rater_kind for one in plan.raters] for plan in planned.values()] == [["machine"], ["human"]]
    stored = unsaid(tasks, "1,polite,gpt,MET", choices=label_files.said_choices(rater_kind="person"))
    assert (stored.queue is not None, stored.runs) == (True, ())


def test_a_file_that_grew_after_its_rater_joined_is_still_theirs(people: Cast, tasks: Dataset) -> None:
    labels(tasks, "0,polite,amy,UNMET,human", filename="first.csv")
    assert rater_for(people.team, factories.person("amy")).name == "Amy"
    grown = labels(tasks, "0,polite,amy,UNMET,human", "1,polite,amy,UNMET,human", filename="second.csv")
    assert [rater.name for rater in grown.queue.raters.all()] == ["amy"]
    assert [str(group) for group in grown.left_out] == ["1 label that was imported before: the queue first"]


def test_whoever_imports_labels_of_people_gets_their_queue(people: Cast, tasks: Dataset) -> None:
    labels(tasks, "0,polite,gpt,MET,machine", filename="first.csv")
    data = b"item_id,criterion,rater,verdict\n1,polite,gpt,MET"
    queue = factories.import_labels(
        tasks, tasks.rubric_version, by=people.ed, data=data, filename="people.csv"
    )
    assert [rater.kind for rater in queue.raters.all()] == ["human"]


def test_a_plan_counts_what_would_be_stored(tasks: Dataset, people: Cast) -> None:
    known = ("0,polite,kim,MET,human", "1,polite,kim,UNMET,human")
    labels(tasks, *known, filename="one.csv")
    data = "\n".join(["item_id,criterion,rater,verdict,rater_kind", *known, "0,polite,gpt,MET,machine"])
    plan = label_files.plan_labels(tasks, tasks.rubric_version, data=data.encode(), filename="two.csv")
    assert (plan.labels, plan.items, plan.criteria) == (1, 1, 1)
    assert [(one.name, one.rater_kind, one.labels) for one in plan.raters] == [("gpt", "machine", 1)]
    assert plan.becomes == "Grades of 1 machine become imported runs, one each."
    assert [str(group) for group in plan.left_out] == ["2 labels that were imported before: the queue one"]


# ── Everywhere the same words ────────────────────────────────────────────────────────────────────


def test_the_page_of_labels_says_what_a_file_becomes_and_leads_there(
    people: Cast, tasks: Dataset, sign_in: Callable[..., Client]
) -> None:
    browser = sign_in(people.ed)
    lines = b"item_id,criterion,rater,verdict,rater_kind\n0,polite,gpt,UNMET,machine\n"
    sent = {"file": SimpleUploadedFile("gpt.csv", lines), "rubric_version": tasks.rubric_version_id}
    checked = browser.post(reverse("labels_import", args=[people.team.slug, tasks.pk]), sent)
    page = " ".join(browser.get(checked.headers["Location"]).content.decode().split())
    assert "Grades of 1 machine become imported runs" in page
    stored = browser.post(checked.headers["Location"], {"action": "import"})
    run = Run.objects.get(judge__name="gpt")
    assert stored.headers["Location"] == reverse("run", args=[people.team.slug, run.pk])


def test_the_api_tells_the_runs_a_file_became(
    people: Cast, tasks: Dataset, client: Callable[[Any], ApiClient]
) -> None:
    lines = b"item_id,criterion,rater,verdict,rater_kind\n0,polite,gpt,UNMET,machine\n0,polite,kim,MET,\n"
    sent = {"file": SimpleUploadedFile("both.csv", lines)}
    api = client(people.ed)
    answered = api.call("POST", f"/datasets/{tasks.pk}/labels", files=sent).json()
    assert answered["queue"]["name"] == "both"
    assert [run["name"] for run in answered["runs"]] == ["gpt from both.csv"]
    sent = {"file": SimpleUploadedFile("again.csv", lines)}
    again = api.call("POST", f"/datasets/{tasks.pk}/labels", files=sent)
    assert (again.status_code, "imported before" in again.json()["detail"]) == (409, True)


def test_labels_of_a_machine_are_chosen_by_the_form_too(tasks: Dataset, people: Cast) -> None:
    data = b"item_id,criterion,rater,verdict\n0,polite,gpt,MET\n"
    plan = label_files.plan_labels(
        tasks,
        tasks.rubric_version,
        data=data,
        filename="g.csv",
        choices=LabelChoices(rater_kind="machine"),
    )
    assert plan.becomes == "Grades of 1 machine become imported runs, one each."
    assert Run.objects.filter(dataset=tasks).count() == 1  # nothing was stored


# ── Data of the release before ───────────────────────────────────────────────────────────────────


def test_labels_of_machines_of_the_release_before_become_runs(people: Cast, tasks: Dataset) -> None:
    """They were reviews of raters of the kind "machine", in a queue with people and in one of their own."""
    run = Run.objects.get()
    said = sorted(run.judgements.values_list("pk", "item", "verdict"))
    scores = sorted(run.run_items.values_list("item", "score", "coverage", "passed"))
    model = Rater.objects.get(name="model v1")
    raters.change_kind(model, "human", by=people.ed)
    labels(tasks, "0,polite,gpt,MET,human", filename="gpt.csv")
    Rater.objects.filter(name__in=["model v1", "gpt"]).update(kind="machine")
    people_before = sorted(Review.objects.filter(rater__kind="human").values_list("pk", flat=True))
    move = import_module("rubricweb.migrations.0032_machines_become_imported_runs").move
    for _ in range(2):
        move(apps, connection.schema_editor())
        moved = Run.objects.get(rater=model)
        assert sorted(moved.judgements.values_list("pk", "item", "verdict")) == said
        assert sorted(moved.run_items.values_list("item", "score", "coverage", "passed")) == scores
        assert (moved.judge.name, moved.judge.id, moved.judge.config) == ("model v1", "imported", None)
        assert Run.objects.get(judge__name="gpt").run_items.count() == 1
        assert sorted(Review.objects.values_list("pk", flat=True)) == people_before
        assert list(ReviewQueue.objects.values_list("name", flat=True)) == ["Labels of tasks"]


def test_raters_of_earlier_imports_are_told_apart_where_their_names_tell(people: Cast) -> None:
    for filename, (text, _) in FOREIGN.items():
        factories.import_dataset(
            people.team, by=people.ed, data=text.encode(), filename=filename, name=f"{filename} of old"
        )
    then = dict(Rater.objects.values_list("name", "kind"))
    for rater in Rater.objects.filter(kind="machine"):
        raters.change_kind(rater, "human", by=people.ed)
    for queue in ReviewQueue.objects.filter(imported=True):
        ReviewQueue.objects.filter(pk=queue.pk).update(name=f"Labels of {queue.dataset.name}")
    Review.objects.update(imported=False)
    move = import_module("rubricweb.migrations.0022_machines_among_earlier_raters").tell_apart
    for _ in range(2):
        move(apps, connection.schema_editor())
        assert dict(Rater.objects.values_list("name", "kind")) == then
        assert not Review.objects.filter(imported=False).exists()
    import_module("rubricweb.migrations.0032_machines_become_imported_runs").move(
        apps, connection.schema_editor()
    )
    assert set(Run.objects.values_list("judge__name", flat=True)) == {
        machine for _, machine in FOREIGN.values()
    }
