"""Files of other programs: recognised by shape, translated, never executed."""

import copy
import json

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.datasets.files import preview, read_dataset, read_import
from rubricweb.engine.formats.foreign import DOCUMENTS, RECORDS
from rubricweb.engine.parsers.yaml_text import dump_yaml
from rubricweb.engine.rubric import Rubric
from tests.engine.formats.foreign import samples


def encoded(value, filename):
    if filename.endswith(".jsonl"):
        return "\n".join(json.dumps(line) for line in value).encode()
    return json.dumps(value).encode()


def read(value, filename="file.json", **options):
    return read_dataset(encoded(value, filename), filename=filename, **options)


def faults(value, filename="file.json"):
    with pytest.raises(InvalidFile) as refused:
        read(value, filename)
    return [(fault.place, fault.found) for fault in refused.value.faults]


def labels(file):
    return [
        (label.item_id, label.criterion, label.rater, label.verdict, label.reason) for label in file.labels
    ]


def test_every_registered_format_has_a_sample_that_names_it():
    titles = {read(value, filename).recognised for filename, value in samples.FOREIGN}
    assert titles == {one.title for one in (*DOCUMENTS.values(), *RECORDS.values())}


@pytest.mark.parametrize(("filename", "value"), samples.FOREIGN)
def test_the_preview_names_the_format_and_shows_its_translation(filename, value):
    shown = preview(encoded(value, filename), filename)
    assert shown.recognised == read(value, filename).recognised != ""
    assert {"submission", "prompt"} & set(shown.mapping)


def test_our_own_shapes_are_never_taken_for_others():
    own = [{"input": "q", "ideal": "a", "output": "o"}]
    assert read(own).recognised == ""
    assert (read(own).items[0].prompt, read(own).items[0].reference) == ("q", "a")


def test_a_record_with_a_rubric_labels_or_a_case_is_our_own():
    rollout = {"prompt": "q", "completion": "a", "reward": 1.0}
    rubric = {"rubric": [{"name": "polite", "requirement": "x"}]}
    (item,) = read([rollout | rubric | {"ground_truth": ["MET"], "labels": {"ann": ["UNMET"]}}]).items
    assert (item.rubric.names, item.ground_truth, item.labels) == (("polite",), ("MET",), {"ann": ("UNMET",)})
    (item,) = read([rollout | {"case_id": "c", "system": "bot@v1"}], "x.jsonl").items
    assert (item.case_id, item.system, item.metadata) == ("c", "bot@v1", {"reward": 1.0})
    (item,) = read([{"input": "q", "ideal": "b", "completion": "a"} | rubric], "x.jsonl").items
    assert (item.rubric.names, item.reference) == (("polite",), "b")
    # Of these names a text or a list says nothing of our own.
    assert read([rollout | {"ground_truth": "a", "labels": ["x"]}]).recognised == "verifiers rollouts"


@pytest.mark.parametrize(
    "extra", [{"rubric": [{"x": 1}]}, {"case_id": 7}, {"ground_truth": ["4"]}, {"labels": {"a": 1}}]
)
def test_messages_and_lists_of_references_are_never_our_own(extra):
    file = read([samples.VERIFIERS[0] | extra], "x.jsonl")
    (item,) = file.items
    assert (file.recognised, item.submission, item.case_id) == ("verifiers rollouts", "4", "")
    assert extra.items() <= item.metadata.items()
    file = read([{"input": "2+2?", "ideal": ["4", "four"], "completion": "It is 4."} | extra], "x.jsonl")
    (item,) = file.items
    assert (file.recognised, item.submission, item.reference) == (
        "OpenAI evals samples",
        "It is 4.",
        "4\nfour",
    )
    assert item.metadata == extra


# ── Inspect ──────────────────────────────────────────────────────────────────────────────────────


