"""`rubricweb export`: ground truth or verdicts, streamed to a file or to standard output."""

import argparse
from collections.abc import Iterable, Iterator
from pathlib import Path

from rubricweb import access
from rubricweb.errors import Invalid
from rubricweb.management.printed import print_file
from rubricweb.management.who import acting, note
from rubricweb.models import Role
from rubricweb.selectors import comparable, operators
from rubricweb.selectors.ground_truth import people_first
from rubricweb.services import exports


def run(options: argparse.Namespace) -> int:
    who = acting(options, Role.VIEWER)
    dataset = operators.dataset_called(who.team, options.dataset)
    judged = access.run_for(who.team, options.run) if options.run is not None else None
    queues = [operators.queue_called(who.team, name) for name in options.queue]
    if not queues and (judged is None or options.what == "ground_truth"):
        queues = list(comparable.labelled_queues(dataset.pk, team=who.team))
        queues = people_first(queues) if options.what == "ground_truth" else queues
    export = exports.export(
        who.team,
        viewer=who.user,
        what=options.what,
        format=options.format,
        dataset=dataset,
        queues=queues,
        run=judged,
    )
    if options.output is None:
        print_file(export.chunks)
    else:
        write(options.output, export.chunks)
    return 0


def write(path: Path, chunks: Iterable[str | bytes]) -> None:
    """Writes the whole file or none of it: a half-written one would look complete. Raises Invalid."""
    partial = path.with_name(f".{path.name}.part")
    try:
        with partial.open("wb") as file:
            file.writelines(_as_bytes(chunks))
        partial.replace(path)
    except OSError as error:
        raise Invalid(f"{path} cannot be written: {(error.strerror or str(error)).lower()}.") from error
    finally:
        partial.unlink(missing_ok=True)
    note(f"Wrote {path}")


def _as_bytes(chunks: Iterable[str | bytes]) -> Iterator[bytes]:
    return (chunk if isinstance(chunk, bytes) else chunk.encode() for chunk in chunks)
