"""Do the promises of `calibrant.monitor` hold? `python -m benchmarks monitor`, or for less

    python -m benchmarks.monitor --streams 2000 --only "false alarms" --case "ten classes"

Forecasts are drawn, and truths from them; then they change. Every part is one row of the table or several.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import track

from benchmarks.measure import Row
from benchmarks.monitor_streams import Case, Known, Numbers, Panel, Source, sharpened, tilted
from benchmarks.tables import markdown
from calibrant.monitor import CalibrationMonitor, e_bh
from calibrant.monitor._bound import Ever, RunLength
from calibrant.monitor._detector import BLOCK
from calibrant.monitor._groups import Groups
from calibrant.monitor._windows import LabelledSums

GUIDE = Path(__file__).parent.parent / "docs" / "guide" / "monitoring.md"
BEGIN, END = "<!-- monitor: begin -->\n", "<!-- monitor: end -->\n"
ALPHA = 0.01
#: Streams, and rows of each, of the false alarms.
STREAMS, ROWS = 20_000, 10_000
#: The run length that is promised where it is measured, and where delays are.
MEASURED, PROMISED = 10_000.0, 1e6
#: Streams of the run length and of the delays; simulations of intervals and groups.
RUNS, DELAYS, SIMULATIONS = 2_000, 1_000, 2_000
#: Streams that have alarmed are let go when fewer than this share of all still run.
MOSTLY = 0.7
#: Rows before the change.
BEFORE = 4 * BLOCK
#: Numbers that are worked on at once.
AT_ONCE = 6_000_000

RARE = float(np.log(0.01 / 0.99))
TWO = (0.0, float(np.log(0.2 / 0.8)))
CALIBRATED = (
    Case("two classes, base rate 0.2", TWO),
    Case("a rare class of 1%", (0.0, RARE), spread=0.5),
    Case("forecasts near 0 and 1", TWO, spread=5.0),
    Case("dependent rows", TWO, dependent=True),
    Case("three classes", (0.5, 0.0, -0.5)),
    Case("ten classes", tuple(np.linspace(0.5, -0.5, 10))),
)
#: Changes, with the greatest delay that is aimed at beside CUSUM and beside Shiryaev-Roberts.
CHANGED = (
    (
        Case("log-odds up by 0.5, base rate 0.2", TWO, tilt=partial(tilted, label=1, factor=np.exp(0.5))),
        1.0,
        1.3,
    ),
    (Case("slope 0.7, base rate 0.2", TWO, tilt=partial(sharpened, slope=0.7)), 1.0, 1.3),
    (
        Case(
            "a rare class of 1% tripled",
            (0.0, RARE),
            0.5,
            tilt=partial(tilted, label=1, factor=3 * 0.99 / 0.97),
        ),
        None,
        1.6,
    ),
    (
        Case("one of ten classes doubled", (0.0,) * 10, tilt=partial(tilted, label=3, factor=2 * 0.9 / 0.8)),
        None,
        1.6,
    ),
)


def portions(case: Case, n_streams: int) -> list[int]:
    """Numbers of streams that are worked on at once."""
    size = max(1, AT_ONCE // (BLOCK * (8 * case.n_classes + 5)))
    return [min(size, n_streams - start) for start in range(0, n_streams, size)]


def shown(parts: list[int], name: str) -> Iterator[int]:
    """A bar on the terminal."""
    return iter(track(parts, name, console=Console(stderr=True)))


def false_alarms(n_streams: int, n_rows: int) -> Iterator[Row]:
    """Of how many calibrated streams one ever alarms."""
    for case in CALIBRATED:
        alarmed = 0
        for number, n in enumerate(shown(portions(case, n_streams), f"ever: {case.name}")):
            source, panel = Source(case, n, number), Panel(case.base_rates(), n, Ever(1 / ALPHA))
            crossed = np.zeros(n, dtype=bool)
            for start in range(0, n_rows, BLOCK):
                proba, truth, _ = source.block(changed=False)
                crossed |= panel.take(proba, truth)[: n_rows - start].max(axis=0) >= 1 / ALPHA
            alarmed += int(crossed.sum())
        share = alarmed / n_streams
        what = f"false alarms ever, {case.name}: {n_streams:,} streams of {n_rows:,} rows"
        yield Row(what, f"alpha = {ALPHA}", share, ALPHA, "", share / ALPHA, "<= 1")


def run_lengths(n_streams: int) -> Iterator[Row]:
    """The mean number of rows before calibrated streams alarm."""
    for case in CALIBRATED:
        lengths = []
        for number, n in enumerate(shown(portions(case, n_streams), f"run length: {case.name}")):
            source, panel = Source(case, n, 1000 + number), Panel(case.base_rates(), n, RunLength(MEASURED))
            length = np.zeros(n)
            running = np.arange(n)
            rows = 0
            while len(running):
                proba, truth, _ = source.block(changed=False)
                crossed = panel.take(proba, truth) >= MEASURED
                new = crossed.any(axis=0) & (length[running] == 0)
                length[running[new]] = rows + crossed.argmax(axis=0)[new] + 1
                rows += BLOCK
                left = length[running] == 0
                if left.mean() < MOSTLY:
                    running = running[left]
                    source.keep(left)
                    panel.keep(left)
            lengths.append(length)
        mean = float(np.concatenate(lengths).mean())
        what = f"rows before a false alarm, {case.name}: {n_streams:,} streams"
        yield Row(what, f"promised {MEASURED:,.0f}", mean, MEASURED, " rows", mean / MEASURED, ">= 1")


def delays(n_streams: int) -> Iterator[Row]:
    """How many rows after a change the alarm comes, beside procedures that know the change."""
    for case, aim_cusum, aim_roberts in CHANGED:
        found: list[list[Numbers]] = [[], [], []]
        assert case.tilt is not None
        for number, n in enumerate(shown(portions(case, n_streams), f"delay: {case.name}")):
            source, known = Source(case, n, 2000 + number), Known(n)
            panel = Panel(case.base_rates(), n, RunLength(PROMISED))
            delay = np.zeros((3, n))
            rows = 0
            while (delay == 0).any():
                proba, truth, _ = source.block(changed=rows >= BEFORE)
                paths = [panel.take(proba, truth), *known.take(proba, truth, case.tilt)]
                for each, path in zip(delay, paths, strict=True):
                    crossed = path >= PROMISED
                    new = crossed.any(axis=0) & (each == 0)
                    each[new] = rows + crossed.argmax(axis=0)[new] + 1 - BEFORE
                rows += BLOCK
            for some, each in zip(found, delay, strict=True):
                some.append(each)
        ours, cusum, roberts = (np.concatenate(some) for some in found)
        late = (ours > 0) & (cusum > 0) & (roberts > 0)  # the others were false alarms before
        means = [float(each[late].mean()) for each in (ours, cusum, roberts)]
        for peer, mean, aim in zip(
            ("CUSUM", "Shiryaev-Roberts"), means[1:], (aim_cusum, aim_roberts), strict=True
        ):
            what = f"rows until the alarm, {case.name}: {int(late.sum()):,} streams"
            goal = "" if aim is None else f"<= {aim}"
            yield Row(what, f"{peer} that knows it", means[0], mean, " rows", means[0] / mean, goal)


def coverage(n_simulations: int, n_rows: int = 2_000) -> Iterator[Row]:
    """How often the intervals of windows cover."""
    cases = (
        Case("two classes, right", TWO),
        Case("two classes, too sure", TWO, tilt=partial(sharpened, slope=0.7)),
        Case("ten classes, right", tuple(np.linspace(0.5, -0.5, 10))),
        Case("ten classes, too sure", tuple(np.linspace(0.5, -0.5, 10)), tilt=partial(sharpened, slope=0.7)),
    )
    for case in cases:
        truth = _window(case, 10**6, 0)
        covered: dict[str, list[bool]] = {}
        for seed in shown(list(range(1, n_simulations + 1)), f"intervals: {case.name}"):
            for name, each in _window(case, n_rows, seed).items():
                covered.setdefault(name.split(" ")[0], []).append(each.low <= truth[name] <= each.high)
        for name, some in covered.items():
            share = float(np.mean(some))
            what = f"intervals that cover, {name.replace('_', ' ')}, {case.name}: {n_rows:,} rows"
            yield Row(what, "0.95", share, 0.95, "", share / 0.95, ">= 0.98")


def _window(case: Case, n_rows: int, seed: int) -> dict[str, float]:
    """All estimates of a window."""
    sums = LabelledSums(case.n_classes, None)
    source = Source(case, -(-n_rows // BLOCK), 3000 + seed)
    proba, truth, _ = source.block(changed=True)
    proba, truth = proba.reshape(-1, case.n_classes)[:n_rows], truth.ravel()[:n_rows]
    place = np.column_stack([np.arange(n_rows), np.arange(n_rows)]).astype(float)
    sums.add(proba, truth, np.ones(n_rows), place)
    found = sums.estimates()
    several = {
        f"{name} {c}": each
        for name in ("frequency", "mean_forecast", "intercept")
        for c, each in enumerate(found[name])
    }
    return several | {name: found[name] for name in ("log_loss", "brier_score", "error_rate", "slope")}


def discoveries(n_simulations: int, n_groups: int = 200, n_off: int = 40, n_rows: int = 250) -> Iterator[Row]:
    """The share of groups that are wrongly said to be off."""
    alpha = 0.05
    for name, off in (("none off", 0), (f"{n_off} off by a shift of 0.7", n_off)):
        false, found = [], []
        for seed in shown(list(range(n_simulations)), f"groups: {name}"):
            random = np.random.default_rng([4000, seed])
            positive = 1 / (1 + np.exp(-random.normal(TWO[1], 1.0, (n_groups, n_rows))))
            proba = np.stack([1 - positive, positive], axis=-1)
            true = proba.copy()
            true[:off] = tilted(proba[:off], 1, np.exp(0.7))
            truth = (random.random((n_groups, n_rows)) < true[..., 1]).astype(np.intp)
            groups = Groups(["group"], np.array([0.8, 0.2]), n_groups)
            codes = np.repeat(np.arange(n_groups), n_rows)[:, np.newaxis]
            groups.add(proba.reshape(-1, 2), truth.ravel(), np.ones(len(codes)), codes)
            said = e_bh(groups.log_e_values(), alpha)
            false.append(said[off:].sum() / max(said.sum(), 1))
            found.append(said[:off].mean() if off else 0.0)
        rate, power = float(np.mean(false)), float(np.mean(found))
        what = f"false discoveries, {n_groups} groups of {n_rows} rows, {name} ({power:.0%} found)"
        yield Row(what, f"alpha = {alpha}", rate, alpha, "", rate / alpha, "<= 1")


def speed(n_rows: int = 100_000) -> Iterator[Row]:
    """Rows of ten classes per second of the processor; with OPENBLAS_NUM_THREADS=1 of one core."""
    source = Source(Case("ten classes", tuple(np.linspace(0.5, -0.5, 10)), 1.5), -(-n_rows // BLOCK), 5)
    proba, truth, _ = source.block(changed=False)
    proba, truth = proba.reshape(-1, 10)[:n_rows], truth.ravel()[:n_rows]
    groups = np.random.default_rng(0).integers(0, 1000, n_rows)
    logs = min(_seconds(lambda: np.log(proba).sum()) for _ in range(15))
    for name, options, more in (
        ("alarms and windows", {}, {}),
        ("and 1,000 groups", {}, {"group": groups}),
        ("and drift of scores", {"reference": proba[:20_000]}, {}),
    ):
        taken = []
        for _ in range(15):
            monitor = CalibrationMonitor(**options)
            taken.append(_seconds(lambda each=monitor, more=more: each.update(proba, truth, **more)))
        rate, best = n_rows / min(taken), min(taken)
        what = f"rows per second, ten classes, {name}"
        yield Row(what, "3e5", rate, 3e5, " rows/s", rate / 3e5, ">= 1" if not options and not more else "")
        yield Row(
            f"time of {n_rows:,} rows, ten classes, {name}",
            "np.log(proba).sum()",
            best,
            logs,
            "s",
            best / logs,
            "",
        )
        if more:
            size = len(monitor.to_json())
            yield Row("state with 1,000 groups of ten classes", "1 MB", size, 1e6, " B", size / 1e6, "<= 1")


def _seconds(work: object) -> float:
    start = time.process_time()
    work()  # type: ignore[operator]
    return time.process_time() - start


def parts(streams: int, rows: int, runs: int, simulations: int) -> dict[str, Iterator[Row]]:
    """Everything, by name."""
    return {
        "speed": speed(),
        "delay": delays(min(runs, DELAYS)),
        "false alarms": false_alarms(streams, rows),
        "run length": run_lengths(runs),
        "coverage": coverage(simulations),
        "groups": discoveries(simulations),
    }


def monitor() -> Iterator[Row]:
    """All of it, with the sizes that count."""
    for each in parts(STREAMS, ROWS, RUNS, SIMULATIONS).values():
        yield from each


def guide(text: str) -> str:
    """The guide with the table between its marks."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{markdown(['monitor'])}{END}{rest.split(END)[1]}"


