"""What grading the demo asks a judge, and a judge who lets half of it wait until something is killed."""

from tests.waiting import PATIENCE_SECONDS

# The demo: 8 replies of each of four versions × 9 criteria, those of the newest once more with all criteria
# in one call, and 10 notes × 6 criteria, one of them a check that no judge is asked about.
CALLS = 4 * 8 * 9 + 8 + 10 * 5
VERDICTS = 5 * 8 * 9 + 10 * 6
PAID = "SELECT count(*) FROM rubricweb_judgecall WHERE cached_from_id IS NULL"

# Half are answered; what is asked then waits for the kill, however late a busy machine comes to it.
HALF = {
    "actions": [
        *[{"kind": "lexical", "delay_seconds": 0.1}] * (CALLS // 2),
        {"kind": "lexical", "delay_seconds": PATIENCE_SECONDS},
    ]
}
ALL = {"actions": [{"kind": "lexical"}]}
