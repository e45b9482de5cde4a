"""The guide to models: its code runs, and prints what it shows."""

import json
import re
from pathlib import Path

import pytest

from calibrant.models import describe

GUIDE = Path(__file__).parent.parent.parent / "docs" / "guide" / "models.md"


def blocks(language):
    """The blocks of a language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", GUIDE.read_text("utf-8"), re.DOTALL)


def flat(plain, path=""):
    """The values of a document under the ways to them."""
    if not isinstance(plain, dict | list):
        return {path: plain}
    entries = plain.items() if isinstance(plain, dict) else enumerate(plain)
    return {
        way: value for key, each in entries for way, value in flat(each, f"{path}.{key}".lstrip(".")).items()
    }


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is not part of an installed package")
def test_the_guide(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks("python"):
        exec(compile(code, str(GUIDE), "exec"), names)
    assert names["model"].decide([-3.0, -0.5, 1.0]).tolist() == ["benign", "ask", "malignant"]
    shown, (file,) = blocks("text"), blocks("json")
    said, saved = flat(json.loads(file)), flat(json.loads(Path("tumours.json").read_text("utf-8")))
    for name in ("checksum", "library_version"):
        assert said.pop(name)
        assert saved.pop(name)
    assert list(said) == list(saved)
    for name, value in said.items():  # the last digits are those of the libraries at hand
        assert saved[name] == (pytest.approx(value, rel=1e-4) if isinstance(value, float) else value)
    printed = str(describe("tumours.json"))
    version = re.compile(r"calibrant \S+|version 1, \S+ kB")
    assert version.sub("", shown[1]).strip() == version.sub("", printed)
    assert " ".join(shown[2].split()) == names["found"].advice
    assert printed in capsys.readouterr().out
