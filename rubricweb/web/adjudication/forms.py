"""What people ask of the inbox of adjudication, and the decision they send."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from rubricweb.engine.verdict import Verdict
from rubricweb.errors import Invalid
from rubricweb.models import Cause, Criterion
from rubricweb.selectors.adjudication.inbox import KINDS
from rubricweb.selectors.adjudication.units import UnitToDecide
from rubricweb.services.reviews.reviews import REASON_MAX
from rubricweb.web.http import whole_number
from rubricweb.web.shared.choices import offer, queue_ids

NAMES = (
    "run",
    "queue",
    "kind",
    "criterion",
    "judged",
    "truth",
    "cause",
    "decided",
    "last",
    "cursor",
)
CRITERIA_MAX = 100


@dataclass(frozen=True)
class InboxQuery:
    """The query string of the inbox and of its units: from closed lists, or ids of rows.

    `judged` and `truth` name a cell of the confusion matrix of a run. `last` is the unit decided just before,
    as (item id, criterion id), so that it can be undone.
    """

    run_id: int | None = None
    queue_ids: tuple[int, ...] = ()
    kind: str = ""
    criterion_ids: tuple[int, ...] = ()
    judged: str = ""
    truth: str = ""
    cause: str = ""
    decided: bool = False
    last: tuple[int, int] | None = None
    cursor: str = ""

    def query(self, **changes: Any) -> str:
        """These filters as a query string, with some changed; where one is in the list only when given."""
        values: dict[str, Any] = {
            "run": self.run_id,
            "queue": self.queue_ids,
            "kind": self.kind,
            "criterion": self.criterion_ids,
            "judged": self.judged,
            "truth": self.truth,
            "cause": self.cause,
            "decided": "1" if self.decided else "",
        } | changes
        return urlencode({name: value for name, value in values.items() if value}, doseq=True)

    @property
    def here(self) -> str:
        return self.query()

    @property
    def kept(self) -> list[tuple[str, object]]:
        """(name, value) of hidden fields for the form that asks for queue, criterion and decided itself."""
        values = {"run": self.run_id, "kind": self.kind, "cause": self.cause}
        cell = {"judged": self.judged, "truth": self.truth}
        return [(name, value) for name, value in (values | cell).items() if value]

    @property
    def is_cell(self) -> bool:
        """Whether one cell of the confusion matrix is asked for."""
        return bool(self.judged)

    @property
    def is_narrowed(self) -> bool:
        return bool(self.kind or self.criterion_ids or self.cause or self.decided or self.is_cell)

    @property
    def query_without_cell(self) -> str:
        return replace(self, judged="", truth="").query()


def read_asked(query: QueryDict) -> InboxQuery:
    """Raises Invalid for a parameter the inbox does not know, and for a value outside its closed list."""
    unknown = sorted(set(query) - set(NAMES))
    if unknown:
        raise Invalid(f"{unknown[0][:40]!r} cannot be filtered by. Allowed: {', '.join(NAMES)}.")
    criteria = [whole_number(text, "The criterion") for text in query.getlist("criterion")]
    if len(criteria) > CRITERIA_MAX:
        raise Invalid(f"Ask for at most {CRITERIA_MAX} criteria at once, not {len(criteria)}.")
    judged, truth, run_id = query.get("judged", ""), query.get("truth", ""), query.get("run", "")
    if bool(judged) != bool(truth) or (judged and not run_id):
        raise Invalid("A cell of the confusion matrix is named by run, judged and truth together.")
    return InboxQuery(
        run_id=whole_number(run_id, "The run"),
        queue_ids=queue_ids(query),
        judged=judged,
        truth=truth,
        kind=_one_of(query, "kind", KINDS),
        criterion_ids=tuple(dict.fromkeys(one for one in criteria if one is not None)),
        cause=_one_of(query, "cause", Cause.values),
        decided=_one_of(query, "decided", ["1"]) == "1",
        last=_read_last(query.get("last", "")),
        cursor=query.get("cursor", ""),
    )


def _one_of(query: QueryDict, name: str, allowed: Sequence[str]) -> str:
    value = query.get(name, "")
    if value and value not in allowed:
        raise Invalid(f"{name} cannot be {value[:40]!r}. Allowed: {', '.join(allowed)}.")
    return value


def _read_last(text: str) -> tuple[int, int] | None:
    """12-34 is criterion 34 of item 12."""
    if not text:
        return None
    item, _, criterion = text.partition("-")
    numbers = whole_number(item, "The item"), whole_number(criterion, "The criterion")
    return (numbers[0], numbers[1]) if numbers[0] is not None and numbers[1] is not None else None


def require_known_cell(asked: InboxQuery, criterion: Criterion | None) -> None:
    """Refuses a cell named by labels the criterion does not know; without one, by anything but verdicts."""
    allowed = [verdict.value for verdict in Verdict]
    if criterion is not None and criterion.kind == "choice":
        allowed = [option["label"] for option in criterion.options] + [Verdict.CANNOT_ASSESS.value]
    for name, value in (("judged", asked.judged), ("truth", asked.truth)):
        if value and value not in allowed:
            raise Invalid(f"{name} cannot be {value[:40]!r}. Allowed: {', '.join(allowed)}.")


class DecisionForm(forms.Form):
    """One criterion of one item decided: what stands, why judge and people differed, and the reason."""

    verdict = forms.ChoiceField(error_messages={"required": "Choose the final verdict."})
    cause = forms.ChoiceField(choices=Cause.choices, error_messages={"required": "Say why they differed."})
    reason = forms.CharField(required=False, max_length=REASON_MAX)

    def __init__(self, *args: Any, criterion: Criterion, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.criterion = criterion
        labels = [verdict.value for verdict in Verdict]
        if criterion.kind == "choice":
            labels = [option["label"] for option in criterion.options]
            self.fields["verdict"].error_messages["required"] = "Choose the option that stands."
        offer(self, "verdict", [(label, label) for label in labels])

    def refuse(self, error: Invalid) -> None:
        """The service refuses for one thing only that the fields cannot know: a reason that is missing."""
        self.add_error("reason", str(error))

    @property
    def decided(self) -> str:
        return str(self.cleaned_data["verdict"])

    @property
    def causes(self) -> list[tuple[str, str]]:
        """(value, label) of every cause."""
        return [(cause.value, str(cause.label)) for cause in Cause]


def read_seen(text: str | None) -> datetime | None:
    """When the decision was made that its page showed; None where it showed none."""
    try:
        seen = parse_datetime(text or "")
    except ValueError:
        seen = None
    return seen if seen is not None and seen.tzinfo is not None else None


def decision_for(unit: UnitToDecide) -> DecisionForm:
    """The form of one unit, filled with the decision there already is."""
    stands = unit.decision
    if stands is None:
        return DecisionForm(criterion=unit.criterion)
    initial = {"verdict": stands.verdict, "cause": stands.cause, "reason": stands.reason}
    return DecisionForm(initial=initial, criterion=unit.criterion)
