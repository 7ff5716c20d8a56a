"""The scores of a holistic run's items, as an export hands them out."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

from rubricweb.engine.formats.scores.item_scores import ItemScore
from rubricweb.models import Judgement, Run, RunItem
from rubricweb.selectors.datasets.versions import file_keys
from rubricweb.selectors.exports.exports import BODIES, CHUNK, case_columns


def item_scores(
    run: Run,
    *,
    withheld: Collection[int] = (),
    unnamed: Mapping[int, str] | None = None,
    judge_version: str | None = None,
) -> Iterator[ItemScore]:
    """One row per graded item of the run, in dataset order; none of items `withheld`, by id.

    Items `unnamed` have this id in place of their own, and nothing that tells who answered. `judge_version`
    graded the run.
    """
    unnamed = unnamed or {}
    keys = {**file_keys(run.dataset), **unnamed}
    checks: dict[int, dict[str, float | None]] = defaultdict(dict)
    failed: dict[int, list[str]] = defaultdict(list)
    for judgement in (
        Judgement.objects.filter(run=run).select_related("criterion").order_by("criterion__position")
    ):
        checks[judgement.item_id][judgement.criterion.name] = judgement.value
        if judgement.error_kind:
            why = f"{judgement.criterion.name}: {judgement.error_kind}: {judgement.error_message}"
            failed[judgement.item_id].append(why)
    rows = (
        RunItem.objects.filter(run=run, graded_at__isnull=False)
        .select_related("item__case", "item__system_version__system")
        .defer(*BODIES)
        .order_by("item__position", "item_id")
    )
    for row in rows.iterator(chunk_size=CHUNK):
        if row.item_id in withheld:
            continue
        own = [f"{row.error_kind}: {row.error_message}"] if row.error_kind else []
        yield ItemScore(
            item_id=keys.get(row.item_id, row.item.key),
            rater=run.judge.name,
            score=row.score,
            raw_score=row.raw_score,
            llm_raw_score=row.llm_raw_score,
            coverage=row.coverage,
            passed=row.passed,
            length_penalty=row.length_penalty,
            reason=row.reason,
            error="; ".join([*own, *failed[row.item_id]]) or None,
            checks=checks[row.item_id],
            run=str(run),
            recorded_at=row.graded_at.isoformat() if row.graded_at else None,
            **({} if row.item_id in unnamed else case_columns(row.item)),
            judge_version=judge_version,
        )
