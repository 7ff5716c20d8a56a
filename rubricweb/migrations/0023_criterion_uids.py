"""A uid and a meaning for every criterion; the next migration fills them."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0022_machines_among_earlier_raters"),
    ]

    operations = [
        migrations.AddField(
            model_name="criterion",
            name="uid",
            field=models.CharField(blank=True, max_length=120),
        ),
        migrations.CreateModel(
            name="Meaning",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                ("uid", models.CharField(max_length=120)),
                (
                    "rubric",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="meanings",
                        to="rubricweb.rubric",
                    ),
                ),
            ],
            options={
                "ordering": ["rubric_id", "pk"],
            },
        ),
        migrations.AddField(
            model_name="criterion",
            name="meaning",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="criteria",
                to="rubricweb.meaning",
            ),
        ),
        migrations.AddConstraint(
            model_name="criterion",
            constraint=models.UniqueConstraint(
                condition=models.Q(("uid", ""), _negated=True),
                fields=("version", "uid"),
                name="criterion_uid_unique",
            ),
        ),
    ]
