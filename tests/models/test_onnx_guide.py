"""The page of the guide about ONNX: its code runs, and prints what the page shows."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "onnx.md"
#: A block of Python, and the block of text after it, if there is one, which is what it prints.
BLOCKS = re.compile(r"^```python\n(.*?)^```\n(?:\n^```\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of an installed package")
def test_the_guide_runs_and_prints_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = BLOCKS.findall(GUIDE.read_text())
    assert len(blocks) >= 5
    assert sum(bool(shown) for _, shown in blocks) >= 3
    names: dict[str, object] = {}
    for code, shown in blocks:
        exec(compile(code, str(GUIDE), "exec"), names)
        assert capsys.readouterr().out == shown
    assert (tmp_path / "digits.onnx").exists()
