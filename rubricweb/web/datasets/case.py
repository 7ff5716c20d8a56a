"""The page of a case: who answered it best, every criterion by every answer, and the words."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from rubricweb import access
from rubricweb.errors import Withheld
from rubricweb.models import Role
from rubricweb.selectors.comparison.case import case_answers
from rubricweb.selectors.datasets.cases import neighbours, words_of
from rubricweb.selectors.datasets.tags import tags_of
from rubricweb.web.datasets.case_answer import answer_diff, answer_name, case_rows, case_summary
from rubricweb.web.http import TeamRequest, team_page, whole_number
from rubricweb.web.shared.titles import titles


@team_page(Role.VIEWER)
@require_safe
def case(request: TeamRequest, case_id: int) -> HttpResponse:
    """The words are anybody's to read; answers that are to be reviewed blind are left out."""
    case = access.access_case(request.team, case_id)
    words = words_of(case)
    previous, following = neighbours(case)
    context: dict[str, Any] = {
        "case": case,
        "previous": previous,
        "following": following,
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
        opened = whole_number(request.GET.get("criterion"), "The criterion")
        pair = [whole_number(request.GET.get(side), "The answer") for side in ("before", "after")]
        rows = case_rows(answers.answers, opened)
        context |= {
            "found": answers,
            "rows": rows,
            "answer": case_summary(answers, rows),
            "names": [(one, answer_name(one)) for one in answers.answers],
            "diff": answer_diff(answers.answers, *pair),
            "opened": next((row for row in rows if row.is_open), None),
            "here": f"{request.path}?{_query(request, 'cursor')}",
            **titles(request, [one.item.pk for one in answers.answers]),
        }
    return render(request, "datasets/cases/case.html", context)


def _query(request: TeamRequest, *names: str) -> str:
    """These parameters of the address as they are, each followed by "&"."""
    return "".join(f"{urlencode({name: request.GET[name]})}&" for name in names if name in request.GET)
