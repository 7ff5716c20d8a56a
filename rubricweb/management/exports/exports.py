"""`rubricweb export`: ground truth or verdicts, streamed to a file or to standard output."""

import argparse

from rubricweb import access
from rubricweb.management.terminal.named_files import write_file
from rubricweb.management.terminal.printed import print_file
from rubricweb.management.terminal.remarks import remark
from rubricweb.management.terminal.who import acting
from rubricweb.models import Role
from rubricweb.selectors.exports import exports as selected
from rubricweb.selectors.labels.ground_truth import people_first
from rubricweb.selectors.teams import lookup
from rubricweb.services import exports


def run(options: argparse.Namespace) -> int:
    who = acting(options, Role.VIEWER)
    dataset = lookup.dataset_called(who.team, options.dataset)
    judged = access.access_run(who.team, options.run) if options.run is not None else None
    queues = [lookup.queue_called(who.team, name) for name in options.queue]
    if not queues and (judged is None or options.what == "ground_truth"):
        queues = list(selected.labelled_queues(dataset))
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
        write_file(options.output, export.chunks)
    if export.withheld.keys:
        remark(export.withheld.why, f"Left out: {export.withheld.named}")
    return 0
