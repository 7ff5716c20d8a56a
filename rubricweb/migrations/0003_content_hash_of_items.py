"""Items stored before they were hashed get their hash; running it again changes nothing."""

import hashlib
import json
import unicodedata
from typing import Any

from django.db import migrations

BATCH_SIZE = 500


def hash_items(apps: Any, schema_editor: Any) -> None:
    items = apps.get_model("rubricweb", "Item").objects.using(schema_editor.connection.alias)
    waiting = items.filter(content_hash="").select_related("dataset").order_by("pk")
    last = 0
    while batch := list(waiting.filter(pk__gt=last)[:BATCH_SIZE]):
        for item in batch:
            prompt = item.prompt if item.prompt is not None else item.dataset.prompt
            said = json.dumps([plain(as_text(prompt)), plain(item.submission)])
            item.content_hash = hashlib.sha256(said.encode()).hexdigest()
        items.bulk_update(batch, ["content_hash"])
        last = batch[-1].pk


def as_text(prompt: Any) -> str:
    if not isinstance(prompt, list):
        return prompt or ""
    return "\n".join(f"{turn.get('role', 'unknown')}: {turn_text(turn.get('content'))}" for turn in prompt)


def turn_text(content: Any) -> str:
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False, default=str)


def plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0002_choices_checks_panels_and_splits")]

    operations = [migrations.RunPython(hash_items, migrations.RunPython.noop, elidable=True)]
