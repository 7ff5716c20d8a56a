"""Runs of an autograder over a dataset: what was asked, what is left to do, what it cost."""

from django.conf import settings
from django.db import models

from rubricweb.models.datasets import Dataset, Item
from rubricweb.models.rubrics import Criterion, RubricVersion
from rubricweb.models.teams import JudgeEndpoint, Team


class RunState(models.TextChoices):
    RUNNING = "running"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


class Run(models.Model):
    """One autograder with one judge over one dataset. Refers to frozen things only."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="runs")
    # Null when every item brings its own rubric.
    rubric_version = models.ForeignKey(
        RubricVersion, on_delete=models.PROTECT, null=True, related_name="runs"
    )
    name = models.CharField(max_length=200, blank=True)
    autograder = models.CharField(max_length=60)
    # JudgeConfig without its key: {name, base_url, model, temperature, …} as it was at the start.
    judge = models.JSONField()
    endpoint = models.ForeignKey(JudgeEndpoint, on_delete=models.SET_NULL, null=True, related_name="+")
    reply_format = models.CharField(max_length=20, default="json")
    normalize = models.BooleanField(default=True)
    abstention = models.CharField(max_length=20, default="skip")
    on_error = models.CharField(max_length=20, default="exclude")
    # Orders the options a judge is shown; null shows them as the rubric lists them.
    option_seed = models.PositiveBigIntegerField(null=True)
    # {members: [{judge, weight}], rule, repeats, …}; null is a single judge asked once.
    panel = models.JSONField(null=True)
    # {dataset_id, item_ids, seed, n}: labelled items the judge is shown; null shows none.
    few_shot = models.JSONField(null=True)
    state = models.CharField(max_length=20, choices=RunState.choices, default=RunState.RUNNING)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)
    # Why it ended before everything was graded, in a sentence.
    stop_reason = models.CharField(max_length=500, blank=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        constraints = [
            models.CheckConstraint(condition=models.Q(state__in=RunState.values), name="run_state_known"),
            models.CheckConstraint(
                condition=models.Q(state="running", finished_at__isnull=True)
                | (~models.Q(state="running") & models.Q(finished_at__isnull=False)),
                name="run_ended_has_a_time",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-created_at", "-id"], name="run_list_of_team"),
            # The sweeper asks for these every few seconds.
            models.Index(fields=["id"], name="run_still_running", condition=models.Q(state="running")),
        ]

    def __str__(self) -> str:
        return self.name or f"Run {self.pk}"


class RunItem(models.Model):
    """One item in one run: who is grading it now, and the score it got.

    `graded_at` is null while verdicts are missing: these rows are the queue. `score` is None when
    nothing could be judged; `coverage` is the share of the rubric's weight that really was.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="run_items")
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="run_items")
    rubric_version = models.ForeignKey(RubricVersion, on_delete=models.PROTECT, related_name="+")
    leased_by = models.CharField(max_length=100, blank=True)
    leased_until = models.DateTimeField(null=True)
    graded_at = models.DateTimeField(null=True)
    score = models.FloatField(null=True)
    raw_score = models.FloatField(null=True)
    llm_raw_score = models.FloatField(null=True)
    coverage = models.FloatField(null=True)
    # By the rubric's pass rule; null without a rule and without a score.
    passed = models.BooleanField(null=True)
    # What the submission's length took off the score.
    length_penalty = models.FloatField(default=0.0)
    errors = models.PositiveIntegerField(default=0)
    # Holistic grading answers once per item: its reason, or the error that took its place.
    reason = models.TextField(blank=True)
    error_kind = models.CharField(max_length=40, null=True)
    error_message = models.TextField(blank=True)

    class Meta:
        ordering = ["run_id", "item_id"]
        constraints = [models.UniqueConstraint(fields=["run", "item"], name="run_item_once")]
        indexes = [
            # What is left to do.
            models.Index(
                fields=["run", "id"], name="run_item_pending", condition=models.Q(graded_at__isnull=True)
            ),
            # Items worst first.
            models.Index(fields=["run", "score", "id"], name="run_item_by_score"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} in run {self.run_id}"


class JudgeCall(models.Model):
    """One call to a judge after its retries: the raw reply, tokens, cost and time."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="calls")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    model = models.CharField(max_length=200, blank=True)
    rung = models.CharField(max_length=30, blank=True)
    attempts = models.PositiveIntegerField(default=1)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    latency_seconds = models.FloatField(null=True)
    reply = models.TextField(blank=True)
    error_kind = models.CharField(max_length=40, null=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"call {self.pk} of run {self.run_id}"


class RunSummary(models.Model):
    """One small row per ended run for lists and dashboards; written by `services.runs.summarise`."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="summary")
    items = models.PositiveIntegerField()
    scored = models.PositiveIntegerField()
    score_mean = models.FloatField(null=True)
    score_low = models.FloatField(null=True)
    score_high = models.FloatField(null=True)
    coverage = models.FloatField(null=True)
    verdicts = models.PositiveIntegerField()
    errors = models.PositiveIntegerField()
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    # None when a call had no price: unknown is not free.
    cost_usd = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"summary of run {self.run_id}"


class RunCriterionSummary(models.Model):
    """Counts of one criterion in one ended run; only for runs whose items share a rubric version."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="criterion_summaries")
    criterion = models.ForeignKey(Criterion, on_delete=models.PROTECT, related_name="+")
    met = models.PositiveIntegerField()
    unmet = models.PositiveIntegerField()
    cannot_assess = models.PositiveIntegerField()
    errors = models.PositiveIntegerField()
    # Choices and checks: the mean of the values that were found, and a choice's answers by label.
    values_mean = models.FloatField(null=True)
    options = models.JSONField(default=dict)

    class Meta:
        ordering = ["run_id", "criterion__position"]
        constraints = [
            models.UniqueConstraint(fields=["run", "criterion"], name="run_criterion_summary_once")
        ]

    def __str__(self) -> str:
        return f"{self.criterion_id} in run {self.run_id}"
