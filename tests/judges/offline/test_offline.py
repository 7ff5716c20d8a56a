"""The offline judge: believable verdicts from words, in every form of reply."""

import collections
import csv
import importlib.resources
import json
import pathlib
import statistics
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from rubricweb.engine.autograders.per_criterion import PerCriterionGrader
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.submission import Submission
from rubricweb.engine.verdict import Verdict
from rubricweb.judges.offline.lexical import SIGNATURE, judge_criterion
from rubricweb.judges.offline.questions import AskedCriterion, ParsedPrompt, read_request
from rubricweb.judges.offline.script import Recording, Script, read_script
from rubricweb.judges.offline.words import stem
from tests.waiting import PATIENCE_SECONDS, wait_for

LETTER = """Hi Marta,

I'm sorry the lock froze; that must have been a bad end to the day. We will send you a new key within 2 days.
Please send us the number on the lock, see https://example.org/keys.

Put a "drop of oil" into the old one.

Regards, Ann"""


def judged(requirement, response, *, negative=False, query="", reference=""):
    criterion = AskedCriterion(1, requirement, negative)
    return judge_criterion(
        criterion, ParsedPrompt("criterion", (criterion,), query, reference, response)
    ).verdict


@pytest.mark.parametrize(
    ("requirement", "verdict"),
    [
        ("Mentions that a new key will be sent", "MET"),
        ("Mentions the warranty of the battery", "UNMET"),
        ('Uses the phrase "drop of oil"', "MET"),
        ('Uses the phrase "pinch of salt"', "UNMET"),
        ("Does not mention the warranty", "MET"),
        ("Avoids mentioning the lock", "UNMET"),
        # Words of rubrics that stand for words of responses.
        ("Apologises for the trouble", "MET"),
        ("Avoids apologising", "UNMET"),
        ("Thanks the customer", "UNMET"),
        ("Names one concrete next step", "MET"),
        ("Says by when the key arrives", "MET"),
        ("Blames the customer", "UNMET"),
        ("Is free of jargon", "MET"),
    ],
)
def test_verdicts_follow_words(requirement, verdict):
    assert judged(requirement, LETTER) == verdict


def test_an_error_needs_more_evidence_than_a_virtue():
    response = "The bike came in March. It rides well. Ask your bank about transfers. A refund is not due."
    assert judged("Mentions the refund by bank transfer in March", response) == "MET"
    assert judged("Mentions the refund by bank transfer in March", response, negative=True) == "UNMET"


def test_what_a_response_denies_counts_less():
    assert judged("Mentions aspirin", "Take aspirin.", negative=True) == "MET"
    assert judged("Mentions aspirin", "You cannot take aspirin.") == "MET"
    assert judged("Mentions aspirin", "You cannot take aspirin.", negative=True) == "UNMET"


def test_reference_and_questions_are_looked_at_where_the_criterion_speaks_of_them():
    reference = "Refund: within 30 days of delivery. Exchange: a quote within 3 working days."
    rule = "States the rule as written in the reference"
    assert judged(rule, "You get a refund within 30 days of delivery.", reference=reference) == "MET"
    assert judged(rule, "Our general terms apply.", reference=reference) == "UNMET"
    exchange = "Says what the reference calls exchange"
    assert judged(exchange, "A quote comes in 3 working days.", reference=reference) == "MET"
    assert judged(exchange, "Within 30 days of delivery.", reference=reference) == "UNMET"
    questions = "Answers every question of the customer"
    asked = "Where is my key? When does the workshop open?"
    assert judged(questions, "The key is here, the workshop opens at 9.", query=asked) == "MET"
    assert judged(questions, "We are sorry.", query=asked) == "UNMET"


def test_what_is_invented_is_a_figure_that_neither_prompt_nor_reference_has():
    invented, reference = "Invents a rule", "Within 30 days of delivery."
    assert judged(invented, "A fee of €15 is due.", negative=True, reference=reference) == "MET"
    assert judged(invented, "It takes 30 days.", negative=True, reference=reference) == "UNMET"


