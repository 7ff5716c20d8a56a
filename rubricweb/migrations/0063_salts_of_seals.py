import hashlib
import hmac
from secrets import token_hex

from django.db import migrations, models, transaction
from django.db.models import Exists, OuterRef, Q


def salt_seals(apps, schema_editor):
    """Seals were digests that people who have the items could find the labels for, by trying.

    A seal becomes the HMAC of what it was, with a salt of its dataset: so the same items and labels prove it
    still. Dataset by dataset, each with its looks: running it again goes on where it ended.
    """
    alias = schema_editor.connection.alias
    datasets = apps.get_model("rubricweb", "Dataset").objects.using(alias)
    looks = apps.get_model("rubricweb", "HalfLook").objects.using(alias)
    draws = apps.get_model("rubricweb", "CaseSplit").objects.using(alias)
    has_halves = Exists(draws.filter(dataset=OuterRef("pk"))) | Exists(looks.filter(dataset=OuterRef("pk")))
    unsalted = datasets.filter(~Q(seal="") | Q(has_halves), seal_salt="").order_by("pk")
    for pk, seal in list(unsalted.values_list("pk", "seal")):
        salt = token_hex(16)
        with transaction.atomic(using=alias):
            for look_id, seal_then in list(looks.filter(dataset=pk).values_list("pk", "seal")):
                looks.filter(pk=look_id).update(seal=salted(seal_then, salt))
            datasets.filter(pk=pk).update(seal_salt=salt, seal=salted(seal, salt) if seal else "")


def salted(digest, salt):
    return hmac.new(salt.encode(), digest.encode(), hashlib.sha256).hexdigest()


class Migration(migrations.Migration):
    dependencies = [
        ("rubricweb", "0062_labels_found_by_item_and_criterion"),
    ]

    operations = [
        migrations.AddField(
            model_name="dataset",
            name="seal_salt",
            field=models.CharField(blank=True, db_default="", default="", max_length=64),
        ),
        migrations.RunPython(salt_seals, migrations.RunPython.noop),
    ]
