"""Everything that writes, with a fault at every call that does: the old file or the new one, and no other."""

import ast
import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner

import calibrant
from calibrant import CalibrantError, SigmoidCalibrator
from calibrant._core._whole_files import together, write_whole
from calibrant.cli._main import cli
from calibrant.experiments._cache import Cache
from calibrant.experiments._data_download import _keep
from calibrant.experiments._document import write_document
from calibrant.experiments._experiment import Job
from calibrant.files import open_sink
from calibrant.models import export, save, save_onnx
from calibrant.report import summarize
from cli.conftest import load_script
from faults import Calls, contents, count_calls, fail, interrupt, watched

SIGMOID = SigmoidCalibrator().fit([-2.0, -1.0, 1.0, 2.0], [0, 1, 0, 1])
SUMMARY = summarize([0, 1] * 20, [[0.7, 0.3], [0.2, 0.8]] * 20)
TABLE = pa.table({"id": [f"row {i}" for i in range(2000)], "p": [i / 7 for i in range(2000)]})


def write_rows(path):
    with open_sink(path) as sink:
        for start in range(0, 2000, 700):
            sink.write(TABLE.slice(start, 700))


def write_two(folder):
    with together():
        write_whole(folder / "page.html", b"page" * 3000)
        write_whole(folder / "model.json", b"model" * 3000)


def answer():
    return 1


#: What writes into a folder, and the files that it writes there.
WRITERS = {
    "save": (lambda folder: save(SIGMOID, folder / "m.json"), ["m.json"]),
    "export": (lambda folder: save_onnx(SIGMOID, folder / "m.onnx"), ["m.onnx"]),
    "export python": (lambda folder: export(SIGMOID, folder / "m.py", "python"), ["m.py"]),
    "page": (lambda folder: SUMMARY.save(folder / "r.html"), ["r.html"]),
    "numbers": (lambda folder: SUMMARY.save(folder / "r.json"), ["r.json"]),
    "a page in a new folder": (
        lambda folder: SUMMARY.save(folder / "new" / "deep" / "r.json"),
        ["new/deep/r.json"],
    ),
    "findings": (lambda folder: write_document({"name": "a"}, folder / "found"), ["found/a.json"]),
    "downloads": (lambda folder: _keep(folder / "data" / "a.csv.gz", b"a" * 9999), ["data/a.csv.gz"]),
    "cache": (lambda folder: Cache(folder).put(Job(answer, {}), [1, 2], 0.5), None),
    "two files": (write_two, ["model.json", "page.html"]),
    **{
        ending: (lambda folder, name=f"rows.{ending}": write_rows(folder / name), [f"rows.{ending}"])
        for ending in ("csv", "tsv", "jsonl", "parquet", "arrow", "csv.gz", "csv.bz2", "jsonl.xz", "csv.zst")
    },
}
ERRORS = [fail(errno.ENOSPC), fail(errno.EIO), fail(errno.EACCES), interrupt]


def holds_old_or_new(folder, old, new):
    """What is in a folder: all as it was or all as it should be; nothing beside."""
    found = contents(folder)
    assert found in (old, new), sorted(found)
    return found == new