def test_an_inspect_logs_scores_are_labels():
    file = read(samples.INSPECT)
    first, second = file.items
    assert (file.name, file.rubric.names) == ("arithmetic", ("match", "graded"))
    assert [criterion.kind for criterion in file.rubric.criteria] == ["binary", "choice"]
    assert [option.value for option in file.rubric.criteria[1].options] == [1.0, 0.5, 0.0, 0.0]
    assert (first.id, first.submission, first.thinking, first.reference) == (
        "1",
        "It is 4.",
        "2 and 2",
        "4\nfour",
    )
    assert (second.id, second.group, second.metadata["scores"]) == ("1-epoch-2", "1", {"length": 7})
    assert second.prompt == [{"role": "user", "content": "What is 2+2? A long text."}]
    assert labels(file) == [
        ("1", "match", "inspect", "MET", "found 4"),
        ("1", "graded", "inspect", "Partially correct", ""),
        ("1-epoch-2", "match", "inspect", "UNMET", ""),
        ("1-epoch-2", "graded", "inspect", "Incorrect", ""),
    ]


def test_a_failed_inspect_sample_is_refused_by_place():
    log = {
        "eval": {"task": "t"},
        "samples": [samples.INSPECT["samples"][0] | {"output": {}, "error": {"message": "x"}}],
    }
    assert faults(log) == [("samples[0].output", 'a failed sample (the text "x") (Inspect log)')]
    assert faults({"eval": {}, "status": "success"})[0][0] == "samples"


def test_an_inspect_archive_is_named():
    with pytest.raises(InvalidFile, match="inspect log convert"):
        read_dataset(b"PK\x03\x04rest", filename="run.eval")


def test_an_inspect_samples_own_metadata_stays_beside_its_scores_and_epoch():
    sample = samples.INSPECT["samples"][1] | {"metadata": {"epoch": "jurassic", "scores": [1], "level": 2}}
    (item,) = read({"eval": {"task": "t"}, "samples": [sample]}).items
    assert item.metadata == {
        "group": "1",
        "level": 2,
        "sample_epoch": "jurassic",
        "sample_scores": [1],
        "scores": {"length": 7},
        "epoch": 2,
    }


# ── promptfoo ────────────────────────────────────────────────────────────────────────────────────


def test_promptfoo_results_become_items_with_checks_and_labels():
    file = read(samples.PROMPTFOO_RESULTS)
    (item,) = file.items
    assert (item.submission, item.prompt, item.group) == ("Bonjour le monde", "Say hello in French", "test 0")
    assert item.metadata["vars"] == {"language": "French"}
    kinds = [(criterion.check, criterion.weight) for criterion in file.rubric.criteria]
    assert kinds == [("contains_keywords", 1.0), ("no_forbidden_phrases", 2.0), (None, 1.0), (None, -1.0)]
    assert file.rubric.pass_rule.min_score == 0.75
    assert file.rubric.criteria[2].requirement == "Is in French"
    # "not-llm-rubric" passed: the thing it forbids is absent.
    assert labels(file) == [
        ("row-1", "llm-rubric: Is in French", "promptfoo", "MET", "It is."),
        ("row-1", "rude", "promptfoo", "UNMET", ""),
    ]


def in_part(value, filename="file.json"):
    """The labels that are read, and what is left out."""
    file = read_import(encoded(value, filename), filename=filename)
    return labels(file), [(fault.place, fault.found) for fault in file.left_out]


def test_promptfoo_grades_that_cannot_be_read_are_named_and_their_item_stays():
    results = copy.deepcopy(samples.PROMPTFOO_RESULTS)
    graded = results["results"]["results"][0]["gradingResult"]
    here = "results.results[0].gradingResult.componentResults"
    graded["componentResults"][2]["pass"] = "yes"
    kept = [("row-1", "rude", "promptfoo", "UNMET", "")]
    assert in_part(results) == (kept, [(f"{here}[2].pass", 'the text "yes"')])
    del graded["componentResults"][1]
    assert in_part(results) == ([], [(here, "3 grades of 4 assertions")])
    assert faults(results) == [(here, "3 grades of 4 assertions (promptfoo tests)")]
    del graded["componentResults"]
    assert in_part(results) == ([], [])  # nothing was graded


