"""How often the interval of every figure the product shows holds the truth: `python -m benchmarks.coverage`.

Takes about an hour of one processor. `--repetitions 100` is a quick look; `--only seat` runs the
families whose names hold those words, or the one called so; `--cells` prints every cell.
"""

import argparse
import sys

from benchmarks.coverage.grid import Found, covered, every_world, held


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--only", default="")
    parser.add_argument("--cells", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found: list[Found] = []
    family = ""
    every = sorted(every_world(), key=lambda world: world.family)
    called = [world for world in every if world.family == asked.only]
    for world in called or [world for world in every if asked.only in world.family]:
        if family and world.family != family:
            tell([one for one in found if one.family == family], cells=asked.cells)
        family = world.family
        found += covered(world, asked.repetitions, seed=asked.seed)
    tell([one for one in found if one.family == family], cells=asked.cells)
    broken = list(held(found))
    print("\n".join(broken) or "Every figure keeps the promise.")
    return 1 if broken else 0


def tell(found: list[Found], *, cells: bool) -> None:
    """One line per figure of a family."""
    if not found:
        return
    print(f"\n{found[0].family}")
    heads = f"{'mean':>6} {'least, n ≥ 30':>14} {'least, n 20':>12} {'width, n 30':>12}   least in"
    print(f"  {'figure':<26} {heads}")
    for figure in dict.fromkeys(one.figure for one in found):
        some = [one for one in found if one.figure == figure and one.judged]
        if not some:
            print(f"  {figure:<26} shown too seldom to be measured")
            continue
        mean = sum(one.coverage for one in some) / len(some)
        big = min((one for one in some if one.n >= 30), key=lambda one: one.coverage)
        small = min((one for one in some if one.n < 30), key=lambda one: one.coverage, default=None)
        wide = [one.width for one in some if one.n == 30]
        drift = max((abs(one.drift) for one in some if one.drift is not None), default=None)
        print(
            f"  {figure:<26} {mean:>6.1%} {big.coverage:>14.1%} "
            f"{'' if small is None else f'{small.coverage:.1%}':>12} "
            f"{sum(wide) / max(1, len(wide)):>12.3f}   {big.name}"
            + ("" if drift is None else f"; mean off by at most {drift:.3f}"),
            flush=True,
        )
        if cells:
            for one in sorted(some, key=lambda one: one.coverage):
                print(f"      {one.coverage:6.1%} of {one.shown:5d}  width {one.width:.3f}  {one.name}")


if __name__ == "__main__":
    sys.exit(main())