def main() -> int:
    """Run some of it, and keep the rows beside those of the other parts."""
    from benchmarks.__main__ import keep_row

    parser = argparse.ArgumentParser(description="Do the promises of calibrant.monitor hold?")
    for name, size in (("streams", STREAMS), ("rows", ROWS), ("runs", RUNS), ("simulations", SIMULATIONS)):
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--only", action="append", help="a part; several times for several")
    parser.add_argument("--case", help="only calibrated streams whose name has this")
    given = parser.parse_args()
    if given.case:
        globals()["CALIBRATED"] = tuple(each for each in CALIBRATED if given.case in each.name)
    some = parts(given.streams, given.rows, given.runs, given.simulations)
    unknown = set(given.only or ()) - set(some)
    if unknown:
        print(f"no such part: {', '.join(unknown)}; there are: {', '.join(some)}", file=sys.stderr)
        return 2
    for name in given.only or some:
        sizes = " ".join(
            f"--{size} {getattr(given, size)}" for size in ("streams", "rows", "runs", "simulations")
        )
        for row in some[name]:
            print(f"{row.case:<100} {row.ratio:8.3f}  goal {row.goal or '-':<6} {row.holds}", flush=True)
            keep_row("monitor", row, f"python -m benchmarks.monitor {sizes} --only '{name}'")
    if GUIDE.exists():
        GUIDE.write_text(guide(GUIDE.read_text(encoding="utf-8")), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
