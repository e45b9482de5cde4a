"""The command over hostile files: it ends well, loses nothing, answers alike from memory and in passes."""

import csv
import gzip
import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
from hypothesis import strategies as st

from calibrant.models import load
from cli.calling import process
from fuzz.laws import law
from fuzz.oracles import folder_with, orderly

LABELS = ["ant", "bee", "cat"]
#: Text that is hard to read or to write.
ODD_TEXT = [
    "",
    " ",
    "a,b",
    'say "a"',
    "two\nlines",
    "ünïcödé",
    "\u202e\u0000x",
    "🦊",
    "null",
    "NA",
    "=1+1",
    "'",
]
#: Things that a number may be taken for, or that may be taken for a number.
ODD_NUMBERS = [
    "",
    "nan",
    "NaN",
    "inf",
    "-Infinity",
    "1e400",
    "1,5",
    "0x10",
    "1_000",
    "\u0661",
    " 1",
    "+1",
    ".5",
    "None",
    "1e-320",
]
NAMES = ["y", "s_ant", "s_bee", "s_cat", "s_", "s_*", "", "id", "Ünï", "p_ant", "a b", "s_ant ", "x" * 3000]


@st.composite
def dialects(draw: Any) -> dict[str, Any]:
    """How a table is written."""
    format = draw(st.sampled_from(["csv", "csv", "tsv", "jsonl", "parquet", "arrow", "feather", "csv.gz"]))  # noqa: A001
    return {
        "format": format,
        "quote": draw(st.sampled_from(["minimal", "all"])),
        "newline": draw(st.sampled_from(["\n", "\r\n"])),
        "bom": draw(st.booleans()),
        "no_last_newline": draw(st.booleans()),
        "blank_lines": draw(st.booleans()),
        "batch": draw(st.sampled_from([1, 3, 1000])),
    }


def as_file(names: list[str], rows: list[list[Any]], dialect: dict[str, Any]) -> tuple[str, bytes]:
    """The name and the bytes of a file that holds a table."""
    format = dialect["format"]  # noqa: A001
    name = f"in.{format}"
    if format in ("csv", "tsv", "csv.gz"):
        text = as_text(names, rows, dialect, "\t" if format == "tsv" else ",")
        return name, gzip.compress(text, mtime=0) if format == "csv.gz" else text
    if format == "jsonl":
        lines = [json.dumps(dict(zip(names, row, strict=False))) for row in rows]
        return name, "".join(f"{line}\n" for line in lines).encode()
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    table = pa.Table.from_arrays([as_array(column) for column in columns], names=names)
    sink = io.BytesIO()
    if format == "parquet":
        pa.parquet.write_table(table, sink, row_group_size=dialect["batch"])
    elif format == "feather":
        pa.feather.write_feather(table, sink, chunksize=dialect["batch"], compression="lz4")
    else:
        make = pa.ipc.new_stream if dialect["bom"] else pa.ipc.new_file
        with make(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=dialect["batch"])
    return name, sink.getvalue()


def as_text(names: list[str], rows: list[list[Any]], dialect: dict[str, Any], delimiter: str) -> bytes:
    """A table as text."""
    sink = io.StringIO(newline="")
    quoting = csv.QUOTE_ALL if dialect["quote"] == "all" else csv.QUOTE_MINIMAL
    writer = csv.writer(sink, delimiter=delimiter, quoting=quoting, lineterminator=dialect["newline"])
    for row in (names, *rows):
        writer.writerow(row)
        if dialect["blank_lines"] and row is not names:
            sink.write(dialect["newline"])
    text = sink.getvalue()
    text = text[: -len(dialect["newline"])] if dialect["no_last_newline"] else text
    return ("\ufeff" * dialect["bom"] + text).encode("utf-8", "surrogatepass")


