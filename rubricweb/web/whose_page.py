"""A page says with all it sends whose it is: somebody else may have signed in since, in another tab."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin

from rubricweb.errors import Conflict
from rubricweb.web.errors import refused


class NobodySendsForAnother(MiddlewareMixin):
    """What one person typed never goes out in the name of another."""

    def process_view(self, request: HttpRequest, *view: Any) -> HttpResponse | None:
        if request.method in ("GET", "HEAD") or request.path.startswith("/api/"):
            return None
        person = request.headers.get("X-Person") or request.POST.get("page_of_person", "")
        if not person or not request.user.is_authenticated or person == str(request.user.pk):
            return None
        text = "Somebody else signed in since this page was opened. Nothing was sent in their name."
        return refused(request, Conflict(text))
