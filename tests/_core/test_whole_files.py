"""Files written whole: links, permissions, folders, names; several together or none."""

import os
import stat

import pytest

from calibrant import CalibrantError
from calibrant._core._errors import DataError
from calibrant._core._whole_files import WholeFile, is_special, open_number, together, write_whole
from faults import contents


def test_nothing_is_there_before_the_end(tmp_path):
    path = tmp_path / "file"
    with WholeFile(path) as file:
        file.write(b"new")
        file.flush()
        (part,) = tmp_path.iterdir()
        assert part.name.startswith(".file.")
        assert part.name.endswith(".part")
    assert contents(tmp_path) == {"file": b"new"}


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_inside_is_raised_as_it_is(tmp_path, error):
    with pytest.raises(error), WholeFile(tmp_path / "file") as file:  # noqa: PT012
        file.write(b"half")
        raise error
    assert contents(tmp_path) == {}


def test_links_stay_and_what_they_lead_to_is_replaced(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("deep/file")  # not there yet
    for data in (b"first", b"second"):
        write_whole(tmp_path / "one", data)
        assert (tmp_path / "deep" / "file").read_bytes() == data
        assert (tmp_path / "one").is_symlink()
        assert (tmp_path / "two").is_symlink()
    assert len(contents(tmp_path)) == 4


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("loop", "Too many levels of symbolic links"),
        ("file/inside", "Not a directory"),
        ("missing/file", "No such file or directory"),
        ("missing/", "Is a directory"),
        ("folder", "it is something else"),
        ("pipe", "it is something else"),
        ("n" * 300, "File name too long"),
        ("a\0b", "null"),
    ],
)
def test_what_is_no_place_for_a_file(tmp_path, name, said):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(DataError, match=rf"must be a file .*; .*{said}"):
        write_whole(f"{tmp_path}/{name}", b"new")
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "loop").is_symlink()


def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"old")
    monkeypatch.setattr("os.access", lambda path, mode: False)  # the superuser may always
    with pytest.raises(DataError, match="file must be a file that can be written; Permission denied"):
        write_whole(tmp_path / "file", b"new")
    assert contents(tmp_path) == {"file": b"old"}


@pytest.mark.parametrize("name", ["é" * 127, "😀" * 63, "x" * 255])
def test_a_name_may_be_as_long_as_the_system_allows(tmp_path, name):
    write_whole(tmp_path / name, b"new")
    assert contents(tmp_path) == {name: b"new"}


def test_permissions_are_those_of_any_file(tmp_path):
    old = os.umask(0o027)
    try:
        (tmp_path / "plain").write_bytes(b"")
        write_whole(tmp_path / "whole", b"")
        plain, whole = ((tmp_path / name).stat() for name in ("plain", "whole"))
        assert stat.S_IMODE(whole.st_mode) == stat.S_IMODE(plain.st_mode) == 0o640
        (tmp_path / "whole").chmod(0o604)
        write_whole(tmp_path / "whole", b"")
        assert stat.S_IMODE((tmp_path / "whole").stat().st_mode) == 0o604
    finally:
        os.umask(old)


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only the superuser gives files away"
)
def test_the_owner_stays(tmp_path):
    (tmp_path / "file").write_bytes(b"old")
    os.chown(tmp_path / "file", 12345, 54321)
    write_whole(tmp_path / "file", b"new")
    found = (tmp_path / "file").stat()
    assert (found.st_uid, found.st_gid) == (12345, 54321)


def test_folders_are_made_if_wanted_and_go_again_with_an_error(tmp_path):
    with pytest.raises(ZeroDivisionError), WholeFile(tmp_path / "a" / "b" / "file", parents=True):
        raise ZeroDivisionError
    assert contents(tmp_path) == {}
    write_whole(tmp_path / "a" / "b" / "file", b"new", parents=True)
    assert contents(tmp_path) == {"a": None, "a/b": None, "a/b/file": b"new"}


def test_files_that_are_open_are_known_by_their_names(tmp_path):
    with (tmp_path / "file").open("wb") as file:
        if not os.path.exists(f"/dev/fd/{file.fileno()}"):  # noqa: PTH110
            pytest.skip("open files have no names")
        (tmp_path / "link").symlink_to(f"/dev/fd/{file.fileno()}")
        for name in (f"/dev/fd/{file.fileno()}", f"/proc/self/fd/{file.fileno()}", tmp_path / "link"):
            assert open_number(name) == file.fileno()
            assert is_special(name)
    assert open_number(tmp_path / "file") is None
    assert not is_special(tmp_path / "file")
    assert is_special("/dev/null")


def test_files_that_belong_together_appear_together(tmp_path):
    with together():
        write_whole(tmp_path / "one", b"1")
        with together():  # which is part of the greater whole
            write_whole(tmp_path / "two", b"2")
        assert not (tmp_path / "one").exists()
        assert not (tmp_path / "two").exists()
    assert contents(tmp_path) == {"one": b"1", "two": b"2"}
    write_whole(tmp_path / "three", b"3")
    assert (tmp_path / "three").exists()


@pytest.mark.parametrize("old", [{}, {"one": b"old"}, {"two": b"old"}, {"one": b"old", "two": b"old"}])
def test_an_error_leaves_none_of_those_that_belong_together(tmp_path, old):
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(ZeroDivisionError), together():  # noqa: PT012
        write_whole(tmp_path / "one", b"1")
        write_whole(tmp_path / "two", b"2")
        raise ZeroDivisionError
    assert contents(tmp_path) == old


@pytest.mark.parametrize("links", [True, False])
@pytest.mark.parametrize("old", [{}, {"one": b"old"}])
def test_a_file_that_cannot_be_moved_takes_the_others_back(tmp_path, monkeypatch, old, links):
    """Where the old file cannot be kept for the way back, the new one stays: one of the two is there."""
    for name, content in old.items():
        (tmp_path / name).write_bytes(content)
    if not links:

        def refuse(*_):
            raise PermissionError(1, "Operation not permitted")

        monkeypatch.setattr("os.link", refuse)

    def write_two():
        with together():
            write_whole(tmp_path / "one", b"1")
            write_whole(tmp_path / "two", b"2")
            (tmp_path / "two").mkdir()

    with pytest.raises(CalibrantError, match="two must be a file that can be written; Is a directory"):
        write_two()
    expected = old if links or not old else {"one": b"1"}
    assert contents(tmp_path) == {**expected, "two": None}


def test_what_is_left_unfinished_can_be_taken_away(tmp_path):
    from calibrant._core._whole_files import discard_unfinished

    WholeFile(tmp_path / "file").open().write(b"half")
    discard_unfinished()
    assert contents(tmp_path) == {}
