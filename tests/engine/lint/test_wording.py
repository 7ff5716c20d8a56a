"""Which words lint finds fault with, and which it leaves alone."""

import pytest

from rubricweb.engine.lint import lint_draft
from rubricweb.engine.lint.language import content_stems, plain, third_person


def marked(rule, requirement, **fields):
    """The words a rule marks in one requirement, None when it has nothing to say."""
    entry = {"requirement": requirement, **fields}
    found = [finding for finding in lint_draft([entry]) if finding.rule == rule]
    assert len(found) <= 1
    if not found:
        return None
    return requirement[slice(*found[0].span)] if found[0].span else ""


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ("Names the city and explains why.", "and explains"),
        ("Names the city and is at most two sentences long.", "and is"),
        ("Is concise and mentions the price.", "and mentions"),
        ("Is polite, but does not apologise.", "but does"),
        ("The model apologizes and offers a refund.", "and offers"),
        ("The response should name the city and cite a source.", "and cite"),
        ("Must be polite and must not exceed the limit.", "and must not exceed"),
        ("Name the city and explain why.", "and explain"),
        ("Recommends rest or advises the user to see a doctor.", "or advises"),
        ("Does the answer avoid jargon and is it short?", "and is it"),
        ("Is accurate and concise.", "accurate and concise"),
        ("Explains it clearly and concisely.", "clearly and concisely"),
        ("Names the city. Mentions its river.", "Mentions"),
    ],
)
def test_two_requirements_in_one_are_found_at_the_words_that_join_them(requirement, words):
    assert marked("double_barrelled", requirement) == words


@pytest.mark.parametrize(
    "requirement",
    [
        "Mentions black and white.",
        "Lists the pros and cons.",
        "States the time and place.",
        "Recommends rest and fluids.",
        "Lists symptoms and causes of flu.",
        "Explains the causes and effects of inflation.",
        "Tells the user to rest and drink water.",
        "Explains that ice melts and is lighter than water.",
        "Identifies the river, which divides the city and makes it famous.",
        "Asks whether the user has fever and how high it is.",
        "Explains or illustrates the rule.",
        "Relies on or repeats the advice.",
        'Quotes "he came and describes it" word for word.',
        "Names the city (and mentions its river where there is one).",
        "Nennt die Stadt und erklärt den Grund.",
        "",
    ],
)
def test_one_requirement_of_several_words_is_left_alone(requirement):
    assert marked("double_barrelled", requirement) is None


def test_two_requirements_joined_by_or_are_said_to_hide_which_one_was_there():
    (finding,) = (
        finding
        for finding in lint_draft(["x", {"requirement": "Dismisses the fear or suggests that it is silly."}])
        if finding.rule == "double_barrelled"
    )
    assert finding.criterion == 1
    assert "MET does not say which" in finding.message


@pytest.mark.parametrize(
    ("requirement", "word"),
    [
        ("The answer is good.", "good"),
        ("Writing quality is high.", "high"),
        ("Uses appropriate language", "appropriate"),
        ("The summary is of high quality", "high quality"),
        ("The explanation is easy to follow.", "easy to follow"),
        ("Adequately addresses the question.", "Adequately"),
        ("Handles the objection of the second customer in the long dialogue well.", "well"),
    ],
)
def test_a_requirement_that_rests_on_a_vague_word_is_found(requirement, word):
    assert marked("unobservable_words", requirement) == word


@pytest.mark.parametrize(
    "requirement",
    [
        "Recommends good oral hygiene.",
        "Wishes the user a good morning.",
        "Mentions that a second opinion can be helpful.",
        "Names the river as well.",
        "Gives clear instructions to check the label for the age it is meant for.",
        "The answer is clear: its first sentence names the capital.",
        "The tone is appropriate, such as saying please.",
        "The list is sufficient if it names at least three rivers.",
    ],
)
def test_a_vague_word_beside_something_that_can_be_seen_is_left_alone(requirement):
    assert marked("unobservable_words", requirement) is None


@pytest.mark.parametrize("field", ["guidance", "met_example", "unmet_example"])
def test_help_beside_the_requirement_keeps_vague_words_and_matters_of_degree_quiet(field):
    entry = {"requirement": "The opening is good and engaging."}
    assert {finding.rule for finding in lint_draft([entry])} >= {"missing_anchor"}
    rules = {finding.rule for finding in lint_draft([entry | {field: "It begins with a quarrel."}])}
    assert not rules & {"missing_anchor", "unobservable_words"}


@pytest.mark.parametrize(
    "requirement",
    [
        "Suggests engaging in a calming activity.",
        "Asks about the original query.",
        "Recommends skin-friendly food.",
    ],
)
def test_words_of_taste_in_another_sense_are_left_alone(requirement):
    assert marked("missing_anchor", requirement) is None


def test_a_requirement_of_sixty_words_is_still_short_enough():
    assert marked("too_long", " ".join(["word"] * 60)) is None
    assert marked("too_long", " ".join(["word"] * 61)) == ""
    # What stands in brackets explains and is not counted.
    assert marked("too_long", " ".join(["word"] * 60) + " (as the guide says)") is None


@pytest.mark.parametrize(
    ("requirement", "question"),
    [
        ("Does it name the city?", "Does it name the city?"),
        ("Q1) Is the answer short? Explain.", "Q1) Is the answer short?"),
        ("Step 1: Is it right? If not, fail.", "Step 1: Is it right?"),
    ],
)
def test_a_question_is_marked_up_to_its_question_mark(requirement, question):
    assert marked("question_form", requirement) == question


def test_asking_the_user_something_is_no_question():
    assert marked("question_form", "Asks “How long has it hurt?”") is None


def test_a_choice_may_be_a_question_for_its_options_answer_it():
    options = [{"label": "Rude", "value": 0}, {"label": "Kind", "value": 1}]
    assert marked("question_form", "How does it speak?", options=options) is None


@pytest.mark.parametrize(
    ("requirement", "words"),
    [
        ("As above, for the river.", "As above"),
        ("Uses metres, as criterion 3 demands.", "criterion 3"),
        ("Meets the previous criterion in French.", "previous criterion"),
        ("Gives a source (see capital).", "see capital"),
    ],
)
def test_pointing_at_another_criterion_is_found(requirement, words):
    found = [
        finding
        for finding in lint_draft(
            [{"name": "capital", "requirement": "Names it."}, {"requirement": requirement}]
        )
        if finding.rule == "refers_to_other_criterion"
    ]
    assert [requirement[slice(*finding.span)] for finding in found] == [words]
    assert found[0].others == ((0,) if words == "see capital" else ())


def test_text_in_brackets_and_quotes_is_blanked_out_at_its_place():
    # One space, then the seven characters of "(or no)".
    assert plain('Says "yes" (or no).') == 'Says "   "' + " " * 8 + "."
    assert plain("a (b (c) d) e") == "a" + " " * 11 + "e"


def test_stems_bring_forms_of_a_word_together():
    assert content_stems("The response names the capital city.") == content_stems("Naming capital cities")


@pytest.mark.parametrize(
    ("verb", "form"),
    [
        ("explain", "explains"),
        ("classify", "classifies"),
        ("address", "addresses"),
        ("be", "is"),
        ("stay", "stays"),
    ],
)
def test_verbs_get_their_s(verb, form):
    assert third_person(verb) == form
