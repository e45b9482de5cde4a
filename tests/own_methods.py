"""The methods that the guide builds: its page is what is tested, so their files are written from there."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module, invalidate_caches
from pathlib import Path

from calibrant.calibrators import METHODS
from calibrant.passes import _travel

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "your-own-method.md"
#: A block of Python, and the block of text after it, if there is one, which is what it prints.
BLOCKS = re.compile(r"^```python\n(.*?)^```\n(?:\n^```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
#: The first line of a block that is a file.
FILE = re.compile(r"# (\w+)\.py\n")


def files():
    """The code of the files by the names of their modules."""
    codes = [code for code, _ in BLOCKS.findall(PAGE.read_text("utf-8"))]
    return {found[1]: code for code in codes if (found := FILE.match(code))}


def sessions():
    """What is typed, and what is printed, without what needs Spark."""
    return [
        pair
        for pair in BLOCKS.findall(PAGE.read_text("utf-8"))
        if not FILE.match(pair[0]) and "calibrant.spark" not in pair[0]
    ]


def spark_session():
    """What is typed where there is a Spark."""
    (code,) = (code for code, _ in BLOCKS.findall(PAGE.read_text("utf-8")) if "calibrant.spark" in code)
    return code


def refusal():
    """The line with which a file is refused whose method nobody has imported."""
    (text,) = re.findall(r"```text\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    return " ".join(text.split())


@contextmanager
def imported(folder: Path) -> Iterator[dict[str, object]]:
    """Write the files into a folder and import them; afterwards nobody knows of them any more."""
    registries = [METHODS._classes, _travel._KINDS]
    for name, code in files().items():
        (folder / f"{name}.py").write_text(code, "utf-8")
    sys.path.insert(0, str(folder))
    invalidate_caches()
    try:
        yield {name: import_module(name) for name in files()}
    finally:
        sys.path.remove(str(folder))
        for name in files():
            sys.modules.pop(name, None)
        for registry in registries:
            for key in [key for key, kind in registry.items() if _module_of(kind) in files()]:
                del registry[key]


def _module_of(kind: object) -> str:
    """Where a class is defined; methods that have not been imported are known by just that."""
    return kind if isinstance(kind, str) else kind.__module__
