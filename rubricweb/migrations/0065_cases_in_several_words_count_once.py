from django.db import migrations
from django.db.models import Count


def forget_means_that_counted_a_case_twice(apps, schema_editor):
    """A case that a run has answers to in several words counted once for each of them.

    The summaries of such runs are taken away, and summed up anew by the next worker. Running it again is fine.
    """
    alias = schema_editor.connection.alias
    rows = apps.get_model("rubricweb", "RunItem").objects.using(alias).filter(item__wording__gt=1)
    cases = rows.values("run", "item__case").distinct()
    several = (
        apps.get_model("rubricweb", "RunItem")
        .objects.using(alias)
        .filter(item__case__in=cases.values("item__case"), run__in=cases.values("run"))
        .values("run", "item__case")
        .annotate(words=Count("item__wording", distinct=True))
        .filter(words__gt=1)
    )
    summaries = apps.get_model("rubricweb", "RunSummary").objects.using(alias)
    summaries.filter(run__in=several.values("run")).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0064_previews_histories_and_names_of_members"),
    ]

    operations = [
        migrations.RunPython(forget_means_that_counted_a_case_twice, migrations.RunPython.noop),
    ]
