"""A rubric's draft tried with a judge of the team."""

from collections.abc import Callable

from django.http import HttpResponse, HttpResponseBase

from rubricweb.engine.submission import Submission
from rubricweb.errors import Invalid
from rubricweb.models import Item, Rubric
from rubricweb.selectors.rubrics.versions import checked_draft
from rubricweb.services.endpoints import endpoints
from rubricweb.services.tries.judges import definition_called, judges_to_try
from rubricweb.services.tries.subject import subject_of
from rubricweb.services.tries.tries import Trying, TryRequest, start_try
from rubricweb.web.http import TeamRequest, text_of
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
    return {"try_judges": offered, "try_judge": text_of(request.POST, "try_judge") or usual}


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
