"""Every criterion gets a uid, which stays the same from version to version, and a meaning.

Without ids there is only the text: a criterion is the one of the version before that asks the same, else the one
of the same name, unless that is a default name (C1, C2, …). Only criteria that ask the same share a meaning.
"""

import re
import secrets
from collections.abc import Callable, Iterable
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

TEXTS = ("requirement", "guidance", "met_example", "unmet_example", "scale_type")
Entry = dict[str, Any]


def identify(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rubrics: Any = apps.get_model("rubricweb", "Rubric").objects
    for rubric in rubrics.order_by("pk").iterator(chunk_size=100):
        newest = _identify_versions(apps, rubric)
        _identify_draft(rubric, newest)


def _identify_versions(apps: Apps, rubric: Any) -> list[Entry]:
    """Uids and meanings for every version's criteria; those of the newest as plain data."""
    criteria: Any = apps.get_model("rubricweb", "Criterion").objects
    meanings: Any = apps.get_model("rubricweb", "Meaning").objects
    meaning_of: dict[tuple[str, str], int] = {}
    earlier: list[Entry] = []
    for version in rubric.versions.order_by("number"):
        rows = list(criteria.filter(version=version).order_by("position"))
        entries = [_plain(row) for row in rows]
        for row, entry, uid in zip(rows, entries, _uids(entries, earlier), strict=True):
            row.uid = entry["id"] = uid
            key = (uid, repr((_asks(entry), _spaced(version.guidelines))))
            if key not in meaning_of:
                meaning_of[key] = meanings.create(rubric=rubric, uid=uid).pk
            row.meaning_id = meaning_of[key]
        criteria.bulk_update(rows, ["uid", "meaning"], batch_size=500)
        earlier = entries
    return earlier


def _identify_draft(rubric: Any, newest: list[Entry]) -> None:
    """The uids of the newest version for the draft's criteria that are the same; new ones have none yet."""
    entries = rubric.draft.get("criteria") if isinstance(rubric.draft, dict) else None
    if not newest or not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        return
    for entry, uid in zip(entries, _matched(entries, newest), strict=True):
        if uid is not None:
            entry["id"] = uid
    rubric.save(update_fields=["draft"])


def _uids(entries: list[Entry], earlier: list[Entry]) -> Iterable[str]:
    return (uid or f"uid-{secrets.token_hex(8)}" for uid in _matched(entries, earlier))


def _matched(entries: list[Entry], earlier: list[Entry]) -> list[str | None]:
    found: list[str | None] = [None for _ in entries]
    free = list(earlier)
    keys: tuple[Callable[[Entry], Any], ...] = (_asks, _given_name)
    for key in keys:
        for place, entry in enumerate(entries):
            wanted = key(entry)
            partner = next((one for one in free if key(one) == wanted), None) if wanted else None
            if found[place] is None and partner is not None:
                found[place] = partner["id"]
                free.remove(partner)
    return found


def _plain(row: Any) -> Entry:
    return {
        **{field: getattr(row, field) for field in (*TEXTS, "name", "options", "params")},
        "check": row.check_name,
    }


def _asks(entry: Entry) -> tuple[Any, ...]:
    options = [one for one in entry.get("options") or [] if isinstance(one, dict)]
    return (
        *(_spaced(entry.get(field) or "") for field in TEXTS),
        tuple((_spaced(one.get("label") or ""), bool(one.get("na"))) for one in options),
        entry.get("check") or "",
        entry.get("params") or {},
    )


def _given_name(entry: Entry) -> str:
    name = str(entry.get("name") or "").strip().casefold()
    return "" if re.fullmatch(r"c\d+", name) else name


def _spaced(text: Any) -> str:
    return " ".join(str(text).split())


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0023_criterion_uids")]

    operations = [migrations.RunPython(identify, migrations.RunPython.noop)]
