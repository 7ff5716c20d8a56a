from django.db import migrations, models


class Migration(migrations.Migration):
    """A version keeps the ids, descriptions and sections of its file; there were none to keep before."""

    dependencies = [("rubricweb", "0071_versions_of_earlier_judges")]

    operations = [
        migrations.AddField("rubricversion", "metadata", models.JSONField(default=dict)),
    ]
