"""Files of every format with bytes flipped, missing or set to extremes: one line, or the right answer."""

import bz2
import gzip
import io
import lzma
import struct
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
from hypothesis import strategies as st

from fuzz.forks import calibrant
from fuzz.laws import law
from fuzz.mutations import DAMAGE, damaged
from fuzz.oracles import folder_with, orderly

N_ROWS, GROUP = 40, 15


def table() -> pa.Table:
    """Rows with numbers, text, categories and holes."""
    rng = np.random.default_rng(0)
    label = np.array(["ant", "bee"])[rng.integers(0, 2, N_ROWS)]
    note = [None if i % 7 == 0 else f"nöte {i}" for i in range(N_ROWS)]
    return pa.table(
        {
            "y": label,
            "s_ant": rng.random(N_ROWS),
            "s_bee": rng.random(N_ROWS),
            "note": note,
            "kind": pa.array(note).dictionary_encode(),
            "count": pa.array(range(N_ROWS), type=pa.int16()),
        }
    )


def written(write, *arguments, **options) -> bytes:
    """What a writer of pyarrow writes."""
    sink = io.BytesIO()
    write(table(), sink, *arguments, **options)
    return sink.getvalue()


def arrow_stream(rows: pa.Table, sink: io.BytesIO) -> None:
    with pa.ipc.new_stream(sink, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=GROUP)


def arrow_file(rows: pa.Table, sink: io.BytesIO) -> None:
    with pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows, max_chunksize=GROUP)


@cache
def whole() -> dict[str, bytes]:
    """The same rows in every format, by the name of the file."""
    text = written(pa.csv.write_csv)
    lines = b"".join(
        (str(row).replace("'", '"').replace("None", "null") + "\n").encode() for row in table().to_pylist()
    )
    zstd = pa.compress(text, "zstd", asbytes=True)
    checked = {"write_page_checksum": True, "row_group_size": GROUP}
    return {
        "plain.parquet": written(pa.parquet.write_table, compression="none", use_dictionary=False, **checked),
        "packed.parquet": written(pa.parquet.write_table, compression="zstd", **checked),
        "file.arrow": written(arrow_file),
        "stream.arrow": written(arrow_stream),
        "packed.feather": written(pa.feather.write_feather, compression="lz4"),
        "text.csv": text,
        "text.csv.gz": gzip.compress(text, mtime=0),
        "text.csv.bz2": bz2.compress(text),
        "text.csv.xz": lzma.compress(text),
        "text.csv.zst": zstd,
        "lines.jsonl": lines,
        "lines.jsonl.gz": gzip.compress(lines, mtime=0),
    }


@cache
def model() -> bytes:
    """A model for these rows."""
    with folder_with(whole()) as folder:
        done = calibrant(*FIT, "text.csv", "--out", "m.json", cwd=folder)
        assert done.status == 0, done.err
        return (folder / "m.json").read_bytes()


FIT = ("fit", "--label", "y", "--scores", "s_*")
RUNS = {
    "apply": ("apply", "m.json", "{}", "--out", "out.csv"),
    "apply_few": ("apply", "m.json", "{}", "--keep", "count", "--out", "out.csv"),
    "fit": (*FIT, "{}", "--out", "out.csv"),
    "fit_in_passes": (*FIT, "{}", "--in-passes", "--out", "out.csv"),
    "evaluate": ("evaluate", "{}", "--label", "y", "--scores", "s_*", "--by", "kind"),
    "decide": ("decide", "{}", "--scores", "s_*", "--costs", "costs.csv", "--out", "out.csv"),
}


def run(name: str, content: bytes, command: str, extra: tuple[str, ...] = ()):
    """Run a command on a file; what it has written, or None if it has refused."""
    files = {name: content, "m.json": model(), "costs.csv": b"decision,ant,bee\nant,0,1\nbee,2,0\n"}
    with folder_with(files) as folder:
        arguments = [part.replace("{}", name) for part in RUNS[command]]
        makes = ("out.csv",) if "out.csv" in arguments else ()
        done = orderly(folder, *arguments, *extra, makes=makes)
        if done.status:
            return None
        return (folder / "out.csv").read_bytes() if makes else done.out


@law(
    "damage",
    few=40,
    name=st.sampled_from(sorted(whole())),
    command=st.sampled_from(sorted(RUNS)),
    edits=DAMAGE,
)
def a_damaged_file_is_one_line_or_an_answer(name, command, edits):
    run(name, damaged(whole()[name], edits), command)


SUMMED = [name for name in whole() if name.endswith((".gz", ".bz2", ".xz"))]


@law("damage", few=15, name=st.sampled_from(sorted(SUMMED)), edits=DAMAGE)
def what_has_a_checksum_is_refused_or_the_same(name, edits):
    got = run(name, damaged(whole()[name], edits), "apply")
    assert got in (None, run(name, whole()[name], "apply")), "another answer"


@law(
    "damage",
    few=15,
    column=st.sampled_from(["s_ant", "s_bee"]),
    row=st.integers(0, N_ROWS - 1),
    bit=st.integers(0, 63),
    command=st.sampled_from(["apply", "fit", "fit_in_passes"]),
)
def a_flipped_bit_of_a_parquet_score_is_noticed(column, row, bit, command):
    content = bytearray(whole()["plain.parquet"])
    first = row - row % GROUP
    scores = table()[column][first : first + GROUP].to_pylist()
    page = content.index(struct.pack(f"<{len(scores)}d", *scores))  # alone, a score may be a statistic
    at = page + 8 * (row - first)
    content[at + bit // 8] ^= 1 << bit % 8
    assert run("plain.parquet", bytes(content), command) is None, "the damage was not noticed"