def test_nothing_to_judge_cannot_be_assessed():
    assert judged("Mentions Paris", "  ") == "CANNOT_ASSESS"
    assert judged("It is what it is", "Some text.") == "CANNOT_ASSESS"


def test_words_are_compared_by_stem():
    assert stem("policies") == stem("policy")
    assert stem("shipped") == stem("shipping")
    assert stem("1,200") == "1200"


def of_the_demo(rubric_name, items_name):
    """(item, criterion) → verdict or option, as `rubricweb serve --demo` comes to it."""
    demo = importlib.resources.files("rubricweb.demo")
    rubric = Rubric.from_yaml(demo.joinpath(rubric_name).read_text())
    found = {}
    for line in demo.joinpath(items_name).read_text().splitlines():
        item = json.loads(line)
        submission = Submission(item["submission"], query=item["prompt"], reference=item["reference"])
        for prompt in PerCriterionGrader().prompts(submission, rubric):
            asked = read_request({"messages": [{"role": "user", "content": prompt.user}]})
            said = judge_criterion(asked.criteria[0], asked)
            name = rubric.criteria[prompt.criteria[0]].name
            found[item["id"], name] = said.option.label if said.option else said.verdict
    return found


def test_in_the_demo_it_is_right_often_and_wrong_sometimes():
    labels = collections.defaultdict(list)
    for row in csv.DictReader(
        importlib.resources.files("rubricweb.demo").joinpath("support_labels.csv").open()
    ):
        labels[row["item_id"], row["criterion"]].append(row["verdict"])
    said = of_the_demo("rubric_support_reply.yaml", "support_replies.jsonl")
    right = collections.defaultdict(list)
    for (item, criterion), verdicts in labels.items():
        right[criterion].append(said[item, criterion] == statistics.mode(verdicts))
    shares = {criterion: statistics.mean(found) for criterion, found in right.items()}
    assert 0.75 <= statistics.mean(shares.values()) <= 0.95, shares
    # Better than a coin on every criterion, and not always right on all of them.
    assert min(shares.values()) > 0.5, shares


def test_in_the_demo_every_criterion_tells_submissions_apart():
    for names in (
        ("rubric_support_reply.yaml", "support_replies.jsonl"),
        ("rubric_release_note.yaml", "release_notes.jsonl"),
    ):
        by_criterion = collections.defaultdict(set)
        for (_, criterion), verdict in of_the_demo(*names).items():
            by_criterion[criterion].add(verdict)
        assert all(len(verdicts) > 1 for verdicts in by_criterion.values()), by_criterion


CRITERIA = [
    Criterion(weight=10, requirement="Mentions Paris"),
    Criterion(weight=5, requirement="Mentions Berlin"),
    Criterion(weight=-5, requirement="Blames the reader"),
]


@pytest.mark.parametrize("rungs", [{}, {"json_schema": 400, "json_object_schema": 400, "json_object": 400}])
def test_all_three_autograders_can_read_it_on_any_rung(serve, ask, rungs):
    url = serve(Script(refused_rungs=rungs))
    one = ask(url, about={"criteria": CRITERIA})
    assert one.reading.answers[0].verdict == Verdict.MET
    assert SIGNATURE in one.reading.answers[0].reason
    assert "Paris" in one.reading.answers[0].reason
    every = ask(url, about={"criteria": CRITERIA, "grader": "one_shot"})
    assert [every.reading.answers[index].verdict for index in range(3)] == ["MET", "UNMET", "UNMET"]
    whole = ask(url, about={"criteria": CRITERIA, "grader": "rubric_as_judge"})
    assert whole.reading.overall.score == 67  # 10 of the 15 positive points


