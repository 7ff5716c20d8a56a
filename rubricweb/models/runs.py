"""Runs of an autograder over a dataset: what was asked, what is left to do, what it cost."""

# Long because every table of a run stands here, from its launch to its summary.

from collections.abc import Iterable

from django.conf import settings
from django.db import models

from rubricweb.engine.origin import Origin
from rubricweb.models.datasets import SEALS, Dataset, Item, SystemVersion
from rubricweb.models.judges import JudgeVersion
from rubricweb.models.rubrics import Criterion, RubricVersion
from rubricweb.models.snapshots import (
    FewShotSnapshot,
    JudgeSnapshot,
    PanelSnapshot,
    SnapshotField,
    asked_judges,
)
from rubricweb.models.teams import Archivable, JudgeEndpoint, Team


class RunState(models.TextChoices):
    RUNNING = "running"
    PAUSED = "paused"
    FINISHED = "finished"
    CANCELLED = "cancelled"
    FAILED = "failed"


FULLY_JUDGED = models.Q(graded_at__isnull=False, errors=0)
"""The condition on a RunItem to stand in a mean, ranking, histogram or pass rate: graded, and nothing failed.

An item with an error is left out of them until it is retried: what could be judged of it may be all it is
good at, and it would come out as the best. An abstention is no error.
"""

UNENDED = (RunState.RUNNING, RunState.PAUSED)
"""States in which a run still has something to do, now or once it is resumed."""


class RunMode(models.TextChoices):
    LIVE = "live"
    BATCH = "batch"


