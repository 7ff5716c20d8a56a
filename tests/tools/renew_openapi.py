"""Writes down the API as it is now: `python -m tests.tools.renew_openapi`, after a change that is meant.

Renews tests/data/openapi.json and the list of operations in docs/api.md. Read the difference before you
commit it: programs of other people rely on what it takes away.
"""

import json
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SNAPSHOT = ROOT / "tests" / "data" / "openapi.json"
DOCS = ROOT / "docs" / "api.md"
BEGIN, END = "<!-- operations: begin -->\n", "<!-- operations: end -->\n"


def description() -> dict[str, Any]:
    """The OpenAPI description as plain data."""
    from rubricweb.api.root import api

    plain: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
    return plain


def snapshot() -> str:
    return json.dumps(description(), indent=1, ensure_ascii=False, sort_keys=True) + "\n"


def operations() -> str:
    """Every operation by room: method and path below /api/v1, least role but viewer, what it does."""
    rooms: dict[str, list[str]] = {}
    for path, methods in description()["paths"].items():
        for method, operation in methods.items():
            role = "" if operation["x-role"] == "viewer" else f" ({operation['x-role']})"
            row = f"- `{method.upper()} {path.removeprefix('/api/v1')}`{role}: {operation['summary']}\n"
            rooms.setdefault(operation["tags"][0], []).append(row)
    return "\n".join(f"### {room.capitalize()}\n\n{''.join(rows)}" for room, rows in rooms.items())


def renewed(page: str) -> str:
    """The page with the list as it should be."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{operations()}\n{END}{after}"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    SNAPSHOT.parent.mkdir(exist_ok=True)
    SNAPSHOT.write_text(snapshot())
    DOCS.write_text(renewed(DOCS.read_text()))


if __name__ == "__main__":
    main()
