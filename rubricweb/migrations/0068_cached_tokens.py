from django.db import migrations, models


class Migration(migrations.Migration):
    """The tally of a run counts tokens that providers had in their caches, and what that saved; an endpoint
    says whether prompts are to be marked for the cache.
    """

    dependencies = [("rubricweb", "0067_dearest_calls")]

    operations = [
        migrations.AddField("judgeendpoint", "cache_marks", models.BooleanField(default=False)),
        migrations.AddField("runtally", "cached_prompt_tokens", models.PositiveBigIntegerField(default=0)),
        migrations.AddField("runtally", "cache_saved_usd", models.FloatField(default=0.0)),
    ]
