from django.db import migrations, models
from django.db.models import Exists, F, OuterRef, Q

AT_ONCE = 500


def mark_replaced(apps, schema_editor):
    """Runs that were extended after an answer was corrected count the wrong words beside the right ones.

    The wrong ones are marked, and the summaries of these runs taken away: the next worker sums up anew.
    Running it again is fine.
    """
    alias = schema_editor.connection.alias

    def rows_of(name):
        return apps.get_model("rubricweb", name).objects.using(alias)

    version = "run__dataset_version"
    absences = rows_of("ItemAbsence").filter(item=OuterRef("item"), retired_in__lte=OuterRef(version))
    away = Exists(absences.filter(restored_in__gt=OuterRef(version)))
    before = rows_of("RunItem").filter(Q(away) | Q(item__retired_in__lte=F(version)), replaced=False)
    # The answer that the run's version of the dataset held at the same place.
    same = {f"item__{name}": OuterRef(f"item__{name}") for name in ("wording", "system_version", "attempt")}
    corrected = Q(item__replaces=OuterRef("item")) | Q(item__replaces=OuterRef("item__replaces"))
    corrected |= Q(item=OuterRef("item__replaces"))
    instead = rows_of("RunItem").filter(run=OuterRef("run"), item__case=OuterRef("item__case"))
    instead = instead.filter(Q(**same) | corrected, ~Q(away), item__retired_in__gt=F(version))
    found = list(before.filter(Exists(instead)).order_by("pk").values_list("pk", "run_id"))
    for start in range(0, len(found), AT_ONCE):
        some = found[start : start + AT_ONCE]
        rows_of("RunItem").filter(pk__in=[pk for pk, _ in some]).update(replaced=True)
        for name in ("RunSummary", "RunCriterionSummary"):
            rows_of(name).filter(run__in={run for _, run in some}).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0060_when_cases_got_their_half"),
    ]

    operations = [
        migrations.AddField(
            model_name="runitem",
            name="replaced",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="runitem",
            index=models.Index(
                condition=models.Q(("replaced", True)), fields=["run", "item"], name="run_item_replaced"
            ),
        ),
        migrations.RunPython(mark_replaced, migrations.RunPython.noop),
    ]
