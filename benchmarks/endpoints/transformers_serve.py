"""`transformers serve` on a random tiny model: `python -m benchmarks.endpoints.transformers_serve`.

Installs transformers and PyTorch into an environment of its own, saves a model of two random layers there,
serves it on loopback and drives our judge client through it. That server knows no response_format, and a
random model no JSON, so calls end as classified errors or, by chance, as verdicts; exit code 1 when one ends
as neither.

PyTorch is pinned to a release whose CPU build pip may find in a folder it was told of; from PyPI itself it
comes with gigabytes of CUDA.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.endpoints.random_model import ModelServer
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.judges.base import JudgeConfig


def command(python: Path, model: Path, port: int) -> Sequence[str | Path]:
    return (
        *(python.with_name("transformers"), "serve", model),
        *("--host", "127.0.0.1", "--port", str(port), "--device", "cpu", "--default-seed", "1"),
    )


def judge(model: Path, url: str) -> JudgeConfig:
    return JudgeConfig(
        name="random",
        base_url=url,
        model=str(model),
        sampling=Sampling(temperature=None, max_output_tokens=60),
        timeout_seconds=60,
        max_attempts=2,
        backoff_seconds=0.1,
        concurrency=2,
        allow_private_hosts=True,
    )


SERVER = ModelServer(
    name="transformers_serve",
    requirements=("transformers[serving]==5.23.0", "torch==2.13.0"),
    writer="random_transformers.py",
    model="random",
    argv=command,
    ready="/health",
    judge=judge,
    env={"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
)

if __name__ == "__main__":
    sys.exit(SERVER.main())
