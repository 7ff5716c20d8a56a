from django.db import migrations

# As `selectors.reviews.calibration` had it at this migration.
MARK_DIFFERS = 1e-9


def pass_who_reach(apps, schema_editor):
    """Who was let on by a mark that was lowered or taken away after their round goes on when it is raised.

    Until now that was worked out whenever somebody looked, and not written down.
    """
    rounds = apps.get_model("rubricweb", "Calibration").objects.using(schema_editor.connection.alias)
    failed = rounds.filter(passed=False, total__gt=0)
    for pk, right, total, mark in list(failed.values_list("pk", "right", "total", "queue__pass_mark")):
        if mark is None or right / total >= mark - MARK_DIFFERS:
            failed.filter(pk=pk).update(passed=True)


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0051_cases_of_a_summary"),
    ]

    operations = [
        migrations.RunPython(pass_who_reach, migrations.RunPython.noop),
    ]
