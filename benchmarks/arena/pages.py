"""The results as one small JSON file, as tables in Markdown, and as a figure."""

import json
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.arena.measures import MEASURES
from benchmarks.arena.standing import GROUPS, SIZE_GROUPS
from benchmarks.tables import RESULTS

PACKAGES = (*("numpy", "scipy", "scikit-learn", "torch", "probmetrics", "venn-abers", "betacal", "netcal"),)
#: Every full run adds a line: how often test rows were looked at.
LOOKS = RESULTS / "arena_looks.jsonl"


def write(found: dict[str, Any], command: str, folder: Path) -> None:
    """Keep results with what made them."""
    versions = {}
    for package in PACKAGES:
        try:
            versions[package] = version(package)
        except PackageNotFoundError:
            continue
    made_by = {"command": command, "python": platform.python_version(), **versions}
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "arena.json").write_text(_small({"made_by": made_by, **found}))
    (folder / "arena.md").write_text(markdown(found))
    draw(found["truths"], folder / "arena_truths.svg")


def _small(content: dict[str, Any]) -> str:
    """JSON with one line for every row of a table."""
    parts = []
    for key, value in content.items():
        if isinstance(value, list):
            rows = ",\n".join(f"  {json.dumps(row)}" for row in value)
            parts.append(f' "{key}": [\n{rows}\n ]')
        else:
            parts.append(f' "{key}": {json.dumps(value)}')
    return "{\n" + ",\n".join(parts) + "\n}\n"


def look(command: str, found: dict[str, Any], date: str) -> None:
    """Note that test rows were looked at."""
    line = {"date": date, "command": command, "sets": found["n_sets"], "methods": found["n_methods"]}
    with LOOKS.open("a") as file:
        file.write(json.dumps(line) + "\n")


def n_looks() -> int:
    """How often test rows were looked at."""
    return len(LOOKS.read_text().splitlines()) if LOOKS.exists() else 0


def markdown(found: dict[str, Any]) -> str:
    """Tables of the standings, by size, and of the distances to the truth; the best of a column in bold."""
    times = found["n_looks"]
    head = (
        f"{found['n_sets']} data sets, {found['n_learners']} base models, {found['n_cases']} sets of scores, "
        f"{found['n_methods']} methods; {found['n_failed']} fits failed. The test rows have been looked at "
        f"{times} time{'' if times == 1 else 's'}"
    )
    inner = "; this run did not: it measured on rows that were held out of the calibration parts"
    parts = [f"{head}{inner if found['inner'] else ''}.\n"]
    for group in GROUPS:
        rows = [row for row in found["standings"] if row["group"] == group]
        if rows:
            parts.append(f"**{group.capitalize()}, {max(row['n_sets'] for row in rows)} data sets.**\n")
            parts.append(_standings(rows))
    if found["bars"]:
        parts.append(
            "**What is asked of the default**: losses of the stack divided by those of the best peer, or of "
            "the best other method of ours, on the same scores.\n"
        )
        parts.append(_bars(found["bars"]))
    parts.append(
        "**Log loss by the number of rows to calibrate on**, relative to scikit-learn's isotonic fit.\n"
    )
    parts += [_sizes([row for row in found["by_size"] if row["group"] == group], group) for group in GROUPS]
    parts.append("**Distance from known truths**: mean Kullback-Leibler distance in thousandths of a nat.\n")
    parts.append(_truths(found["truths"]))
    falls = "; ".join(f"{row['truth']}: {row['slope']:.2f}" for row in found["slopes"])
    if falls:
        parts.append(f"Slope of the distance of the stack over the rows, on logarithmic axes: {falls}.\n")
    return "\n".join(part for part in parts if part)


def _bars(rows: list[dict[str, Any]]) -> str:
    lines = ["| problems | measure | beside | ratio | asked | |", "|---|---|---|---:|---:|---|"]
    for row in rows:
        value = f"{row['ratio']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        lines.append(
            f"| {row['group']}, {row['parts']}, {row['n_sets']} sets | {MEASURES[row['measure']]} "
            f"| {row['peer']} | {value} | {row['limit']} | {'holds' if row['holds'] else 'does not hold'} |"
        )
    return "\n".join(lines) + "\n"


