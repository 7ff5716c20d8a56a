"""Draws the tables as they are now: `python -m tests.tools.renew_data_model`, after a migration.

Renews the picture in docs/data-model.md, which a test compares with the models.
"""

import os
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "data-model.md"
BEGIN, END = "<!-- picture: begin -->\n", "<!-- picture: end -->\n"
HEADING = """# The tables

The lines of the picture are foreign keys, but for those that say who made a row. The atom is a `Judgement`:
one answer on one criterion of one item by one rater. `python -m tests.tools.renew_data_model` draws
this page.

"""


def picture() -> str:
    """A Mermaid diagram of every table of ours and what it points to, then a line for each."""
    from django.apps import apps

    models = sorted(apps.get_app_config("rubricweb").get_models(), key=lambda model: model.__name__)
    lines = ["```mermaid", "erDiagram"]
    for model in models:
        lines += [f"  {line}" for line in _links(model)]
    lines += ["```", "", "| table | a row is |", "| --- | --- |"]
    for model in models:
        about = (model.__doc__ or "").strip().splitlines()[0] if model.__doc__ else ""
        lines.append(f"| {model.__name__} | {'' if about.startswith(model.__name__ + '(') else about} |")
    return "\n".join(lines) + "\n"


def _links(model: type) -> Iterator[str]:
    for field in model._meta.get_fields():  # type: ignore[attr-defined]  # a model class
        if field.auto_created or not (field.many_to_one or field.one_to_one or field.many_to_many):
            continue
        if field.related_model.__name__ == "User" and field.name != "user":
            continue  # who made or decided it: on nearly every table
        kind = "}o--o{" if field.many_to_many else "|o--||" if field.one_to_one else "}o--||"
        yield f"{model.__name__} {kind} {field.related_model.__name__} : {field.name}"


def renewed() -> str:
    return f"{HEADING}{BEGIN}{picture()}{END}"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    PAGE.write_text(renewed())


if __name__ == "__main__":
    main()
