"""A real PostgreSQL, of its own, for the tests: in a temporary folder, on a socket in it."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

#: Who owns the server if the tests run as root, which PostgreSQL refuses.
OWNERS = ("postgres", "nobody")


def programs():
    """The folder of initdb and postgres, of which Debian puts neither on the path; None if there is none."""
    found = shutil.which("initdb")
    places = (
        sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) if found is None else [Path(found).resolve()]
    )
    return places[-1].parent if places else None


def _owner():
    if os.getuid() != 0:
        return {}
    names = {entry.pw_name for entry in pwd.getpwall()}
    owner = pwd.getpwnam(next(name for name in OWNERS if name in names))
    return {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}


@contextmanager
def running(folder_of_programs):
    """Run a server; give the address of its database."""
    owner = _owner()
    # Not in the folder of pytest: the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="calibrant-pg-", ignore_cleanup_errors=True) as folder:
        if owner:
            os.chown(folder, owner["user"], owner["group"])
        data, log = Path(folder, "data"), Path(folder, "log")
        with log.open("wb") as output:
            quiet = {"stdout": output, "stderr": output, "stdin": subprocess.DEVNULL, "cwd": folder, **owner}
            make = ["-D", data, "-U", "calibrant", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"]
            subprocess.run([folder_of_programs / "initdb", *make], check=True, **quiet)
            run = ["-D", data, "-k", folder, "-c", "listen_addresses=", "-F"]
            server = subprocess.Popen([folder_of_programs / "postgres", *run], **quiet)
            try:
                address = f"postgresql://calibrant@/postgres?host={folder}"
                _wait_for(address, server, log)
                yield address
            finally:
                server.send_signal(signal.SIGQUIT)  # at once: nothing of it is needed again
                server.wait()


def _wait_for(address, server, log):
    import adbc_driver_postgresql.dbapi as driver

    until = time.monotonic() + 60
    while True:
        try:
            driver.connect(address).close()
        except driver.Error:
            if server.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"the server does not start:\n{log.read_text()}") from None
            time.sleep(0.05)
        else:
            return
