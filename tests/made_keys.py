"""A team whose items and cases have keys that were made from their content, as of files without ids."""

import re

from rubricweb.models import Case, Item, JournalEntry, Team

MADE = re.compile(r"auto-[0-9a-f]{16}")


def make_keys(team: Team) -> None:
    """Gives all items and cases of the team such keys, and the lines of its journal what was written of them
    once.
    """
    for item in Item.objects.filter(dataset__team=team):
        item.key = f"auto-{item.pk:016x}"
        item.save(update_fields=["key"])
    for case in Case.objects.filter(dataset__team=team):
        case.key = f"auto-{case.pk:016x}"
        case.save(update_fields=["key"])
    for line in JournalEntry.objects.filter(team=team, target_kind="item"):
        line.target_label = f"auto-{line.target_id:016x}"
        line.save(update_fields=["target_label"])
    for line in JournalEntry.objects.filter(team=team, target_kind="review", detail__has_key="item"):
        line.detail["item"] = f"auto-{line.target_id:016x}"
        line.save(update_fields=["detail"])