class Launch(models.Model):
    """Runs that were started together, one for each system version. Their budgets are equal parts of it."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    budget_usd = models.FloatField(null=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"launch {self.pk}"


class Run(Archivable):
    """One autograder with one judge over one dataset. Refers to frozen things only.

    Grades of a machine that came in a file are a run of that judge too: see `imported`.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="runs")
    dataset = models.ForeignKey(Dataset, on_delete=models.PROTECT, related_name="runs")
    # Of which version its items are; of an extended run the newest.
    dataset_version = models.PositiveIntegerField(default=1, db_default=1)
    # Whose answers it judges; null for those of no named system, and for runs from before there were systems.
    system_version = models.ForeignKey(
        SystemVersion, on_delete=models.PROTECT, null=True, related_name="runs"
    )
    # The half of the dataset it is over, dev or test; empty for all cases.
    half = models.CharField(max_length=4, blank=True, default="", db_default="")
    # Null for a run that was started alone.
    launch = models.ForeignKey(Launch, on_delete=models.SET_NULL, null=True, related_name="runs")
    # Null when every item brings its own rubric.
    rubric_version = models.ForeignKey(
        RubricVersion, on_delete=models.PROTECT, null=True, related_name="runs"
    )
    name = models.CharField(max_length=200, blank=True)
    autograder = models.CharField(max_length=60)
    # As it was at the start, without its key; what a panel, or nobody, is called.
    judge: "models.Field[JudgeSnapshot, JudgeSnapshot]" = SnapshotField(JudgeSnapshot)
    # Whose definition that is; null for grades that came in a file and for checks alone.
    judge_version = models.ForeignKey(JudgeVersion, on_delete=models.PROTECT, null=True, related_name="runs")
    endpoint = models.ForeignKey(JudgeEndpoint, on_delete=models.SET_NULL, null=True, related_name="+")
    reply_format = models.CharField(max_length=20, default="json")
    normalize = models.BooleanField(default=True)
    abstention = models.CharField(max_length=20, default="skip")
    on_error = models.CharField(max_length=20, default="exclude")
    # Orders the options a judge is shown; null shows them as the rubric lists them.
    option_seed = models.PositiveBigIntegerField(null=True)
    # Null is a single judge asked once; null few_shot shows it no labelled items.
    panel: "models.Field[PanelSnapshot | None, PanelSnapshot | None]" = SnapshotField(
        PanelSnapshot, null=True
    )
    few_shot: "models.Field[FewShotSnapshot | None, FewShotSnapshot | None]" = SnapshotField(
        FewShotSnapshot, null=True
    )
    # Live asks one by one; batch hands files to the provider, which answers within a day for less.
    mode = models.CharField(max_length=10, choices=RunMode.choices, default=RunMode.LIVE)
    # Whose grades these are where they came in a file: such a run asked nobody here. Null for all others.
    rater = models.ForeignKey("Rater", on_delete=models.PROTECT, null=True, related_name="imported_runs")
    # SHA-256 of the labels in the file, so that it becomes a run once; empty for all others.
    labels_digest = models.CharField(max_length=64, blank=True)
    # Whether answers to the very same question asked before are used again.
    use_cache = models.BooleanField(default=True)
    # What it may cost; null is no cap.
    budget_usd = models.FloatField(null=True)
    state = models.CharField(max_length=20, choices=RunState.choices, default=RunState.RUNNING)
    # Whether calls in flight may finish when it is paused or cancelled; else they are broken off.
    finish_in_flight = models.BooleanField(default=True)
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
            models.CheckConstraint(condition=models.Q(mode__in=RunMode.values), name="run_mode_known"),
            models.CheckConstraint(condition=models.Q(half__in=("", *SEALS)), name="run_half_known"),
            models.CheckConstraint(
                condition=models.Q(state__in=["running", "paused"], finished_at__isnull=True)
                | (~models.Q(state__in=["running", "paused"]) & models.Q(finished_at__isnull=False)),
                name="run_ended_has_a_time",
            ),
            # Nobody can be asked for more of what came in a file.
            models.CheckConstraint(
                condition=models.Q(rater__isnull=True) | models.Q(state="finished"),
                name="run_imported_is_finished",
            ),
            models.UniqueConstraint(
                fields=["dataset", "labels_digest"],
                condition=~models.Q(labels_digest=""),
                name="run_imported_once",
            ),
        ]
        indexes = [
            models.Index(fields=["team", "-created_at", "-id"], name="run_list_of_team"),
            # The reaper asks for these every few seconds.
            models.Index(fields=["id"], name="run_still_running", condition=models.Q(state="running")),
        ]

    def __str__(self) -> str:
        return self.name or f"Run {self.pk}"

    @property
    def system(self) -> str:
        """The system version whose answers it judges, as assistant@v4; "" without one."""
        return "" if self.system_version is None else str(self.system_version)

    @property
    def launched_with(self) -> "list[Run]":
        """It and the runs that were started with it, each over another system version, in that order."""
        if self.launch_id is None:
            return [self]
        together = Run.objects.filter(launch=self.launch_id).order_by("pk")
        return list(together.select_related("system_version__system"))

    @property
    def imported(self) -> bool:
        """Whether a machine's grades came in a file: never retried, extended, forecast or billed."""
        return self.rater_id is not None

    @property
    def origin(self) -> Origin | None:
        """Who gave its verdicts, as labels say it; None for a run that was graded here."""
        return Origin.MACHINE_IMPORTED if self.imported else None

    @property
    def shown_state(self) -> str:
        """What lists call its state: an imported run was never running."""
        return "imported" if self.imported else str(self.state)

    @property
    def asked_judges(self) -> tuple[JudgeSnapshot, ...]:
        """The judges that are really asked: a panel's members, a single one, nobody for checks alone."""
        return asked_judges(self.judge, self.panel)

    def repeats_of(self, judges: Iterable[str]) -> dict[str, int]:
        """How often each of the run's judges, by its name, is asked the same."""
        return self.panel.repeats_by_member if self.panel else dict.fromkeys(judges, 1)

    @property
    def votes_per_criterion(self) -> tuple[int, ...]:
        """How many answers each stage asks for per criterion: one without a panel."""
        return self.panel.votes_per_criterion if self.panel else (1,)


class RunItemManager(models.Manager["RunItem"]):
    def get_queryset(self) -> "models.QuerySet[RunItem]":
        return super().get_queryset().filter(replaced=False)


