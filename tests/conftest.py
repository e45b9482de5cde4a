"""What tests of several rooms need."""

import os

import pytest

import postgres_server

#: Set where the tests of PostgreSQL must not be skipped, as in continuous integration.
REQUIRED = "CALIBRANT_REQUIRE_POSTGRES"


@pytest.fixture(scope="session")
def postgres():
    """The address of a real server, one for every worker."""
    programs = postgres_server.programs()
    if programs is None:
        message = "the tests of PostgreSQL need a server; it is not there; run: apt-get install postgresql"
        if os.environ.get(REQUIRED, "0") not in ("", "0"):
            pytest.fail(message)
        pytest.skip(message)
    with postgres_server.running(programs) as address:
        yield address
