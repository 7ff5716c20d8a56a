"""Every item answers a case, once for each attempt of a system version."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0029_cases_of_earlier_items")]

    operations = [
        migrations.AlterField(
            "item",
            "case",
            models.ForeignKey(
                on_delete=django.db.models.deletion.CASCADE, related_name="items", to="rubricweb.case"
            ),
        ),
        migrations.AlterField(
            "item",
            "system_version",
            models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="items",
                to="rubricweb.systemversion",
            ),
        ),
        migrations.AddConstraint(
            "item",
            models.UniqueConstraint(
                fields=("case", "wording", "system_version", "attempt"), name="item_answer_once"
            ),
        ),
        migrations.AddIndex(
            "item", models.Index(fields=["dataset", "system_version", "position"], name="item_of_system")
        ),
    ]