def test_a_prose_question_gets_prose(serve, ask):
    reply = ask(serve(), about={"reply_format": "yes_no"})
    assert reply.text.startswith("Yes\n\n")
    assert reply.reading.answers[0].verdict == Verdict.MET


def test_the_same_question_gets_the_same_answer(serve, ask):
    url = serve()
    assert ask(url).text == ask(url).text


def test_usage_is_reported(serve, ask):
    reply = ask(serve(), input_usd_per_million=1, output_usd_per_million=1)
    assert reply.prompt_tokens > reply.completion_tokens > 0
    assert reply.cost_usd > 0


def test_another_model_is_not_found(serve, ask):
    reply = ask(serve(), model="gpt-5-mini")
    assert reply.error.kind == "not_found"
    assert "offline-lexical" in reply.error.message


def test_a_prompt_without_criteria_is_refused(serve):
    body = json.dumps(
        {"model": "offline-lexical", "messages": [{"role": "user", "content": "Hello"}]}
    ).encode()
    request = urllib.request.Request(
        f"{serve()}/chat/completions", body, {"Content-Type": "application/json"}
    )
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request)
    assert refused.value.code == 400
    assert "no <criterion>" in refused.value.read().decode()


def test_recorded_replies_are_found_by_submission_and_requirement(serve, ask):
    script = Script(
        recordings=[Recording("Paris is the <output> capital.", "Mentions Paris", "No\n\nIt does not.")]
    )
    url = serve(script)
    about = {"submission": "Paris is the <output> capital.", "reply_format": "yes_no"}
    assert ask(url, about=about).reading.answers[0].verdict == Verdict.UNMET
    assert ask(url, about={"submission": "Another text"}).error.kind == "not_found"


def test_a_script_can_be_written_as_data():
    script = read_script(
        {"actions": [{"kind": "fail", "status": 500}], "refused_rungs": {"json_schema": 400}}
    )
    assert script.take({"messages": []}, {}).status == 500
    with pytest.raises(ValueError, match="action kind is 'explode'"):
        read_script({"actions": [{"kind": "explode"}]})
    with pytest.raises(ValueError, match="unknown keys"):
        read_script({"action": []})


@pytest.fixture
def program(tmp_path):
    """Start the module as a program; returns its address without /v1."""
    started = []

    def start(*options):
        port_file = tmp_path / "port"
        command = [sys.executable, "-m", "rubricweb.judges.offline", "--port-file", str(port_file), *options]
        root = pathlib.Path(__file__).parents[3]
        started.append(subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE))
        wait_for(port_file.exists)
        return f"http://127.0.0.1:{port_file.read_text().strip()}", started[-1]

    yield start
    for process in started:
        process.terminate()
        assert process.wait(PATIENCE_SECONDS) == 0
        process.stdout.close()


def fetch(url, data=None, method="GET"):
    body = None if data is None else json.dumps(data).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method=method)
    with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as answer:
        return json.load(answer)


def test_it_runs_as_a_program(program, ask):
    address, process = program()
    assert fetch(f"{address}/health") == {"status": "ok"}
    assert [model["id"] for model in fetch(f"{address}/v1/models")["data"]] == ["offline-lexical"]
    assert ask(f"{address}/v1").error is None
    assert address in process.stdout.readline().decode()
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetch(f"{address}/script")


def test_as_a_scripted_program_it_takes_its_script_over_http(program, ask):
    address, _ = program("--scripted")
    fetch(f"{address}/script", {"actions": [{"kind": "fail", "status": 403}]}, "PUT")
    assert ask(f"{address}/v1").error.kind == "forbidden"
    seen = fetch(f"{address}/script")
    assert (seen["count"], seen["requests"][0]["requirement"]) == (1, "Mentions Paris")
    with pytest.raises(urllib.error.HTTPError, match="400"):
        fetch(f"{address}/script", {"actions": [{"kind": "explode"}]}, "PUT")
    fetch(f"{address}/script", method="DELETE")
    assert ask(f"{address}/v1").error is None
