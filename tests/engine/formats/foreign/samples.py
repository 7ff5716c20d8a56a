"""A small file of every format of other programs, as those programs lay it out."""

from typing import Any

INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"task": "arithmetic", "model": "mockllm/model"},
    "samples": [
        {
            "id": 1,
            "epoch": 1,
            "input": "What is 2+2?",
            "target": ["4", "four"],
            "output": {
                "choices": [
                    {
                        "message": {
                            "role": "assistant",
                            "content": [
                                {"type": "reasoning", "reasoning": "2 and 2"},
                                {"type": "text", "text": "It is 4."},
                            ],
                        }
                    }
                ],
                "completion": "It is 4.",
            },
            "scores": {
                "match": {"value": "C", "answer": "4", "explanation": "found 4"},
                "graded": {"value": "P"},
                "length": {"value": 8},
            },
            "metadata": {"level": "easy"},
        },
        {
            "id": 1,
            "epoch": 2,
            "input": [{"role": "user", "content": "attachment://abc"}],
            "target": "4",
            "output": {"choices": [], "completion": "It is 5"},
            "scores": {"match": {"value": "I"}, "graded": {"value": "I"}, "length": {"value": 7}},
            "attachments": {"abc": "What is 2+2? A long text."},
        },
    ],
}

PROMPTFOO_RESULTS = {
    "evalId": "eval-1",
    "results": {
        "version": 3,
        "results": [
            {
                "id": "row-1",
                "testIdx": 0,
                "promptIdx": 0,
                "prompt": {"raw": "Say hello in French", "label": "p"},
                "provider": {"id": "openai:small"},
                "vars": {"language": "French"},
                "response": {"output": "Bonjour le monde"},
                "score": 1,
                "success": True,
                "testCase": {
                    "vars": {"language": "French"},
                    "threshold": 0.75,
                    "assert": [
                        {"type": "icontains", "value": "bonjour"},
                        {"type": "not-contains", "value": "Hello", "weight": 2},
                        {"type": "llm-rubric", "value": "Is in {{language}}"},
                        {"type": "not-llm-rubric", "value": "Is rude", "metric": "rude"},
                    ],
                },
                "gradingResult": {
                    "pass": True,
                    "componentResults": [
                        {"pass": True, "score": 1},
                        {"pass": True, "score": 1},
                        {"pass": True, "score": 1, "reason": "It is."},
                        {"pass": True, "score": 1},
                    ],
                },
            }
        ],
    },
}


def _choice(name: str, choice: str) -> dict[str, object]:
    return {"from_name": name, "to_name": "text", "type": "choices", "value": {"choices": [choice]}}


LABEL_STUDIO = [
    {
        "id": 11,
        "data": {"text": "Paris.", "question": "Capital?", "source": "web"},
        "annotations": [
            {
                "id": 1,
                "completed_by": {"id": 3, "email": "ann@example.org"},
                "result": [
                    _choice("grounded", "MET"),
                    _choice("tone", "Friendly"),
                    {"from_name": "stars", "to_name": "text", "type": "rating", "value": {"rating": 4}},
                    {
                        "from_name": "grounded_why",
                        "to_name": "text",
                        "type": "textarea",
                        "value": {"text": ["because"]},
                    },
                ],
            },
            {"id": 2, "completed_by": 7, "result": [_choice("grounded", "unmet"), _choice("tone", "Rude")]},
            {"id": 3, "completed_by": 8, "was_cancelled": True, "result": [_choice("grounded", "MET")]},
        ],
        "predictions": [{"model_version": "v2", "result": [_choice("grounded", "MET")]}],
    },
    {
        "id": 12,
        "data": {"text": "Lyon.", "question": "Capital?"},
        "annotations": [
            {"completed_by": 7, "ground_truth": True, "result": [_choice("grounded", "CANNOT_ASSESS")]}
        ],
    },
]

VERIFIERS = [
    {
        "example_id": 3,
        "prompt": [{"role": "user", "content": "2+2?"}],
        "completion": [{"role": "assistant", "content": "4", "reasoning_content": "two and two"}],
        "answer": "4",
        "info": {},
        "reward": 1.0,
        "metrics": {"exact": 1.0},
    },
    {
        "example_id": 3,
        "prompt": [{"role": "user", "content": "2+2?"}],
        "completion": [
            {"role": "tool", "content": "calculator"},
            {"role": "assistant", "content": "5"},
        ],
        "answer": "4",
        "reward": 0.0,
    },
]

OPENAI_EVALS = [
    {
        "input": [
            {"role": "system", "content": "Answer."},
            {"role": "user", "content": "Capital of France?"},
        ],
        "ideal": ["Paris", "paris"],
        "completion": "Paris",
    }
]

OPENAI_EVALS_LOG = [
    {"spec": {"eval_name": "capitals.dev", "completion_fns": ["small"], "run_id": "1"}},
    {
        "run_id": "1",
        "sample_id": "capitals.dev.0",
        "type": "sampling",
        "data": {"prompt": [{"role": "user", "content": "Capital of France?"}], "sampled": ["Lyon"]},
    },
    {
        "run_id": "1",
        "sample_id": "capitals.dev.0",
        "type": "match",
        "data": {"correct": False, "expected": "Paris", "picked": None},
    },
    {"final_report": {"accuracy": 0.0}},
]

VERIFIERS_TRACES = [
    {
        "id": "e1",
        "task": {"type": "Capital", "data": {"idx": 0, "prompt": "Capital of France?", "answer": "Paris"}},
        "traces": [
            {
                "id": "t1",
                "task": {"type": "Capital", "data": {"idx": 0, "prompt": "Capital of France?"}},
                "nodes": [
                    {"message": {"role": "user", "content": "Capital of France?"}},
                    {"parent": 0, "message": {"role": "assistant", "content": "Paris"}, "sampled": True},
                ],
            }
        ],
    }
]

# What stands in the file: JSON, or a list of its lines.
FOREIGN: list[tuple[str, Any]] = [
    ("log.json", INSPECT),
    ("results.json", PROMPTFOO_RESULTS),
    ("export.json", LABEL_STUDIO),
    ("rollouts.jsonl", VERIFIERS),
    ("traces.jsonl", VERIFIERS_TRACES),
    ("samples.jsonl", OPENAI_EVALS),
    ("events.jsonl", OPENAI_EVALS_LOG),
]
