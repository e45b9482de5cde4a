"""The page of the papers' numbers and ours, written at build time from claims.json and reproduction/*.json.

`guide/reproduction.md` holds the words; where it says so, the tables of claims, the time that the run took,
and the findings of every paper are put in.
"""

import collections
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibrant.experiments import EXPERIMENTS
from calibrant.experiments._layout import HELD, blocks, row_names

PAGE = "guide/reproduction"
FINDINGS = Path(__file__).parent / "reproduction"
CLAIMS = Path(__file__).parent / "claims.json"
#: Where the findings of a paper go, and what is said of all together.
PLACE = re.compile(r"^<!-- findings: (\w+) -->$", re.MULTILINE)
SUMMARY_PLACE, CLAIMS_PLACE = "<!-- summary -->", "<!-- claims -->"
NEAR_PLACE, TIME_PLACE = "<!-- near -->", "<!-- time -->"
PAPERS = {
    "ze02": "Zadrozny & Elkan (2002)",
    "lz05": "Langford & Zadrozny (2005)",
    "tto": "Takahashi, Takamura & Okumura (2009)",
    "ogg": "O'Brien, Gupta & Gray (2008)",
}
ABOUT = {
    "ze02": "making scores probabilities, for two classes and for many",
    "lz05": "probabilities from classifiers that only say yes or no",
    "tto": "probabilities from several ranked scores of a row",
    "ogg": "decisions under costs, among many classes",
}
#: What a claim can come to, and how many did.
VERDICTS = ("held", "held in part", "not held", "answered", "not testable", "not checked")
#: Tables with more lines, and words with more characters, are for those who open them.
MOST_LINES, MOST_WORDS = 30, 400
#: Okabe and Ito's colours, which the colour-blind can tell apart, and marks for print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKS = "osD^vPX*"


def read_findings() -> list[dict[str, Any]]:
    """The findings of all experiments, tables before figures, in the order of their numbers."""
    documents = [json.loads(path.read_text(encoding="utf-8")) for path in FINDINGS.glob("*.json")]
    return sorted(documents, key=lambda document: _order(document["name"]))


def _order(name: str) -> tuple[str, bool, bool, int, str]:
    paper, _, rest = name.partition("-")
    number = re.search(r"\d+", rest)
    return paper, not number, rest.startswith("figure"), int(number[0]) if number else 0, rest


def write_page(app: Any, docname: str, source: list[str]) -> None:
    """Put the findings in their places, when Sphinx reads the page."""
    if docname == PAGE:
        documents = read_findings()
        app.env.note_dependency(str(FINDINGS))
        app.env.note_dependency(str(CLAIMS))
        text = PLACE.sub(lambda place: _paper(documents, place[1]), source[0])
        claims = read_claims()
        text = text.replace(SUMMARY_PLACE, "\n".join(summary(claims, documents)))
        text = text.replace(CLAIMS_PLACE, "\n".join(claims_tables(claims, documents)))
        text = text.replace(NEAR_PLACE, nearness(documents))
        source[0] = text.replace(TIME_PLACE, time_taken(documents))


def read_claims() -> list[dict[str, Any]]:
    """What the four papers say."""
    return list(json.loads(CLAIMS.read_text(encoding="utf-8")))


