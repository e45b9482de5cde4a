"""A standalone cluster on this machine: a master and workers, each a process of its own."""

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


class Cluster:
    """One master and two workers with one core each; ended whatever happens."""

    def __init__(self, folder, n_workers=2):
        import pyspark

        self._home, self._folder = Path(pyspark.__file__).parent, folder
        self._port, self._page = free_port(), free_port()
        self.url = f"spark://127.0.0.1:{self._port}"
        self._n_workers, self.workers, self._started = n_workers, [], []

    def __enter__(self):
        try:
            self._start(
                "master", "deploy.master.Master", "--port", str(self._port), "--webui-port", str(self._page)
            )
            self._wait(lambda: b"ALIVE" in self._status(), "the master did not start")
            for number in range(self._n_workers):
                self.workers.append(
                    self._start(
                        f"worker-{number}",
                        "deploy.worker.Worker",
                        *("--cores", "1", "--memory", "700m", "--webui-port", str(free_port())),
                        *("--work-dir", str(self._folder / f"work-{number}"), self.url),
                    )
                )
            self._wait(lambda: self._status().count(b'"ALIVE"') > self._n_workers, "the workers did not join")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in self._started:
            end_with_children(process)

    def _start(self, name, kind, *arguments):
        environment = os.environ | {
            "SPARK_HOME": str(self._home),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "256m",
            "PYSPARK_PYTHON": sys.executable,
        }
        with (self._folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [
                    self._home / "bin" / "spark-class",
                    f"org.apache.spark.{kind}",
                    "--host",
                    "127.0.0.1",
                    *arguments,
                ],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that its executors can be ended with it
            )
        self._started.append(process)
        return process

    def _status(self):
        with suppress(OSError):
            return urllib.request.urlopen(f"http://127.0.0.1:{self._page}/json/", timeout=5).read()
        return b""

    def _wait(self, reached, message, seconds=90):
        for _ in range(seconds * 2):
            if reached():
                return
            time.sleep(0.5)
        logs = "\n".join(path.read_text()[-2000:] for path in self._folder.glob("*.log"))
        raise TimeoutError(f"{message} in {seconds} s\n{logs}")


def end_with_children(process):
    """End a process and those that it has started, at once, as a machine that loses its power would."""
    if process.returncode is None:  # once it is waited for, its number may be that of somebody else
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
