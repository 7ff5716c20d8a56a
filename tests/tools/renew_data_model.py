"""Lists the tables as they are now: `python -m tests.tools.renew_data_model`, after a migration.

Renews the list in docs/data-model.md, which a test compares with the models.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data-model.md"
HEADING = """# The tables

The atom is a `Judgement`: one answer on one criterion of one item by one rater. In brackets are the
foreign keys, but for those that say who made a row; *several* are many-to-many, and a field has its name
where it is not that of its table. `python -m tests.tools.renew_data_model` writes this page.

"""


def tables() -> str:
    """A line for each table of ours: its name, the first line of its docstring, what it refers to."""
    from django.apps import apps

    lines = []
    for model in sorted(apps.get_app_config("rubricweb").get_models(), key=lambda model: model.__name__):
        about = (model.__doc__ or "").strip().splitlines()[0] if model.__doc__ else ""
        about = "" if about.startswith(model.__name__ + "(") else about
        links = ", ".join(_links(model))
        lines.append(f"- **{model.__name__}**{links and f' ({links})'}: {about}")
    return "\n".join(lines) + "\n"


def _links(model: type) -> Iterator[str]:
    for field in model._meta.get_fields():  # type: ignore[attr-defined]  # a model class
        if field.auto_created or not (field.many_to_one or field.one_to_one or field.many_to_many):
            continue
        if field.related_model.__name__ == "User" and field.name != "user":
            continue  # who made or decided it: on nearly every table
        name = field.related_model.__name__
        if field.many_to_many:
            yield f"several {name}"
        elif re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower().endswith(field.name):
            yield name
        else:
            yield f"{name} (`{field.name}`)"


def renewed() -> str:
    return f"{HEADING}{tables()}"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    PAGE.write_text(renewed())


if __name__ == "__main__":
    main()
