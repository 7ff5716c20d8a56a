"""The semantic diff between rubric versions, and the shares of weight beside it."""

from rubricweb.engine.rubric import Criterion, LengthPenalty, Option, PassRule, Rubric
from rubricweb.engine.rubric.diff import rubric_diff

CITY = Criterion(name="city", weight=10, requirement="Names the city.")
SHORT = Criterion(name="short", weight=5, requirement="Is at most two sentences long.")
RUDE = Criterion(name="rude", weight=-15, requirement="Insults the reader.")


def test_equal_rubrics_differ_in_nothing():
    diff = rubric_diff(Rubric([CITY, SHORT]), Rubric([CITY, SHORT]))
    assert not diff
    assert diff.unchanged == 2
    assert diff.summary == ()


def test_added_removed_reworded_and_reweighted_are_told_apart():
    after = Rubric(
        [
            CITY.model_copy(update={"requirement": "Names the capital city."}),
            SHORT.model_copy(update={"weight": 8.0}),
            Criterion(name="polite", requirement="Greets the reader."),
        ]
    )
    diff = rubric_diff(Rubric([CITY, SHORT, RUDE]), after)
    assert [(change.name, change.aspects) for change in diff.changes] == [
        ("city", ("reworded",)),
        ("short", ("reweighted",)),
        ("polite", ()),
        ("rude", ()),
    ]
    assert diff.summary == ("1 added", "1 removed", "1 reworded", "1 reweighted")


def test_a_renamed_criterion_is_found_by_its_requirement():
    diff = rubric_diff(Rubric([CITY]), Rubric([CITY.model_copy(update={"name": "place"})]))
    assert [change.aspects for change in diff.changes] == [("renamed",)]


def test_a_criterion_put_before_unnamed_ones_does_not_reword_them():
    first, second = Criterion(requirement="Greets."), Criterion(requirement="Thanks.")
    new = Criterion(requirement="Apologises.")
    diff = rubric_diff(Rubric([first, second]), Rubric([new, first, second]))
    # C1 Greets is C2 now and C2 Thanks is C3: the numbers moved, not the criteria.
    assert [(change.before, change.name) for change in diff.changes] == [(None, "C1")]
    assert diff.unchanged == 2
    assert not diff.reordered


def test_the_fewest_criteria_that_explain_another_order_were_moved():
    diff = rubric_diff(Rubric([CITY, SHORT, RUDE]), Rubric([RUDE, CITY, SHORT]))
    assert diff.reordered
    assert [(change.name, change.aspects) for change in diff.changes] == [("rude", ("moved",))]
    assert diff.summary == ("1 moved",)
    assert diff.unchanged == 2


def test_title_and_guidelines_are_compared_too():
    diff = rubric_diff(Rubric([CITY], title="A"), Rubric([CITY], title="B", guidelines="Be kind."))
    assert diff.summary == ("title changed", "guidelines changed")


def test_two_equal_requirements_keep_their_own_partners():
    twin = CITY.model_copy(update={"name": "twin"})
    diff = rubric_diff(Rubric([CITY, twin]), Rubric([twin, CITY]))
    assert diff.summary == ("1 moved",)


def test_a_criterion_is_the_one_of_its_id_however_much_was_changed():
    before = Rubric([CITY.model_copy(update={"id": "place"}), SHORT.model_copy(update={"id": "length"})])
    reworded = Criterion(name="where", requirement="Says where it happened.", weight=1, id="place")
    stranger = CITY.model_copy(update={"id": "another"})
    diff = rubric_diff(before, Rubric([before.criteria[1], reworded, stranger]))
    assert [(change.name, change.before and change.before.id) for change in diff.changes] == [
        ("short", "length"),
        ("where", "place"),
        (CITY.name, None),
    ]
    # Of the two that changed places either may count as the one that was moved.
    assert diff.changes[0].aspects == ("moved",)
    assert diff.changes[1].aspects[:3] == ("reworded", "reweighted", "renamed")


SCALE = Criterion(
    name="clear",
    requirement="How clear?",
    options=(Option(label="Low"), Option(label="High", value=1.0)),
)
SIZE = Criterion(name="size", requirement="Is short", check="length_between", params={"max": 100})


def test_every_way_to_assess_a_criterion_that_changed_is_named():
    after = [
        SCALE.model_copy(
            update={
                "options": (Option(label="Low"), Option(label="High", value=0.9)),
                "scale_type": "nominal",
                "aggregation": "mode",
            }
        ),
        Criterion(name="size", requirement="Is short", check="length_between", params={"max": 200}),
    ]
    diff = rubric_diff(Rubric([SCALE, SIZE]), Rubric(after))
    assert [change.aspects for change in diff.changes] == [("options", "scale", "vote rule"), ("check",)]
    assert diff.summary == (
        "1 with other options",
        "1 on another scale",
        "1 checked otherwise",
        "1 with another vote rule",
    )


def test_a_criterion_of_another_kind_is_not_also_said_to_have_other_options():
    diff = rubric_diff(Rubric([Criterion(name="clear", requirement="How clear?")]), Rubric([SCALE]))
    assert [change.aspects for change in diff.changes] == [("kind",)]


def test_changed_rules_are_a_change_of_the_rubric():
    after = Rubric([CITY], pass_rule=PassRule(min_score=0.5), length_penalty=LengthPenalty())
    diff = rubric_diff(Rubric([CITY]), after)
    assert diff
    assert (diff.unchanged, diff.summary) == (1, ("pass rule changed", "length penalty changed"))


def test_word_diffs_of_long_rubrics_end_where_their_pairs_are_used_up() -> None:
    def rubric(word: str) -> Rubric:
        # About 6,600 words and blanks each: eleven criteria have 480 of the 500 million pairs of a page.
        return Rubric.from_dict(
            [{"name": f"c{n}", "weight": 1, "requirement": f"{word} " + long + f"{n}"} for n in range(12)]
        )

    long = " ".join(f"w{n % 10}" for n in range(3_300)) + " "
    *first, last = rubric_diff(rubric("a"), rubric("b")).changes
    assert [change.word_by_word for change in (*first, last)] == [True] * 11 + [False]
    assert [segment.kind for segment in first[0].words] == ["gone", "new", "same"]
    assert [segment.kind for segment in last.words] == ["gone", "new"]
