"""`python -m tests.tools.keep_rows COMMIT FILE`: rows as an earlier commit stores them, to be migrated.

The commit is checked out beside this one; its own services make two rubrics, their versions, labels,
decisions and runs in a new SQLite database. FILE gets the rows, table by table, and what Compare said of
them.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# What runs and people leave behind that no figure stands on.
LEFT_OUT = {"JudgeCall", "RunEvent", "PeriodicTask", "Worker", "SharedCache", "IdempotencyKey"}

CRITERIA = [
    {"name": "capital", "weight": 10, "requirement": "Names Paris as the capital."},
    {"name": "concise", "weight": 5, "requirement": "Is at most two sentences long."},
    {"name": "wrong", "weight": -15, "requirement": "Places Paris outside France."},
    {
        "name": "tone",
        "weight": 4,
        "requirement": "How friendly is it?",
        "options": [{"label": "rude", "value": 0}, {"label": "warm", "value": 1}],
    },
]
# Reworded under its name; concise moved to the end and renamed.
SECOND = [
    {**CRITERIA[0], "requirement": "Says that Paris is it."},
    *CRITERIA[2:],
    {**CRITERIA[1], "name": "short"},
]
# The words of the first version come back, and tone has another option.
THIRD = [
    CRITERIA[0],
    *SECOND[1:2],
    {**CRITERIA[3], "options": [{"label": "cold", "value": 0}, {"label": "warm", "value": 1}]},
]
OTHER = [{"name": "polite", "weight": 1, "requirement": "Is polite."}]
ITEMS = [{"id": f"i{number}", "submission": f"Reply {number}: " + "so " * number} for number in range(6)]


def build() -> None:
    """Rubric A in three versions, B in one; labels by A1, A2 and B1, two decisions, a run with each."""
    from rubricweb.engine.formats.label_files import LabelChoices
    from rubricweb.services import adjudications, label_files
    from rubricweb.services.rubrics import rubrics
    from tests import factories
    from tests.judging import LabelJudge, grade

    people = factories.cast()
    dataset = factories.dataset(people.team, people.ed, items=ITEMS)
    versions = [factories.version(people.team, people.ed, title="A", criteria=CRITERIA)]
    rubric = versions[0].rubric
    assert rubric is not None
    for criteria in (SECOND, THIRD):
        rubric.refresh_from_db()
        rubrics.save_draft(rubric, draft={"title": "A", "criteria": criteria}, revision=rubric.draft_revision)
        versions.append(rubrics.publish(rubric, by=people.ed))
    versions.append(factories.version(people.team, people.ed, title="B", criteria=OTHER))
    for place, raters in ((0, ("x", "y", "z")), (1, ("x", "y")), (3, ("x", "y"))):
        lines = ["item_id,criterion,rater,verdict"]
        for number, item in enumerate(ITEMS):
            for row in versions[place].criteria.order_by("position"):
                for seat, rater in enumerate(raters):
                    is_met = (number + seat * (row.position + 1)) % 3 > 0
                    verdict = ("UNMET", "MET") if row.kind == "binary" else ("rude", "warm")
                    lines.append(f"{item['id']},{row.name},{rater},{verdict[is_met]}")
        label_files.import_label_file(
            dataset,
            versions[place],
            by=people.ed,
            data="\n".join(lines).encode(),
            filename="labels.csv",
            queue_name=str(versions[place]),
            choices=LabelChoices(rater_kind="human"),
        )
    for place, name, key in ((0, "capital", "i1"), (1, "short", "i2")):
        adjudications.adjudicate(
            dataset.items.get(key=key),
            versions[place].criteria.get(name=name),
            by=people.rae,
            verdict="UNMET",
            cause="judge_wrong",
            reason="It does not.",
        )
    for version in versions:
        run = factories.run(
            people.team, people.ed, dataset=dataset, rubric_version=version, name=str(version)
        )

        def answer(judge: str, text: str, response: str) -> str:
            return "warm" if "friendly" in text else ("MET" if len(response + text) % 3 else "UNMET")

        grade(run, LabelJudge(answer))


def figures() -> dict[str, Any]:
    """What Compare says of every run beside every queue, as `run | queue`; floats to twelve digits."""
    from rubricweb.models import ReviewQueue, Run, User
    from rubricweb.selectors.comparison.comparison import compare

    viewer = User.objects.get(username="bob")
    found: dict[str, Any] = {}
    for run in Run.objects.order_by("pk"):
        for queue in ReviewQueue.objects.order_by("pk"):
            told = compare(run, [queue], viewer=viewer, resamples=50)
            found[f"{run} | {queue.name}"] = {
                "units": told.units,
                "elsewhere": told.on_other_versions,
                "adjudicated": told.adjudicated,
                "criteria": {row.criterion.name: row.units for row in told.criteria if row.units},
                "figures": [
                    None if value is None else round(value, 12)
                    for figure in (told.overall.accuracy, told.overall.kappa, told.bias, told.human_alpha)
                    for value in (figure.value, figure.low, figure.high, figure.n)
                ],
            }
    return found


def kept_rows() -> dict[str, Any]:
    """Every row of the app's tables: model → columns and rows."""
    from django.apps import apps
    from django.core.serializers.json import DjangoJSONEncoder

    found: dict[str, Any] = {}
    for model in apps.get_app_config("rubricweb").get_models(include_auto_created=True):
        if model.__name__ in LEFT_OUT:
            continue
        fields = model._meta.concrete_fields
        columns = [field.attname for field in fields]
        rows = [
            # As it is stored: snapshots are read as objects.
            [
                None if one.attname == "call_id" else one.get_prep_value(value)
                for one, value in zip(fields, row, strict=True)
            ]
            for row in model._default_manager.order_by("pk").values_list(*columns)
        ]
        if rows:
            found[model.__name__] = {"columns": columns, "rows": rows}
    return json.loads(json.dumps(found, cls=DjangoJSONEncoder))  # type: ignore[no-any-return]  # an object


def main(commit: str, file: str) -> None:
    folder = Path(tempfile.mkdtemp(prefix="rubricweb-rows-"))
    checkout = folder / "code"
    try:
        subprocess.run(["git", "worktree", "add", "--detach", checkout, commit], cwd=ROOT, check=True)
        shutil.copy(__file__, checkout / "tests" / "tools" / "keep_rows.py")
        env = {
            **os.environ,
            "PYTHONPATH": str(checkout),
            "DJANGO_SETTINGS_MODULE": "tests.settings",
            "DATABASE_URL": f"sqlite:///{folder}/rows.sqlite3",
        }
        command = [sys.executable, "-m", "tests.tools.keep_rows", "--here", str(Path(file).resolve())]
        subprocess.run(command, cwd=checkout, env=env, check=True)
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", checkout], cwd=ROOT, check=False)
        shutil.rmtree(folder, ignore_errors=True)


def here(file: str) -> None:
    import django
    from django.core.management import call_command
    from django.db.migrations.recorder import MigrationRecorder

    django.setup()
    call_command("migrate", verbosity=0)
    build()
    newest = MigrationRecorder.Migration.objects.filter(app="rubricweb").order_by("name").last()
    assert newest is not None
    kept = {"migration": newest.name, "figures": figures(), "rows": kept_rows()}
    Path(file).write_text(json.dumps(kept, separators=(",", ":"), ensure_ascii=False) + "\n")


if __name__ == "__main__":
    if sys.argv[1] == "--here":
        here(sys.argv[2])
    else:
        main(sys.argv[1], sys.argv[2])
