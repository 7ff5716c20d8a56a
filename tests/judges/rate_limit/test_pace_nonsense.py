"""What an endpoint says of its limits, or of what it used, may be nonsense: a run goes on all the same."""

import pytest

from rubricweb.judges.rate_limit.grants import LONGEST_TURN_SECONDS
from rubricweb.judges.rate_limit.headers import Allowance, Window
from rubricweb.judges.rate_limit.ledger import settle
from rubricweb.judges.rate_limit.record import Record, Report

YEARS = 999_999_999.0


def next_turn_seconds(record, now=1000.0, **said):
    """When the next turn comes after such a report."""
    settle(record, Report("w", wanted=1, wanted_tokens=100.0, **said), now)
    # The one after it waits behind the turn that was just given away.
    return settle(record, Report("w", wanted=1, wanted_tokens=100.0, **said), now).turns[-1]


@pytest.mark.parametrize("limit", [1.0, 2000.0])
def test_a_window_that_ends_in_thirty_years_is_looked_at_again_today(limit):
    never = Window(limit, 0.0, YEARS)
    assert next_turn_seconds(Record(), allowance=Allowance(never, never)) <= LONGEST_TURN_SECONDS


def test_an_answer_of_two_thousand_million_tokens_keeps_nobody_for_days():
    seconds = next_turn_seconds(Record(), extra_tokens=2.0**32, tokens_per_minute=1000.0)
    # The next request waits for what was used, the one after it for the 100 tokens of the next: 100 of
    # (0.985 × 1000) a minute are 6.1 s.
    assert LONGEST_TURN_SECONDS <= seconds <= LONGEST_TURN_SECONDS + 7
