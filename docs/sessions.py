"""Sessions with the command that documents show: run them, and keep what they print up to date.

A block of code marked `console` is a session: lines that begin with "$ " are typed, the others printed.
`python docs/sessions.py` runs those of the guide and of the README in folders of their own, and writes what
they print into the documents; a test fails if a document does not show what is printed.

Files hold every digit of a number, documents four decimals of a long one. Numbers are compared to one unit of
the last digit that is shown: another processor, or another release of a library, may round a sum differently.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from decimal import Decimal
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory

from click.testing import CliRunner

DOCS = Path(__file__).parent
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"(?<![\w.])\d+\.\d+(?!\w|\.\d)")
COUNT_TOO = re.compile(r"(?<![\w.])(?:\d+\.\d+|\d{3,})(?!\w|\.\d)")
INTERVAL = re.compile(r" ± [\d.]+| \[[\d.]+, [\d.]+\]")
LONG_NUMBER = re.compile(r"\d+\.\d{8,}")
#: With a slack, what two numbers may differ by however small they are.
LITTLE = Decimal("0.0005")


def commands(session: str) -> list[str]:
    """What is typed in a session; a command ends with the first line that does not end in a backslash."""
    joined = session.replace("\\\n", "\\\0")
    return [line[2:].replace("\\\0", "\\\n") for line in joined.splitlines() if line.startswith("$ ")]


def run(command: str, folder: Path) -> str:
    """Run one command, without a new process where it is ours alone, and give what it prints."""
    plain = command.replace("\\\n", " ")
    if plain.startswith("calibrant ") and not re.search(r"[|>]", plain):
        from calibrant.cli._main import cli  # noqa: PLC0415

        with chdir(folder):
            done = CliRunner().invoke(cli, shlex.split(plain)[1:], catch_exceptions=False)
        if done.exit_code:
            raise RuntimeError(f"{plain}: {done.output}")
        return done.stdout
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        plain,
        shell=True,
        cwd=folder,
        env=os.environ | {"PATH": path},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def readable(text: str) -> str:
    """The text without the digits that nobody reads."""
    return LONG_NUMBER.sub(lambda number: f"{float(number[0]):.4f}", text)


def replayed(session: str, folder: Path) -> Iterator[str]:
    """The lines of a session as they would be now."""
    for command in commands(session):
        yield f"$ {command}\n"
        yield readable(run(command, folder))


def updated(document: str, folder: Path) -> str:
    """A document with what its sessions print now."""
    return BLOCK.sub(lambda block: f"```console\n{''.join(replayed(block[1], folder))}```", document)


def differences(document: str, folder: Path, slack: str = "0") -> list[tuple[str, str]]:
    """Lines that a document shows, beside what is printed now, where the two say different things.

    What a search by tolerance has found depends on the processor: with a slack numbers, and counts of rows,
    may differ by that share of them too, or by a little, and intervals do not count.
    """
    shown, printed = document.splitlines(), updated(document, folder).splitlines()
    if Decimal(slack):
        shown, printed = (
            [" ".join(INTERVAL.sub(" ", line).split()) for line in each] for each in (shown, printed)
        )
    pairs = zip_longest(shown, printed, fillvalue="")
    return [pair for pair in pairs if not alike(*pair, Decimal(slack))]


def alike(shown: str, printed: str, slack: Decimal) -> bool:
    """Whether two lines have the same words, and the same numbers up to one unit of their last digit."""
    pattern, least = (COUNT_TOO, LITTLE) if slack else (NUMBER, Decimal(0))
    if pattern.sub("", shown) != pattern.sub("", printed):
        return False
    pairs = zip(pattern.findall(shown), pattern.findall(printed), strict=False)
    return all(
        abs(Decimal(one) - Decimal(other))
        <= max(Decimal(10) ** _exponent(one), slack * abs(Decimal(one)), least)
        for one, other in pairs
    )


def _exponent(number: str) -> int:
    """The power of ten of the last digit."""
    return -len(number.partition(".")[2])


def main() -> None:
    """Update the guide and the README."""
    sys.path.insert(0, str(DOCS))
    import example_files  # noqa: PLC0415
    import pendigits_scores  # noqa: PLC0415

    for page, make in (
        (DOCS / "guide" / "command.md", example_files.write),
        (DOCS / "guide" / "where-it-runs.md", example_files.write),
        (DOCS.parent / "README.md", pendigits_scores.write),
    ):
        with TemporaryDirectory() as name:
            make(Path(name))
            page.write_text(updated(page.read_text(encoding="utf-8"), Path(name)), encoding="utf-8")


if __name__ == "__main__":
    main()