def checks_of(claim: Mapping[str, Any], documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The checks that decide a claim, by the beginnings of their statements."""
    named = {document["name"]: document["checks"] for document in documents}
    return [
        check
        for evidence in claim["evidence"]
        for check in named.get(evidence["experiment"], ())
        if any(check["statement"].startswith(start) for start in evidence["checks"])
    ]


def verdict(claim: Mapping[str, Any], documents: list[dict[str, Any]]) -> str:
    """What a claim came to: what is said of it, or else what its checks say together."""
    if claim["verdict"]:
        return str(claim["verdict"])
    held = [check["held"] for check in checks_of(claim, documents) if check["held"] is not None]
    if not held:
        return "not checked"
    return "held" if all(held) else "held in part" if any(held) else "not held"


def summary(claims: list[dict[str, Any]], documents: list[dict[str, Any]]) -> Iterator[str]:
    """How many claims of every paper came to what."""
    yield from ('<div class="claims">', "")
    yield _row("paper", "about", "its claims")
    yield _row(*["---"] * 3)
    for paper, name in PAPERS.items():
        of_paper = [claim for claim in claims if claim["paper"] == paper]
        where = _anchor(_of(paper))
        yield _row(f"[{_safe(name)}](#{where}), {paper.upper()}", ABOUT[paper], counted(of_paper, documents))
    yield _row("**all four**", "", f"**{counted(claims, documents)}**")
    yield from ("", "</div>")


def claims_tables(claims: list[dict[str, Any]], documents: list[dict[str, Any]]) -> Iterator[str]:
    """Every claim with our verdict, the reason where it did not hold in full, and the evidence."""
    for paper in PAPERS:
        yield from (f"### {_of(paper)}", "", '<div class="claims">', "")
        yield _row("claim", "verdict", "why", "evidence")
        yield _row(*["---"] * 4)
        for claim in claims:
            if claim["paper"] == paper:
                links = [f"[{each['experiment']}](#{each['experiment']})" for each in claim["evidence"]]
                said = f"**{verdict(claim, documents)}**"
                yield _row(_safe(claim["claim"]), said, claim["why"], "<br>".join(links))
        yield from ("", "</div>", "")


def _of(paper: str) -> str:
    return f"Claims of {PAPERS[paper]}"


def _anchor(heading: str) -> str:
    """The address of a heading, as the documentation makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def counted(claims: list[dict[str, Any]], documents: list[dict[str, Any]]) -> str:
    """How many claims came to what."""
    numbers = collections.Counter(verdict(claim, documents) for claim in claims)
    parts = [f"{numbers[each]} {each}" for each in VERDICTS if numbers[each]]
    return f"{len(claims)}: {', '.join(parts)}"


def nearness(documents: list[dict[str, Any]]) -> str:
    """How many printed numbers are near ours, of the experiments that count them."""
    findings = [
        re.match(r"(\d+) of (\d+) are", check["finding"])
        for document in documents
        for check in document["checks"]
        if check["statement"].startswith("Every printed number")
    ]
    near, known = (sum(int(found[group]) for found in findings if found) for group in (1, 2))
    return f"{near} of {known}"


def jobs_of(document: Mapping[str, Any]) -> dict[str, set[str]]:
    """What an experiment ran, by the function of its jobs."""
    jobs: dict[str, set[str]] = {}
    for job in EXPERIMENTS[document["name"]].jobs(document["scale"]):
        arguments = json.dumps(dict(job.arguments), sort_keys=True)
        jobs.setdefault(job.function.__name__, set()).add(arguments)
    return jobs


def time_taken(documents: list[dict[str, Any]]) -> str:
    """How long a processor worked for all of them; jobs that experiments share are counted once."""
    total, counted_jobs = 0.0, collections.defaultdict(set)
    every = [
        (function, jobs, document["seconds"].get(function, 0))
        for document in documents
        for function, jobs in jobs_of(document).items()
    ]
    # Those with the most jobs first: others mostly have a part of the same.
    for function, jobs, seconds in sorted(every, key=lambda each: -len(each[1])):
        total += seconds * len(jobs - counted_jobs[function]) / len(jobs)
        counted_jobs[function] |= jobs
    return f"{total / 60:.0f} minutes of one processor"


def draw_figures(app: Any, error: Exception | None) -> None:
    """Draw the figures into the built pages."""
    if error is None and app.builder.format == "html":
        folder = Path(app.outdir) / "_images"
        folder.mkdir(parents=True, exist_ok=True)
        for document in read_findings():
            if document["series"]:
                figure(document).savefig(folder / f"{document['name']}.png", dpi=120)


def _paper(documents: list[dict[str, Any]], paper: str) -> str:
    parts = [_section(document) for document in documents if document["name"].startswith(f"{paper}-")]
    return "\n\n".join(parts) or "*No findings are kept for this paper.*"


def _section(document: Mapping[str, Any]) -> str:
    """A heading, the figure, the table, what should have been seen, and how to read them."""
    lines = [f"### {document['name']}", "", f"{_safe(document['title'])}. `{document['command']}`", ""]
    if document.get("seconds"):
        lines[2] += f" ({_duration(sum(document['seconds'].values()))} of one processor)"
    if document["series"]:
        alt = _safe(document["title"]).replace('"', "'")
        image = f'<img src="../_images/{document["name"]}.png" alt="{alt}" loading="lazy">'
        lines += [f'<div class="reproduced">{image}</div>', ""]
    if document["rows"]:
        table = ['<div class="findings">', "", *_table(document), "", "</div>"]
        # The points of a figure are for those who want them.
        is_long = "-figure" in document["name"] or len(document["rows"]) > MOST_LINES
        lines += [*(_folded("The numbers", table) if is_long else table), ""]
    for check in document["checks"]:
        finding = f"<br><small>{_safe(check['finding'])}</small>" if check["finding"] else ""
        lines.append(f"- **{HELD[check['held']]}**: {_safe(check['statement'])}{finding}")
    lines += [f"- skipped: {_safe(reason)}" for reason in document["skipped"]]
    words = [_safe(document["conventions"])]
    return "\n".join(
        [*lines, "", *(_folded("How it was made", words) if len(words[0]) > MOST_WORDS else words)]
    )


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} seconds" if seconds >= 2 else "a second"
    return f"{seconds / 60:.0f} minutes" if seconds >= 90 else "a minute"


