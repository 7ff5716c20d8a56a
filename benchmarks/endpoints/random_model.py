"""Serving a random tiny model with somebody else's server, and driving our judge client through it."""

import argparse
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.endpoints.driving import drive
from benchmarks.endpoints.environment import ENVIRONMENTS, environment, free_port, serving
from rubricweb.judges.base import JudgeConfig


@dataclass(frozen=True)
class ModelServer:
    """A program that serves a model written for it.

    `writer` is the script here that writes the model to a path, called `model` in a scratch folder; `argv`
    makes the command of the environment's Python, that path and a port. `ready` answers 200 once it is up,
    `env` is what it finds in its environment, `build_env` what pip finds that installs it. `judge` says how
    the model at this path and address is asked.
    """

    name: str
    requirements: Sequence[str]
    writer: str
    model: str
    argv: Callable[[Path, Path, int], Sequence[str | Path]]
    ready: str
    judge: Callable[[Path, str], JudgeConfig]
    env: Mapping[str, str] = field(default_factory=dict)
    build_env: Mapping[str, str] = field(default_factory=dict)

    def main(self) -> int:
        """0 when every call ended as a verdict or a classified error, else 1."""
        parser = argparse.ArgumentParser(prog=f"python -m benchmarks.endpoints.{self.name}")
        parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="where they are kept")
        environments = parser.parse_args().environments
        python = environment(self.name, self.requirements, environments, self.build_env)
        port = free_port()
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder, self.model)
            writer = Path(__file__).with_name(self.writer)
            subprocess.run([str(python), str(writer), str(model)], check=True)
            env = {"HF_HOME": folder, **self.env}
            argv = self.argv(python, model, port)
            with serving(argv, port, Path(folder, "log"), ready=self.ready, env=env):
                return 0 if drive(self.judge(model, f"http://127.0.0.1:{port}/v1")) else 1
