"""Autograders that ask a model: what to ask, how to read the reply, and a thin loop that does both."""

from __future__ import annotations

import inspect
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Never, TypedDict

from pydantic import BaseModel, ValidationError

from rubricweb.engine.answer import Answer
from rubricweb.engine.autograders.base import Autograder, Prompt, Reading, ReplyFormat
from rubricweb.engine.autograders.generate import GenerateFn, default_generate_fn, refuse_synchronous
from rubricweb.engine.autograders.instructions import JudgeWording, faults_of
from rubricweb.engine.autograders.setup_errors import is_setup_error
from rubricweb.engine.checks.criteria import run_check
from rubricweb.engine.errors import UnreadableReply
from rubricweb.engine.parsers.json_reply import read_json_reply
from rubricweb.engine.published.former_names import refuse_arguments
from rubricweb.engine.report import CriterionReport, EvaluationReport, GradingError, criterion_report
from rubricweb.engine.rubric import Criterion, Rubric
from rubricweb.engine.scoring import (
    ABSTENTION_POLICIES,
    ERROR_POLICIES,
    Abstention,
    OnError,
    outcome_of,
    score_groups,
    score_verdicts,
)
from rubricweb.engine.submission import Submission

if TYPE_CHECKING:
    from rubricweb.engine.autograders.examples.few_shot import Example


class GraderOptions(TypedDict, total=False):
    """What every prompted autograder takes beside its ``generate_fn``; see PromptedAutograder."""

    system_prompt: str | JudgeWording | None
    normalize: bool
    reply_format: ReplyFormat
    abstention: Abstention
    on_error: OnError
    option_seed: int | None
    examples: Mapping[int, Sequence[Example]] | None


@dataclass(frozen=True, slots=True)
class ReplyReader:
    """One question and how its reply is read: a generate function that retries can tell what to retry.

    ``read`` turns a reply's text into a reading and raises UnreadableReply. A text that it accepts may be
    returned as it is.
    """

    prompt: Prompt
    read: Callable[[str], Reading]


@dataclass(frozen=True, slots=True)
class FailedCall:
    """Why a question got no reading: a stable kind and a message for people."""

    kind: str
    message: str

    def about(self, criterion: str | None) -> GradingError:
        """This failure as the error of one criterion, or of the whole question."""
        return GradingError(criterion=criterion, kind=self.kind, message=self.message)


