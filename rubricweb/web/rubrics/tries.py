"""A rubric's draft tried with a judge of the team."""

from collections.abc import Callable

from django.http import HttpResponse, HttpResponseBase

from rubricweb import access
from rubricweb.engine.submission import Submission
from rubricweb.errors import Invalid
from rubricweb.models import Dataset, Item, Rubric, unarchived
from rubricweb.selectors.rubrics.versions import checked_draft
from rubricweb.selectors.tries import NEXT, PICKED, chosen_item, require_may_try
from rubricweb.services.endpoints import endpoints
from rubricweb.services.tries.judges import definition_called, judges_to_try
from rubricweb.services.tries.subject import subject_of
from rubricweb.services.tries.tries import Trying, TryRequest, start_try
from rubricweb.web.http import TeamRequest, text_of, whole_number
from rubricweb.web.rubrics.forms import RubricForm
from rubricweb.web.shared.tries.answers import headings_of, told

FAULTS_SHOWN = 3


def judge_asked(request: TeamRequest) -> str:
    """The words for the judge that was chosen; "" for the offline one, which answers within the page."""
    words = text_of(request.POST, "try_judge")
    return "" if words == endpoints.OFFLINE else words


def choices(request: TeamRequest) -> dict[str, object]:
    """Whom the draft can be tried with, and who is chosen: a judge that reads, where there is one."""
    offered = judges_to_try(request.team, request.user)
    usual = offered[0][0] if offered else ""
    datasets = Dataset.objects.filter(unarchived(), team=request.team).exclude(sealed_as="test")
    return {
        "try_judges": offered,
        "try_judge": text_of(request.POST, "try_judge") or usual,
        "try_datasets": datasets.order_by("-created_at", "-pk"),
        "try_dataset": text_of(request.POST, "try_dataset"),
        "try_item": text_of(request.POST, "try_item"),
        "try_after": text_of(request.POST, "try_after"),
    }


def item_chosen(request: TeamRequest) -> Item | None:
    """The item of the dataset that was chosen: the one that is named, else the next one; None without a
    dataset.

    Raises as `chosen_item`, and Withheld and Conflict for an item nobody may try a judge on.
    """
    dataset_id = whole_number(request.POST.get("try_dataset"), "The dataset")
    if dataset_id is None:
        return None
    dataset = access.access_dataset(request.team, dataset_id)
    said = text_of(request.POST, "try_item").strip()
    after = whole_number(request.POST.get("try_after"), "The item before")
    item = chosen_item(dataset, PICKED if said else NEXT, viewer=request.user, said=said, after=after)
    require_may_try(item, request.user)
    return item


def try_draft(
    request: TeamRequest,
    rubric: Rubric,
    form: RubricForm,
    words: str,
    on: tuple[Item | None, Submission | None],
    page: Callable[..., HttpResponse],
) -> HttpResponseBase:
    """The draft as it is typed, on an item or a pasted submission."""
    name = words[:100]

    def begin() -> Trying:
        asked = definition_called(request.team, words, viewer=request.user)
        content, faults = checked_draft(form.draft())
        if content is None:
            named = "; ".join(map(str, faults[:FAULTS_SHOWN]))
            raise Invalid(f"The rubric has faults, so that nobody can be asked by it yet: {named}", faults)
        item, pasted = on
        subject = subject_of(
            request.team, viewer=request.user, item=item, pasted=pasted, draft=content, rubric_id=rubric.pk
        )
        return start_try(TryRequest(request.team, request.user, asked.definition, subject, asked.judge))

    return told(request, begin, page, headings=headings_of(name))