def test_promptfoo_tests_with_outputs_become_items():
    config = {
        "prompts": ["Capital of {{country}}?"],
        "providers": ["echo"],
        "defaultTest": {"assert": [{"type": "is-json", "value": {"type": "object"}}]},
        "tests": [
            {
                "vars": {"country": "France"},
                "providerOutput": {"a": 1},
                "assert": [{"type": "equals", "value": "x.y"}],
            },
            {
                "vars": {"country": "Italy"},
                "providerOutput": "Rome",
                "assert": [
                    {"type": "not-regex", "value": "\\d+", "weight": 3},
                    {"type": "icontains-any", "value": "rome, roma"},
                    {"type": "starts-with", "value": "R"},
                    {"type": "word-count", "value": {"min": 1, "max": 5}},
                ],
            },
        ],
    }
    first, second = read(config).items
    assert (first.submission, first.prompt, second.prompt) == (
        '{"a": 1}',
        "Capital of France?",
        "Capital of Italy?",
    )
    assert dict(first.rubric.criteria[1].params) == {"pattern": r"x\.y", "mode": "fullmatch"} | (
        {"ignore_case": False} if "ignore_case" in first.rubric.criteria[1].params else {}
    )
    assert [(one.check, one.weight) for one in second.rubric.criteria] == [
        ("json_schema", 1.0),
        ("matches_regex", -3.0),
        ("contains_keywords", 1.0),
        ("matches_regex", 1.0),
        ("length_between", 1.0),
    ]


@pytest.mark.parametrize(
    ("assertion", "place"),
    [
        ({"type": "javascript", "value": "output.length > 3"}, "type"),
        ({"type": "not-python", "value": "file://check.py"}, "type"),
        ({"type": "webhook", "value": "https://example.org/hook"}, "type"),
        ({"type": "similar", "value": "x"}, "type"),
        ({"type": "contains", "value": "file://secret.txt"}, "value"),
        ({"type": "contains", "value": "{{ name | upper }}"}, "value"),
        ({"type": "llm-rubric", "value": "{% for x in y %}{% endfor %}"}, "value"),
        ({"type": "contains", "value": "{{unknown}}"}, "value"),
        ({"type": "contains", "value": "x", "transform": "output.trim()"}, "transform"),
        ({"type": "contains"}, "value"),
        ({"value": "x"}, "type"),
    ],
)
def test_what_would_run_or_has_no_counterpart_is_refused_by_name_and_place(assertion, place):
    config = {"prompts": ["p"], "tests": [{"providerOutput": "o", "assert": [assertion]}]}
    ((found_place, found),) = faults(config)
    assert found_place == f"tests[0].assert[0].{place}"
    assert found.endswith("(promptfoo tests)")


def promptfoo(assertion, **test):
    return {"prompts": ["p"], "tests": [{"providerOutput": "o", "assert": [assertion]} | test]}


def test_promptfoo_variables_and_numbers_are_written_as_javascript_writes_them():
    config = promptfoo(
        {"type": "contains-all", "value": ["{{yes}}", "{{whole}}", "{{half}}", "{{name}}", 7.0]},
        vars={"yes": True, "whole": 5.0, "half": 0.5, "name": "x"},
    )
    assert read(config).rubric.criteria[0].params["keywords"] == ["true", "5", "0.5", "x", "7"]


def test_promptfoo_values_nested_deeply_are_refused_by_place():
    nested = []
    for _ in range(600):
        nested = [nested]
    here = "tests[0].assert"
    listed = [(f"{here}[0].value", "a list (promptfoo tests)")]
    assert faults(promptfoo({"type": "contains-any", "value": nested})) == listed
    too_deep = [(f"{here}.criteria[0].params", "values nested too deeply (promptfoo tests)")]
    assert faults(promptfoo({"type": "word-count", "value": nested})) == too_deep


def test_promptfoo_schemas_may_have_keys_of_several_types():
    properties = {1: {"type": "string"}, "a": {"type": "string"}}
    config = promptfoo({"type": "is-json", "value": {"properties": properties}})
    (item,) = read_dataset(dump_yaml(config).encode(), filename="tests.yaml").items
    (criterion,) = item.rubric.criteria
    assert criterion.params["schema"]["properties"] == {"1": {"type": "string"}, "a": {"type": "string"}}


