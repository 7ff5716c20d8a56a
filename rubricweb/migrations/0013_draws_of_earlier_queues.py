"""Samples drawn before draws were recorded are drawn again from what their queues say of them.

Where that gives other items than the queue holds (the run's verdicts changed since, say), nothing is recorded:
how those items were drawn cannot be told any more. Running it again is fine.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from random import Random
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Q, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

UNKNOWN = "–"


def record(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    queues: Any = apps.get_model("rubricweb", "ReviewQueue").objects
    draws: Any = apps.get_model("rubricweb", "Draw").objects
    stratum: Any = apps.get_model("rubricweb", "Stratum")
    for queue in queues.filter(imported=False, draws=None).exclude(source__kind="all").order_by("pk"):
        held = set(queue.queue_items.values_list("item_id", flat=True))
        for source in [queue.source, *queue.source.get("added", [])]:
            if source.get("kind") != "sample":
                continue
            found = drawn_again(apps, queue, source)
            if not found or not all(held.issuperset(drawn) for _, drawn, _ in found):
                continue
            size = None if source.get("search") or source.get("metadata") else source["of"]
            draw = draws.create(queue=queue, seed=source["seed"], dataset_size=size)
            stratum.objects.bulk_create(
                stratum(
                    draw=draw,
                    value=value,
                    size=len(drawn) + len(rest),
                    drawn=len(drawn),
                    items=[*drawn, *rest],
                )
                for value, drawn, rest in found
            )


def drawn_again(apps: Apps, queue: Any, source: dict[str, Any]) -> list[tuple[str, list[int], list[int]]]:
    """Each stratum with the ids drawn from it and the rest; nothing where the counts are not those of then."""
    if not 0 <= source.get("seed", -1) < 2**31 or "of" not in source or "size" not in source:
        return []
    population = narrowed(apps, queue, source)[: source["of"]]  # what came later stands behind
    strata = stratified(apps, queue, source, population)
    sizes = {value: len(ids) for value, ids in strata.items()}
    shares = allocated(sizes, source["size"])
    # A single stratum was not said.
    said = {one["value"]: (one["drawn"], one["of"]) for one in source.get("strata", ())}
    now = {value: (shares[value], sizes[value]) for value in strata}
    if (said or len(now) > 1) and said != now:
        return []
    if sum(sizes.values()) != source["of"] or sum(shares.values()) != source["size"]:
        return []
    chance = Random(source["seed"])  # noqa: S311  the draw of then
    found = []
    for value in sorted(strata):
        drawn = chance.sample(strata[value], shares[value])
        chosen = set(drawn)
        found.append((value, drawn, [pk for pk in strata[value] if pk not in chosen]))
    return found


def narrowed(apps: Apps, queue: Any, source: dict[str, Any]) -> list[int]:
    items: Any = apps.get_model("rubricweb", "Item").objects
    rows = items.filter(dataset=queue.dataset_id)
    if search := source.get("search"):
        rows = rows.filter(
            Q(key__icontains=search) | Q(description__icontains=search) | Q(submission__icontains=search)
        )
    if source.get("metadata"):
        key, _, value = (part.strip() for part in source["metadata"].partition("="))
        element = Q(text__startswith="[") & (
            Q(text__contains=json.dumps(value)) | Q(text__contains=json.dumps(value, ensure_ascii=False))
        )
        rows = rows.annotate(text=metadata_text(key)).filter(Q(text=value) | element)
    return list(rows.order_by("position").values_list("pk", flat=True))


def metadata_text(key: str) -> Cast:
    return Cast(KeyTextTransform(key, "metadata"), TextField())


def stratified(
    apps: Apps, queue: Any, source: dict[str, Any], population: Sequence[int]
) -> dict[str, list[int]]:
    items: Any = apps.get_model("rubricweb", "Item").objects
    judgements: Any = apps.get_model("rubricweb", "Judgement").objects
    if source.get("strata_metadata"):
        rows = items.filter(dataset=queue.dataset_id).annotate(text=metadata_text(source["strata_metadata"]))
        values = dict(rows.values_list("pk", "text"))
    elif source.get("strata_criterion"):
        rows = judgements.filter(
            run=source.get("run"),
            repeat=0,
            criterion__name=source["strata_criterion"],
            verdict__isnull=False,
        )
        values = dict(rows.values_list("item_id", "verdict"))
    else:
        return {"": list(population)}
    strata: dict[str, list[int]] = defaultdict(list)
    for pk in population:
        value = values.get(pk)
        strata[UNKNOWN if value is None else str(value)].append(pk)
    return dict(strata)


def allocated(sizes: dict[str, int], wanted: int) -> dict[str, int]:
    left, shares = wanted, {}
    ordered = sorted(sizes, key=lambda name: (sizes[name], name))
    for place, name in enumerate(ordered):
        shares[name] = min(sizes[name], left // (len(ordered) - place))
        left -= shares[name]
    return shares


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0012_draws")]
    operations = [migrations.RunPython(record, migrations.RunPython.noop)]
