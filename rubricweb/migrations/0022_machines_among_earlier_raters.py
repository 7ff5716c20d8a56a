"""Raters of earlier imports are told apart where their names and labels tell; running it again is fine.

Readers gave machines names of their own: "inspect" and "promptfoo", "model …" for a prediction in a Label
Studio export, and the eval's name beside a rubric that asks one thing, whether the answer is correct. Only
raters nobody here is, and none of whose labels was given here, are looked at. Whether another rater of a file
was a person cannot be told from what is stored: the dataset's page lists them, to be changed there.
"""

from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count, Exists, OuterRef, Q

SETTLED = ("ground truth", "ground_truth")
NAMED_BY_READERS = Q(name__in=("inspect", "promptfoo")) | Q(name__startswith="model ")
CORRECT = {"name": "correct", "requirement": "The answer is correct."}


def tell_apart(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    raters: Any = apps.get_model("rubricweb", "Rater").objects
    reviews: Any = apps.get_model("rubricweb", "Review").objects
    queues: Any = apps.get_model("rubricweb", "ReviewQueue").objects
    criteria: Any = apps.get_model("rubricweb", "Criterion").objects
    given_here = reviews.filter(
        queue__imported=False,
        state="submitted",
        rater=OuterRef("rater"),
        item__dataset=OuterRef("queue__dataset__split_of"),
        item__key=OuterRef("item__key"),
    )
    # A half of a split holds copies: of what people labelled here, too.
    from_files = reviews.filter(queue__imported=True).exclude(Exists(given_here))
    reviews.filter(pk__in=from_files.values("pk")).update(imported=True)
    raters.filter(name__in=SETTLED, user=None).update(kind="settled")
    strangers = raters.filter(user=None, kind="human").filter(
        Exists(reviews.filter(rater=OuterRef("pk"))),
        ~Exists(reviews.filter(rater=OuterRef("pk"), imported=False)),
    )
    by_dataset_files = queues.filter(imported=True, name__startswith="Labels of ")
    machines = set(
        strangers.filter(NAMED_BY_READERS, queues__in=by_dataset_files).values_list("pk", flat=True)
    )
    only = criteria.order_by().values("version").annotate(n=Count("pk")).filter(n=1).values("version")
    evals = by_dataset_files.filter(
        dataset__rubric_version__in=criteria.filter(version__in=only, **CORRECT).values("version")
    ).annotate(n=Count("raters"))
    machines.update(strangers.filter(queues__in=evals.filter(n=1).values("pk")).values_list("pk", flat=True))
    raters.filter(pk__in=machines).update(kind="machine")


class Migration(migrations.Migration):
    dependencies = [("rubricweb", "0021_who_said_it")]

    operations = [migrations.RunPython(tell_apart, migrations.RunPython.noop)]
