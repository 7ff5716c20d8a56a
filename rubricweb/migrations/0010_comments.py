"""Who wants no notices by e-mail, and when sending one last failed."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0009_single_keys")]
    operations = [
        migrations.AddField(model_name="user", name="no_mail_since", field=models.DateTimeField(null=True)),
        migrations.AddField(
            model_name="notice", name="email_tried_at", field=models.DateTimeField(null=True)
        ),
    ]
