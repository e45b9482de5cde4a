"""Downloads from a real server on the loopback interface, checked and kept."""

import csv
import gc
import gzip
import hashlib
import io
import socket
import struct
import threading
import time
import warnings
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from calibrant import CalibrantError
from calibrant.experiments import _data_download, _datasets
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
        threading.Thread(target=running.serve_forever, args=(0.01,), daemon=True).start()
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


OK = b"HTTP/1.1 200 OK\r\n"


def endless(connection):
    with suppress(OSError):
        connection.sendall(OK + b"\r\n")
        while True:
            connection.sendall(b"5.1,3.5,Iris-setosa\n" * 1000)


def drip(*before):
    def answer(connection):
        with suppress(OSError):
            connection.sendall(b"".join(before))
            while True:
                connection.sendall(b"5")
                time.sleep(0.05)

    return answer


def say(answer):
    def send(connection):
        connection.sendall(answer)

    return send


def reset(connection):
    """End the connection as a machine does that has crashed."""
    connection.sendall(OK + b"Content-Length: 100\r\n\r\n5.1")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


GOOD = IRIS_LIKE.encode()
MOVED = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: %s\r\n\r\n"
#: What a server answers, and what is said of it.
BROKEN = {
    "nothing": (say(b""), "closed connection without response"),
    "garbage": (say(b"\x1b[31m\xff\x00garbage\r\n\r\n"), "garbage"),
    "another protocol": (say(b"220 mail.example ESMTP\r\n"), "220 mail"),
    "a status that is none": (say(b"HTTP/1.1 abc OK\r\n\r\n"), "abc"),
    "an endless status line": (say(b"HTTP/1.1 200 " + b"O" * 70_000), "status line"),
    "too many headers": (say(OK + b"X: y\r\n" * 200 + b"\r\n" + GOOD), "headers"),
    "a header that is too long": (say(OK + b"X: " + b"y" * 70_000), "header line"),
    "less than was said": (say(OK + b"Content-Length: 1000\r\n\r\n" + GOOD), "IncompleteRead"),
    "more than was said": (say(OK + b"Content-Length: 20\r\n\r\n" + GOOD), "checksum"),
    "a chunk that breaks off": (say(OK + b"Transfer-Encoding: chunked\r\n\r\nff\r\n5.1"), "IncompleteRead"),
    "a chunk without a size": (say(OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n5.1"), "IncompleteRead"),
    "a crash": (reset, "reset by peer"),
    "an endless answer": (endless, "more than 100000 bytes"),
    "a slow answer": (drip(OK, b"\r\n"), "took more than 0.5 seconds"),
    "a slow header": (drip(OK), "took more than 0.5 seconds"),
    "silence": (lambda connection: time.sleep(0.6), "timed out"),
    "a loop": (say(MOVED % b"/tiny.data"), "infinite loop"),
    "a file of this machine": (say(MOVED % b"file:///etc/passwd"), "not allowed"),
    "an address that is none": (say(MOVED % b"http://[::1/x"), "Invalid IPv6 URL"),
    "a port that is none": (say(MOVED % b"http://127.0.0.1:zz/x"), "port"),
    "a place without an address": (say(MOVED % b"http:///x"), "infinite loop"),
    "an error": (say(b"HTTP/1.1 500 on\x1b[2J fire\r\n\r\n"), "HTTP Error 500"),
    "other bytes": (say(OK + b"\r\n" + gzip.compress(GOOD, mtime=0)), "values"),
    "other rows": (say(OK + b"\r\n" + GOOD.replace(b"5.1", b"5.2")), "checksum"),
    "no rows": (say(OK + b"\r\n"), "checksum"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_answer_is_one_line_and_leaves_nothing(tiny, tmp_path, monkeypatch, case):
    answer, said = BROKEN[case]
    monkeypatch.setattr(_data_download, "MOST_BYTES", 100_000)
    monkeypatch.setattr(_data_download, "TIMEOUT", 0.3)
    monkeypatch.setattr(_data_download, "DEADLINE", 0.5)
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve():
            with suppress(OSError):
                while True:
                    connection, _ = listening.accept()
                    with connection, suppress(OSError):
                        connection.recv(65536)
                        answer(connection)

        threading.Thread(target=serve, daemon=True).start()
        monkeypatch.setenv("CALIBRANT_UCI", f"http://127.0.0.1:{listening.getsockname()[1]}")
        with pytest.raises(_data_download.MissingDataError) as caught:
            _datasets.find("tiny.csv.gz")
        listening.shutdown(socket.SHUT_RDWR)
    text = str(caught.value)
    assert said in text
    assert text.isprintable()
    assert len(text) < 500
    assert not (tmp_path / "cache").exists()
    del caught
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        gc.collect()  # Python's own library leaves an answer open that sends it to no address


@pytest.mark.parametrize("address", ["http://127.0.0.1:1", "no address", "http://", "ftp://127.0.0.1:1"])
def test_an_address_that_nobody_answers_at_is_one_line(tiny, tmp_path, monkeypatch, address):
    monkeypatch.setenv("CALIBRANT_UCI", address)
    with pytest.raises(_data_download.MissingDataError) as caught:
        _datasets.find("tiny.csv.gz")
    assert str(caught.value).isprintable()
    assert not (tmp_path / "cache").exists()


def test_a_file_that_cannot_be_kept_leaves_nothing(tiny, tmp_path, monkeypatch):
    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(CalibrantError, match=r"tiny\.csv\.gz must be a file that can be written; No space"):
        _datasets.find("tiny.csv.gz")
    assert not (tmp_path / "cache").exists()