class PromptedAutograder(Autograder):
    """An autograder without input or output: ``prompts()`` says what to ask, ``read()`` what a reply says.

    The caller carries the one to a model and the other back; ``judge()`` does so with ``generate_fn``, by
    default the endpoint of the environment. ``system_prompt`` has instructions of your own, a
    ``JudgeWording``; a mere text is every system message, word for word, and has to ask for
    ``criterion_status`` or ``option`` accordingly. ``abstention`` and ``on_error`` are the policies of
    ``engine/scoring/scoring.py``. Raises ValueError for an unknown policy, a reply format this grader cannot
    read, or wording that no judge can be told; TypeError for a ``generate_fn`` that is no coroutine function.

    ``option_seed`` gives every submission an order of its own in which options are shown (see
    ``option_order``); None keeps the rubric's. ``examples`` are shown with the criterion at their 0-based
    index. Criteria that are checks are never asked about.
    """

    schema: ClassVar[type[BaseModel]]
    reply_formats: ClassVar[tuple[ReplyFormat, ...]] = ("json",)
    system_prompt_names: ClassVar[Mapping[ReplyFormat, str]]
    options_prompt_name: ClassVar[str]
    default_generate_fn_name: ClassVar[str]

    def __init__(
        self,
        generate_fn: GenerateFn | None = None,
        *,
        system_prompt: str | JudgeWording | None = None,
        normalize: bool = True,
        reply_format: ReplyFormat = "json",
        abstention: Abstention = "skip",
        on_error: OnError = "exclude",
        option_seed: int | None = None,
        examples: Mapping[int, Sequence[Example]] | None = None,
        **former: Never,
    ) -> None:
        refuse_arguments(type(self).__name__, former)
        super().__init__(normalize=normalize)
        _check_choice("reply_format", reply_format, self.reply_formats)
        _check_choice("abstention", abstention, ABSTENTION_POLICIES)
        _check_choice("on_error", on_error, ERROR_POLICIES)
        if generate_fn is not None:
            refuse_synchronous(generate_fn)
        self.generate_fn = generate_fn
        self.reply_format: ReplyFormat = reply_format
        self.abstention: Abstention = abstention
        self.on_error: OnError = on_error
        self.option_seed = option_seed
        self.examples: Mapping[int, Sequence[Example]] = {} if examples is None else dict(examples)
        self.wording = system_prompt if isinstance(system_prompt, JudgeWording) else JudgeWording()
        self._system_prompt = system_prompt if isinstance(system_prompt, str) else None
        if faults := [*faults_of(self.wording)]:
            raise ValueError(f"system_prompt.{faults[0]}")

    @abstractmethod
    def prompts(
        self, submission: Submission, rubric: Rubric, *, only: Sequence[int] | None = None
    ) -> list[Prompt]:
        """The questions that together cover the rubric, or the criteria ``only`` (0-based indexes) of it."""

    def read(self, prompt: Prompt, reply: str, rubric: Rubric) -> Reading:
        """What the raw reply to ``prompt`` says about the criteria it asked for.

        JSON may stand in code fences or prose; unknown keys are ignored; a verdict is never guessed from
        prose. Raises UnreadableReply when nothing can be read.
        """
        return self.reading(prompt, read_json_reply(reply))

    @property
    def system_prompt(self) -> str:
        """What the judge is told before a question whose criteria have no options."""
        return self.system_for(options=False)

    def system_for(self, *, options: bool) -> str:
        """The system prompt of a question, by whether any of its criteria has options."""
        if self._system_prompt is not None:
            return self._system_prompt
        form = self.prompt_name(self.reply_format, options=options)
        return self.wording.system_message(form, options=options)

    @classmethod
    def prompt_name(cls, reply_format: ReplyFormat, *, options: bool) -> str:
        """The shipped prompt for a question, by whether any of its criteria has options."""
        return cls.options_prompt_name if options else cls.system_prompt_names[reply_format]

    @abstractmethod
    def reading(self, prompt: Prompt, data: Mapping[str, Any]) -> Reading:
        """What a reply says once it is plain data. Raises UnreadableReply when it does not fit the schema."""

    async def ask(self, prompt: Prompt, rubric: Rubric) -> Reading | FailedCall:
        """Put one question to ``generate_fn``; a judge's failure is returned, and costs this question only.

        A wrong set-up (``is_setup_error``) is raised, as are interruptions (KeyboardInterrupt,
        CancelledError). A function that declares ``schema``, or ``reader`` as a keyword, is given them.
        """
        generate = self.generate_fn or default_generate_fn(self.default_generate_fn_name)
        reader = ReplyReader(prompt, lambda text: self.read(prompt, text, rubric))
        try:
            reply = await generate(prompt.system, prompt.user, **_declared(generate, reader))
            if isinstance(reply, str):
                return self.read(prompt, reply, rubric)
            return self.reading(prompt, _plain(reply))
        except (UnreadableReply, ValidationError) as error:
            return failed_call(error)
        except Exception as error:
            if is_setup_error(error):
                raise
            return failed_call(error)


class VerdictAutograder(PromptedAutograder):
    """A prompted autograder whose result is one verdict per criterion."""

    async def aggregate(self, judge_results: Sequence[CriterionReport]) -> EvaluationReport:
        """Score the answers by ``engine/scoring/scoring.py``; a criterion without one counts as failed."""
        return scored_report(
            judge_results, normalize=self.normalize, abstention=self.abstention, on_error=self.on_error
        )


