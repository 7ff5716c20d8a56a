"""Traces of verifiers 0.4: episodes whose messages are nodes of a graph."""

import json
from typing import Any

import pytest

from rubricweb.engine.errors import InvalidFile
from rubricweb.engine.formats.dataset_values import DatasetFile
from rubricweb.engine.formats.datasets.files import preview, read_dataset, read_import


def node(role: str, content: str | None, parent: int | None = None, **more: Any) -> dict[str, Any]:
    sampled = {"sampled": True} if role == "assistant" else {}
    message = {"role": role, "content": content} | more
    return (
        {"message": message, "token_ids": [1, 2]} | sampled | ({} if parent is None else {"parent": parent})
    )


def trace(
    number: int, *nodes: dict[str, Any], task: dict[str, Any] | None = None, **more: Any
) -> dict[str, Any]:
    data = task or {"idx": 4, "prompt": "2+2?", "answer": "4"}
    return {
        "version": 3,
        "id": f"t{number}",
        "verifiers": {"version": "0.4.0"},
        "task": {"type": "Sum", "data": data},
        "agent": {"name": "solver", "config": {"model": "small"}},
        "nodes": list(nodes),
    } | more


def episode(*traces: dict[str, Any]) -> dict[str, Any]:
    return {"id": "e", "env": {"id": "sums"}, "task": traces[0]["task"], "ok": True, "traces": list(traces)}


def lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def read(*rows: Any) -> DatasetFile:
    return read_dataset(lines(*rows), filename="traces.jsonl")


ASKED = node("user", "2+2?")


def test_each_trace_of_an_episode_is_an_item_of_its_tasks_group():
    rewards = {"exact": {"score": 1.0, "weight": 2.0}, "short": {"score": 0.5}, "none": None}
    file = read(
        episode(
            trace(1, ASKED, node("assistant", "4", 0, reasoning_content="Two pairs."), rewards=rewards),
            trace(2, ASKED, node("assistant", "5", 0), metrics={"turns": 1.0}),
        )
    )
    assert file.recognised == "verifiers traces"
    first, second = file.items
    assert [(one.id, one.submission, one.thinking) for one in file.items] == [
        ("4-1", "4", "Two pairs."),
        ("4-2", "5", None),
    ]
    assert (first.prompt, first.reference, first.group) == ("2+2?", "4", "4")
    # 1.0 × 2 + 0.5 × 1
    assert (first.metadata["reward"], first.metadata["rewards"]) == (2.5, {"exact": 1.0, "short": 0.5})
    assert (first.metadata["agent"], first.metadata["model"]) == ("solver", "small")
    assert (second.metadata["metrics"], second.metadata["trace_id"]) == ({"turns": 1.0}, "t2")
    assert not any("token" in key for key in first.metadata)


def test_a_trace_by_itself_and_a_list_of_episodes_are_read_alike():
    one = trace(1, ASKED, node("assistant", "4", 0))
    assert read(one).items == read(episode(one)).items
    assert read_dataset(json.dumps([episode(one)]).encode(), filename="t.json").items == read(one).items
    assert preview(lines(one), "t.jsonl").recognised == "verifiers traces"


def test_an_answer_of_several_messages_is_kept_along_the_path_to_the_last_one():
    call = {"tool_calls": [{"id": "1", "name": "add", "arguments": "{}"}], "provider_state": [{"opaque": 1}]}
    (item,) = read(
        episode(
            trace(
                1,
                ASKED,
                node("assistant", "an attempt that was given up", 0),
                node("assistant", None, 0, **call),
                node("tool", "4", 2, tool_call_id="1"),
                node("assistant", "It is 4.", 3),
            )
        )
    ).items
    kept = json.loads(item.submission)
    assert [message["role"] for message in kept] == ["assistant", "tool", "assistant"]
    assert (kept[0]["tool_calls"][0]["name"], kept[-1]["content"]) == ("add", "It is 4.")
    assert "provider_state" not in kept[0]


def test_what_the_agent_replied_goes_before_its_branches():
    (item,) = read(trace(1, ASKED, node("assistant", "of a helper", 0), root_reply="4, they say")).items
    assert item.submission == "4, they say"


def test_a_system_prompt_comes_first_and_without_a_prompt_it_is_what_was_said_before():
    with_system = {"id": "q", "system_prompt": "Be brief.", "prompt": "2+2?"}
    (item,) = read(trace(1, ASKED, node("assistant", "4", 0), task=with_system)).items
    assert item.prompt == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "2+2?"},
    ]
    assert item.id == "q-1"
    (item,) = read(trace(1, ASKED, node("assistant", "4", 0), task={"idx": 1})).items
    assert item.prompt == [{"role": "user", "content": "2+2?"}]


FAILED = trace(2, ASKED, ok=False, errors=[{"type": "ModelError", "message": "no such model"}])


def test_a_trace_without_an_answer_is_left_out_or_refused_with_its_error():
    rows = lines(episode(trace(1, ASKED, node("assistant", "4", 0)), FAILED))
    with pytest.raises(InvalidFile) as refused:
        read_dataset(rows, filename="traces.jsonl")
    [fault] = refused.value.faults
    assert fault.place == "line 1: traces[1].nodes"
    assert "a trace without an answer" in fault.found
    assert "no such model" in fault.found
    assert "(verifiers traces)" in fault.found
    file = read_import(rows, filename="traces.jsonl")
    assert (len(file.items), len(file.left_out)) == (1, 1)


@pytest.mark.parametrize(
    "nodes",
    [
        [],
        "none",
        [{"parent": 0, "message": {"role": "assistant", "content": "x"}}],  # its own parent, and not sampled
        [{"parent": 7, "message": 3, "sampled": True}],
        [{"parent": "a", "message": {"role": "assistant", "content": None}, "sampled": True}],
    ],
)
def test_a_broken_graph_is_refused(nodes):
    with pytest.raises(InvalidFile):
        read(
            {**trace(1), "nodes": nodes} if isinstance(nodes, list) else episode({**trace(1), "nodes": nodes})
        )