@pytest.mark.parametrize("character", ["\0", "\ud800"])
def test_names_that_cannot_be_stored_are_refused_by_place(character):
    config = promptfoo({"type": "equals", "value": "o"}) | {"description": f"d{character}"}
    assert [place for place, _ in faults(config)] == ["description"]
    log = [{"spec": {"eval_name": f"d{character}"}}, *samples.OPENAI_EVALS_LOG[1:]]
    assert [place for place, _ in faults(log, "log.jsonl")] == ["line 1: spec.eval_name"]


def test_promptfoo_configurations_without_outputs_say_what_to_bring():
    with pytest.raises(InvalidFile, match="promptfoo eval --output") as refused:
        read({"prompts": ["p"], "tests": [{"vars": {"a": 1}}]})
    assert [fault.place for fault in refused.value.faults] == ["tests[0].providerOutput"]
    assert faults({"prompts": ["p"], "tests": "file://tests.csv"})[0][0] == "tests"


# ── verifiers and OpenAI evals ───────────────────────────────────────────────────────────────────


def test_verifiers_rollouts_keep_rewards_as_metadata():
    first, second = read(samples.VERIFIERS, "rollouts.jsonl").items
    assert (first.id, second.id, first.group) == ("3-1", "3-2", "3")
    assert (first.submission, first.thinking, first.reference) == ("4", "two and two", "4")
    assert first.metadata["reward"] == 1.0
    assert json.loads(second.submission)[1]["content"] == "5"
    assert second.prompt == [{"role": "user", "content": "2+2?"}]


def test_evals_samples_need_a_completion_beside_them():
    (item,) = read(samples.OPENAI_EVALS, "samples.jsonl").items
    assert (item.submission, item.reference) == ("Paris", "Paris\nparis")
    bare = [{"input": "q", "ideal": "a"}]
    assert faults(bare, "x.jsonl") == [("line 1", "a sample without its completion (OpenAI evals samples)")]


def test_an_evals_log_gives_items_and_labels():
    file = read(samples.OPENAI_EVALS_LOG, "log.jsonl")
    (item,) = file.items
    assert (item.id, item.submission, item.reference) == ("capitals.dev.0", "Lyon", "Paris")
    said = [("capitals.dev.0", "correct", "capitals.dev", "UNMET", "")]
    assert labels(file) == said
    # A match whose completion was not recorded.
    alone = samples.OPENAI_EVALS_LOG[2] | {"sample_id": "capitals.dev.7"}
    found = "a match of 'capitals.dev.7', whose completion is not in the log"
    assert in_part([*samples.OPENAI_EVALS_LOG, alone], "log.jsonl") == (said, [("line 5: sample_id", found)])


# ── What comes beside ────────────────────────────────────────────────────────────────────────────


def test_a_rubric_beside_the_file_goes_before_a_made_up_one():
    rubric = Rubric.from_dict(
        [
            {"name": "grounded", "requirement": "Rests on the source"},
            {
                "name": "tone",
                "weight": 2,
                "requirement": "How does it sound?",
                "options": [{"label": "friendly", "value": 1}, {"label": "rude", "value": 0}],
            },
            {
                "name": "stars",
                "requirement": "How many?",
                "options": [{"label": str(n), "value": n / 4} for n in range(5)],
            },
        ]
    )
    file = read(samples.LABEL_STUDIO, rubric=rubric)
    assert file.rubric is rubric
    assert file.items[0].labels["ann@example.org"] == ("MET", "friendly", "4")


def test_data_never_gives_way_to_what_was_said_about_it():
    task = samples.LABEL_STUDIO[0] | {"data": {"text": "s", "labels": ["x"], "ground_truth": "y"}}
    (item,) = read([task, samples.LABEL_STUDIO[1]]).items[:1]
    assert item.metadata == {"data_labels": ["x"], "data_ground_truth": "y"}
    rollout = samples.VERIFIERS[0] | {"group": "mine", "submission": "other", "id": "mine"}
    (item,) = read([rollout], "x.jsonl").items
    assert (item.submission, item.group, item.metadata["submission"]) == ("4", "3", "other")
    assert (item.id, item.metadata["id"]) == ("3-1", "mine")
    sample = samples.OPENAI_EVALS[0] | {"prompt": "other", "id": 5}
    (item,) = read([sample], "x.jsonl").items
    assert (item.id, item.prompt[0]["role"], item.metadata) == ("5", "system", {"prompt": "other"})
