from django.db import migrations, models

BATCH = 500
MOVED = ("temperature", "top_p", "max_output_tokens", "reasoning_effort", "logprobs")


def _in_batches(apps, schema_editor, change, columns):
    """Changes every endpoint, BATCH of them at a time."""
    endpoints = apps.get_model("rubricweb", "JudgeEndpoint").objects.using(schema_editor.connection.alias)
    last = 0
    while rows := list(endpoints.filter(pk__gt=last).order_by("pk")[:BATCH]):
        for row in rows:
            change(row)
        endpoints.bulk_update(rows, columns)
        last = rows[-1].pk


def gather(apps, schema_editor):
    def change(row):
        row.sampling = {name: getattr(row, name) for name in MOVED}

    _in_batches(apps, schema_editor, change, ["sampling"])


def spread(apps, schema_editor):
    def change(row):
        for name in MOVED:
            setattr(row, name, row.sampling[name])

    _in_batches(apps, schema_editor, change, MOVED)


class Migration(migrations.Migration):
    """How an endpoint is asked to choose its words is one column, so that another option takes no migration.

    Back again, options that no column had are lost.
    """

    dependencies = [("rubricweb", "0068_cached_tokens")]

    operations = [
        migrations.AddField("judgeendpoint", "sampling", models.JSONField(default=dict)),
        migrations.RunPython(gather, spread),
        *(migrations.RemoveField("judgeendpoint", name) for name in MOVED),
    ]
