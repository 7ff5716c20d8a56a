"""Files of other programs by what they are called; adding one is its translator and a line here.

Each is recognised by the shape of its data, never by running any of it, and only where our own formats do
not fit.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rubricweb.engine.formats.foreign.inspect_logs import INSPECT_LOG
from rubricweb.engine.formats.foreign.label_studio import LABEL_STUDIO
from rubricweb.engine.formats.foreign.openai_evals import OPENAI_EVALS_LOG, OPENAI_EVALS_SAMPLES
from rubricweb.engine.formats.foreign.promptfoo import PROMPTFOO
from rubricweb.engine.formats.foreign.translation import ForeignDocument, ForeignRecords
from rubricweb.engine.formats.foreign.verifiers_rollouts import VERIFIERS
from rubricweb.engine.formats.foreign.verifiers_traces import VERIFIERS_TRACES

DOCUMENTS: dict[str, ForeignDocument] = {
    "inspect-log": INSPECT_LOG,
    "promptfoo": PROMPTFOO,
}
"""Formats whose file is one object."""

RECORDS: dict[str, ForeignRecords] = {
    "label-studio": LABEL_STUDIO,
    "verifiers": VERIFIERS,
    "verifiers-traces": VERIFIERS_TRACES,
    "openai-evals-log": OPENAI_EVALS_LOG,
    "openai-evals": OPENAI_EVALS_SAMPLES,
}
"""Formats whose file is a list or lines of objects, tried in this order."""


def recognised_document(whole: Mapping[Any, Any]) -> ForeignDocument | None:
    """The format of a file that is one object, or None."""
    return next((one for one in DOCUMENTS.values() if one.recognises(whole)), None)


def recognised_records(first: Mapping[str, Any]) -> ForeignRecords | None:
    """The format of a file by its first object, or None."""
    return next((one for one in RECORDS.values() if one.recognises(first)), None)
