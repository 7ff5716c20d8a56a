"""Refusals that come at random, told from those of a limit.

A limit refuses what is sent after it was met, one request after the other. An endpoint that refuses at random
refuses one here and one there, whatever the pace: strays. Evidence of a limit is summed up in the order of
sending (E. S. Page, Continuous inspection schemes, Biometrika 41, 1954): a refusal adds ln(LIMIT / noise),
any other fate takes away ln((1 - noise) / (1 - LIMIT)), and the sum is never below 0. At noise 0.1 that is
+1.61 and -0.59.
"""

from __future__ import annotations

import math
from bisect import insort

LIMIT = 0.5
"""The share of requests that a limit refuses, at least, once it was met."""
PACED_LIMIT = 0.25
"""The same at a pace: at a rate that is a little too high it refuses a little more than noise does."""
LEEWAY = 1.25
"""Noise is taken for so many times what was measured: it is measured on few requests, and comes and goes."""
LEAST_NOISE, MOST_NOISE = 0.005, 0.35
OPEN_EVIDENCE = 7.0
"""Five in a row at noise 0.08, two once a few hundred came without. Noise alone comes so far about once in
e^7 = 1,100 requests at worst, mostly far more rarely; the ledger doubts it then."""
PACED_EVIDENCE = 5.0
"""Where a limit is known, taking noise for it costs a part of the rate for a while. At noise 0.05 and
PACED_LIMIT four in a row: 4 × 1.39."""
UNSETTLED = 100
"""A refusal is not called a stray before so many more were sent: those next to it may still be refused."""
APART = 20
"""Refusals so far before those of a limit have nothing to do with it."""
NUMBERS_KEPT = 400


def weights(noise: float, limit: float = LIMIT) -> tuple[float, float]:
    """What a refusal adds to the evidence of a limit, and what any other fate takes away.

    `noise` is the share (0-1) of requests refused at random. 0.08 gives (1.61, 0.59).
    """
    noise = min(max(LEEWAY * noise, LEAST_NOISE), MOST_NOISE)
    limit = min(limit, LIMIT)
    return math.log(limit / noise), math.log((1 - noise) / (1 - limit))


def likely(strays: float, sent: float) -> float:
    """The share (0-1) of requests refused at random, from so many strays among so many requests.

    Two of twenty are counted beside them: none of none is 0.1, none of 400 is 0.0048.
    """
    return (strays + 2) / (sent + 20)


class Strays:
    """The refusals of one process at an endpoint that is asked freely, by the number of the request.

    A request that is still out counts as not refused: a refusal comes sooner than an answer, and of a limit
    there are soon enough in a row. So only refusals cost time.
    """

    def __init__(self) -> None:
        self._run: list[int] = []  # the refusals that are evidence now
        self._first = 0
        self._strays = 0.0
        self._told = 0

    def told(self) -> int:
        """How many refusals turned out to be strays since this was asked last."""
        told, self._told = self._told, 0
        return told

    def begin(self) -> int:
        """Start anew, but for what is known of noise; how many refusals were still evidence."""
        pending = len(self._run)
        self._run.clear()
        return pending

    def refused(self, number: int) -> int:
        """The request of this number got a 429; how many refusals make up a limit now, 0 for none.

        Numbers count the requests sent. After ten of them, none refused at random, noise is taken for
        1.25 × 2 / 30 = 0.083, a refusal adds 1.79, and four in a row are a limit.
        """
        insort(self._run, number)
        settled = number - UNSETTLED
        if settled - self._first > NUMBERS_KEPT:
            self._first, self._strays = (self._first + settled) // 2, self._strays / 2
        apart = sum(one < number - APART for one in self._run)
        up, down = weights(likely(self._strays + apart, max(0, number - self._first)))
        evidence, before, start = 0.0, self._run[0], 0
        for place, one in enumerate(self._run):
            evidence -= down * (one - before - 1)
            if evidence <= 0:
                evidence, start = 0.0, place
            evidence, before = evidence + up, one
            if evidence >= OPEN_EVIDENCE:
                apart = sum(other < self._run[start] - APART for other in self._run[:start])
                self._told += apart if apart > 1 else 0
                self._strays += place + 1  # should it be asked freely again, it was no limit
                self._run.clear()
                return place + 1 - start
        strays = sum(one < settled for one in self._run[:start])
        self._strays += strays
        self._told += strays
        del self._run[:strays]
        return 0
