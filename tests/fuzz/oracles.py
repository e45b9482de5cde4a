"""What must hold for every run of the command, whatever it is given."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.forks import Done, calibrant


@contextmanager
def folder_with(files: dict[str, bytes]) -> Iterator[Path]:
    """A folder with some files."""
    with tempfile.TemporaryDirectory() as made:
        for name, content in files.items():
            Path(made, name).write_bytes(content)
        yield Path(made)


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def orderly(folder: Path, *arguments: object, makes: tuple[str, ...] = (), stdin: str | None = None) -> Done:
    """Run the command; it ends as it should, leaves its inputs alone, and nothing but its outputs behind."""
    before = contents(folder)
    done = calibrant(*arguments, cwd=folder, stdin=None if stdin is None else folder / stdin)
    said = f"{' '.join(map(str, arguments))} ended with {done.status} and said {done.err[:1500]!r}"
    assert done.status in (0, 1, 2, 130), said
    assert "Traceback" not in done.err + done.out, said
    assert "fault of calibrant" not in done.err, said
    lines = done.err.split("\n")
    assert lines.pop() == "", said
    assert all(line.startswith("calibrant: ") for line in lines), said
    assert sum(not line.startswith("calibrant: warning: ") for line in lines) == (done.status != 0), said
    after = contents(folder)
    new = set(after) - set(before)
    wanted = set(makes) - set(before) if done.status == 0 else set()
    assert new == wanted, f"left {sorted(new)}, want {sorted(wanted)}; {said}"
    may_change = set(makes) if done.status == 0 else set()
    changed = {name for name in before if after.get(name) != before[name]}
    assert changed <= may_change, f"changed {sorted(changed)}; {said}"
    return done
