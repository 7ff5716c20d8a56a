from django.db import migrations, models
from django.db.models import Exists, OuterRef


def date_halves(apps, schema_editor):
    """A draw marked every case that had an answer in the version of the dataset then, and no half yet.

    What no draw can be told of was there from the first. Running it again is fine.
    """
    alias = schema_editor.connection.alias
    items = apps.get_model("rubricweb", "Item").objects.using(alias)
    absences = apps.get_model("rubricweb", "ItemAbsence").objects.using(alias)
    draws = apps.get_model("rubricweb", "CaseSplit").objects.using(alias).order_by("dataset_id", "number")
    undated = apps.get_model("rubricweb", "Case").objects.using(alias).filter(half_since=None)
    undated = undated.exclude(half="")
    for draw in draws:
        version = draw.dataset_version
        away = absences.filter(item=OuterRef("pk"), retired_in__lte=version, restored_in__gt=version)
        answers = items.filter(case=OuterRef("pk"), added_in__lte=version, retired_in__gt=version)
        there = Exists(answers.filter(~Exists(away)))
        undated.filter(there, dataset=draw.dataset_id).update(half_since=draw.created_at)
    for first in draws.filter(number=1):
        undated.filter(dataset=first.dataset_id).update(half_since=first.created_at)


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0059_raw_means_summed_up_anew"),
    ]

    operations = [
        migrations.AddField(
            model_name="case",
            name="half_since",
            field=models.DateTimeField(null=True),
        ),
        migrations.RunPython(date_halves, migrations.RunPython.noop),
    ]
