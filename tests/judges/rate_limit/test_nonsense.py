"""What an endpoint says of its limits, or of what it used, may be nonsense: a run goes on all the same."""

import pytest

from rubricweb.judges.rate_limit.bucket import LONGEST_TURN_SECONDS, settle
from rubricweb.judges.rate_limit.headers import Allowance, Window
from rubricweb.judges.rate_limit.knobs import Knobs
from rubricweb.judges.rate_limit.record import ProcessReport, Record

YEARS = 999_999_999.0


def next_turn_seconds(record, now=1000.0, **said):
    """When the next turn comes after such a report."""
    for _ in range(2):  # the second waits behind the turn that the first was given
        lease = settle(record, ProcessReport("w", wanted=1, wanted_tokens=100.0, **said), now, Knobs())
    return lease.turns[-1]


@pytest.mark.parametrize("limit", [1.0, 2000.0])
def test_a_window_that_ends_in_thirty_years_is_looked_at_again_today(limit):
    never = Window(limit, 0.0, YEARS)
    assert next_turn_seconds(Record(), allowance=Allowance(never, never)) <= 2 * LONGEST_TURN_SECONDS


@pytest.mark.parametrize("reset", [0.0, 1e-9, None])
def test_a_window_that_ends_at_once_or_nobody_knows_when_keeps_nobody_for_long(reset):
    full = Window(300.0, 0.0, reset)
    # A minute where nobody knows, and 100 tokens at 98.5 % of 300 a minute: 60.05 + 20.30 s.
    assert next_turn_seconds(Record(), allowance=Allowance(full, full)) <= 80.4


def test_an_answer_of_two_thousand_million_tokens_keeps_nobody_for_days():
    seconds = next_turn_seconds(Record(), extra_tokens=2.0**32, tokens_per_minute=1000.0)
    # Each of the two reports says so: the wait is bounded at every one.
    assert LONGEST_TURN_SECONDS <= seconds <= LONGEST_TURN_SECONDS + 7
