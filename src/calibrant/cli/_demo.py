"""Print the demo's table and name its pages."""

from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from calibrant.experiments import (
    N_DEMO_STEPS,
    DemoForecasts,
    DemoLine,
    demo_forecasts,
    write_demo_reports,
)
from calibrant.metrics import Estimate

MEASURES = ("log_loss", "brier_score", "calibration", "refinement", "error_rate")
#: Columns that the table is given to see how many it needs.
WIDEST = 1000
LEGEND = (
    "Less is better; * marks the best of its group, ± is half of an interval of 95%. Every row is measured "
    "by a model that has not seen it. Digits has 10 classes, diabetes 3. Auto is the default: all scores of "
    "a row together."
)
PARTS = (
    "The Brier score is the sum over the classes. Calibration is the part of it that a monotone repair of "
    "the forecasts would remove, refinement the part that no repair removes."
)
INFINITY = (
    "An infinite log loss is a class that was called impossible and came; the parameter clip of isotonic "
    "calibration avoids that."
)


def run(folder: Path) -> None:
    """Run the demo: a progress bar on a terminal, then the table and the pages."""
    results = _forecasts(Console(stderr=True))
    console = Console(highlight=False)
    groups = [result.evaluations() for result in results]
    wide = _table(groups, " ")
    fits = console.measure(wide, options=console.options.update(max_width=WIDEST)).maximum <= console.width
    console.print(wide if fits else _table(groups, "\n"))
    for paragraph in (LEGEND, PARTS, INFINITY):
        console.print(paragraph)
    console.print("\nOpen these pages in a browser:")
    for path, summary in write_demo_reports(results, folder).items():
        console.print(f"  {path}", soft_wrap=True)
        console.print(f"    {summary.title}. {summary.verdict.headline}", soft_wrap=True)


def _forecasts(console: Console) -> list[DemoForecasts]:
    if not console.is_terminal:
        return [found for found in demo_forecasts() if found is not None]
    with Progress(console=console, transient=True) as progress:
        steps = progress.track(demo_forecasts(), total=N_DEMO_STEPS, description="training and calibrating")
        return [found for found in steps if found is not None]


def _table(groups: list[list[DemoLine]], before_interval: str) -> Table:
    table = Table("", box=SIMPLE_HEAD, pad_edge=False, padding=(0, 0, 0, 1))
    for measure in MEASURES:
        table.add_column(measure.replace("_", " "), justify="right")
    for group in groups:
        table.add_row(Text(f"{group[0].problem},\n{group[0].learner}", style="bold"))
        best = {measure: min(getattr(line.losses, measure) for line in group) for measure in MEASURES}
        for line in group:
            cells = [
                _cell(getattr(line.losses, measure), best[measure], before_interval) for measure in MEASURES
            ]
            table.add_row(f"  {line.method}", *cells, end_section=line is group[-1])
    return table


def _cell(value: Estimate, best: float, before_interval: str) -> Text:
    is_best = value == best
    cell = Text(f"{value:.4f}{'*' if is_best else ' '}", style="bold" if is_best else "")
    half = (value.high - value.low) / 2
    if half > 0:
        cell.append(f"{before_interval}± {half:.4f} ", style="not bold dim")
    return cell
