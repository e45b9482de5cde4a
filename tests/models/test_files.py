"""Files of models: complete or as they were before, whatever happens; and read with suspicion."""

import os
import signal
import stat
import time
from pathlib import Path

import pytest

from calibrant import CalibrantError, SigmoidCalibrator
from calibrant._core._whole_files import write_whole
from calibrant.models import ModelFileError, load, save
from calibrant.models._files import MAX_BYTES

MODEL = SigmoidCalibrator().fit([-2.0, -1.0, 1.0, 2.0], [0, 1, 0, 1])
OTHER = SigmoidCalibrator().fit([-2.0, -1.0, 1.0, 2.0], [0, 0, 1, 1])


def names_in(folder):
    """The names of all files of a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_a_file_round_trips_and_saving_twice_gives_the_same_bytes(tmp_path):
    path = tmp_path / "model.json"
    save(MODEL, path, date="2026-03-31")
    first = path.read_bytes()
    save(MODEL, str(path), date="2026-03-31")
    assert path.read_bytes() == first
    loaded = load(str(path))
    assert (loaded.A_, loaded.B_) == (MODEL.A_, MODEL.B_)
    save(loaded, tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == first
    assert names_in(tmp_path) == ["again.json", "model.json"]


def test_the_file_is_for_people_too(tmp_path):
    save(MODEL, tmp_path / "model.json")
    text = (tmp_path / "model.json").read_text("utf-8")
    assert text.startswith('{\n  "format": "calibrant",\n  "version": 1,\n  "kind": "sigmoid",\n')
    assert '\n  "classes": {"type": "int", "values": [0, 1]},\n' in text
    assert text.endswith("}\n")
    assert max(map(len, text.splitlines())) < 120


def start_writing(path):
    """Another process, which has written the new contents under another name and then takes its time."""
    ready, tell = os.pipe()
    number = os.fork()
    if number:
        os.close(tell)
        assert os.read(ready, 1) == b"."
        os.close(ready)
        return number

    def slowly(file):
        os.write(tell, b".")
        time.sleep(60)

    try:
        os.fsync = slowly
        write_whole(path, b"new" * 1000)
    finally:
        os._exit(1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_a_process_that_ends_while_it_writes_leaves_the_old_file(how, tmp_path):
    path = tmp_path / "model.json"
    save(MODEL, path)
    number = start_writing(path)
    (part,) = tmp_path.glob(".model.json.*.part")
    assert part.read_bytes() == b"new" * 1000
    os.kill(number, getattr(signal, how))
    os.waitpid(number, 0)
    assert load(path).A_ == MODEL.A_
    assert part.exists() == (how == "SIGKILL")  # nobody can clean up after that
    save(OTHER, path)
    assert load(path).A_ == OTHER.A_


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    save(MODEL, path)

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("calibrant.models._files.os.fsync", full)
    with pytest.raises(ModelFileError, match="model.json must be a file that can be written; No space left"):
        save(OTHER, path)
    assert load(path).A_ == MODEL.A_
    assert names_in(tmp_path) == ["model.json"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "releases").mkdir()
    target, link = tmp_path / "releases" / "one.json", tmp_path / "current.json"
    save(MODEL, target)
    link.symlink_to(target)
    save(OTHER, link)
    assert link.is_symlink()
    assert load(target).A_ == load(link).A_ == OTHER.A_
    dangling = tmp_path / "dangling.json"
    dangling.symlink_to(tmp_path / "releases" / "two.json")
    save(MODEL, dangling)
    assert load(tmp_path / "releases" / "two.json").A_ == MODEL.A_


@pytest.mark.skipif(os.name != "posix", reason="permissions of another kind")
def test_permissions(tmp_path):
    path = tmp_path / "model.json"
    before = os.umask(0o027)
    try:
        save(MODEL, path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    path.chmod(0o604)
    save(OTHER, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o604


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_an_unwritable_folder(tmp_path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(ModelFileError, match="must be a file that can be written; Permission denied"):
            save(MODEL, tmp_path / "model.json")
    finally:
        tmp_path.chmod(0o700)


def test_folders_that_are_none(tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ModelFileError, match="can be written; No such file or directory"):
        save(MODEL, tmp_path / "nowhere" / "model.json")
    with pytest.raises(ModelFileError, match="can be written; Not a directory"):
        save(MODEL, tmp_path / "file" / "model.json")
    with pytest.raises(ModelFileError, match="must be a file to be written; it is something else"):
        save(MODEL, tmp_path)
    with pytest.raises(ModelFileError, match="can be written; .*null"):
        save(MODEL, "a\0b")
    assert names_in(tmp_path) == ["file"]


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a folder that nobody can write to")
def test_a_folder_that_nobody_can_write_to():
    with pytest.raises(ModelFileError, match="/proc/model.json must be a file that can be written; "):
        save(MODEL, "/proc/model.json")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(ModelFileError, match="missing.json must be a file that can be read; No such file"):
        load(tmp_path / "missing.json")
    with pytest.raises(CalibrantError, match="must be a file that can be read; Is a directory"):
        load(tmp_path)
    with pytest.raises(ModelFileError, match="can be read; .*null"):
        load("a\0b")
    loop = tmp_path / "loop.json"
    loop.symlink_to(loop)
    with pytest.raises(ModelFileError, match="loop.json must be a file that can be read; "):
        load(loop)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
def test_a_pipe_is_refused_and_does_not_wait(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    with pytest.raises(ModelFileError, match="pipe.json must be a file to be read; it is something else"):
        load(tmp_path / "pipe.json")
    with pytest.raises(ModelFileError, match="pipe.json must be a file to be written; it is something else"):
        save(MODEL, tmp_path / "pipe.json")
    assert stat.S_ISFIFO((tmp_path / "pipe.json").stat().st_mode)


def test_an_oversized_file_is_not_read(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # a hole, which needs no room on the disk
    with pytest.raises(ModelFileError, match=f"large.json must have at most {MAX_BYTES} bytes; it has more"):
        load(path)


def test_an_oversized_model_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr("calibrant.models._files.MAX_BYTES", 100)
    with pytest.raises(
        ModelFileError, match="at most 100 bytes; this SigmoidCalibrator needs .*; use a calibrat"
    ):
        save(MODEL, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


def test_a_long_name_leaves_room_for_the_temporary_one(tmp_path):
    write_whole(tmp_path / ("m" * 250 + ".json"), b"{}")
    assert [len(name) for name in names_in(tmp_path)] == [255]
