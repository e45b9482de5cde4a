"""Venn-Abers calibration beside the package venn-abers: `build/arena/bin/python -m benchmarks.venn_abers`.

A fit of a thousand rows takes a fourth of a millisecond.
"""

import json
import platform
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from importlib.util import find_spec

import numpy as np

from benchmarks.measure import Row, faster
from benchmarks.tables import RESULTS, markdown
from calibrant import VennAbersCalibrator

#: Rows of which a fit is over at once.
FEW = 1_000


def venn_abers() -> Iterator[Row]:
    """Fits, and fits with the answers for as many new rows, which are compared first."""
    from venn_abers import VennAbers

    for n in (FEW, 10_000, 100_000):
        random = np.random.default_rng(0)
        margin = random.normal(size=n)
        y = (random.random(n) < 1 / (1 + np.exp(-2 * margin))).astype(int)
        pairs, new = (np.stack([1 - p, p], axis=1) for p in (1 / (1 + np.exp(-margin)), random.random(n)))

        def mine(pairs=pairs, y=y):
            return VennAbersCalibrator().fit(pairs[:, 1], y)

        def theirs(pairs=pairs, y=y):
            peer = VennAbers()
            peer.fit(pairs, y)
            return peer

        np.testing.assert_allclose(
            mine().predict_interval(new[:, 1]), theirs().predict_proba(new)[1], rtol=0, atol=1e-12
        )
        # What takes less than a millisecond is timed by many calls, as `timeit` does it: a single one, after
        # the collection of garbage, waits for the processor's caches longer than it works.
        calls = max(100_000 // n, 1)
        repeats = 7

        def often(work, calls=calls):
            return lambda: [work() for _ in range(calls)]

        def answered(new=new, mine=mine):
            return mine().predict_proba(new[:, 1])

        def answered_by_them(new=new, theirs=theirs):
            return theirs().predict_proba(new)

        pairs_of = (("fit", mine, theirs), ("fit and answers", answered, answered_by_them))
        how = {"goal": ">= 10", "clock": time.process_time}
        for what, ours, other in pairs_of:
            case = f"Venn-Abers {what}, n = {n:,}" + (f", {calls} times" if calls > 1 else "")
            yield faster(case, "venn-abers", often(ours), often(other), repeats=repeats, **how)
        if n == FEW:
            case = f"Venn-Abers fit, n = {n:,}, one after a pause"
            yield faster(case, "venn-abers", mine, theirs, repeats=200, clock=time.process_time)


def main() -> int:
    """Measure, and keep the table."""
    if find_spec("venn_abers") is None:
        print("the Venn-Abers benchmark needs the package venn-abers; run: make arena", file=sys.stderr)
        return 0
    rows = []
    for row in venn_abers():
        rows.append(row)
        print(f"{row.case:<55} {row.ratio:8.2f}  goal {row.goal:<6} {row.holds}", flush=True)
    made_by = {
        "command": "build/arena/bin/python -m benchmarks.venn_abers",
        "python": platform.python_version(),
        **{package: version(package) for package in ("venn-abers", "numpy", "scipy", "scikit-learn")},
    }
    content = {"made_by": made_by, "rows": [asdict(row) | {"holds": row.holds} for row in rows]}
    (RESULTS / "venn_abers.json").write_text(json.dumps(content, indent=1) + "\n")
    (RESULTS / "venn_abers.md").write_text(markdown(["venn_abers"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
