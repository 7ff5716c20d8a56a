"""Pages of queues: which there are, one of them, what changes it, and the way to the next item."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.forms import Form
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_GET, require_POST

from rubricweb import access
from rubricweb.engine.number_format import counted
from rubricweb.errors import Conflict, Forbidden, Invalid, Withheld
from rubricweb.models import ReviewQueue, Role
from rubricweb.selectors.datasets.systems import queue_systems
from rubricweb.selectors.reviews import queues as selectors
from rubricweb.selectors.reviews.calibration import CalibrationStage, my_calibration
from rubricweb.selectors.reviews.leads import gold_pauses, returns
from rubricweb.selectors.reviews.queue_plans import QueuePlan, queue_plan, usual_people
from rubricweb.selectors.rubrics.chosen_criteria import version_of
from rubricweb.selectors.rubrics.versions import missing_for_judging
from rubricweb.selectors.runs.planning import plans
from rubricweb.services.reviews import queue_changes as changes
from rubricweb.services.reviews import queues as services
from rubricweb.web.http import TeamRequest, now, team_page, whole_number
from rubricweb.web.reviews import words
from rubricweb.web.reviews.queue_change_forms import ExtendQueue, QueuePeople, QueueRaters, QueueTexts
from rubricweb.web.reviews.queue_forms import NewQueue
from rubricweb.web.shared.archived import archive_link
from rubricweb.web.shared.selections import Selection, selection
from rubricweb.web.shared.titles import titles

RETURNS_SHOWN = 50
"""So many of the reviews that were sent back are listed on the page of their queue."""


@team_page(Role.VIEWER)
@require_GET
def queues(request: TeamRequest) -> HttpResponse:
    archived = request.GET.get("archived") == "1"
    rows = selectors.queues(request.team, request.user, archived=archived)
    tables = [(state, [row for row in rows if row.queue.state == state]) for state in selectors.STATES]
    return render(
        request,
        "reviews/queues/queues.html",
        {
            "tables": [(state.label, found) for state, found in tables if found],
            **archive_link(request, ReviewQueue),
        },
    )


@team_page(Role.EDITOR)
def new_queue(request: TeamRequest) -> HttpResponse:
    """Asks for everything on one page; the button *Preview workload* only counts. To htmx the page answers
    with the criteria of the rubric, or the system versions of the dataset, that is chosen.
    """
    selected = selection(request)
    if request.method != "POST":
        form = NewQueue(team=request.team, initial=_preset(request, selected), selection=selected)
        if request.htmx and not request.htmx.boosted:
            part = "systems" if request.htmx.target == "systems" else "criteria"
            return render(request, f"reviews/queues/_{part}.html", {"form": form})
        return _new_queue_page(request, form)
    if request.POST.get("action") == "all-versions":
        # What was typed so far stays; nothing is checked before it is sent.
        return _new_queue_page(request, NewQueue.with_all_versions(request.POST, request.team, selected))
    planning = request.POST.get("action") == "plan"
    form = NewQueue(request.POST, team=request.team, planning=planning, selection=selected)
    if not form.is_valid():
        return _new_queue_page(request, form, status=422)
    try:
        if planning:
            return _new_queue_page(request, form, plan=_plan(request, form))
        queue = services.create_queue(request.team, form.wanted, by=request.user)
    except (Invalid, Conflict, Withheld) as error:
        form.refuse(error)
        return _new_queue_page(request, form, status=422)
    messages.success(request, f"{queue} is open.")
    return redirect("queue", request.team.slug, queue.pk)


PRESET = (
    "name",
    "dataset",
    "rubric_version",
    "run",
    "kind",
    "source_run",
    "size",
    "criteria",
    "systems",
    "split",
)
"""What the address of a new queue may choose beforehand."""


def _preset(request: TeamRequest, selected: Selection | None) -> dict[str, Any]:
    """What the form holds at first: what the address says, a selection's dataset and criteria, else the usual
    dataset, its rubric and the usual people.
    """
    asked: dict[str, Any] = {name: request.GET[name] for name in PRESET if name in request.GET}
    asked |= {name: request.GET.getlist(name) for name in ("criteria", "systems") if name in request.GET}
    preset: dict[str, Any] = {}
    if selected is not None:
        preset = {"dataset": selected.dataset_id, "kind": "items", "criteria": selected.criterion_ids}
    dataset_id = whole_number(str((preset | asked).get("dataset") or ""), "The dataset")
    if dataset_id is None:
        dataset = plans.usual_dataset(request.team)
    else:
        dataset = access.access_dataset(request.team, dataset_id)
    people, per_item = usual_people(request.team, dataset)
    usual: dict[str, Any] = {"raters": people, "raters_per_item": per_item}
    if dataset is None:
        return usual | preset | asked
    usual["dataset"] = dataset.pk
    version = (selected and version_of(selected.criterion_ids)) or plans.usual_version(request.team, dataset)
    if version is not None:
        usual["rubric_version"] = version.pk
    return usual | preset | asked


def _new_queue_page(
    request: TeamRequest, form: NewQueue, *, plan: QueuePlan | None = None, status: int = 200
) -> HttpResponse:
    shown = {"form": form, "plan": plan, "missing": missing_for_judging(request.team)}
    return render(request, "reviews/queues/new_queue.html", shown, status=status)


def _plan(request: TeamRequest, form: NewQueue) -> QueuePlan:
    data = form.cleaned_data
    return queue_plan(
        data["dataset"],
        form.source,
        viewer=request.user,
        rubric_version=data["rubric_version"],
        criteria=data["criteria"],
        raters_per_item=data["raters_per_item"],
        systems=form.chosen_systems,
        half=form.wanted.half,
    )


@team_page(Role.VIEWER)
@require_GET
def queue(request: TeamRequest, queue_id: int) -> HttpResponse:
    queue = access.access_queue(request.team, queue_id)
    progress = selectors.queue_progress(queue, request.user)
    remarks = selectors.remarks(queue, request.user)
    mine = list(returns.own_returns(queue, request.user))
    theirs = []
    if request.membership.may(Role.REVIEWER):
        theirs = list(returns.returns_of_queue(queue, request.user)[:RETURNS_SHOWN])
    named = [*(one.item_id for one in remarks), *(one.review.item_id for one in [*mine, *theirs])]
    return render(
        request,
        "reviews/queues/queue.html",
        {
            "queue": queue,
            "progress": progress,
            "pace": selectors.queue_pace(queue, progress, request.user),
            "raters": selectors.rater_progress(queue),
            "people_missing": queue.people_missing(),
            "remarks": remarks,
            **titles(request, named),
            "sent_back_to_me": mine,
            "sent_back": theirs,
            "my_pause": gold_pauses.own_pause(queue, request.user.pk),
            "i_rate": selectors.rates(queue, request.user),
            "source": selectors.source_words(queue, request.user),
            "criteria": queue.criteria.all(),
            "systems": queue_systems([queue], viewer=request.user, team=request.team)[queue.pk],
            "close_question": words.close_question(queue, progress.drafts),
            "reopen_question": words.reopen_question(queue),
        },
    )


# ── Changing a queue ─────────────────────────────────────────────────────────────────────────────


@team_page(Role.EDITOR)
@require_GET
def change(request: TeamRequest, queue_id: int) -> HttpResponse:
    """Items, people and words of a queue, each with a form of its own."""
    return _change_page(request, access.access_queue(request.team, queue_id))


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def edit(request: TeamRequest, queue_id: int) -> HttpResponse:
    queue = access.access_queue(request.team, queue_id)
    form = QueueTexts(request.POST, imported=queue.imported)

    def change() -> str:
        changes.edit_queue(queue, by=request.user, **form.changes)
        return f"{queue} is changed."

    told = form.carried_out(change)
    return _changed(request, queue, told) if told else _change_page(request, queue, words=form)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def people(request: TeamRequest, queue_id: int) -> HttpResponse:
    queue = access.access_queue(request.team, queue_id)
    form = QueuePeople(request.POST, queue=queue)

    def change() -> str:
        changes.reassign_queue(queue, by=request.user, **form.wanted)
        return f"The people of {queue} are changed."

    told = form.carried_out(change)
    return _changed(request, queue, told) if told else _change_page(request, queue, people=form)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def extend(request: TeamRequest, queue_id: int) -> HttpResponse:
    """More items, as the form chooses them."""
    queue = access.access_queue(request.team, queue_id)
    form = ExtendQueue(request.POST, team=request.team, selection=selection(request))

    def change() -> str:
        added = changes.extend_queue(queue, by=request.user, source=form.source)
        return f"{counted(added, 'item')} added to {queue}."

    told = form.carried_out(change)
    return _changed(request, queue, told) if told else _change_page(request, queue, items=form)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def raters_per_item(request: TeamRequest, queue_id: int) -> HttpResponse:
    queue = access.access_queue(request.team, queue_id)
    form = QueueRaters(request.POST)

    def change() -> str:
        changes.extend_queue(queue, by=request.user, **form.cleaned_data)
        return f"{queue.raters_per_item} people have each item of {queue} now."

    told = form.carried_out(change)
    return _changed(request, queue, told) if told else _change_page(request, queue, raters=form)


def _change_page(request: TeamRequest, queue: ReviewQueue, **refused: Form) -> HttpResponse:
    """All forms of a queue; those in `refused` with what was sent and why not."""
    context = {
        "queue": queue,
        "words": QueueTexts(
            initial={name: getattr(queue, name) for name in QueueTexts.base_fields}, imported=queue.imported
        ),
        "people": QueuePeople(queue=queue),
        "raters": QueueRaters(initial={"raters_per_item": queue.raters_per_item}),
        "items": ExtendQueue(team=request.team, initial={"kind": "filter"}),
        "source": selectors.source_words(queue, request.user),
        "systems": queue_systems([queue], viewer=request.user, team=request.team)[queue.pk],
    }
    return render(request, "reviews/queues/change.html", context | refused, status=422 if refused else 200)


def _changed(request: TeamRequest, queue: ReviewQueue, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect("queue", request.team.slug, queue.pk)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def pause(request: TeamRequest, queue_id: int) -> HttpResponse:
    return _moved(request, queue_id, changes.pause_queue)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def resume(request: TeamRequest, queue_id: int) -> HttpResponse:
    return _moved(request, queue_id, changes.resume_queue)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def close(request: TeamRequest, queue_id: int) -> HttpResponse:
    return _moved(request, queue_id, services.close_queue)


@team_page(Role.VIEWER, post=Role.EDITOR)
@require_POST
def reopen(request: TeamRequest, queue_id: int) -> HttpResponse:
    return _moved(request, queue_id, changes.reopen_queue)


def _moved(request: TeamRequest, queue_id: int, move: Callable[..., object]) -> HttpResponse:
    """Back to the queue in its new state, or with why it stays as it was."""
    queue = access.access_queue(request.team, queue_id)
    try:
        move(queue, by=request.user)
    except (Invalid, Conflict) as error:
        messages.error(request, str(error))
        return redirect("queue", request.team.slug, queue.pk)
    return _changed(request, queue, f"{queue} is {queue.state}.")


# ── The way to the next item ─────────────────────────────────────────────────────────────────────


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
def next_item(request: TeamRequest, queue_id: int) -> HttpResponse:
    """POST goes to the next review; opened, or with nothing left, it says what else there is to do."""
    queue = access.access_queue(request.team, queue_id)
    if request.method == "POST":
        try:
            return redirect(next_url(request, queue))
        except (Conflict, Forbidden) as error:
            messages.error(request, str(error))
            return redirect("queue", request.team.slug, queue.pk)
    rows = selectors.queues(request.team, request.user)
    context = {
        "queue": queue,
        "progress": selectors.queue_progress(queue, request.user),
        "sent_back_to_me": returns.own_returns(queue, request.user).count(),
        "others": [row for row in rows if row.progress.mine_left and row.queue != queue],
    }
    return render(request, "reviews/queues/done.html", context)


@team_page(Role.VIEWER, post=Role.ANNOTATOR)
@require_POST
def start(request: TeamRequest, queue_id: int, item_id: int) -> HttpResponse:
    found, item = access.access_queue(request.team, queue_id), access.access_item(request.team, item_id)
    try:
        review = services.start_review(found, item, request.user, now=now())
    except (Conflict, Forbidden) as error:
        messages.error(request, str(error))
        return redirect("queue", request.team.slug, found.pk)
    return redirect("review", request.team.slug, review.pk)


def next_url(request: TeamRequest, queue: ReviewQueue) -> str:
    """Where the person goes on in a queue: their next review, or what to do when there is none.

    Below the mark of a calibration round, and paused, that is the page that says so.
    """
    try:
        review = services.next_review(queue, request.user, now=now())
    except Conflict as error:
        messages.error(request, str(error))
        stopped = gold_pauses.own_pause(queue, request.user.pk) is not None
        stopped = stopped or my_calibration(queue, request.user).round.stage == CalibrationStage.FAILED
        return reverse("my_calibration" if stopped else "queue", args=[request.team.slug, queue.pk])
    if review is None:
        return reverse("review_next", args=[request.team.slug, queue.pk])
    return reverse("review", args=[request.team.slug, review.pk])
