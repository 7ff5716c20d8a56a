"""Which page of the docs explains which page of the app: the guides first."""

from django.http import HttpRequest

from rubricweb.web.help.pages import INDEX, url_of

TOPICS = (
    ("rubrics/<int:rubric_id>/edit/", "changing-rubrics", "while-it-is-written"),
    ("rubrics/<int:rubric_id>/publish/", "changing-rubrics", "deciding-about-labels-under-other-words"),
    ("rubrics/import/", "formats", "rubrics-yaml-or-json-or-a-table"),
    ("rubrics/", "changing-rubrics", ""),
    ("datasets/import", "formats", "datasets-json-jsonl-csv-yaml-parquet"),
    ("datasets/<int:dataset_id>/add/", "formats", "datasets-json-jsonl-csv-yaml-parquet"),
    ("datasets/<int:dataset_id>/labels/", "formats", "labels-csv-or-jsonl"),
    ("datasets/combin", "changing-datasets", "combining-datasets"),
    ("datasets/<int:dataset_id>/split/", "changing-datasets", "splitting-cases"),
    ("cases/", "changing-datasets", "the-page-of-a-case"),
    ("datasets/", "changing-datasets", ""),
    ("judges/<int:judge_id>/", "wording-judges", ""),
    ("judges/", "guides/which-judge", ""),
    ("runs/new/", "runs", "starting-one"),
    ("runs/<int:run_id>/against/", "agreement", "two-runs"),
    ("runs/", "runs", "what-the-page-shows"),
    ("review/new/", "guides/how-many-labels", ""),
    ("review/<int:queue_id>/agreement/", "agreement-board", ""),
    ("review/<int:queue_id>/gold/", "gold-and-calibration", ""),
    ("review/<int:queue_id>/calibration/", "guides/for-annotators", ""),
    ("review/", "review-queues", ""),
    ("reviews/", "guides/for-annotators", ""),
    ("adjudication/", "adjudication", "the-inbox"),
    ("compare/", "guides/read-compare", ""),
    ("exports/", "formats", "exports"),
    ("settings/judges/", "endpoints", ""),
    ("settings/prices/", "costs", "prices"),
    ("settings/spending/", "costs", ""),
    ("settings/retention/", "endpoints", "how-long-it-is-kept"),
    ("settings/tokens/", "api", "a-token"),
    ("settings/audit-log/", "team", "the-audit-log"),
    ("settings/", "team", ""),
    ("manage/", "team", "renaming-and-archiving"),
)
"""How an address below a team begins, the page and its heading; the first that fits counts."""


def help_link(request: HttpRequest) -> dict[str, str]:
    """For base.html: where the help to this page is, else the index; "" while nobody is signed in."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {"help_url": ""}
    match = request.resolver_match
    page, anchor = topic_of(match.route.removeprefix("t/<slug:slug>/")) if match else (INDEX, "")
    return {"help_url": url_of(page, anchor)}


def topic_of(route: str) -> tuple[str, str]:
    """The page that explains an address, and its heading."""
    return next(((page, anchor) for start, page, anchor in TOPICS if route.startswith(start)), (INDEX, ""))
