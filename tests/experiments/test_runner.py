"""Every job once: what is finished is kept, what lacks its data is left out, interruptions cost little."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from joblib.externals.loky import get_reusable_executor

from calibrant.experiments import _cache
from calibrant.experiments._cache import Cache
from calibrant.experiments._data_download import MissingDataError
from calibrant.experiments._experiment import Experiment, Findings, Job, Row
from calibrant.experiments._runner import run_experiment as run

#: A module of jobs, as a paper has one: it notes every run in a file.
MODULE = """
import time
from pathlib import Path

def square(number, log, seconds=0.0):
    time.sleep(seconds)
    with Path(log).open("a") as file:
        file.write(f"{number} ")
    return {"square": number * number, "pair": (1, float("inf"))}
"""


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """The module, on the path of this process and of those that it starts."""
    (tmp_path / "some_jobs.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    sys.modules.pop("some_jobs", None)
    get_reusable_executor().shutdown()  # workers that earlier tests have left would not find the module
    import some_jobs

    yield some_jobs
    sys.modules.pop("some_jobs", None)


def experiment_of(function, numbers, **arguments):
    return Experiment(
        "made-up",
        "squares",
        "none",
        ("number",),
        ("square",),
        jobs=lambda scale: [Job(function, {"number": number, **arguments}) for number in numbers],
        collect=lambda done: Findings(
            tuple(Row((str(each.arguments["number"]),), (each.answer["square"],)) for each in done)
        ),
    )


def runs(log):
    return sorted(log.read_text().split()) if log.exists() else []


def test_a_finished_job_is_not_run_again(jobs, tmp_path):
    log, told = tmp_path / "log", []
    for _ in range(2):
        outcome = run(
            experiment_of(jobs.square, [1, 2, 3], log=str(log)),
            cache=Cache(tmp_path / "cache"),
            progress=lambda *numbers: told.append(numbers),
        )
        assert [row.ours for row in outcome.findings.rows] == [(1,), (4,), (9,)]
    assert runs(log) == ["1", "2", "3"]
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3), (3, 3)]


def test_answers_are_the_same_new_or_kept(jobs, tmp_path):
    seen = []
    for _ in range(2):
        experiment = experiment_of(jobs.square, [2], log=str(tmp_path / "log"))
        collecting = Experiment(
            *("made-up", "", "", (), ()),
            jobs=experiment.jobs,
            collect=lambda done: seen.append([each.answer for each in done]) or Findings(),
        )
        run(collecting, cache=Cache(tmp_path / "cache"))
    assert seen[0] == seen[1] == [{"square": 4, "pair": [1, float("inf")]}]


def test_the_time_of_a_job_is_kept_with_it(jobs, tmp_path):
    experiment, cache = (
        experiment_of(jobs.square, [2, 3], log=str(tmp_path / "log")),
        Cache(tmp_path / "cache"),
    )
    first, again = (run(experiment, cache=cache).seconds for _ in range(2))
    assert list(first) == ["square"]
    assert first == again
    assert 0 <= first["square"] < 60


def test_fresh_runs_everything_again(jobs, tmp_path):
    log = tmp_path / "log"
    experiment = experiment_of(jobs.square, [1], log=str(log))
    run(experiment, cache=Cache(tmp_path / "cache"))
    run(experiment, cache=Cache(tmp_path / "cache", fresh=True))
    run(experiment, cache=Cache(tmp_path / "cache"))
    assert runs(log) == ["1", "1"]


def test_several_at_a_time_give_the_same(jobs, tmp_path):
    alone, together = (
        run(
            experiment_of(jobs.square, range(6), log=str(tmp_path / "log")),
            cache=Cache(tmp_path / str(n_jobs)),
            n_jobs=n_jobs,
        )
        for n_jobs in (1, 2)
    )
    assert alone.findings == together.findings
    assert len(runs(tmp_path / "log")) == 12


def threads(number):
    """How many threads linear algebra may use inside a job."""
    from threadpoolctl import threadpool_info

    return {"square": max((pool["num_threads"] for pool in threadpool_info()), default=1)}


def test_a_job_has_one_thread_so_that_sums_do_not_depend_on_the_machine(tmp_path):
    outcome = run(experiment_of(threads, [0]), cache=Cache(tmp_path), n_jobs=1)
    assert outcome.findings.rows[0].ours == (1,)


def test_a_change_of_the_code_makes_old_answers_void(jobs, tmp_path):
    experiment = experiment_of(jobs.square, [3], log=str(tmp_path / "log"))
    run(experiment, cache=Cache(tmp_path / "cache"))
    module = tmp_path / "some_jobs.py"
    module.write_text(MODULE.replace("number * number", "number ** 3"))
    _cache._source.cache_clear()
    import importlib

    changed = experiment_of(importlib.reload(jobs).square, [3], log=str(tmp_path / "log"))
    outcome = run(changed, cache=Cache(tmp_path / "cache"))
    assert outcome.findings.rows[0].ours == (27,)


def test_the_code_of_a_job_is_all_that_it_imports():
    from calibrant.experiments import _ze02_multiclass

    files = {path.name for path in _cache._imported(Path(_ze02_multiclass.__file__), set())}
    assert {
        "_ze02_multiclass.py",
        "_choice.py",
        "_datasets.py",
        "_pav.py",
        "_pooling.py",
        "_losses.py",
    } <= files
    assert not {"_ze02.py", "_ze02_many_classes.py", "_demo.py", "_runner.py"} & files


def test_another_data_folder_is_another_answer(jobs, tmp_path, monkeypatch):
    experiment = experiment_of(jobs.square, [1], log=str(tmp_path / "log"))
    for folder in ("here", "there"):
        monkeypatch.setenv("CALIBRANT_DATA", folder)
        run(experiment, cache=Cache(tmp_path / "cache"))
    assert runs(tmp_path / "log") == ["1", "1"]


def test_a_spoiled_file_is_not_taken_for_an_answer(jobs, tmp_path):
    experiment = experiment_of(jobs.square, [1], log=str(tmp_path / "log"))
    cache = Cache(tmp_path / "cache")
    run(experiment, cache=cache)
    (file,) = (tmp_path / "cache").glob("**/*.json")
    file.write_text(file.read_text()[:-10])
    assert run(experiment, cache=cache).findings.rows[0].ours == (1,)
    assert runs(tmp_path / "log") == ["1", "1"]


def needs_data(number):
    if number > 1:
        raise MissingDataError("the data set of large numbers is not at hand")
    return {"square": number * number}


def test_a_missing_set_leaves_its_rows_out_and_is_named_once(tmp_path):
    cache = Cache(tmp_path)
    outcome = run(experiment_of(needs_data, [0, 1, 2, 3]), cache=cache)
    assert [row.labels for row in outcome.findings.rows] == [("0",), ("1",)]
    assert outcome.skipped == ("the data set of large numbers is not at hand",)
    assert len(list(tmp_path.glob("**/*.json"))) == 2


RUN = """
import sys
sys.path.insert(0, sys.argv[1])
from pathlib import Path
from test_runner_helper import main
main(Path(sys.argv[1]))
"""
HELPER = """
from calibrant.experiments._cache import Cache
from calibrant.experiments._experiment import Experiment, Findings, Job
from calibrant.experiments._runner import run_experiment as run
from some_jobs import square

def main(folder):
    jobs = [Job(square, {"number": n, "log": str(folder / "log"), "seconds": 0.3}) for n in range(6)]
    run(Experiment("made-up", "", "", (), (), lambda scale: jobs, lambda done: Findings()),
        cache=Cache(folder / "cache"))
"""


def test_a_killed_run_goes_on_where_it_stopped(jobs, tmp_path):
    (tmp_path / "test_runner_helper.py").write_text(HELPER)
    command = [sys.executable, "-c", RUN, str(tmp_path)]
    with subprocess.Popen(command) as process:
        deadline = time.monotonic() + 60
        while len(list((tmp_path / "cache").glob("**/*.json"))) < 2:
            assert time.monotonic() < deadline
            assert process.poll() is None
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
    kept = len(list((tmp_path / "cache").glob("**/*.json")))
    assert 2 <= kept < 6
    before = len(runs(tmp_path / "log"))
    subprocess.run(command, check=True)
    assert len(runs(tmp_path / "log")) == before + 6 - kept
    assert set(runs(tmp_path / "log")) == set("012345")
