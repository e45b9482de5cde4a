"""Reads damaged files, one after the other, in a process of its own: what ends it is seen from outside.

Prints a line for every file that is neither read nor refused in one line; so nothing, if all is well.
"""

import gzip
import io
import random
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as pa_ipc
import pyarrow.parquet as pa_parquet

from calibrant import CalibrantError
from calibrant.files import labelled, open_source

N = 40
TABLE = pa.table(
    {
        "id": [f"k{n}é" for n in range(N)],
        "score": np.linspace(-1, 1, N),
        "label": pa.array(["no", "yes"] * (N // 2)).dictionary_encode(),
        "list": [[n, n + 1] for n in range(N)],
        "struct": [{"a": n, "b": str(n)} for n in range(N)],
        "view": pa.array([f"longer than what a view holds itself {n}" for n in range(N)], pa.string_view()),
    }
)
#: Text that ends the parser of pyarrow, or once did.
TEXTS = {
    "null.jsonl": b"null\n",
    "null_after_a_mark.jsonl": b"\xef\xbb\xbf \n null\n",
    "lists.jsonl": b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n",
    "objects.jsonl": b"\n" * 200_000 + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"\n",
    "values_between.jsonl": b'{"a":' + b"[1," * 100_000 + b"1" + b"]" * 100_000 + b"}\n",
    "open.jsonl": b'{"a":' + b'{"b":' * 100_000 + b"\n",
    "mixed.jsonl": b'{"a":[null,{"b":null}]}\n',
    "nul.csv": b"score,label\n1\0,no\n\0,yes\n",
    "latin.csv": b"score,label\n1,\xe9t\xe9\n",
    "utf16.csv": "score,label\n1,no\n".encode("utf-16"),
    "utf16_without_mark.csv": "score,label\n1,no\n".encode("utf-16-le"),
    "quote.csv": b'score,label\n1,"no\n' + b"2,yes\n" * 1000,
    "cut.csv.gz": gzip.compress(b"score,label\n1,no\n" * 1000, mtime=0)[:-9],
    "other.csv.gz": b"\x1f\x8b\x08\x00" + b"\xff" * 100,
}


def whole_files():
    """The same rows in every format, each a name and its bytes."""
    yield "file.arrow", written(pa_ipc.new_file)
    yield "stream.arrow", written(pa_ipc.new_stream)
    for codec in ("lz4", "zstd"):
        yield f"{codec}.arrow", written(pa_ipc.new_file, options=pa_ipc.IpcWriteOptions(compression=codec))
    rows = TABLE.drop_columns(["view"])
    for version, codec, coded in (("1.0", "none", True), ("2.0", "snappy", False), ("1.0", "zstd", False)):
        file = io.BytesIO()
        pa_parquet.write_table(
            rows, file, row_group_size=15, compression=codec, data_page_version=version, use_dictionary=coded
        )
        yield f"{version}_{codec}.parquet", file.getvalue()
    yield "x.csv", b"id,score,label\n" + b"".join(b'"k%d",%d.5,no\n' % (n, n) for n in range(N))
    yield "x.jsonl", b"".join(b'{"id":"k%d","score":%d.5,"label":"no","l":[1]}\n' % (n, n) for n in range(N))


def written(new, **options):
    file = io.BytesIO()
    with new(file, TABLE.schema, **options) as writer:
        writer.write_table(TABLE, max_chunksize=15)
    return file.getvalue()


def damaged(content, chance):
    """The bytes with some of them changed, lost or repeated; numbers become the greatest or least."""
    content = bytearray(content)
    at = chance.randrange(len(content) - 8)
    kind = chance.randrange(5)
    if kind == 0:
        content[at] = chance.choice([0, 127, 128, 255, chance.randrange(256)])
    elif kind == 1:
        at &= ~3
        content[at : at + 4] = chance.choice([b"\xff\xff\xff\x7f", b"\0\0\0\x80", b"\xff" * 4, b"\0" * 4])
    elif kind == 2:
        at &= ~7
        content[at : at + 8] = chance.choice([b"\xff" * 7 + b"\x7f", b"\xff" * 8, b"\0" * 6 + b"\1\0"])
    elif kind == 3:
        del content[at:]
    else:
        piece = content[at : at + chance.randrange(1, 64)]
        content[at : at + len(piece)] = piece * chance.choice([0, 2])
    return bytes(content)


def trouble_with(path):
    """What is wrong with how a file is read; None if it is read, or refused in one line."""
    try:
        source = open_source(path)
        source.n_rows  # noqa: B018
        for _ in source.batches():
            pass
        for _ in labelled(path, scores="score", label="label", key="id")():
            pass
    except CalibrantError as error:
        return None if "\n" not in str(error) and len(str(error)) < 600 else f"says too much: {error}"
    except Exception as error:  # that is what is looked for
        return f"{type(error).__name__}: {error}"
    return None


def main(folder, n_each, seed):
    chance = random.Random(seed)
    files = list(TEXTS.items())
    files += [(name, damaged(content, chance)) for name, content in whole_files() for _ in range(n_each)]
    for number, (name, content) in enumerate(files):
        path = folder / f"{number}_{name}"
        path.write_bytes(content)
        trouble = trouble_with(path)
        if trouble is None:
            path.unlink()  # what stays is what ended the process, or is printed
        else:
            sys.stdout.write(f"{path.name} {trouble}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