class RunItem(models.Model):
    """One item in one run: who is grading it now, and the score it got.

    `objects`, and a run's `run_items`, are the items that the run is over: all that is counted, asked and
    summed up. `every` has those as well that were `replaced`, with what was said of them. A condition of
    another table that reaches for rows asks for `replaced` itself; see `of_run` of judgements.

    `graded_at` is null while verdicts are missing: these rows are the queue. `score` is None when
    nothing could be judged; `coverage` is the share of the rubric's weight that really was. With `errors` the
    score is kept and shown, and enters no figure of the run: see FULLY_JUDGED.
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
    # Whether another answer stands in its place in this run: the item was corrected, and the run extended.
    replaced = models.BooleanField(default=False, db_default=False)

    objects = RunItemManager()
    every: "models.Manager[RunItem]" = models.Manager()

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
            # The few that were replaced.
            models.Index(fields=["run", "item"], name="run_item_replaced", condition=models.Q(replaced=True)),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} in run {self.run_id}"

    @property
    def fully_judged(self) -> bool:
        """What FULLY_JUDGED asks for."""
        return self.graded_at is not None and not self.errors


class JudgeCall(models.Model):
    """One call to a judge after its retries: the exact prompt, the raw reply, tokens, cost and time.

    An answer taken from an earlier call has that call in `cached_from`, and cost nothing. One that came in a
    try has no attempts, and none there.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="calls")
    item = models.ForeignKey(Item, on_delete=models.CASCADE, related_name="+")
    model = models.CharField(max_length=200, blank=True)
    rung = models.CharField(max_length=30, blank=True)
    attempts = models.PositiveIntegerField(default=1)
    prompt_tokens = models.PositiveIntegerField(null=True)
    completion_tokens = models.PositiveIntegerField(null=True)
    cost_usd = models.FloatField(null=True)
    # Of the prompt tokens, those the provider had in its own cache.
    cached_prompt_tokens = models.PositiveIntegerField(null=True)
    latency_seconds = models.FloatField(null=True)
    # Digest of all that decides the answer: prompt, schema, judge, sampling, repeat.
    content_key = models.UUIDField(null=True)
    cached_from = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, db_index=False, related_name="+"
    )
    # Whether the fallback model answered.
    fallback = models.BooleanField(default=False)
    # The request body as sent, zlib over JSON; null once it was pruned.
    request = models.BinaryField(null=True)
    reply = models.TextField(blank=True)
    # What the model thought before it answered, where it says so.
    reasoning = models.TextField(blank=True)
    error_kind = models.CharField(max_length=40, null=True)
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        indexes = [
            # Was this asked before?
            models.Index(
                fields=["content_key"],
                name="call_by_content",
                condition=models.Q(content_key__isnull=False, error_kind__isnull=True),
            ),
            # Who took this answer again? Asked when the call is removed.
            models.Index(
                fields=["cached_from"],
                name="call_cached_from",
                condition=models.Q(cached_from__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return f"call {self.pk} of run {self.run_id}"

    @property
    def is_known(self) -> bool:
        """Whether its answer came with an earlier call, or in a try, and nothing was sent."""
        return self.cached_from_id is not None or (self.attempts == 0 and self.error_kind is None)


class RunTally(models.Model):
    """What one worker process has asked for a run in one month, and what it holds right now.

    Counts are raised in the transaction that stores the calls, one row per worker, so they neither drift nor
    make workers wait for each other; they outlive calls that are pruned.
    """

    # A run that is deleted leaves what it cost.
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="tallies")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, db_index=False, related_name="+")
    worker = models.CharField(max_length=100)
    # The first day of the month, UTC.
    month = models.DateField()
    calls = models.PositiveBigIntegerField(default=0)
    cached = models.PositiveBigIntegerField(default=0)
    # Requests sent: a call and its retries.
    attempts = models.PositiveBigIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    # Of those the ones that providers had in their caches, and what they would have cost more otherwise.
    cached_prompt_tokens = models.PositiveBigIntegerField(default=0)
    cache_saved_usd = models.FloatField(default=0.0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    cost_usd = models.FloatField(default=0.0)
    # What the dearest of these calls cost, of those whose cost is known.
    dearest_usd = models.FloatField(default=0.0)
    # Calls whose cost is unknown: they reported no tokens, or their model has no price.
    unpriced = models.PositiveBigIntegerField(default=0)
    in_flight = models.PositiveIntegerField(default=0)
    # Set aside for calls in flight, so that workers together stay under a cap.
    reserved_usd = models.FloatField(default=0.0)
    # Calls handed over to be asked whose outcome is not stored yet, written before any of them is sent: how
    # many, how many of them by judges without a price, and what the others may cost at most.
    at_risk_calls = models.PositiveIntegerField(default=0)
    at_risk_unpriced = models.PositiveIntegerField(default=0)
    at_risk_usd = models.FloatField(default=0.0)
    # Calls with a price that were cut off and may have been paid for, and what they cost at most.
    lost_calls = models.PositiveBigIntegerField(default=0)
    lost_at_most_usd = models.FloatField(default=0.0)
    beat_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "worker", "month"], name="run_tally_once_per_worker")
        ]
        indexes = [
            # What the dead hold.
            models.Index(fields=["month", "run"], name="run_tally_by_month"),
            # What a team spent in a month.
            models.Index(fields=["team", "month"], name="run_tally_of_team"),
        ]

    def __str__(self) -> str:
        return f"{self.worker} in run {self.run_id}"


