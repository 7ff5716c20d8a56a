"""The tails of the t, χ² and binomial distributions that the tests of two runs need."""

from __future__ import annotations

import math
from functools import lru_cache

_PRECISION = 1e-15
_TINY = 1e-300
_STEPS = 10_000


def t_two_sided(t: float, df: float) -> float:
    """P(|T| ≥ |t|) of Student's t with `df` > 0 degrees of freedom, in [0, 1].

    I_x(df/2, 1/2) at x = df / (df + t²), the regularised incomplete beta function (Abramowitz & Stegun 26.7.1
    and 26.5.2). t = 1, df = 1 gives 0.5.
    """
    return _incomplete_beta(df / 2, 0.5, df / (df + t * t))


@lru_cache(maxsize=10_000)
def t_quantile(p: float, df: float) -> float:
    """The value that Student's t with `df` > 0 degrees of freedom stays below with probability `p` in ½ … 1.

    By bisection on the tail. 0.975 with df = 1 gives 12.7062, with df = 28 gives 2.0484.
    """
    tail = 2 * (1 - p)
    low, high = 0.0, 1.0
    while t_two_sided(high, df) > tail:
        low, high = high, 2 * high
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_two_sided(middle, df) > tail else (low, middle)
    return (low + high) / 2


def chi_square_tail(statistic: float, df: int) -> float:
    """P(X ≥ statistic) of χ² with `df` ≥ 1 degrees of freedom, in [0, 1].

    Q(df/2, statistic/2), the regularised upper incomplete gamma function (Abramowitz & Stegun 26.4.19).
    2·ln 2 = 1.3863 with df = 2 gives 0.5.
    """
    if statistic <= 0:
        return 1.0
    return _upper_gamma(df / 2, statistic / 2)


def normal_two_sided(z: float) -> float:
    """P(|Z| ≥ |z|) of the standard normal distribution, in [0, 1]. 1.96 gives 0.05."""
    return math.erfc(abs(z) / math.sqrt(2))


def fair_coin_two_sided(heads: int, tosses: int) -> float:
    """Two-sided exact binomial p of `heads` in `tosses` of a fair coin: twice the smaller tail, at most 1.

    1 of 5: 2·(1 + 5) / 32 = 0.375. No tosses give 1: the only thing that could have happened.
    """
    fewer = min(heads, tosses - heads)
    tail = sum(math.comb(tosses, count) for count in range(fewer + 1))
    return min(1.0, 2 * tail / (1 << tosses))


def _incomplete_beta(a: float, b: float, x: float) -> float:
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    log_front = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    # The fraction converges fast only below the mean of the distribution; above it, use the other tail.
    if x > (a + 1) / (a + b + 2):
        return 1 - math.exp(log_front) * _beta_fraction(b, a, 1 - x) / b
    return math.exp(log_front) * _beta_fraction(a, b, x) / a


def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of Abramowitz & Stegun 26.5.8, by Lentz's method."""
    above, below = 1.0, _safe(1 - (a + b) * x / (a + 1))
    below = 1 / below
    fraction = below
    for step in range(1, _STEPS):
        even = step * (b - step) * x / ((a + 2 * step - 1) * (a + 2 * step))
        odd = -(a + step) * (a + b + step) * x / ((a + 2 * step) * (a + 2 * step + 1))
        for term in (even, odd):
            below = 1 / _safe(1 + term * below)
            above = _safe(1 + term / above)
            fraction *= above * below
        if abs(above * below - 1) < _PRECISION:
            break
    return fraction


def _upper_gamma(a: float, x: float) -> float:
    log_front = a * math.log(x) - x - math.lgamma(a)
    if x < a + 1:
        term = total = 1 / a
        for step in range(1, _STEPS):
            term *= x / (a + step)
            total += term
            if term < total * _PRECISION:
                break
        return max(0.0, 1 - total * math.exp(log_front))
    base = x + 1 - a
    above, below = 1 / _TINY, 1 / base
    fraction = below
    for step in range(1, _STEPS):
        term = -step * (step - a)
        base += 2
        below = 1 / _safe(term * below + base)
        above = _safe(base + term / above)
        fraction *= above * below
        if abs(above * below - 1) < _PRECISION:
            break
    return math.exp(log_front) * fraction


def _safe(value: float) -> float:
    return value if abs(value) > _TINY else _TINY
