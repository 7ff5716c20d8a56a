"""`rubricweb export`: ground truth or verdicts, streamed to a file or to standard output."""

import argparse

from rubricweb import access
from rubricweb.management.terminal.actor import note, resolve_actor
from rubricweb.management.terminal.named_files import write_file
from rubricweb.management.terminal.printed import moment, print_file, table, terminal
from rubricweb.management.terminal.remarks import remark
from rubricweb.management.terminal.shapes import print_shape
from rubricweb.models import Dataset, Role, User
from rubricweb.selectors.exports.recorded import recorded_exports
from rubricweb.selectors.labels.comparable import labelled_queues
from rubricweb.selectors.labels.ground_truth import people_first
from rubricweb.selectors.runs.graders import PER_ITEM
from rubricweb.selectors.teams import lookup
from rubricweb.services import exports


def run(options: argparse.Namespace) -> int:
    actor = resolve_actor(options, Role.VIEWER)
    dataset = lookup.dataset_called(actor.team, options.dataset)
    if options.earlier:
        return _earlier(dataset, actor.user, as_json=options.json)
    judged = access.access_run(actor.team, options.run) if options.run is not None else None
    queues = [lookup.queue_called(actor.team, name) for name in options.queue]
    holistic = judged is not None and judged.autograder == PER_ITEM and options.format != "bundle"
    if not queues and not holistic:  # a holistic run has scores of items, which stand in a file of their own
        queues = list(labelled_queues(dataset.pk, team=dataset.team))
        queues = people_first(queues) if options.what == "ground_truth" else queues
    export = exports.export(
        actor.team,
        viewer=actor.user,
        what=options.what,
        format=options.format,
        dataset=dataset,
        queues=queues,
        run=judged,
        item_ids=lookup.items_called(dataset, options.item, viewer=actor.user) if options.item else None,
    )
    if options.output is None:
        print_file(export.chunks)
    else:
        write_file(options.output, export.chunks)
    if export.decisions:
        counted = ", ".join(f"{one.kind} {one.id}" for one in export.decisions)
        remark(f"Labels of earlier words count by {counted}.")
    if export.withheld.keys:
        remark(export.withheld.why, f"Left out: {export.withheld.named}")
    return 0


def _earlier(dataset: Dataset, viewer: User, *, as_json: bool) -> int:
    """The newest exports of the dataset, and which of them count labels by a decision that was replaced."""
    exports = recorded_exports(dataset, viewer=viewer)
    if as_json:
        from rubricweb.api.exports.schemas import RecordedExport as Shape

        for one in exports:
            print_shape(Shape, one)
        return 0
    if not exports:
        note("Nothing was exported of this dataset yet.")
        return 0
    rows = table(("when", "by", "what", "format", "version", "labels of earlier words"))
    for one in exports:
        lines = [
            f"{decision.name} ({decision.criterion or 'guidelines'}, v{decision.version})"
            + (", decided otherwise since" if decision.replaced_at else "")
            for decision in one.decisions
        ]
        version = str(one.dataset_version or "")
        rows.add_row(moment(one.at), one.by or "", one.what, one.format, version, "; ".join(lines))
    terminal().print(rows)
    return 0