def scored_report(
    criteria: Sequence[CriterionReport], *, normalize: bool, abstention: Abstention, on_error: OnError
) -> EvaluationReport:
    """The report on one submission from those on its criteria; one without an answer counts as failed."""
    weights = [criterion.weight for criterion in criteria]
    outcomes = [outcome_of(criterion, criterion.answer) for criterion in criteria]
    policy: dict[str, Any] = {
        "worst": [criterion.worst_value for criterion in criteria],
        "normalize": normalize,
        "abstention": abstention,
        "on_error": on_error,
    }
    score = score_verdicts(weights, outcomes, **policy)
    names = [criterion.group for criterion in criteria]
    return EvaluationReport(
        score=score.score,
        raw_score=score.raw_score,
        llm_raw_score=score.llm_raw_score,
        report=list(criteria),
        coverage=score.coverage,
        errors=tuple(criterion.error for criterion in criteria if criterion.error is not None),
        groups=score_groups(names, weights, outcomes, **policy) if any(names) else None,
    )


def as_rubric(criteria: Rubric | Iterable[Criterion], guidelines: str | None) -> Rubric:
    """The rubric behind the list of criteria that ``judge()`` is called with."""
    return criteria if isinstance(criteria, Rubric) else Rubric(criteria, guidelines=guidelines or "")


def criterion_reports(
    rubric: Rubric,
    readings: Iterable[Reading],
    failures: Mapping[int, FailedCall],
    checked: Mapping[int, Answer | GradingError] | None = None,
) -> list[CriterionReport]:
    """One report per criterion: its answer from whichever reading has it or its check, else its failure."""
    results: dict[int, Answer | GradingError] = dict(checked or {})
    results |= {index: answer for reading in readings for index, answer in reading.answers.items()}
    left_out = FailedCall("missing_criterion", "the reply left this criterion out")
    return [
        criterion_report(criterion, results.get(index) or failures.get(index, left_out).about(criterion.name))
        for index, criterion in enumerate(rubric.criteria)
    ]


def asked_about(rubric: Rubric, only: Sequence[int] | None) -> tuple[int, ...]:
    """The criteria, all or ``only`` some, that a judge is asked about: all but the checks."""
    indexes = range(len(rubric.criteria)) if only is None else only
    return tuple(index for index in indexes if not rubric.criteria[index].is_check)


def check_results(rubric: Rubric, submission: Submission) -> dict[int, Answer | GradingError]:
    """What the rubric's checks say, by 0-based criterion index."""
    indexes = [index for index, criterion in enumerate(rubric.criteria) if criterion.is_check]
    if not indexes:
        return {}
    return {index: run_check(rubric.criteria[index], submission) for index in indexes}


def read_as(schema: type[BaseModel], data: Mapping[str, Any]) -> Any:
    """The data as ``schema``. Raises UnreadableReply naming the first thing that does not fit."""
    try:
        return schema.model_validate(data)
    except ValidationError as error:
        raise UnreadableReply(_first_fault(error)) from None


def _declared(generate: Any, reader: ReplyReader) -> dict[str, Any]:
    """Keywords for a function that declares them: the published signature has neither."""
    try:
        parameters = inspect.signature(generate).parameters
    except (TypeError, ValueError):
        return {}
    given: dict[str, Any] = {"schema": reader.prompt.schema} if "schema" in parameters else {}
    if "reader" in parameters and parameters["reader"].kind is inspect.Parameter.KEYWORD_ONLY:
        given["reader"] = reader
    return given


def _plain(reply: object) -> Mapping[str, Any]:
    if isinstance(reply, BaseModel):
        return reply.model_dump()
    if isinstance(reply, Mapping):
        return reply
    raise UnreadableReply(
        f"generate_fn returned a {type(reply).__name__}; allowed: the grader's output model"
    )


def failed_call(error: Exception) -> FailedCall:
    """An exception as the failure of one question."""
    if isinstance(error, UnreadableReply):
        return FailedCall("unreadable_reply", error.detail)
    if isinstance(error, ValidationError):
        return FailedCall("unreadable_reply", _first_fault(error))
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    kind = getattr(error, "kind", None)  # judges name their own
    if isinstance(kind, str):
        return FailedCall(kind, message)
    if isinstance(error, TimeoutError):
        return FailedCall("timeout", message)
    if isinstance(error, ConnectionError):
        return FailedCall("connection", message)
    return FailedCall("failed_call", message)


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(step) for step in first["loc"])
    return f"{place}: {first['msg']}" if place else first["msg"]


def _check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} is {value!r}; allowed here: {', '.join(allowed)}")
