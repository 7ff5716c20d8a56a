"""Public names of rubric, autorubric, prompt-eval-rubric and verifiers that are others here, and which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

_AGREEMENT = "rubricweb.engine.agreement"
_CHECKS = "rubricweb.engine.checks"
_GRADERS = "rubricweb.engine.autograders"
_REWARDS = "rubricweb.engine.rewards"
_CASCADE = f"CascadeGrader of {_GRADERS}"
_PANEL = f"PanelGrader of {_GRADERS}"

# Names apart by blanks, and what does the same here.
_TABLE: tuple[tuple[str, str], ...] = (
    # rubric
    ("CountFn", "nothing; LengthPenalty counts words"),
    ("PenaltyType", "counts of LengthPenalty, which is ALL, OUTPUT_ONLY or THINKING_ONLY"),
    ("ToGradeInput", "ToGrade of rubricweb.engine.submission"),
    # autorubric: rubrics and reports
    ("CriterionOption", "Option of rubricweb.engine"),
    ("CANONICAL_NA_OPTION", "Option(label=…, na=True) of rubricweb.engine"),
    ("ScaleType", "scale_type of Criterion, which is ordinal or nominal"),
    ("CriterionType classify_criteria classify_criterion", "kind of Criterion"),
    (
        "CriterionJudgment MultiChoiceJudgment MultiChoiceVerdict AggregatedMultiChoiceVerdict "
        "RubricJudgment RubricCriterionJudgment EnsembleCriterionReport EnsembleEvaluationReport "
        "GenerateResult",
        "EvaluationReport and CriterionReport of rubricweb.engine",
    ),
    ("JudgeVote MultiChoiceJudgeVote", "Vote of rubricweb.engine.report"),
    # autorubric: graders and models
    (
        "LLMConfig LLMClient LLMCalls generate",
        f"a generate_fn that asks your model, for an autograder of {_GRADERS}",
    ),
    (
        "ThinkingConfig ThinkingLevel ThinkingLevelLiteral ThinkingParam",
        "reasoning_effort of the default generate functions, or a generate_fn of your own",
    ),
    ("CriterionGrader", f"PerCriterionGrader of {_GRADERS}, and PanelGrader for several judges"),
    ("Grader", f"Autograder of {_GRADERS}"),
    ("JudgeSpec", f"Member of {_GRADERS}"),
    ("AggregationStrategy OrdinalAggregation NominalAggregation", f"rule of {_PANEL}"),
    ("CannotAssessConfig CannotAssessStrategy", "abstention of an autograder"),
    ("FewShotConfig", f"draw_examples of {_GRADERS}"),
    ("FewShotExample", f"Example of {_GRADERS}"),
    ("EscalationConfig", f"Stage and {_CASCADE}"),
    (
        "EscalationCurve EscalationPoint calibrate_escalation escalation_stats replay_escalation",
        f"{_CASCADE}, whose reports say what went on to which stage",
    ),
    # autorubric: evaluation
    ("EvalRunner EvalConfig", "evaluate of rubricweb.engine, which takes the settings"),
    ("ExperimentManifest", "nothing; evaluate of rubricweb.engine goes on by content"),
    ("TokenUsage", "Usage of rubricweb.judges.evaluation"),
    (
        "aggregate_token_usage aggregate_completion_cost aggregate_evaluation_usage",
        "total_token_usage and total_completion_cost of EvalResult",
    ),
    ("ErrorCategory classify_grading_error", "kind of GradingError, in errors of a report"),
    ("fill_ground_truth DecisionModelConfig", "nothing; people give ground truth, in queues of the app"),
    (
        "improve_rubric ImprovementConfig ImprovementResult ImprovementRunner IssueDetail IterationResult "
        "evaluate_rubric_in_context evaluate_rubric_standalone get_in_context_meta_rubric "
        "get_standalone_meta_rubric",
        "lint of rubricweb.engine.lint, and meta_review of rubricweb.engine.meta_review",
    ),
    # autorubric: figures
    (
        "compute_metrics MetricsResult CriterionMetrics CriterionMetricsUnion BinaryCriterionMetrics "
        "JudgeMetrics PooledScaleMetrics ConfusionMatrix CannotAssessMode CannotAssessStats CoverageStats "
        "extract_verdicts_from_report extract_all_verdicts_from_report filter_cannot_assess "
        "resolve_ground_truth",
        f"compare_labels of {_AGREEMENT}, which counts what abstained and is missing",
    ),
    (
        "OrdinalCriterionMetrics NominalCriterionMetrics OptionMetrics NAMode NAStats filter_na_multi_choice "
        "is_na_option get_option_value",
        f"compare_options of {_AGREEMENT}",
    ),
    ("BootstrapResult BootstrapResults ConfidenceInterval", f"low and high of a Figure of {_AGREEMENT}"),
    ("CorrelationResult", f"pearson, spearman and kendall of {_AGREEMENT}"),
    ("BiasResult systematic_bias", f"effect_bias of {_AGREEMENT}"),
    (
        "DistributionResult EMDResult KSTestResult earth_movers_distance ks_test score_distribution "
        "wasserstein_distance",
        f"nothing alike; compare_scores of {_AGREEMENT} compares two columns of scores",
    ),
    ("verdict_to_binary verdict_to_string", "outcome_of and value_of of rubricweb.engine.scoring"),
    # prompt-eval-rubric
    ("WeightedRubric", f"WeightedRubric of {_CHECKS}"),
    ("AllRubric", f"AllRubric of {_CHECKS}"),
    ("RubricReport", f"RubricReport of {_CHECKS}"),
    ("threshold_rubric", f"threshold_rubric of {_CHECKS}"),
    (
        "ContainsKeywords MatchesRegex JsonSchema LengthBetween NoForbiddenPhrases",
        f"the same name of {_CHECKS}",
    ),
    # verifiers
    (
        "RubricGroup JudgeRubric MathRubric Parser XMLParser ThinkParser MaybeThinkParser RolloutScore "
        "Messages Info State RewardFunc GroupRewardFunc",
        f"the same name of {_REWARDS}",
    ),
    (
        "Environment SingleTurnEnv MultiTurnEnv ToolEnv SandboxEnv PythonEnv MultiTurnMonitorRubric "
        "load_environment",
        f"nothing; rollouts are made elsewhere, and scored by {_REWARDS}",
    ),
)

FORMER_NAMES: dict[str, str] = {name: there for names, there in _TABLE for name in names.split()}
"""By name: what does the same here."""

FORMER_ARGUMENTS: dict[str, str] = {
    "length_penalty": "it belongs to the rubric: Rubric(criteria, length_penalty=LengthPenalty(…))",
    "grader": "call it autograder",
    "reference_submission": "call it reference",
    "judge_model_config": "pass a generate_fn that asks your model",
    "llm_config": "pass a generate_fn that asks your model",
    "judges": f"{_PANEL} takes several judges as Member",
    "escalation": f"{_CASCADE} takes Stage by Stage",
    "training_data": f"pass examples, which draw_examples of {_GRADERS} draws",
    "few_shot_config": f"pass examples, which draw_examples of {_GRADERS} draws",
    "cannot_assess_config": "pass abstention: skip, zero, partial or fail",
    "shuffle_options": "pass option_seed, a number",
    "seed": "pass option_seed, a number",
    "progress_style": "pass show_progress, True or False",
    "config": "pass its settings one by one",
}
"""By argument: what it is here."""


def refuse_name(module: str, name: str) -> NoReturn:
    """For a module's ``__getattr__``: raise AttributeError, or ImportError that says where the thing is here.

    ``from module import name`` would replace the words of an AttributeError by its own.
    """
    there = FORMER_NAMES.get(name)
    if there is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    raise ImportError(f"{module} has no {name}; here it is: {there}", name=module)


def refuse_arguments(function: str, given: Mapping[str, object]) -> None:
    """Raise TypeError for keywords that a function does not have, with what they are here."""
    for name in given:
        hint = FORMER_ARGUMENTS.get(name)
        raise TypeError(
            f"{function}() got an unexpected keyword argument {name!r}" + (f"; {hint}" if hint else "")
        )
