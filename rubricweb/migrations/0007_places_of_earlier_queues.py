"""Queues opened before there were queue items get one for each item; running it again is fine."""

from datetime import timedelta
from random import SystemRandom
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count
from django.utils import timezone

BATCH = 2000
SHUFFLES = 2**31


def place(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    queues: Any = apps.get_model("rubricweb", "ReviewQueue").objects
    reviews: Any = apps.get_model("rubricweb", "Review").objects
    items: Any = apps.get_model("rubricweb", "Item").objects
    queue_item: Any = apps.get_model("rubricweb", "QueueItem")
    queues.filter(was_blind=False).update(blind="none")
    queues.filter(imported=False, source={}).update(source={"kind": "all"})
    reviews.filter(state="skipped").update(holds_place=False)
    drafts = reviews.filter(state="draft", held_until=None)
    drafts.update(held_until=timezone.now() + timedelta(minutes=30))
    chance = SystemRandom()
    for queue in queues.filter(imported=False, queue_items=None):
        held = reviews.filter(queue=queue, holds_place=True).order_by().values_list("item")
        taken = dict(held.annotate(n=Count("pk")))
        rows = (
            queue_item(
                queue=queue,
                item_id=pk,
                position=position,
                shuffle=chance.randrange(SHUFFLES),
                wanted=max(queue.raters_per_item, taken.get(pk, 0)),
                room=max(0, queue.raters_per_item - taken.get(pk, 0)),
            )
            for pk, position in items.filter(dataset=queue.dataset_id)
            .order_by("position")
            .values_list("pk", "position")
        )
        queue_item.objects.bulk_create(rows, batch_size=BATCH)


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0006_team_review")]
    operations = [migrations.RunPython(place, migrations.RunPython.noop)]
