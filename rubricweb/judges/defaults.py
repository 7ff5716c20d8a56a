"""Generate functions for people who have an endpoint and no wish to write a client.

They ask the endpoint of the environment: OPENAI_BASE_URL (default: OpenAI's), OPENAI_API_KEY, and
OPENAI_MODEL (default "gpt-5-mini"). Any OpenAI-compatible endpoint will do, with the retries and the ladder
of every judge.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from rubricweb.engine.autograders.base import Prompt, Reading
from rubricweb.engine.autograders.outputs import OneShotOutput, PerCriterionOutput, RubricAsJudgeOutput
from rubricweb.engine.autograders.prompted import ReplyReader
from rubricweb.engine.errors import ConfigurationError
from rubricweb.engine.judging.sampling import Sampling
from rubricweb.engine.parsers.json_reply import read_json_reply
from rubricweb.judges.base import (
    CONFIGURATION_KINDS,
    JudgeConfig,
    JudgeFailure,
    JudgeMisconfigured,
    Question,
)
from rubricweb.judges.pool import ask_one
from rubricweb.judges.prices.shipped import shipped_price
from rubricweb.judges.usage import report_usage

OPENAI_BASE_URL = "https://api.openai.com/v1"
DEFAULT_MODEL = "gpt-5-mini"

Output = TypeVar("Output", bound=BaseModel)


class NoEndpoint(ConfigurationError, RuntimeError):
    """The environment names no endpoint to ask."""


class WrongOption(ConfigurationError, TypeError, ValueError):
    """An option that no judge has, or a value that it cannot have."""


async def default_per_criterion_generate_fn(
    system_prompt: str,
    user_prompt: str,
    *,
    schema: type[BaseModel] = PerCriterionOutput,
    reader: ReplyReader | None = None,
    **options: Any,
) -> BaseModel | str:
    """Ask about one criterion; for PerCriterionGrader.

    The answer has the shape of `schema`: a grader hands in another one for a choice between options. With a
    `reader`, which graders hand in too, it is the reply's text, as the reader could read it: the same replies
    are then asked for again, and the same verdicts read, as in a stored run. `options` are keywords of
    JudgeConfig, such as `model=` or `temperature=`. Raises NoEndpoint when neither OPENAI_API_KEY nor
    OPENAI_BASE_URL is set, WrongOption for an unknown option, JudgeMisconfigured where the endpoint refuses
    the key or knows no such model, JudgeFailure when it gives no usable answer. The same holds for the other
    two.
    """
    return await _generate(schema, system_prompt, user_prompt, options, reader)


async def default_oneshot_generate_fn(
    system_prompt: str,
    user_prompt: str,
    *,
    schema: type[BaseModel] = OneShotOutput,
    reader: ReplyReader | None = None,
    **options: Any,
) -> BaseModel | str:
    """Ask about all criteria at once; for PerCriterionOneShotGrader."""
    return await _generate(schema, system_prompt, user_prompt, options, reader)


async def default_rubric_as_judge_generate_fn(
    system_prompt: str, user_prompt: str, *, reader: ReplyReader | None = None, **options: Any
) -> BaseModel | str:
    """Ask for one score from 0 to 100; for RubricAsJudgeGrader."""
    return await _generate(RubricAsJudgeOutput, system_prompt, user_prompt, options, reader)


def environment_config(environ: Mapping[str, str] | None = None) -> JudgeConfig:
    """The judge that the environment names. Raises NoEndpoint.

    Private hosts are allowed: whoever sets the environment is at home on this machine.
    """
    given = os.environ if environ is None else environ
    key, base_url = given.get("OPENAI_API_KEY") or None, given.get("OPENAI_BASE_URL") or None
    if key is None and base_url is None:
        raise NoEndpoint(
            "neither OPENAI_API_KEY nor OPENAI_BASE_URL is set; set the key, the URL of an OpenAI-compatible "
            "endpoint, or pass a generate_fn of your own"
        )
    return JudgeConfig(
        name="environment",
        base_url=base_url or OPENAI_BASE_URL,
        model=given.get("OPENAI_MODEL") or DEFAULT_MODEL,
        api_key=key,
        allow_private_hosts=True,
    )


def _with_listed_price(config: JudgeConfig) -> JudgeConfig:
    """The judge at its own prices, else at those of the shipped list, else without any."""
    price = shipped_price(config.model) if config.cost_usd(0, 0) is None else None
    if price is None:
        return config
    return replace(
        config,
        input_usd_per_million=price.input_usd_per_million,
        output_usd_per_million=price.output_usd_per_million,
        cached_input_usd_per_million=price.cached_input_usd_per_million,
    )


async def _generate(
    schema: type[Output],
    system_prompt: str,
    user_prompt: str,
    options: Mapping[str, Any],
    reader: ReplyReader | None,
) -> Output | str:
    config = _with_listed_price(_configured(options))
    outputs: list[Output] = []

    def read(text: str) -> Reading:
        outputs.append(schema.model_validate(read_json_reply(text)))
        return Reading({})

    if reader is None:
        reader = ReplyReader(Prompt(system_prompt, user_prompt, schema, ()), read)
    prompt = replace(
        reader.prompt, system=system_prompt, user=user_prompt
    )  # as a wrapper may have changed them
    reply = await ask_one(config, Question("generate", prompt, reader.read))
    if reply.error is None or reply.prompt_tokens is not None or reply.unmetered:  # else nobody answered
        report_usage(
            prompt_tokens=reply.prompt_tokens,
            completion_tokens=reply.completion_tokens,
            cost_usd=None if reply.unmetered else reply.cost_usd,
        )
    if reply.error is not None and reply.reading is None:
        failure = JudgeMisconfigured if reply.error.kind in CONFIGURATION_KINDS else JudgeFailure
        raise failure(reply.error)
    return outputs[-1] if outputs else reply.text


def _configured(options: Mapping[str, Any]) -> JudgeConfig:
    """The judge of the environment with these options. Raises NoEndpoint, and WrongOption."""
    allowed = [*(known.name for known in fields(JudgeConfig)), *Sampling.model_fields]
    unknown = sorted(set(options) - set(allowed))
    if unknown:
        raise WrongOption(f"unknown option {', '.join(unknown)}; allowed are {', '.join(allowed)}")
    config = environment_config()
    try:
        return replace(config, **options)
    except (TypeError, ValueError) as error:
        raise WrongOption(str(error)) from error
