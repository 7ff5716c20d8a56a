"""Trying a judge on its page, or as it is worded in its form."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse, HttpResponseBase
from django.views.decorators.http import require_POST

from rubricweb import access
from rubricweb.engine.judging.definition import JudgeDefinition
from rubricweb.errors import Conflict, Invalid
from rubricweb.models import Judge, JudgeVersion, Role
from rubricweb.selectors.judges import require_judge_visible
from rubricweb.services.judges.versions import require_valid
from rubricweb.services.tries.tries import Trying, TryRequest, start_try
from rubricweb.web.bodies import takes_up_to
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.judges.definition_form import DefinitionForm
from rubricweb.web.judges.team_judges import version_page
from rubricweb.web.shared.tries.answers import headings_of, refused, told
from rubricweb.web.shared.tries.form import TryForm

NOT_AS_TYPED = "It cannot be asked as it is typed: "


@takes_up_to("UPLOAD_MAX_BYTES")
@team_page(Role.EDITOR)
@require_POST
def try_version(request: TeamRequest, judge_id: int) -> HttpResponseBase:
    """A kept version on an item; to the page's script line by line, else the page once all is told."""
    judge = access.access_judge(request.team, judge_id)
    require_judge_visible(judge, request.user)
    number = whole_number(request.POST.get("version"), "The version") or 0
    version = access.access_numbered_version(judge, number)
    form = try_form(request, judge)

    def page(*, status: int = 200, **more: Any) -> HttpResponse:
        return version_page(request, judge, status=status, shown=version, try_form=form, **more)

    headings = headings_of(str(version))
    return _tried(request, form, judge, version.definition, None, page, headings)


def try_typed(
    request: TeamRequest,
    typed: DefinitionForm,
    judge: Judge | None,
    parent: JudgeVersion | None,
    page: Callable[..., HttpResponse],
    *,
    turned: bool,
) -> HttpResponseBase:
    """What is typed in the form of a judge, beside the version it began with; nothing of it is kept.

    `turned` is another way of asking whose texts were not shown yet.
    """
    form = try_form(request, judge)

    def with_form(*, status: int = 200, **more: Any) -> HttpResponse:
        return page(status=status, try_form=form, **more)

    try:
        if turned:
            raise Invalid(
                "Another way of asking has other texts: press “Show its texts” first, and look at them."
            )
        if not typed.is_whole():
            raise Invalid(NOT_AS_TYPED + _faults_of(typed))
        definition = typed.definition()
        require_valid(request.team, definition)
    except (Invalid, Conflict) as error:
        if typed.is_whole():
            typed.refuse(error)
        return refused(request, error, with_form)
    before = parent.definition if parent is not None and parent.digest != definition.digest else None
    headings = headings_of("As typed" if before or parent is None else str(parent), str(parent or ""))
    return _tried(request, form, judge, definition, before, with_form, headings)


def try_form(request: TeamRequest, judge: Judge | None) -> TryForm:
    """The fields of a try, with what was sent of them."""
    sent = request.POST if request.POST.get("action") == "try" else None
    return TryForm(sent, team=request.team, viewer=request.user, judge=judge)


def _tried(
    request: TeamRequest,
    form: TryForm,
    judge: Judge | None,
    definition: JudgeDefinition,
    before: JudgeDefinition | None,
    page: Callable[..., HttpResponse],
    headings: dict[str, str],
) -> HttpResponseBase:
    def begin() -> Trying:
        if not form.is_valid():
            raise Invalid(" ".join(f"{form[name].label}: {said[0]}" for name, said in form.errors.items()))
        try:
            subject = form.subject()
        except (Invalid, Conflict) as error:
            form.refuse(error)
            raise
        return start_try(TryRequest(request.team, request.user, definition, subject, judge, before))

    return told(request, begin, page, headings=headings)


def _faults_of(typed: DefinitionForm) -> str:
    """Every field that is not valid, by its label."""
    forms = [typed, *typed.members]
    return "; ".join(
        f"{form[name].label}: {said[0]}" if name in form.fields else str(said[0])
        for form in forms
        for name, said in form.errors.items()
    )
