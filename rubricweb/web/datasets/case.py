"""The page of a case: its words, and every answer to it side by side."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from rubricweb import access
from rubricweb.errors import Withheld
from rubricweb.models import Role
from rubricweb.selectors.comparison.case import case_answers
from rubricweb.selectors.datasets.cases import words_of
from rubricweb.selectors.datasets.tags import tags_of
from rubricweb.web.http import TeamRequest, team_page
from rubricweb.web.shared.titles import titles


@team_page(Role.VIEWER)
@require_safe
def case(request: TeamRequest, case_id: int) -> HttpResponse:
    """The words are anybody's to read; answers that are to be reviewed blind are left out."""
    case = access.access_case(request.team, case_id)
    words = words_of(case)
    context: dict[str, Any] = {
        "case": case,
        "submission": words.to_engine(),
        "asked": words,
        "may_change": request.membership.may(Role.EDITOR) and not case.dataset.sealed_as,
        "may_tag": request.membership.may(Role.EDITOR),
    }
    try:
        answers = case_answers(case, viewer=request.user, cursor=request.GET.get("cursor"))
    except Withheld as error:
        context["withheld"] = str(error)
    else:
        if answers.hidden:
            # Its tags are withheld, and would be overwritten unseen.
            context |= {"tags": (), "may_tag": False}
        else:
            context["tags"] = tags_of([case.pk]).get(case.pk, ())
        context |= {"found": answers, **titles(request, [one.item.pk for one in answers.answers])}
    return render(request, "datasets/cases/case.html", context)