def as_array(column: tuple[Any, ...]) -> pa.Array:
    """A column of one type: that of its values, or text if they are of several."""
    kinds = {type(cell) for cell in column if cell is not None}
    mixed = len(kinds) > 1 and kinds != {int, float}
    cells = [str(cell) if mixed and cell is not None else cell for cell in column]
    return pa.array([float(c) for c in cells] if kinds == {int, float} and None not in cells else cells)


def read_back(name: str, content: bytes) -> list[dict[str, Any]]:
    """The rows of an output, read by others."""
    if name.endswith(".csv"):
        return list(csv.DictReader(io.StringIO(content.decode(), newline="")))
    if name.endswith(".jsonl"):
        return [json.loads(line) for line in content.decode().splitlines()]
    read = pa.parquet.read_table if name.endswith(".parquet") else pa.feather.read_table
    return read(io.BytesIO(content)).to_pylist()


METHODS = st.sampled_from(["pav", "sigmoid", "binning", "accuracy_table", "ranked_logistic", "identity"])
#: Options that every command of a kind may have, and the odd ones out.
OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "--method": METHODS,
        "--combine": st.sampled_from(["normalize", "least_squares", "coupling"]),
        "--code": st.sampled_from(["one_vs_all", "all_pairs", "ordinal"]),
        "--kind": st.sampled_from(["margin", "probability"]),
        "--classes": st.sampled_from(["ant,bee", "ant,bee,cat", "0,1", "ant,ant", ",", ""]),
        "--weight": st.sampled_from(["w", "id", "y", "none"]),
        "--positive": st.sampled_from(["ant", "1", "x"]),
        "--handle-invalid": st.sampled_from(["error", "skip", "keep"]),
        "--rule": st.sampled_from(["expected", "parallel", "lachiche_flach", "mossman"]),
        "--keep": st.sampled_from(["*", "id", "", "y,id", "s_*"]),
        "--by": st.sampled_from(["id", "y", "s_ant", "note"]),
        "--top": st.sampled_from(["1", "2", "99", "0"]),
        "--format": st.sampled_from(["csv", "parquet", "jsonl", "arrow"]),
        "--out-format": st.sampled_from(["csv", "parquet", "jsonl", "arrow"]),
        "--title": st.sampled_from(ODD_TEXT),
        "--names": st.sampled_from(["id", "y", "none"]),
        "--cv": st.sampled_from(["2", "9", "1000000"]),
        "--date": st.sampled_from(["2026-02-29", "2026-03-31", "soon"]),
        "--report": st.just("page.html"),
        "--costs": st.just("costs.csv"),
        "--in-passes": st.just(None),
        "--json": st.just(None),
        "--decide": st.just(None),
    },
)
#: What every command takes.
TAKES = {
    "fit": "--method --combine --code --kind --classes --weight --positive --invalid --rule --format --date "
    "--report --costs --in-passes --json",
    "apply": "--top --decide --keep --format --out-format --invalid --scores",
    "evaluate": "--weight --positive --classes --format --in-passes --invalid --by --report --json",
    "compare": "--weight --positive --classes --format --in-passes --invalid --kind --combine --cv --json",
    "decide": "--weight --positive --classes --format --out-format --invalid --rule --keep --costs",
    "report": "--weight --positive --classes --format --in-passes --invalid --costs --names --title",
    "inspect": "--json",
}
COSTS = [
    "decision,ant,bee\nant,0,1\nbee,2,0\n",
    "d,ant,bee,cat\nant,0,1,1\nbee,1,0,1\ncat,2,2,0\n",
    "",
    "a\n",
]


def call(command: str, scores: str, options: dict[str, Any], name: str) -> tuple[list[str], tuple[str, ...]]:
    """The arguments of a command, and the files that it says it makes."""
    inputs = {"apply": ["model.json", name], "inspect": ["model.json"]}.get(command, [name])
    arguments, makes = [command, *inputs], []
    if command not in ("apply", "inspect"):
        arguments += ["--scores", scores, *(["--label", "y"] if command != "decide" else [])]
    out = {"fit": "made.json", "apply": "out.csv", "decide": "out.csv", "report": "out.html"}.get(command)
    if out:
        arguments += ["--out", out]
        makes.append(out)
    options = {key: options[key] for key in TAKES[command].split() if key in options}
    if command == "decide":
        options["--costs"] = "costs.csv"
    if "--report" in options:
        makes.append(options["--report"])
    for key, value in options.items():
        arguments += [key] if value is None else [key, value]
    return arguments, tuple(makes)


