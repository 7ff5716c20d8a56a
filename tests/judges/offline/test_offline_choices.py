"""The offline judge on options: believable, the same in every order, readable by every autograder."""

import itertools

import pytest

from rubricweb.engine.autograders.examples.few_shot import Example
from rubricweb.engine.rubric import Criterion, Option
from rubricweb.engine.submission import Submission
from rubricweb.judges.offline.lexical import SIGNATURE, judge_criterion
from rubricweb.judges.offline.questions import AskedCriterion, AskedOption, ParsedPrompt
from rubricweb.judges.offline.script import Script

QUALITY = (AskedOption("Poor"), AskedOption("Fair"), AskedOption("Good"), AskedOption("Excellent"))
LEVELS = (AskedOption("1 - none of it"), AskedOption("2 - half"), AskedOption("3 - all"))
TOPICS = (AskedOption("Billing"), AskedOption("Delivery"), AskedOption("Other"))


def chosen(options, response, requirement="Mentions Paris"):
    """What is chosen, after trying every order: there must be only one answer."""
    said = set()
    for order in itertools.permutations(options):
        criterion = AskedCriterion(1, requirement, negative=False, options=order)
        found = judge_criterion(criterion, ParsedPrompt("criterion", (criterion,), "", "", response))
        said.add(found.option.label)
    assert len(said) == 1
    return said.pop()


@pytest.mark.parametrize(
    ("options", "response", "label"),
    [
        (QUALITY, "Paris is the capital.", "Excellent"),
        (QUALITY, "Lyon is a city.", "Poor"),
        (QUALITY, "A fair answer about Paris.", "Fair"),
        (LEVELS, "Paris is the capital.", "3 - all"),
        (LEVELS, "Lyon is a city.", "1 - none of it"),
        # Half of what counts is denied: the middle of the scale.
        (LEVELS, "It is not Paris.", "2 - half"),
        (TOPICS, "The delivery to Paris was late.", "Delivery"),
    ],
)
def test_the_choice_follows_the_words_in_whatever_order_options_are_shown(options, response, label):
    assert chosen(options, response) == label


def test_an_empty_response_is_not_applicable_or_in_the_middle():
    assert chosen((*QUALITY, AskedOption("Nothing to judge", na=True)), "  ") == "Nothing to judge"
    assert chosen(LEVELS, "  ") == "2 - half"


def test_options_without_any_order_still_get_an_answer():
    assert chosen((AskedOption("Red"), AskedOption("Blue")), "Paris.") == "Red"


TONE = Criterion(
    weight=6,
    requirement="How well does it mention Paris?",
    options=(
        Option(label="Badly <b>", value=0),
        Option(label="Well", value=0.5),
        Option(label="Fully", value=1),
    ),
)
CRITERIA = [Criterion(weight=4, requirement="Mentions Berlin"), TONE]


@pytest.mark.parametrize("rungs", [{}, {"json_schema": 400, "json_object_schema": 400, "json_object": 400}])
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_every_autograder_can_read_it_on_any_rung_and_in_any_order(serve, ask, rungs, seed):
    url = serve(Script(refused_rungs=rungs))
    one = ask(url, about={"criteria": [TONE], "option_seed": seed})
    assert one.error is None
    assert (one.reading.answers[0].option, one.reading.answers[0].verdict) == ("Fully", None)
    assert SIGNATURE in one.reading.answers[0].reason
    every = ask(url, about={"criteria": CRITERIA, "grader": "one_shot", "option_seed": seed})
    answers = [every.reading.answers[index] for index in range(2)]
    assert [answer.verdict or answer.option for answer in answers] == ["UNMET", "Fully"]
    whole = ask(url, about={"criteria": CRITERIA, "grader": "rubric_as_judge", "option_seed": seed})
    # Berlin is not there: 6 of 10.
    assert whole.reading.overall.score == 60


def test_a_choice_is_asked_for_in_json_by_a_judge_that_answers_in_prose(serve, ask):
    reply = ask(serve(), about={"criteria": [TONE], "reply_format": "yes_no"})
    assert reply.reading.answers[0].option == "Fully"


def test_the_schema_allows_the_labels_that_were_shown_and_no_others(serve, ask):
    script = Script()
    ask(serve(script), about={"criteria": [TONE]})
    schema = script.requests[0].body["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["option"]["enum"] == ["Badly <b>", "Well", "Fully"]
    assert schema["additionalProperties"] is False


def test_examples_are_not_taken_for_the_response(serve, ask):
    shown = {0: (Example("dev", Submission("Berlin, Berlin."), "MET", "It says so."),)}
    script = Script()
    criteria = [Criterion(weight=1, requirement="Mentions Berlin")]
    reply = ask(serve(script), about={"criteria": criteria, "examples": shown})
    assert "Berlin, Berlin." in script.requests[0].body["messages"][1]["content"]
    assert reply.reading.answers[0].verdict == "UNMET"
    assert script.requests[0].submission == "Paris is the capital."