def _standings(rows: list[dict[str, Any]]) -> str:
    rows = sorted(rows, key=lambda row: row["log_loss"]["ratio"])
    heads = list(MEASURES.values())
    lines = [
        f"| method | {' | '.join(heads)} | rank, log loss | rank, Brier | better, worse | fit, predict, ms |",
        f"|---|{'---:|' * (len(heads) + 4)}",
    ]
    best = {measure: min(row[measure]["ratio"] for row in rows) for measure in MEASURES}
    for row in rows:
        cells = []
        for measure in MEASURES:
            each = row[measure]
            text = f"{each['ratio']:.3f}"
            text = f"**{text}**" if each["ratio"] == best[measure] else text
            cells.append(f"{text} [{each['low']:.3f}, {each['high']:.3f}]")
        sides = f"{row['log_loss']['better']}, {row['log_loss']['worse']}"
        times = f"{row['fit_ms']:.3g}, {row['predict_ms']:.3g}"
        ranks = f"{row['log_loss']['rank']:.1f} | {row['brier']['rank']:.1f}"
        lines.append(f"| {row['method']} | {' | '.join(cells)} | {ranks} | {sides} | {times} |")
    return "\n".join(lines) + "\n"


def _sizes(rows: list[dict[str, Any]], group: str) -> str:
    sizes = [size for size in SIZE_GROUPS if any(row["size"] == size for row in rows)]
    if not sizes:
        return ""
    by = {(row["method"], row["size"]): row for row in rows}
    methods = sorted({row["method"] for row in rows})
    best = {size: min(row["ratio"] for row in rows if row["size"] == size) for size in sizes}
    heads = [f"about {size} rows" for size in sizes]
    lines = [f"| {group} | {' | '.join(heads)} |", f"|---|{'---:|' * len(sizes)}"]
    for method in methods:
        cells = []
        for size in sizes:
            row = by.get((method, size))
            text = "-" if row is None else f"{row['ratio']:.3f}"
            cells.append(f"**{text}**" if row is not None and row["ratio"] == best[size] else text)
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _truths(rows: list[dict[str, Any]]) -> str:
    lines = []
    for truth in dict.fromkeys(row["truth"] for row in rows):
        here = [row for row in rows if row["truth"] == truth]
        sizes = sorted({row["n_calibrate"] for row in here})
        lines += [
            f"| {truth} | {' | '.join(f'{size:,}' for size in sizes)} |",
            f"|---|{'---:|' * len(sizes)}",
        ]
        by = {(row["method"], row["n_calibrate"]): row["distance"] for row in here}
        best = {size: min(by[key] for key in by if key[1] == size) for size in sizes}
        for method in dict.fromkeys(row["method"] for row in here):
            cells = [_thousandths(by.get((method, size)), best[size]) for size in sizes]
            lines.append(f"| {method} | {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _thousandths(distance: float | None, best: float) -> str:
    if distance is None:
        return "-"
    text = f"{1000 * distance:.3g}"
    return f"**{text}**" if distance == best else text


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Distances by numbers of rows, on logarithmic axes: ours in colours, peers in grey."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    mpl.rcParams.update({"svg.hashsalt": "arena", "svg.fonttype": "none"})  # the same bytes, and text as text
    truths = list(dict.fromkeys(row["truth"] for row in rows))
    if not truths:
        return
    figure = Figure(figsize=(4.2 * len(truths), 4.4), layout="constrained")
    axes = np.atleast_1d(figure.subplots(1, len(truths)))
    names = list(dict.fromkeys(row["method"] for row in rows if row["method"].startswith("calibrant")))
    colours = {name: f"C{place}" for place, name in enumerate(names)}
    for axis, truth in zip(axes, truths, strict=True):
        here = [row for row in rows if row["truth"] == truth]
        for method in dict.fromkeys(row["method"] for row in here):
            points = sorted((row["n_calibrate"], row["distance"]) for row in here if row["method"] == method)
            mine = method in colours
            axis.loglog(
                *zip(*points, strict=True),
                color=colours.get(method, "0.75"),
                linewidth=1.8 if mine else 1.0,
                zorder=3 if mine else 1,
                label=method if mine else None,
            )
        axis.set(title=truth, xlabel="rows to calibrate on")
    axes[0].set_ylabel("mean Kullback-Leibler distance, nats")
    axes[0].plot([], [], color="0.75", label="peers")
    handles = {
        label: handle
        for axis in axes
        for handle, label in zip(*axis.get_legend_handles_labels(), strict=True)
    }
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=5, fontsize="small")
    figure.savefig(path, metadata={"Date": None})
