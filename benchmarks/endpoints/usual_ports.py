"""Servers where they usually listen, found and graded with: `python -m benchmarks.endpoints.usual_ports`.

Installs llama.cpp's server (xllamacpp, a wheel) and litellm's proxy into environments of their own, serves a
random tiny model on 8080 and mocked answers on 4000, starts rubricweb with its demo, and goes from `endpoints
find` to a finished run with each. Both ports must be free. Exit code 1 when one is not found, lists other
models, or its run does not finish.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.endpoints.environment import ENVIRONMENTS, environment, free_port, serving

LLAMA_CPP = ("xllamacpp==2026.10.11549", "gguf==0.19.0")
LITELLM = ("litellm[proxy]==1.106.2",)
LLAMA_CPP_PORT, LITELLM_PORT = 8080, 4000
KEY_VARIABLE, KEY = "KEY_OF_THE_PROXY", "sk-a-key-of-one-benchmark-alone"
MOCK = {
    "model": "openai/mock",
    "api_key": "none",
    "mock_response": json.dumps({"explanation": "As the mock says.", "criterion_status": "MET"}),
}
RUBRICWEB = Path(sys.executable).with_name("rubricweb")
MODEL = "random.gguf"
RUBRIC, DATASET = "id:2", "id:2"
"""Of the demo: ten release notes, six criteria."""


@dataclass(frozen=True)
class Found:
    """What must be found at a port, and how a model of it is added."""

    name: str
    port: int
    listed: list[str]
    model: str
    wants_key: bool
    options: tuple[str, ...]

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endpoints.usual_ports")
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="where they are kept")
    environments = parser.parse_args().environments
    for port in (LLAMA_CPP_PORT, LITELLM_PORT):
        if _listens(port):
            raise SystemExit(f"port {port} is taken")
    llama_cpp = environment("usual_llama_cpp", LLAMA_CPP, environments)
    litellm = environment("litellm_mock", LITELLM, environments)
    with tempfile.TemporaryDirectory() as scratch, ExitStack() as stack:
        folder = Path(scratch)
        stack.enter_context(_llama_cpp(llama_cpp, folder))
        stack.enter_context(_litellm(litellm, folder))
        stack.enter_context(_rubricweb(folder))
        wrong = list(_walk(folder / "data"))
    print("\n".join(["", *wrong]) if wrong else "\nBoth were found, listed their models and graded a run.")
    return 1 if wrong else 0


def _llama_cpp(python: Path, folder: Path) -> Any:
    model, here = folder / MODEL, Path(__file__)
    subprocess.run([str(python), str(here.with_name("random_gguf.py")), str(model)], check=True)
    argv = (python, here.with_name("serve_gguf.py"), model, str(LLAMA_CPP_PORT))
    return serving(argv, LLAMA_CPP_PORT, folder / "llama_cpp.log", ready="/v1/models")


def _litellm(python: Path, folder: Path) -> Any:
    config = folder / "litellm.yaml"  # JSON is YAML too
    config.write_text(json.dumps({"model_list": [{"model_name": "mock-judge", "litellm_params": MOCK}]}))
    argv = (
        *(python.with_name("litellm"), "--config", config),
        *("--host", "127.0.0.1", "--port", str(LITELLM_PORT)),
    )
    env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY, "NO_DOCS": "True"}
    return serving(argv, LITELLM_PORT, folder / "litellm.log", ready="/health/liveliness", env=env)


def _rubricweb(folder: Path) -> Any:
    port = free_port()
    argv = (RUBRICWEB, "serve", "--demo", "--data", folder / "data", "--port", str(port))
    return serving(argv, port, folder / "rubricweb.log", ready="/health")


def _walk(data: Path) -> Iterator[str]:
    """From finding to a finished run, at the command line; yields what was wrong."""
    while "rubricweb is at" not in (data.parent / "rubricweb.log").read_text():
        time.sleep(0.3)  # it answers before its demo is there
    file = str(data.parent / MODEL)  # llama.cpp names a model by the path it was given
    free = ("--input-usd", "0", "--output-usd", "0")
    wanted = (
        # A random model often talks to the end of its context: its replies are cut off before.
        Found(
            "llama.cpp",
            LLAMA_CPP_PORT,
            [file],
            file,
            False,
            (*free, "--max-output-tokens", "400"),
        ),
        Found("LiteLLM", LITELLM_PORT, [], "mock-judge", True, (*free, "--key-from", KEY_VARIABLE)),
    )
    servers = {one["name"]: one for one in json.loads(_told(data, "endpoints", "find", "--json"))["servers"]}
    for one in wanted:
        there = servers.get(one.name, {})
        said = (there.get("base_url"), there.get("models"), there.get("wants_key"))
        if said != (one.base_url, one.listed, one.wants_key):
            yield f"{one.name}: found {said}"
        address = ("--base-url", one.base_url, "--model", one.model)
        added = json.loads(_told(data, "endpoints", "add", one.name, *address, *one.options, "--json"))
        print(_told(data, "endpoints", "test", one.name))
        if (listed := _told(data, "endpoints", "models", one.name).split()) != [one.model]:
            yield f"{one.name}: lists {listed}"
        judge = f"endpoint-{added['id']}"
        run = json.loads(_told(data, "grade", RUBRIC, DATASET, "--judge", judge, "--json"))
        did = run["progress"]
        print(f"{one.name}: {run['state']}, {did['verdicts']} verdicts and {did['errors']} errors")
        if run["state"] != "finished":
            yield f"{one.name}: its run is {run['state']}"


def _told(data: Path, *words: str) -> str:
    """What a command prints; its exit code may say that a random model gave no answer."""
    argv = [str(RUBRICWEB), *words, "--data", str(data)]
    return subprocess.run(
        argv, env={**os.environ, KEY_VARIABLE: KEY}, stdout=subprocess.PIPE, text=True
    ).stdout


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


if __name__ == "__main__":
    sys.exit(main())
