"""Every UI component on one page, for people who build pages; served only with DEBUG on."""

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from django import forms
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from rubricweb.engine.agreement import Figure
from rubricweb.engine.errors import Fault
from rubricweb.web.patterns.answers import answer_examples
from rubricweb.web.shared.plots.line_chart import ChartColumn, ChartLine, ChartPoint, LineChart


@login_not_required
def patterns(request: HttpRequest) -> HttpResponse:
    return render(request, "patterns/patterns.html", _examples())


class ExampleForm(forms.Form):
    """One field of each kind, filled in wrongly on purpose."""

    name = forms.CharField(help_text="Shown in lists and exports.")
    email = forms.EmailField()
    guidelines = forms.CharField(widget=forms.Textarea, required=False)
    kind = forms.ChoiceField(choices=[("per_criterion", "Per criterion"), ("one_shot", "One shot")])
    blind = forms.ChoiceField(
        label="Hide until submitted",
        choices=[("judge", "The judge"), ("peers", "Other raters"), ("both", "Both")],
        widget=forms.RadioSelect,
    )
    required = forms.BooleanField(label="Every item needs two raters", required=False)


def _points(values: list[float | None]) -> list[ChartPoint]:
    return [
        ChartPoint(at, Figure(value, value - 0.03, value + 0.03, 40), f"v{at + 1}", "#")
        for at, value in enumerate(values)
        if value is not None
    ]


# Long because it is one table of examples.
def _examples() -> dict[str, Any]:
    now = timezone.now()
    human = [0.603, 0.64, 0.64, 0.62, 0.668, 0.641, None, 0.69, 0.672, 0.71, 0.724, 0.758]
    judge: list[float | None] = [0.592, 0.61, 0.59, 0.638, 0.6, 0.667, 0.65, 0.66, 0.70, 0.733, 0.771, 0.76]
    return {
        "moments": [now - timedelta(seconds=20), now - timedelta(hours=3), now - timedelta(days=90)],
        "parts": [
            ("Met", 86, "met"),
            ("Unmet", 41, "unmet"),
            ("Cannot assess", 9, "cannot"),
            ("Error", 4, "error"),
        ],
        "bins": [(low / 10, (low + 1) / 10, n) for low, n in enumerate([1, 0, 3, 6, 11, 18, 25, 21, 9, 4])],
        "few": SimpleNamespace(
            value=0.4, low=-0.1, high=0.86, n=9, small=True, reason="4 of 9 units met: take 10 of each"
        ),
        "trend": [0.61, 0.64, None, 0.63, 0.7, 0.68, 0.74],
        "heats": [None, 0.0, 0.12, 0.23, 0.34, 0.45, 0.56, 0.67, 0.78, 0.9, 1.0],
        "scores": LineChart(
            tuple(ChartColumn(f"v{number}", f"{number} May") for number in range(1, 13)),
            (
                ChartLine("Judge", "judge", tuple(_points(judge))),
                ChartLine("People", "people", tuple(_points(human)), joined=False),
            ),
        ),
        "faults": [
            Fault(place="line 4, criteria[3].weight", found="NaN", allowed="a finite number"),
            Fault(place="line 9, ground_truth", found="6 labels", allowed="7 labels, one for each criterion"),
        ],
        "options": [
            {"label": "curt", "value": "0"},
            {"label": "correct", "value": "0.5"},
            {"label": "warm: greets, thanks, offers more help", "value": "1"},
            {"label": "not applicable", "value": "", "na": True},
        ],
        "kinds": answer_examples(),
        "form": ExampleForm({"email": "ada@", "kind": "one_shot"}, auto_id="example_%s"),
        "chat": [
            {"role": "system", "content": "You are a careful nurse."},
            {
                "role": "user",
                "content": "My wife has been crying since the birth, two weeks ago. What can we *do*?",
            },
            {
                "role": "assistant",
                "content": "I am sorry. Three things help now:\n\n1. Call her **midwife** today.",
            },
        ],
        "text": (
            "# A plan for four weeks\n\nStart **small**: one walk a day. See [this page](https://example.org).\n\n"
            "- Week 1: talk to the midwife\n- Week 2: weekly therapy\n\n> Crying is not failing.\n\n"
            "| Week | Goal |\n| --- | --- |\n| 1 | sleep |\n\n```\nscore = met / total\n```\n"
        ),
        "answer": {"plan": ["walk", "talk"], "weeks": 4},
        "nav": [
            {"label": "Dashboard", "url": "#", "active": True, "count": None},
            {"label": "Rubrics", "url": "#rubrics", "active": False, "count": None},
            {"label": "Datasets", "url": "#datasets", "active": False, "count": None},
            {"label": "Runs", "url": "#runs", "active": False, "count": None},
            {"label": "Review", "url": "#review", "active": False, "count": 12},
            {"label": "Compare", "url": "#compare", "active": False, "count": None},
            {"label": "Export", "url": "#export", "active": False, "count": None},
        ],
        "team": {"name": "Health QA"},
        "teams": [
            {"name": "Health QA", "url": "#", "active": True},
            {"name": "Demo", "url": "#", "active": False},
        ],
        "banner": {
            "level": "info",
            "text": "Grading by the offline judge.",
            "url": "#",
            "link": "Add a model",
        },
    }