def prepare(folder, new, old):
    """A folder in which the files that will be written are there already, or not."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if old:
        for name, content in new.items():
            if content is not None:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_bytes(b"old")
    return contents(folder)


def was_refused(work, calls):
    """Whether some work has failed by an error of ours, or was interrupted."""
    with watched(calls):
        try:
            work()
        except (CalibrantError, KeyboardInterrupt):
            return True
    return False


@pytest.mark.parametrize("old", [False, True])
@pytest.mark.parametrize("name", WRITERS)
def test_a_fault_at_any_call_leaves_the_old_files_or_the_new(tmp_path, name, old):
    write, files = WRITERS[name]
    folder = tmp_path / "folder"
    prepare(folder, {}, False)
    write(folder)
    new = contents(folder)
    assert files is None or [path for path, content in new.items() if content is not None] == files
    before = prepare(folder, new, old)
    made = count_calls(partial(write, folder))
    assert contents(folder) == new
    names = [call for call, _ in made]
    assert {"open", "write", "fsync", "replace"} <= set(names)
    outcomes = set()
    for n in range(1, len(made) + 1):
        for error in ERRORS:
            prepare(folder, new, old)
            failed = was_refused(partial(write, folder), Calls(n, error))
            # A way back, and folders that are brought to the disk, are not to be had everywhere.
            assert failed or names[n - 1] == "link" or n > names.index("replace") + 1
            is_new = holds_old_or_new(folder, before, new)
            assert failed or is_new
            outcomes.add(is_new)
    assert outcomes == {False, True}  # the last call syncs a folder whose file is in its place


#: What opens, makes or moves files, and the modules that may.
WRITING = {"write_text", "write_bytes", "touch", "rename", "replace", "link", "savefig"} | {
    "NamedTemporaryFile",
    "mkstemp",
    "fdopen",
    "copy",
    "copyfile",
    "move",
    "to_csv",
    "to_parquet",
}
MODULES = {"os", "shutil", "tempfile", "Path"}
MAY_WRITE = {"_core/_whole_files.py", "files/_sink.py", "cli/_process.py"}


def calls_that_write(path):
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(call, ast.Call):
            continue
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        # Texts, arrays and dataclasses are replaced and copied, too; files by these modules.
        of = ast.unparse(function.value).split("(")[0] if isinstance(function, ast.Attribute) else ""
        shared = name in {"rename", "replace", "link", "copy", "move"}
        mode = [each.value for each in call.args if isinstance(each, ast.Constant)]
        writes = name == "open" and any(re.fullmatch(r"[rbt]*[wax+][wbt+]*", str(each)) for each in mode)
        if writes or (name in WRITING and (not shared or of in MODULES)):
            yield f"{name} in line {call.lineno}"


def test_all_files_are_written_by_one_module():
    sources = Path(calibrant.__file__).parent
    found = {
        str(path.relative_to(sources)): calls
        for path in sources.rglob("*.py")
        if (calls := list(calls_that_write(path)))
    }
    assert set(found) <= MAY_WRITE, found
    assert "_core/_whole_files.py" in found


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_on_the_disk_before_its_name_and_the_name_after(tmp_path, name):
    made = count_calls(partial(WRITERS[name][0], tmp_path))
    order = [call for call, _ in made]
    moves = [place for place, call in enumerate(order) if call == "replace"]
    assert order[: moves[0]].count("fsync") == len(moves)
    assert "write" not in order[moves[0] - 1 :]
    synced = {Path(what) for call, what in made[moves[-1] :] if call == "open"}
    assert synced == {tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())}
    assert order[moves[-1] :].count("fsync") >= len(moves)


def test_a_short_write_goes_on(tmp_path, monkeypatch):
    import faults

    monkeypatch.setattr(
        faults._Raw, "write", lambda self, data: super(faults._Raw, self).write(bytes(data)[:1000])
    )
    with watched(Calls()):
        write_whole(tmp_path / "file", b"x" * 123_456)
    assert (tmp_path / "file").read_bytes() == b"x" * 123_456


LABELLED = ("--label", "label", "--scores")
COMMANDS = {
    "fit": (
        ["fit", "scores.csv", *LABELLED, "s_*", "--report", "new/r.html", "--out", "m.json"],
        ["m.json", "new/r.html"],
    ),
    "apply": (["apply", "model.json", "new.csv", "--out", "o.csv.gz"], ["o.csv.gz"]),
    "apply to Parquet": (["apply", "model.json", "new.csv", "--out", "o.parquet"], ["o.parquet"]),
    "decide": (
        ["decide", "probabilities.csv", "--scores", "p_*", "--costs", "costs.csv", "--out", "o.arrow"],
        ["o.arrow"],
    ),
    "evaluate": (["evaluate", "probabilities.csv", *LABELLED, "p_*", "--report", "r.html"], ["r.html"]),
    "monitor": (
        ["monitor", "probabilities.csv", *LABELLED, "p_*", "--state", "s.json", "--report", "r.html"],
        ["s.json", "r.html"],
    ),
    "report": (["report", "probabilities.csv", *LABELLED, "p_*", "--out", "r.json"], ["r.json"]),
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    """The files that commands read, few rows of each."""
    folder = tmp_path_factory.mktemp("inputs")
    load_script("example_files").write(folder)
    for name in ("scores.csv", "new.csv"):
        lines = (folder / name).read_text().splitlines(keepends=True)
        (folder / name).write_text("".join(lines[:121]))
    os.chdir(folder)
    call(["fit", "scores.csv", *LABELLED, "s_*", "--out", "model.json"])
    call(["apply", "model.json", "new.csv", "--out", "probabilities.csv"])
    return folder


def call(arguments):
    return CliRunner().invoke(cli, arguments, catch_exceptions=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_a_fault_of_a_command_leaves_all_its_files_or_none(inputs, tmp_path, monkeypatch, name):
    arguments, files = COMMANDS[name]
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    before = contents(tmp_path)
    made = count_calls(partial(call, arguments))
    after = contents(tmp_path)
    assert {path for path in after if path not in before} - {"new"} == set(files)
    for n in range(1, len(made) + 1):
        shutil.rmtree(tmp_path)
        shutil.copytree(inputs, tmp_path)
        os.chdir(tmp_path)
        with watched(Calls(n, fail(errno.ENOSPC))), pytest.raises(CalibrantError, match="No space left"):
            call(arguments)
        found = contents(tmp_path)
        assert set(found) in (set(before), set(after))
        assert {path: found[path] for path in before} == before


DRIVER = Path(__file__).parent / "fault_driver.py"
#: What the guide says may be left behind by a process that is killed.
LEFT = re.compile(r"^\.(m\.json|r\.html|o\.csv\.gz)\.[0-9a-f]{16}(\.old)?\.part$")


STATUS = {"SIGKILL": -signal.SIGKILL, "SIGTERM": -signal.SIGTERM, "SIGINT": 130}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes")
@pytest.mark.parametrize(("name", "signals"), [("fit", ["SIGKILL", "SIGTERM"]), ("apply", list(STATUS))])
def test_a_command_that_is_stopped_at_any_call(inputs, tmp_path, name, signals):
    arguments, files = COMMANDS[name]
    old = tmp_path / "old"
    shutil.copytree(inputs, old)
    for file in files:
        (old / file).parent.mkdir(exist_ok=True)
        (old / file).write_bytes(b"old")
    before = contents(old)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", DRIVER, ",".join(signals), old, tmp_path, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    for how, line in zip(signals, done.stdout.splitlines(), strict=True):
        *statuses, last = map(int, line.split())
        assert len(statuses) >= 6 * len(files)
        assert (set(statuses), last) == ({STATUS[how]}, 0)
        new = contents(tmp_path / f"{how}-{len(statuses) + 1}")
        assert set(new) == set(before)
        for n in range(1, len(statuses) + 1):
            check_what_is_left(tmp_path / f"{how}-{n}", how, files, before, new)


def check_what_is_left(folder, how, files, before, new):
    """Every file is old or new; nothing is beside them; unless there was no time for that, all agree."""
    found = contents(folder)
    left = {path for path in found if path not in before}
    assert all(LEFT.match(Path(path).name) for path in left)
    assert all(found[path] == content for path, content in before.items() if path not in files)
    are_new = [found[path] == new[path] for path in files]
    assert all(is_new or found[path] == b"old" for path, is_new in zip(files, are_new, strict=True))
    if how != "SIGKILL":
        assert not left
        assert len(set(are_new)) == 1
        said = Path(f"{folder}.txt").read_text()
        what = "interrupted" if how == "SIGINT" else "terminated"
        assert said == f"calibrant: {what}{'' if are_new[0] else '; no file was written'}\n"
