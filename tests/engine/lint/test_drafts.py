"""Lint of what is still being written."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rubricweb.engine.lint import RULES, lint, lint_draft
from rubricweb.engine.rubric import Rubric

ERROR = {"requirement": "Contains a factual error.", "weight": 5}


def test_a_rubric_and_its_file_get_the_same_findings():
    data = [ERROR, {"requirement": "The answer is good."}]
    assert lint(Rubric.from_dict(data)) == lint_draft(data)
    assert [(finding.rule, finding.criterion) for finding in lint_draft(data)] == [
        ("weight_sign_mismatch", 0),
        ("unobservable_words", 1),
    ]


def test_findings_about_the_whole_rubric_come_first():
    data = ["x", {"requirement": "Is good."}, {"requirement": "Names it."}, {"requirement": "Dates it."}]
    assert [(finding.rule, finding.criterion) for finding in lint_draft({"criteria": data})] == [
        ("no_negative_criterion", None),
        ("unobservable_words", 1),
    ]


def test_what_cannot_be_read_keeps_its_place_and_costs_nothing_else():
    broken = [None, 7, {"requirement": 5, "weight": "ten", "options": "many", "params": 3}, [], ERROR]
    assert [(finding.rule, finding.criterion) for finding in lint_draft(broken)] == [
        ("weight_sign_mismatch", 4)
    ]


def test_criteria_of_sections_are_counted_on():
    data = {
        "sections": [{"title": "A", "criteria": [{"requirement": "Names it."}]}, 5, {"criteria": [ERROR]}]
    }
    assert [(finding.rule, finding.criterion) for finding in lint_draft(data)] == [
        ("weight_sign_mismatch", 1)
    ]


def test_a_wrapped_rubric_and_listed_sections_are_read_too():
    listed = [{"requirement": "Names it."}, {"title": "A", "criteria": [ERROR]}]
    for data in (listed, {"criteria": listed}, {"rubric": listed}, {"rubric": {"criteria": listed}}):
        assert [finding.criterion for finding in lint_draft(data)] == [1]


def test_what_is_no_rubric_at_all_has_no_findings():
    for data in (
        None,
        3,
        "text",
        {},
        [],
        {"criteria": None},
        {"criteria": {"a": 1}},
        {"sections": [{}]},
        {"rubric": 1},
    ):
        assert lint_draft(data) == ()


def test_a_check_is_not_asked_to_be_worded_for_a_judge():
    assert lint_draft([{"check": "length_between", "requirement": "Is good and explains why?"}]) == ()


def test_spans_fit_the_requirement_as_typed():
    requirement = "  Names “and explains” (and lists it) and\n explains it."
    (finding,) = lint_draft([{"requirement": requirement}])
    assert requirement[slice(*finding.span)] == "and\n explains"


def test_hostile_text_is_read_in_linear_time():
    for text in (
        "and " * 2_500,
        "(" * 10_000,
        '"' * 10_000,
        "is very " * 1_200,
        "a" * 10_000,
        "Does it " * 1_200,
    ):
        lint_draft([{"requirement": text, "weight": -1}, {"requirement": text, "weight": 1}])


VOCABULARY = "Names the city and explains is good does not contain error ? . ( ) “ ” see above C1 3 or must"
WORDS = st.sampled_from(VOCABULARY.split())
LEAVES = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8)
ENTRIES = st.fixed_dictionaries(
    {"requirement": st.lists(WORDS, max_size=15).map(" ".join) | LEAVES},
    optional={
        "weight": LEAVES,
        "name": LEAVES,
        "check": LEAVES,
        "params": st.dictionaries(st.text(max_size=3), LEAVES, max_size=2),
        "options": st.lists(
            st.fixed_dictionaries({"label": LEAVES, "value": LEAVES, "na": LEAVES}) | LEAVES, max_size=4
        ),
    },
)


@settings(max_examples=60)
@given(st.lists(ENTRIES | LEAVES, max_size=5))
def test_any_draft_gives_findings_whose_places_exist(criteria):
    for finding in lint_draft(criteria):
        assert finding.rule in RULES
        places = (*finding.others, *([] if finding.criterion is None else [finding.criterion]))
        assert all(0 <= place < len(criteria) for place in places)
        if finding.span:
            start, end = finding.span
            assert criteria[finding.criterion]["requirement"][start:end].strip()


def test_of_many_long_requirements_the_same_part_of_each_is_looked_at():
    """500,000 characters of 250 requirements are 2,000 of each; of few it is 4,000."""

    def conjunctions(count: int, before: int) -> list[int | None]:
        text = " " * before + "Names the city and explains why."
        found = lint_draft([{"requirement": f"{at:03} {text}"} for at in range(count)])
        return [one.criterion for one in found if one.rule == "double_barrelled"]

    assert conjunctions(250, 1_900) == list(range(250))
    assert conjunctions(250, 2_000) == []
    assert conjunctions(2, 3_900) == [0, 1]
    assert conjunctions(2, 4_000) == []
