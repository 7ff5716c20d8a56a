"""llama-cpp-python's server on a random tiny model: `python -m benchmarks.endpoints.llama_cpp`.

Installs it into an environment of its own (it compiles llama.cpp, which takes some minutes), writes a GGUF
file of two random layers there, serves it on loopback and drives our judge client through it. A random model
says nonsense in whatever form it is held to, so calls end as verdicts by chance or as classified errors; exit
code 1 when one ends as neither.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.endpoints.random_model import ModelServer
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.judges.base import JudgeConfig

CONTEXT_TOKENS = 16_384
# Two random layers need neither pictures nor optimised code: a third fewer files to compile, each sooner.
CMAKE_ARGS = "-DLLAVA_BUILD=OFF -DGGML_NATIVE=OFF -DCMAKE_C_FLAGS_RELEASE=-O1 -DCMAKE_CXX_FLAGS_RELEASE=-O1"


def command(python: Path, model: Path, port: int) -> Sequence[str | Path]:
    return (
        *(python, "-m", "llama_cpp.server", "--model", model, "--model_alias", "random"),
        *("--n_ctx", str(CONTEXT_TOKENS), "--host", "127.0.0.1", "--port", str(port)),
        *("--interrupt_requests", "false", "--n_threads", "1"),
    )


def judge(model: Path, url: str) -> JudgeConfig:
    return JudgeConfig(
        name="random",
        base_url=url,
        model="random",
        sampling=Sampling(temperature=1.0, seed=1, max_output_tokens=400),
        timeout_seconds=60,
        max_attempts=2,
        backoff_seconds=0.1,
        concurrency=2,
        allow_private_hosts=True,
    )


SERVER = ModelServer(
    name="llama_cpp",
    requirements=("llama-cpp-python[server]==0.3.36", "gguf==0.19.0"),
    writer="random_gguf.py",
    model="random.gguf",
    argv=command,
    ready="/v1/models",
    judge=judge,
    build_env={"CMAKE_ARGS": CMAKE_ARGS},
)

if __name__ == "__main__":
    sys.exit(SERVER.main())