class RunEvent(models.Model):
    """A line of a run's log: what was decided, by whom or why. Equal lines in a row are one with a count."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    kind = models.CharField(max_length=40)
    message = models.CharField(max_length=500)
    count = models.PositiveIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)
    latest_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        # The newest lines of one run.
        indexes = [models.Index(fields=["run", "-id"], name="run_event_newest")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.message}"


class BatchJob(models.Model):
    """A file of questions handed to a provider's batch interface; its items are leased to it meanwhile."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="batches")
    judge = models.CharField(max_length=200)
    # Blank until the provider has taken it.
    provider_id = models.CharField(max_length=200, blank=True)
    input_file_id = models.CharField(max_length=200, blank=True)
    # In the provider's words: validating, in_progress, finalizing, completed, failed, expired, cancelled.
    state = models.CharField(max_length=40, blank=True)
    requests = models.PositiveIntegerField(default=0)
    # What its questions leave out, as EndpointCapabilities.dump has it; null until it is handed in, and where
    # that was before this was written down: of such a batch alone is read what its provider repeats.
    form = models.JSONField(null=True)
    # Why it could not be handed in or looked at. Once it is over: what the endpoint refused in it, as JSON.
    error_message = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    checked_at = models.DateTimeField(null=True)
    # When its answers were stored.
    stored_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["id"]
        # What the reaper asks the provider about.
        indexes = [
            models.Index(
                fields=["run", "id"], name="batch_waiting", condition=models.Q(stored_at__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"batch {self.provider_id or self.pk} of run {self.run_id}"


class RunSummary(models.Model):
    """One small row per ended run for lists and dashboards; written by `services.shared.run_summaries`."""

    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="summary")
    items = models.PositiveIntegerField()
    # Fully judged items with a score.
    scored = models.PositiveIntegerField()
    # The cases these answer, several answers to a case as one: what the mean is over.
    cases = models.PositiveIntegerField()
    # Whether the run has several answers to a case.
    repeats_cases = models.BooleanField()
    # Graded items without an error.
    fully_judged = models.PositiveIntegerField(default=0)
    score_mean = models.FloatField(null=True)
    score_low = models.FloatField(null=True)
    score_high = models.FloatField(null=True)
    # Of the scored items; null where nothing is, and in summaries that are to be written anew: those of
    # releases before it was kept.
    score_lowest = models.FloatField(null=True)
    # The share that the rubric's pass rule turns down; null without a rule.
    below_bar = models.FloatField(null=True)
    coverage = models.FloatField(null=True)
    verdicts = models.PositiveIntegerField()
    errors = models.PositiveIntegerField()
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    # None when a call had no price: unknown is not free.
    cost_usd = models.FloatField(null=True)
    # The mean of every group of criteria, as selectors.runs.group_means.as_stored writes it; null when summed
    # up before there were such means.
    groups = models.JSONField(null=True)
    # What calls that were cut off may have cost on top, at most.
    lost_at_most_usd = models.FloatField(default=0.0)

    def __str__(self) -> str:
        return f"summary of run {self.run_id}"


class RunCriterionSummary(models.Model):
    """Counts of one criterion in one ended run; only for runs whose items share a rubric version.

    Answers are those of fully judged items, errors those of all graded ones.
    """

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
