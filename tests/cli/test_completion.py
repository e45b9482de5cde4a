"""The completion of the shells, as they ask for it."""

import os
import shutil
import subprocess
import sys

import pytest

from cli.calling import here


@pytest.fixture(scope="module")
def command(tmp_path_factory):
    """The command in a folder of its own, so that a shell finds it by its name."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "calibrant"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m calibrant "$@"\n')
    program.chmod(0o755)
    return folder


ASKED = [
    ("calibrant fi", "fit"),
    ("calibrant fit --meth", "--method"),
    ("calibrant fit --method sig", "sigmoid"),
    ("calibrant fit --code all", "all_pairs"),
    ("calibrant decide --rule para", "parallel"),
    ("calibrant completion z", "zsh"),
]


def asking(command, shell, words):
    """Ask as the script of a shell does."""
    parts = words.split()
    said = {"COMP_WORDS": words, "COMP_CWORD": str(len(parts) - 1)}
    if shell == "fish":
        said = {"COMP_WORDS": words, "COMP_CWORD": parts[-1]}
    env = os.environ | {"PATH": f"{command}:{os.environ['PATH']}", "_CALIBRANT_COMPLETE": f"{shell}_complete"}
    done = subprocess.run(["calibrant"], env=env | said, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize(("words", "found"), ASKED)
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_command_answers_every_shell(command, shell, words, found):
    answer = asking(command, shell, words)
    assert found in answer.replace(",", "\n").split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(("words", "found"), ASKED[:4])
def test_the_script_of_bash_completes(command, tmp_path, words, found):
    script = tmp_path / "calibrant"
    script.write_text(here("completion", "bash", cwd=tmp_path).stdout)
    typed = " ".join(f'"{word}"' for word in words.split())
    lines = [
        f'source "{script}"',
        f"COMP_WORDS=({typed})",
        "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))",
        "_calibrant_completion calibrant",
        'printf "%s\\n" "${COMPREPLY[@]}"',
    ]
    env = os.environ | {"PATH": f"{command}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)], env=env, capture_output=True, text=True, check=True
    )
    assert found in done.stdout.split()


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
@pytest.mark.parametrize(("words", "found"), ASKED)
def test_the_script_of_fish_completes(command, tmp_path, words, found):
    (tmp_path / "calibrant.fish").write_text(here("completion", "fish", cwd=tmp_path).stdout)
    env = os.environ | {"PATH": f"{command}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    asked = f"source {tmp_path}/calibrant.fish; complete -C '{words}'"
    done = subprocess.run(["fish", "-c", asked], env=env, capture_output=True, text=True, check=True)
    assert found in [line.split("\t")[0] for line in done.stdout.splitlines()]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_takes_the_script(tmp_path):
    """It is found on the path of functions, as the help says to put it there, and registered."""
    (tmp_path / "_calibrant").write_text(here("completion", "zsh", cwd=tmp_path).stdout)
    asked = f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D; print $_comps[calibrant]"
    done = subprocess.run(["zsh", "-f", "-c", asked], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "_calibrant"


def test_the_scripts_are_those_of_their_shells(tmp_path):
    said = {shell: here("completion", shell, cwd=tmp_path).stdout for shell in ("bash", "zsh", "fish")}
    assert "complete -o nosort -F _calibrant_completion calibrant" in said["bash"]
    assert said["zsh"].startswith("#compdef calibrant")
    assert "complete --no-files --command calibrant" in said["fish"]
