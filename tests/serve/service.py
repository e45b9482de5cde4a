"""A real server in a process of its own, on a port of its own."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager

import httpx


@contextmanager
def served(model, *options):
    """A client of `calibrant serve`, which ends well when it is asked to, and without a traceback."""
    command = [
        sys.executable,
        "-W",
        "error",
        "-m",
        "calibrant",
        "serve",
        str(model),
        "--port",
        "0",
        *options,
    ]
    environment = os.environ | {"CALIBRANT_DEBUG": "1"}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        line = process.stderr.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        with httpx.Client(base_url=found[0], timeout=30, trust_env=False) as client:
            yield client
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            client_said = process.communicate(timeout=20)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert process.returncode == 0, client_said
    assert "Traceback" not in client_said, client_said
