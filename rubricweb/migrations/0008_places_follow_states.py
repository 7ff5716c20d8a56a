"""What the rows of earlier reviews and queues could not promise before they were brought up to date."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0007_places_of_earlier_queues")]
    operations = [
        migrations.RemoveField(model_name="reviewqueue", name="was_blind"),
        migrations.AddConstraint(
            model_name="review",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("state", "draft"),
                    models.Q(("holds_place", True), ("state", "submitted")),
                    models.Q(("holds_place", False), ("state", "skipped")),
                    _connector="OR",
                ),
                name="review_place_follows_state",
            ),
        ),
    ]