CELLS = st.integers(-3, 3) | st.floats(0, 1) | st.sampled_from(ODD_NUMBERS + ODD_TEXT + LABELS) | st.none()


@st.composite
def messes(draw: Any) -> dict[str, Any]:
    """A table of anything, under names of anything."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=5))
    row = st.lists(CELLS, min_size=len(names), max_size=len(names))
    return {"names": names, "rows": draw(st.lists(row, max_size=6))}


#: Tables that are almost right: a label, scores, something else; now and then an odd cell.
@st.composite
def almost_right(draw: Any) -> dict[str, Any]:
    k = draw(st.integers(1, 3))
    names = ["y", *(f"s_{label}" for label in LABELS[:k]), "id", "w"]
    labels = st.sampled_from(LABELS[: max(k, 2)])
    grid = st.integers(0, 16).map(lambda i: i / 16)
    scores = [grid | st.floats(0, 1)] * k
    row = st.tuples(labels, *scores, st.integers(0, 99), st.sampled_from([1, 2, 0, 0.5]))
    rows = [list(row) for row in draw(st.lists(row, min_size=1, max_size=12))]
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        rows[draw(st.integers(0, len(rows) - 1))][draw(st.integers(0, len(names) - 1))] = draw(CELLS)
    return {"names": names, "rows": rows}


def _models() -> dict[int, bytes]:
    from calibrant import ScoreModel, save

    made = {}
    rng = np.random.default_rng(0)
    for k in (1, 2, 3):
        y = rng.integers(0, max(k, 2), 40)
        scores = rng.random(40) if k == 1 else rng.random((40, k))
        with folder_with({}) as folder:
            save(ScoreModel("pav").fit(scores, np.array(LABELS)[y]), folder / "m.json")
            made[k] = (folder / "m.json").read_bytes()
    return made


MODELS = _models()


@law(
    "command",
    few=40,
    table=messes() | almost_right(),
    dialect=dialects(),
    command=st.sampled_from(sorted(TAKES)),
    options=OPTIONS,
    scores=st.sampled_from(["s_*", "s_*", "*", "s_ant", "s_ant,s_bee", "y", "", "**", "[", "s_ant,s_ant"]),
    costs=st.sampled_from(COSTS),
    k=st.integers(1, 3),
)
def any_command_on_any_file_is_orderly(table, dialect, command, options, scores, costs, k):
    name, content = as_file(table["names"], table["rows"], dialect)
    arguments, makes = call(command, scores, options, name)
    with folder_with({name: content, "costs.csv": costs.encode(), "model.json": MODELS[k]}) as folder:
        orderly(folder, *arguments, makes=makes)


@law(
    "command",
    few=25,
    content=st.binary(max_size=80).map(list) | st.text(max_size=60).map(lambda text: list(text.encode())),
    suffix=st.sampled_from(["csv", "jsonl", "parquet", "arrow", "csv.gz", "jsonl.zst", "tsv", "csv.xz"]),
    command=st.sampled_from(["fit", "apply", "evaluate"]),
)
def any_bytes_are_orderly(content, suffix, command):
    arguments, makes = call(command, "s_*", {}, f"in.{suffix}")
    with folder_with({f"in.{suffix}": bytes(content), "model.json": MODELS[2]}) as folder:
        orderly(folder, *arguments, makes=makes)


@st.composite
def right_tables(draw: Any) -> dict[str, Any]:
    """Tables that are right, with every class among the labels, however odd the text beside them."""
    k = draw(st.integers(1, 3))
    names = ["y", *(f"s_{label}" for label in LABELS[:k]), "note", "w"]
    scores = [st.integers(1, 16).map(lambda i: i / 16) | st.floats(1e-9, 1)] * k
    notes = st.sampled_from([text for text in ODD_TEXT if text.isprintable()]) | st.text(
        "aé,;\"'\t \n", max_size=4
    )
    row = st.tuples(st.sampled_from(LABELS[: max(k, 2)]), *scores, notes, st.sampled_from([1, 2, 3]))
    rows = [list(row) for row in draw(st.lists(row, min_size=max(k, 2), max_size=12))]
    for place, label in enumerate(LABELS[: max(k, 2)]):
        rows[place][0] = label
    return {"names": names, "rows": rows}


@law(
    "command",
    few=20,
    table=right_tables(),
    dialect=dialects(),
    out=st.sampled_from(["out.csv", "out.jsonl", "out.parquet", "out.arrow"]),
    piped=st.booleans(),
)
def rows_in_are_rows_out(table, dialect, out, piped):
    """In their order, with the text beside them, and probabilities that sum to one."""
    name, content = as_file(table["names"], table["rows"], dialect)
    piped = piped and dialect["format"] != "csv.gz"
    asked = ["apply", "model.json", "-" if piped else name, "--scores", "s_*", "--out", out]
    if piped:
        asked += ["--format", {"feather": "arrow"}.get(dialect["format"], dialect["format"])]
    with folder_with({name: content, "model.json": MODELS[len(table["names"]) - 3]}) as folder:
        done = orderly(folder, *asked, makes=(out,), stdin=name if piped else None)
        assert done.status == 0, done.err
        got = read_back(out, (folder / out).read_bytes())
    assert len(got) == len(table["rows"])
    for before, after in zip(table["rows"], got, strict=True):
        assert after["y"] == before[0]
        assert (after["note"] or "") == before[-2], f"{before[-2]!r} became {after['note']!r}"
        total = sum(float(value) for key, value in after.items() if key.startswith("p_"))
        assert abs(total - 1) < 1e-6


def assert_alike(one: Any, other: Any, where: str = "") -> None:
    """Two results are the same but for rounding."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys(), where
        if "auc_error" in one:  # that of passes is known up to this
            one, other = one.copy(), other.copy()
            most = one.pop("auc_error") + other.pop("auc_error") + 1e-9
            first, second = one.pop("auc"), other.pop("auc")
            assert first == second or abs(first - second) <= most, f"{where}.auc: {first} and {second}"
        for key in one:
            assert_alike(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        assert len(one) == len(other), where
        for place, (first, second) in enumerate(zip(one, other, strict=True)):
            assert_alike(first, second, f"{where}[{place}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert np.isclose(one, other, rtol=1e-6, atol=1e-9, equal_nan=True), f"{where}: {one} and {other}"
    else:
        assert one == other, f"{where}: {one!r} and {other!r}"


@law(
    "command",
    few=15,
    table=right_tables() | almost_right(),
    copies=st.sampled_from([1, 1, 7, 100]),
    dialect=dialects(),
    method=METHODS,
    weighted=st.booleans(),
    code=st.sampled_from([None, None, "all_pairs", "ordinal", "one_vs_all"]),
)
def a_fit_in_passes_is_that_of_memory(table, copies, dialect, method, weighted, code):
    name, content = as_file(table["names"], table["rows"] * copies, dialect)
    more = ["--method", method, "--weight", "w"] if weighted else ["--method", method]
    more += ["--code", code] if code else []
    fit = ["fit", name, "--label", "y", "--scores", "s_*", *more, "--json"]
    with folder_with({name: content}) as folder:
        here = orderly(folder, *fit, "--in-memory", "--out", "here.json", makes=("here.json",))
        passes = orderly(folder, *fit, "--in-passes", "--out", "passes.json", makes=("passes.json",))
        told = f"{here.err!r} and {passes.err!r}"
        assert here.status == passes.status, f"ended with {here.status} and {passes.status}; {told}"
        if here.status:
            return
        scores = np.random.default_rng(0).random((20, sum(n.startswith("s_") for n in table["names"])))
        asked = scores[:, 0] if scores.shape[1] == 1 else scores
        one, other = (load(folder / made).predict_proba(asked) for made in ("here.json", "passes.json"))
    tolerance = 1e-5 if code else 1e-6  # coupling stops at a step of 1e-8
    np.testing.assert_allclose(one, other, rtol=0, atol=tolerance)


@law(
    "command",
    few=15,
    table=right_tables() | almost_right(),
    copies=st.sampled_from([1, 1, 7, 100]),
    dialect=dialects(),
    weighted=st.booleans(),
    by=st.booleans(),
)
def an_evaluation_in_passes_is_that_of_memory(table, copies, dialect, weighted, by):
    rows = [list(row) for row in table["rows"] * copies]
    columns = [place for place, name in enumerate(table["names"]) if name.startswith("s_")]
    for row in rows:  # probabilities sum to one
        some = [row[place] for place in columns]
        if len(columns) > 1 and all(isinstance(each, int | float) for each in some) and sum(some) > 0:
            for place in columns:
                row[place] /= sum(some)
    name, content = as_file(table["names"], rows, dialect)
    more = ["--weight", "w"] * weighted + ["--by", "y"] * by
    ask = ["evaluate", name, "--label", "y", "--scores", "s_*", *more, "--json"]
    with folder_with({name: content}) as folder:
        here, passes = orderly(folder, *ask, "--in-memory"), orderly(folder, *ask, "--in-passes")
    told = f"{here.err!r} and {passes.err!r}"
    assert here.status == passes.status, f"ended with {here.status} and {passes.status}; {told}"
    if here.status == 0:
        one, other = json.loads(here.out), json.loads(passes.out)
        assert (one.pop("in_passes"), other.pop("in_passes")) == (False, True)
        assert_alike(one, other)


def _of_type(form: pa.DataType, make: Callable[[int], Any] = lambda value: value) -> Callable[..., pa.Array]:
    """Makes a column of a type from small numbers."""
    return lambda values: pa.array([None if v is None else make(v) for v in values], type=form)


#: Columns of any type that a file may have.
TYPES = {
    "string": _of_type(pa.string(), lambda v: LABELS[v % 3]),
    "string_view": _of_type(pa.string_view(), lambda v: LABELS[v % 3]),
    "large_string": _of_type(pa.large_string(), lambda v: LABELS[v % 3]),
    "no_text": _of_type(pa.binary(), lambda v: bytes([255, v])),
    "unit": _of_type(pa.float64(), lambda v: v / 3),
    "float32": _of_type(pa.float32()),
    "half": _of_type(pa.float16(), np.float16),
    "int8": _of_type(pa.int8()),
    "uint64": _of_type(pa.uint64(), lambda v: 2**64 - 1 - v),
    "decimal": _of_type(pa.decimal128(20, 3)),
    "bool": _of_type(pa.bool_(), lambda v: v % 2 == 1),
    "null": _of_type(pa.null(), lambda v: None),
    "time": _of_type(pa.time64("us")),
    "duration": _of_type(pa.duration("s")),
    "date": _of_type(pa.date32()),
    "timestamp": _of_type(pa.timestamp("us", "UTC")),
    "list": _of_type(pa.list_(pa.float64()), lambda v: [float(v)]),
    "struct": _of_type(pa.struct({"a": pa.int64()}), lambda v: {"a": v}),
    "map": _of_type(pa.map_(pa.string(), pa.int64()), lambda v: [("a", v)]),
    "categories": lambda values: TYPES["string"](values).dictionary_encode(),
    "number_categories": lambda values: TYPES["unit"](values).dictionary_encode(),
}
ANY_TYPE = st.sampled_from(sorted(TYPES))


@law(
    "command",
    few=40,
    kinds=st.fixed_dictionaries(
        {
            "y": st.just("string") | ANY_TYPE,
            "s_ant": st.just("unit") | ANY_TYPE,
            "s_bee": st.just("unit") | ANY_TYPE,
            "w": ANY_TYPE,
            "id": ANY_TYPE,
        }
    ),
    values=st.lists(st.integers(0, 3) | st.none(), min_size=1, max_size=5),
    format=st.sampled_from(["parquet", "arrow"]),
    batch=st.sampled_from([1, 2, 9]),
    command=st.sampled_from(["fit", "apply", "evaluate", "decide", "report", "compare"]),
    options=OPTIONS,
    out=st.sampled_from(["csv", "jsonl", "parquet", "arrow"]),
)
def columns_of_any_type_are_orderly(kinds, values, format, batch, command, options, out):  # noqa: A002
    table = pa.table({name: TYPES[kind](values * 4) for name, kind in kinds.items()})
    sink = io.BytesIO()
    if format == "parquet":
        try:
            pa.parquet.write_table(table, sink, row_group_size=batch)
        except pa.ArrowNotImplementedError:
            return
    else:
        with pa.ipc.new_file(sink, table.schema) as writer:
            writer.write_table(table, max_chunksize=batch)
    name = f"in.{format}"
    options = {key: value for key, value in options.items() if key not in ("--format", "--classes")}
    arguments, makes = call(command, "s_*", {**options, "--out-format": out}, name)
    files = {name: sink.getvalue(), "costs.csv": COSTS[0].encode(), "model.json": MODELS[2]}
    with folder_with(files) as folder:
        orderly(folder, *arguments, makes=makes)


@law(
    "command",
    few=12,
    command=st.sampled_from(["fit", "apply", "decide", "report", "evaluate"]),
    victim=st.sampled_from(["in.csv", "model.json", "costs.csv"]),
    name=st.sampled_from(["same", "dotted", "linked", "hard"]),
    option=st.sampled_from(["--out", "--report"]),
)
def no_output_destroys_an_input(command, victim, name, option):
    """Under whatever name: the same, through a folder and back, by a link of either kind."""
    table = "".join(
        f"{label},{0.1 + 0.2 * i},{0.9 - 0.2 * i}\n" for i, label in enumerate(["ant", "bee"] * 2)
    )
    files = {
        "in.csv": f"y,s_ant,s_bee\n{table}".encode(),
        "model.json": MODELS[2],
        "costs.csv": COSTS[0].encode(),
    }
    arguments, makes = call(command, "s_*", {"--costs": "costs.csv", "--report": "page.html"}, "in.csv")
    if option not in arguments or victim not in arguments:
        return
    with folder_with(files) as folder:
        other = {"same": victim, "dotted": f"../{folder.name}/{victim}"}.get(name, "link")
        if name == "linked":
            (folder / other).symlink_to(victim)
        elif name == "hard":
            (folder / other).hardlink_to(folder / victim)
        arguments[arguments.index(option) + 1] = other
        done = orderly(folder, *arguments, makes=makes)
        assert done.status in (1, 2), f"{' '.join(arguments)} went on"


@law("command", few=3, table=almost_right(), command=st.sampled_from(["fit", "apply", "evaluate", "inspect"]))
def a_fork_is_as_good_as_a_process(table, command):
    """What all laws of the command rest on."""
    name, content = as_file(table["names"], table["rows"], PLAIN)
    arguments, makes = call(command, "s_*", {"--json": None}, name)
    with folder_with({name: content, "model.json": MODELS[2]}) as folder:
        forked = orderly(folder, *arguments, makes=makes)
        real = process(*arguments, cwd=folder)
    assert (forked.status, forked.out, forked.err) == (real.returncode, real.stdout, real.stderr)


PLAIN = {"format": "csv", "quote": "minimal", "newline": "\n", "bom": False, "no_last_newline": False}
PLAIN |= {"blank_lines": False, "batch": 1000}
