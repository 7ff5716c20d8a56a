"""litellm's proxy with mocked models: `python -m benchmarks.endpoints.litellm_mock`.

Installs the proxy into an environment of its own, starts it on loopback with models that answer, answer late,
say 429, say 500, answer in prose or run over their context, and drives our judge client through every one.
Exit code 1 when a call ended as neither a verdict nor a classified error.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from benchmarks.endpoints.driving import drive
from benchmarks.endpoints.environment import ENVIRONMENTS, environment, free_port, serving
from rubricweb.judges.base import JudgeConfig

REQUIREMENTS = ("litellm[proxy]==1.106.2",)
KEY = "sk-bench"
ONE = json.dumps({"explanation": "As the mock says.", "criterion_status": "MET"})
ALL = json.dumps(
    {
        "criteria_evaluations": [
            {"criterion_number": number, "explanation": "As the mock says.", "criterion_status": "MET"}
            for number in range(1, 5)
        ]
    }
)
# What each model does. The reply fits one kind of question; the other ends as unreadable_reply.
MODELS: dict[str, dict[str, object]] = {
    "answers-one": {"mock_response": ONE},
    "answers-all": {"mock_response": ALL},
    "answers-late": {"mock_response": ONE, "mock_delay": 0.5},
    "prose": {"mock_response": "I would rather not say."},
    "limited": {"mock_response": "litellm.RateLimitError"},
    "broken": {"mock_response": "litellm.InternalServerError"},
    "over-context": {"mock_response": "litellm.ContextWindowExceededError"},
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.endpoints.litellm_mock")
    parser.add_argument("--environments", type=Path, default=ENVIRONMENTS, help="where they are kept")
    python = environment("litellm_mock", REQUIREMENTS, parser.parse_args().environments)
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "config.yaml")  # JSON is YAML too
        config.write_text(json.dumps({"model_list": _models(), "litellm_settings": {"num_retries": 0}}))
        program = python.with_name("litellm")
        argv = [str(program), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
        env = {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_MASTER_KEY": KEY, "NO_DOCS": "True"}
        with serving(argv, port, Path(folder, "log"), ready="/health/liveliness", env=env):
            # Whoever always says 429 is asked one question at a time, ever more patiently.
            fine = [drive(_judge(port, model, KEY), 4 if model == "limited" else None) for model in MODELS]
            fine.append(drive(_judge(port, "answers-one", "sk-wrong")))
            fine.append(drive(_judge(port, "no-such-model", KEY)))
    return 0 if all(fine) else 1


def _models() -> list[dict[str, object]]:
    return [
        {
            "model_name": name,
            "litellm_params": {"model": "openai/mock", "api_key": "none", **does},
        }
        for name, does in MODELS.items()
    ]


def _judge(port: int, model: str, key: str) -> JudgeConfig:
    return JudgeConfig(
        name=model,
        base_url=f"http://127.0.0.1:{port}/v1",
        model=model,
        api_key=key,
        timeout_seconds=20,
        max_attempts=2,
        backoff_seconds=0.1,
        retry_after_cap_seconds=1,
        max_wait_seconds=5,
        allow_private_hosts=True,
    )


if __name__ == "__main__":
    sys.exit(main())
