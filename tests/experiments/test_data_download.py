"""Downloads from a real server on the loopback interface, checked and kept."""

import csv
import gzip
import hashlib
import io
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from calibrant import CalibrantError
from calibrant.experiments import _datasets
from calibrant.experiments._data_download import Source, sources

BESIDE = _datasets.BESIDE
IRIS_LIKE = "5.1,3.5,Iris-setosa\n 6.2, ?, Iris-virginica\n\n"
OURS = "length,width,class\n5.1,3.5,Iris-setosa\n6.2,,Iris-virginica\n"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A repository of data with nothing in it yet."""
    folder = tmp_path / "repository"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        monkeypatch.setenv("CALIBRANT_UCI", f"http://127.0.0.1:{running.server_port}/")
        monkeypatch.setenv("CALIBRANT_DOWNLOAD", "1")
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
        monkeypatch.delenv("CALIBRANT_DATA", raising=False)
        monkeypatch.setattr(_datasets, "BESIDE", tmp_path / "nowhere")
        yield folder
        running.shutdown()


def checksum(text):
    return hashlib.sha256(text.encode()).hexdigest()


@pytest.fixture
def tiny(server, monkeypatch):
    """A small file of the repository."""
    (server / "tiny.data").write_text(IRIS_LIKE)
    monkeypatch.setitem(
        sources(),
        "tiny.csv.gz",
        Source(("tiny.data",), ("length", "width", "class"), checksum(OURS)),
    )
    return server / "tiny.data"


def test_a_file_is_fetched_once_and_kept(tiny):
    path = _datasets.find("tiny.csv.gz")
    assert gzip.decompress(path.read_bytes()).decode() == OURS
    tiny.unlink()
    assert _datasets.find("tiny.csv.gz") == path
    assert [each.name for each in path.parent.iterdir()] == ["tiny.csv.gz"]


def test_nothing_is_fetched_unasked(tiny, monkeypatch):
    monkeypatch.delenv("CALIBRANT_DOWNLOAD")
    with pytest.raises(CalibrantError, match=r"can be downloaded: set CALIBRANT_DOWNLOAD=1"):
        _datasets.find("tiny.csv.gz")


def test_a_changed_value_is_refused_and_not_kept(tiny, tmp_path):
    tiny.write_text(IRIS_LIKE.replace("6.2", "6.3"))
    with pytest.raises(
        CalibrantError, match=rf"what http.* gives has the checksum .*, not {checksum(OURS)[:12]}"
    ):
        _datasets.find("tiny.csv.gz")
    assert not (tmp_path / "cache").exists()


def test_a_file_of_another_form_is_refused(tiny):
    tiny.write_text("<html>moved</html>")
    with pytest.raises(
        CalibrantError, match=r"rows of tiny\.csv\.gz must have 3 values; the source gives 1: '<html>"
    ):
        _datasets.find("tiny.csv.gz")


def test_a_source_without_the_file_is_said(tiny):
    tiny.unlink()
    with pytest.raises(
        CalibrantError, match=r"must be downloaded from http://127.*tiny\.data; that failed .*404"
    ):
        _datasets.find("tiny.csv.gz")


def test_columns_of_two_files_stand_side_by_side(server, monkeypatch):
    (server / "rows.txt").write_text("1\t2\n3\t4\n")
    (server / "labels.txt").write_text("0\n1\n")
    ours = "a,b,class\n1,2,0\n3,4,1\n"
    source = Source(("rows.txt", "labels.txt"), ("a", "b", "class"), checksum(ours), separator="")
    monkeypatch.setitem(sources(), "two.csv.gz", source)
    assert _datasets.read_numeric("two").y.tolist() == ["0", "1"]


def written_as_the_source_writes(source, text):
    """The file as the repository has it, made from ours: only the form is undone."""
    heading, *rows = csv.reader(io.StringIO(text))
    place = [heading.index(column) for column in source.columns]
    separator = {",": ", "}.get(source.separator, "  ")
    lines = [separator.join(row[column] or "?" for column in place) for row in rows]
    return "\n".join(["a line that is no row"] * source.skipped + lines) + "\n"


@pytest.mark.parametrize(
    "file", [file for file, source in sources().items() if len(source.paths) == 1 and "adult" not in file]
)
def test_every_real_file_comes_out_of_its_source_form_as_it_is_here(server, file):
    source = sources()[file]
    here = BESIDE / file
    if not here.is_file():
        pytest.skip(f"{file} is not at hand")
    place = server / source.paths[0]
    place.parent.mkdir(parents=True, exist_ok=True)
    text = gzip.decompress(here.read_bytes()).decode()
    place.write_text(written_as_the_source_writes(source, text))
    assert gzip.decompress(_datasets.find(file).read_bytes()).decode() == text
