"""Tables handed out as CSV files."""

import csv
import io
from collections.abc import Iterable, Sequence

from django.http import HttpResponse

from rubricweb.engine.formats.formulas import neutralised


def csv_file(name: str, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> HttpResponse:
    """A file of this name: nothing for None, numbers as they are; a text that a spreadsheet would run is made
    harmless.
    """
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")
    table.writerow(columns)
    table.writerows([_cell(value) for value in row] for row in rows)
    response = HttpResponse(written.getvalue(), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _cell(value: object) -> object:
    if value is None:
        return ""
    return neutralised(value) if isinstance(value, str) else value
