"""The results as Markdown, and the part of them that the README shows."""

import json
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"
README = HERE.parent / "README.md"
BEGIN, END = "<!-- benchmarks: begin -->\n", "<!-- benchmarks: end -->\n"
IN_README = [
    "pav",
    "memory",
    "sigmoid",
    "coupling",
    "libsvm_coupling",
    "least_squares",
    "many_classes",
    "accuracy_table",
    "ranked_logistic",
    "deciding",
    "learning",
    "probing",
    "passes",
    "spark",
    "report",
    "command",
]


def markdown(names: list[str], *, aims_only: bool = False) -> str:
    """One table of the named suites, of all their rows or of those that had an aim."""
    lines = ["| case | beside | ours | peer | ratio | aim |", "|---|---|---:|---:|---:|---|"]
    for name in names:
        for row in json.loads((RESULTS / f"{name}.json").read_text())["rows"]:
            if aims_only and not row["goal"]:
                continue
            ours, theirs = (_amount(row[side], row["unit"]) for side in ("ours", "theirs"))
            verdict = {True: ", held", False: ", **not held**", None: ""}[row["holds"]]
            aim = (row["goal"] or "-") + verdict
            lines.append(
                f"| {row['case']} | {row['peer']} | {ours} | {theirs} | {row['ratio']:.3g} | {aim} |"
            )
    return "\n".join(lines) + "\n"


def _amount(value: float, unit: str) -> str:
    if unit == "s":
        return f"{value * 1000:.3g} ms" if value < 1 else f"{value:.3g} s"
    if unit == "1/s":
        return f"{float(f'{value:.3g}'):,.0f} / s"
    return f"{value:.2g}{unit}"


def readme_table() -> str:
    """What the README shows: all that had an aim."""
    return markdown(IN_README, aims_only=True)


def update_readme() -> None:
    """Put the present results between the README's marks."""
    text = README.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    README.write_text(before + BEGIN + readme_table() + END + after)