def _folded(summary: str, lines: list[str]) -> list[str]:
    return [f"<details><summary>{summary}</summary>", "", *lines, "", "</details>"]


def _table(document: Mapping[str, Any]) -> Iterator[str]:
    columns = blocks(document)
    headings = [", ".join(document["labels"]), *(heading for block in columns for heading in block.headings)]
    yield _line(headings)
    yield _line(["---", *["--:"] * (len(headings) - 1)])
    for number, name in enumerate(row_names(document)):
        yield _line([name, *(cell for block in columns for cell in block.cells[number])])


def _line(cells: list[str]) -> str:
    return _row(*map(_safe, cells))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _safe(text: str) -> str:
    """Words as they are, where Markdown would see more in them."""
    return re.sub(r"([|*_$<\[\]`])", r"\\\1", text)


def figure(document: Mapping[str, Any]) -> Figure:
    """Draw the lines of an experiment, one picture per panel."""
    panels = list(dict.fromkeys(line["panel"] for line in document["series"]))
    names = list(dict.fromkeys(line["name"] for line in document["series"]))
    n_columns = min(len(panels), 2 if len(panels) in (2, 4) else 3)
    n_rows = -(-len(panels) // n_columns)
    width = 1 + 4.6 * n_columns
    n_entries = max(1, int(width / (0.6 + 0.085 * max(map(len, names)))))
    height = 4.2 * n_rows + 0.3 * (1 + len(names) // n_entries)
    drawn = Figure(figsize=(width, height), layout="constrained")
    grid = drawn.subplots(n_rows, n_columns, squeeze=False).ravel()
    for ax, panel in zip(grid, panels, strict=False):
        lines = [line for line in document["series"] if line["panel"] == panel]
        for line in lines:
            _draw(ax, line, names.index(line["name"]))
        _dress(ax, panel, document["axes"])
    for ax in grid[len(panels) :]:
        ax.set_axis_off()
    known = {}
    for ax in grid:
        known |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    drawn.legend(known.values(), known.keys(), loc="outside lower center", ncols=n_entries, fontsize=9)
    return drawn


def _draw(ax: Axes, line: Mapping[str, Any], number: int) -> None:
    colour, mark = COLOURS[number % len(COLOURS)], MARKS[number % len(MARKS)]
    x, y = ([float("nan") if value is None else float(value) for value in line[axis]] for axis in "xy")
    few = len(x) <= 30
    if line["name"] == "diagonal":
        ax.plot(x, y, "--", color="#888888", label=line["name"], linewidth=1)
    elif line["style"] == "points":
        size, alpha = (5, 1.0) if few else (3, 0.6)
        ax.plot(x, y, mark, color=colour, label=line["name"], markersize=size, alpha=alpha)
    elif line["style"] == "steps":
        ax.step(x, y, where="mid", color=colour, label=line["name"])
    else:
        shown = mark if len(x) > 2 and few else ""
        ax.plot(x, y, color=colour, label=line["name"], marker=shown, markersize=4)
    for note, *place in zip(line["notes"], x, y, strict=False):
        ax.annotate(note, place, xytext=(4, -9), textcoords="offset points", fontsize=7, alpha=0.8)


def _dress(ax: Axes, panel: str, axes: Mapping[str, str]) -> None:
    ax.set(title=panel, xlabel=axes.get("x", ""), ylabel=axes.get("y", ""))
    for axis in axes.get("log", ""):
        getattr(ax, f"set_{axis}scale")("log")
    if axes.get("shape") == "simplex":
        ax.plot([0, 1, 0.5, 0], [0, 0, 3**0.5 / 2, 0], color="#888888", linewidth=1, zorder=0)
        ax.set_aspect("equal")
    ax.grid(alpha=0.25)
