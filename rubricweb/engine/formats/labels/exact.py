"""Labels by several raters as files, read as exactly as our own programs write them."""

from __future__ import annotations

from collections.abc import Mapping

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.label_files import LabelChoices, LabelRecord, RaterKind
from rubricweb.engine.formats.labels.reading import read_label_table
from rubricweb.engine.formats.records import MAX_FILE_BYTES
from rubricweb.engine.rubric import Rubric


def read_labels(
    data: bytes,
    *,
    filename: str,
    max_bytes: int = MAX_FILE_BYTES,
    rubric: Rubric | None = None,
    own_rubrics: Mapping[str, Rubric] | None = None,
    rater_kind: RaterKind = "human",
) -> tuple[LabelRecord, ...]:
    """Read a file with item_id, criterion, rater, verdict and optionally reason, rater_kind.

    ``rater_kind`` is what the raters are where a line does not say so in its own column (see RATER_KINDS).
    With a ``rubric`` (or ``own_rubrics`` by item id, which come first) the criterion has to be in it, and
    the verdict column holds an option's label where that criterion is a choice; without one only verdicts
    are taken. Further columns are ignored, other shapes read as ``read_label_table`` does. Raises InvalidFile
    with all faults at once, each placed by line: empty keys, unknown criteria and labels, two labels of one
    rater on the same criterion of the same item, labels for a check, which nobody but the check answers;
    once for the whole file where its columns say nothing.
    """
    read = read_label_table(
        data,
        filename=filename,
        choices=LabelChoices(rater_kind=rater_kind),
        rubric=rubric,
        own_rubrics=own_rubrics,
        exact=True,
        max_bytes=max_bytes,
    )
    faults = read.faults or read.refused
    if faults:
        raise InvalidFile(faults, read.more)
    return read.labels
