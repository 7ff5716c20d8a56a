"""Datasets and answers as hypothesis draws them: whatever a reader may have read."""

import string
from datetime import UTC, datetime

from hypothesis import strategies as st

from rubricweb.engine.formats.bundle.records import BundledAdjudication, BundledJudgement, BundledNote
from rubricweb.engine.formats.dataset_values import DatasetFile, ItemRecord, LabelRow
from rubricweb.engine.formats.label_provenance import LabelProvenance, UsedDecision
from rubricweb.engine.ground_truth import RULES
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.verdict import Verdict

RUBRIC = Rubric.from_dict(
    {
        "title": "Mixed",
        "criteria": [
            {"name": "binary", "weight": -2, "requirement": "Blames the reader"},
            {
                "name": "choice",
                "weight": 3,
                "requirement": "How clear?",
                "options": [
                    {"label": "=Not", "value": 0},
                    {"label": "Very | so", "value": 1},
                    {"label": "N/A", "na": True},
                ],
            },
        ],
    }
)
OTHER = Rubric.from_dict([{"requirement": "Is short", "weight": 0}])

CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
TEXTS = st.text(CHARACTERS, max_size=12)
FILLED = TEXTS.filter(lambda text: text.strip())
NAMES = st.text(string.ascii_letters + "#-_é", min_size=1, max_size=8)
CHATS = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant"]), "content": TEXTS | st.none()}),
    min_size=1,
    max_size=2,
)
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)


def label_rows(rubric: Rubric) -> st.SearchStrategy[tuple[str | None, ...]]:
    def labels(criterion: Criterion) -> st.SearchStrategy[str | None]:
        options: list[str] = [option.label for option in criterion.options] or list(Verdict)
        return st.none() | st.sampled_from(options)

    return st.tuples(*(labels(criterion) for criterion in rubric.criteria))


SAID = st.fixed_dictionaries(
    {"rater": NAMES, "is_judge": st.booleans(), "verdict": TEXTS},
    optional={"rubric_version": st.none() | st.integers(1, 99), "counts_by": NAMES},
)
PROVENANCES = st.builds(
    LabelProvenance,
    st.sampled_from(RULES),
    decided_by=st.none() | NAMES,
    decided_at=st.none() | st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat),
    labels=st.lists(SAID, max_size=2).map(tuple),
    rubric_versions=st.lists(st.integers(1, 99), max_size=2).map(tuple),
    counts_by=st.lists(st.just("same words") | NAMES, max_size=2).map(tuple),
)
DECISIONS = st.builds(
    UsedDecision,
    id=st.integers(1, 2**40),
    kind=st.just("carry"),
    to_version=st.integers(2, 99),
    rubric=TEXTS,
    criterion=st.none() | NAMES,
    uid=st.none() | NAMES,
    options=st.none() | st.dictionaries(NAMES, st.none() | NAMES, max_size=2),
    reason=TEXTS,
    decided_by=st.none() | NAMES,
    decided_at=st.none() | st.datetimes(timezones=st.just(UTC)).map(datetime.isoformat),
)


CASE_TAGS = st.sets(st.from_regex(r"[a-zäß0-9=\[\-][a-z0-9 ]{0,8}[a-z0-9]", fullmatch=True), max_size=3).map(
    lambda tags: tuple(sorted(tags))
)


def reasons_of(row: LabelRow) -> st.SearchStrategy[LabelRow]:
    return st.tuples(*[st.none() if label is None else st.none() | TEXTS for label in row])


@st.composite
def item_records(draw: st.DrawFn, id: str) -> ItemRecord:
    rubric = draw(st.sampled_from([None, RUBRIC, OTHER]))
    rows = label_rows(rubric or RUBRIC)
    truth = draw(st.none() | rows)
    raters = draw(st.dictionaries(NAMES, rows, max_size=2))
    metadata = st.dictionaries(FILLED, PLAIN.filter(lambda value: value is not None), max_size=2)
    return ItemRecord(
        id,
        draw(FILLED),
        draw(st.none() | FILLED),
        draw(st.none() | CHATS | FILLED.filter(lambda text: not text.lstrip().startswith("["))),
        draw(st.none() | FILLED),
        rubric,
        draw(FILLED | st.just("")),
        draw(metadata),
        truth,
        draw(st.none() | reasons_of(truth)) if truth is not None else None,
        raters,
        {rater: draw(reasons_of(row)) for rater, row in raters.items() if draw(st.booleans())},
        draw(st.none() | st.tuples(*[st.none() | PROVENANCES] * len(truth))) if truth is not None else None,
        tuple(rater for rater in raters if draw(st.booleans())),
        case_tags=draw(CASE_TAGS),
    )


@st.composite
def dataset_files(draw: st.DrawFn) -> DatasetFile:
    ids = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    return DatasetFile(
        draw(NAMES | st.just("")),
        draw(st.none() | CHATS | FILLED.filter(lambda text: not text.lstrip().startswith("["))),
        RUBRIC,
        draw(st.none() | FILLED),
        tuple(draw(item_records(id)) for id in ids),
        label_decisions=tuple(draw(st.lists(DECISIONS, max_size=2))),
    )


FLOATS = st.floats(allow_nan=False, allow_infinity=False)
ANSWERS = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"verdict": st.sampled_from(Verdict)}),
    st.fixed_dictionaries({"option": FILLED}),
    st.fixed_dictionaries({"value": FLOATS}),
)
MAYBE = st.none() | TEXTS
SPANS = st.fixed_dictionaries(
    {"field": NAMES, "start": st.integers(0, 9), "end": st.integers(0, 9), "text": TEXTS}
)
JUDGEMENTS = st.builds(
    lambda answer, **fields: BundledJudgement(**fields, **answer),
    ANSWERS,
    item_id=NAMES,
    criterion=NAMES,
    rater=NAMES,
    rater_kind=MAYBE,
    reason=TEXTS,
    evidence=st.lists(TEXTS | SPANS, max_size=2).map(tuple),
    confidence=st.none() | st.floats(0, 1),
    error=MAYBE,
    error_kind=MAYBE,
    run=MAYBE,
    judge=MAYBE,
    repeat=st.integers(0, 9),
    recorded_at=MAYBE,
    imported=st.none() | st.booleans(),
    final_verdict=MAYBE,
    final_reason=MAYBE,
)
NOTES = st.builds(
    BundledNote,
    item_id=NAMES,
    rater=NAMES,
    queue=MAYBE,
    note=TEXTS,
    flagged=st.none() | st.booleans(),
    recorded_at=MAYBE,
)
ADJUDICATIONS = st.builds(
    lambda answer, **fields: BundledAdjudication(**fields, **answer),
    ANSWERS,
    item_id=NAMES,
    criterion=NAMES,
    adjudicator=MAYBE,
    reason=TEXTS,
    recorded_at=MAYBE,
)
