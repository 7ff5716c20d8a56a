"""What people ask of the pages of the comparison room, and the adjudication they send."""

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
from rubricweb.models import Cause, Criterion, ReviewQueue, Run
from rubricweb.selectors.comparison.comparison import DISAGREEMENT_KINDS
from rubricweb.selectors.comparison.item import CriterionVoices
from rubricweb.services.reviews.reviews import REASON_MAX
from rubricweb.web.http import whole_number
from rubricweb.web.shared.choices import offer

NAMES = ("run", "queue", "kind", "criterion", "judged", "truth", "decided", "names", "at", "cursor")
QUEUES_MAX = 100


@dataclass(frozen=True)
class Asked:
    """The query string of a comparison page: everything in it comes from a closed list or is a row's id.

    `criterion_id` narrows the list to one criterion; `at` is the criterion an item was opened for.
    """

    run_id: int | None = None
    queue_ids: tuple[int, ...] = ()
    kind: str = ""
    criterion_id: int | None = None
    judged: str = ""
    truth: str = ""
    decided: bool = False
    names: bool = False
    at: int | None = None
    cursor: str = ""

    def of(self, run: Run | None, queues: Sequence[ReviewQueue]) -> "Asked":
        """The same with what the page chose where nothing was asked."""
        return replace(self, run_id=run.pk if run else None, queue_ids=tuple(queue.pk for queue in queues))

    def query(self, *, only: Sequence[str] = NAMES, **changes: Any) -> str:
        """These filters as a query string, with some changed: `query(at=3)` → "run=1&queue=2&at=3".

        `at` and `cursor` say where one is, so they are carried only when given.
        """
        values = {name: value for name, value in self._values().items() if name in only} | changes
        return urlencode({name: value for name, value in values.items() if value}, doseq=True)

    def fields(self, *, without: Sequence[str]) -> list[tuple[str, object]]:
        """These filters as (name, value) of hidden fields, for a form that asks for the others itself."""
        kept = {name: value for name, value in self._values().items() if value and name not in without}
        queues = [("queue", queue_id) for queue_id in kept.pop("queue", ())]
        return [*kept.items(), *queues]

    def _values(self) -> dict[str, Any]:
        return {
            "run": self.run_id,
            "queue": self.queue_ids,
            "kind": self.kind,
            "criterion": self.criterion_id,
            "judged": self.judged,
            "truth": self.truth,
            "decided": "1" if self.decided else "",
            "names": "1" if self.names else "",
        }

    @property
    def pair(self) -> str:
        """The run and the queues alone: what every link of the room carries."""
        return self.query(only=("run", "queue"))

    @property
    def here(self) -> str:
        return self.query()

    @property
    def is_cell(self) -> bool:
        """Whether one cell of the confusion matrix is asked for."""
        return bool(self.judged and self.truth)

    @property
    def is_narrowed(self) -> bool:
        return bool(self.kind or self.criterion_id or self.judged or self.truth or self.decided)


def read_asked(query: QueryDict) -> Asked:
    """Raises Invalid for a parameter the room does not know and for a value outside its closed list.

    Which labels a cell of a matrix may name depends on its criterion: see `require_known_cell`.
    """
    unknown = sorted(set(query) - set(NAMES))
    if unknown:
        raise Invalid(f"{unknown[0][:40]!r} cannot be filtered by. Allowed: {', '.join(NAMES)}.")
    queues = query.getlist("queue")
    if len(queues) > QUEUES_MAX:
        raise Invalid(f"Compare at most {QUEUES_MAX} queues at once, not {len(queues)}.")
    numbers = (whole_number(text, "The queue") for text in queues)
    return Asked(
        run_id=whole_number(query.get("run"), "The run"),
        queue_ids=tuple(dict.fromkeys(number for number in numbers if number is not None)),
        kind=_one_of(query, "kind", DISAGREEMENT_KINDS),
        criterion_id=whole_number(query.get("criterion"), "The criterion"),
        judged=query.get("judged", ""),
        truth=query.get("truth", ""),
        decided=_one_of(query, "decided", ["1"]) == "1",
        names=_one_of(query, "names", ["1"]) == "1",
        at=whole_number(query.get("at"), "The criterion"),
        cursor=query.get("cursor", ""),
    )


def require_known_cell(asked: Asked, criterion: Criterion | None) -> None:
    """Refuses a cell named by labels the criterion does not know; without one, by anything but verdicts."""
    allowed = [verdict.value for verdict in Verdict]
    if criterion is not None and criterion.kind == "choice":
        allowed = [option["label"] for option in criterion.options] + [Verdict.CANNOT_ASSESS.value]
    for name, value in (("judged", asked.judged), ("truth", asked.truth)):
        if value and value not in allowed:
            raise Invalid(f"{name} cannot be {value[:40]!r}. Allowed: {', '.join(allowed)}.")


def _one_of(query: QueryDict, name: str, allowed: Sequence[str]) -> str:
    value = query.get(name, "")
    if value and value not in allowed:
        raise Invalid(f"{name} cannot be {value[:40]!r}. Allowed: {', '.join(allowed)}.")
    return value


class Decision(forms.Form):
    """One criterion of one item decided: what stands, why judge and people differed, and the reason."""

    verdict = forms.ChoiceField(error_messages={"required": "Choose the verdict that stands."})
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


def decision_for(row: CriterionVoices) -> Decision:
    """The form of one criterion, filled with the decision there already is."""
    stands = row.adjudication
    if stands is None:
        return Decision(criterion=row.criterion)
    initial = {"verdict": stands.verdict, "cause": stands.cause, "reason": stands.reason}
    return Decision(initial=initial, criterion=row.criterion)
