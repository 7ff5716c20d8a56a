"""The help: the docs that came with this version, to everybody who is signed in."""

from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from rubricweb.web.help.pages import INDEX, headings_with, page_called, picture_called
from rubricweb.web.http import searched


@require_safe
def page(request: HttpRequest, name: str = INDEX) -> HttpResponse:
    """A page of the docs; with `q` the headings that have these words instead."""
    shown = page_called(name)
    search = searched(request.GET)
    context = {"shown": shown, "is_index": name == INDEX, "search": search}
    if search:
        context["results"] = [
            {"heading": heading, "page": page_called(heading.page).title} for heading in headings_with(search)
        ]
    return render(request, "help/page.html", context)


@require_safe
def picture(request: HttpRequest, name: str) -> FileResponse:
    """A picture on one of them."""
    answer = FileResponse(picture_called(name).open("rb"), content_type="image/png")
    answer.headers["Cache-Control"] = "private, max-age=3600"
    return answer
