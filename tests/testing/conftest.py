"""One scripted server for the tests that leave it as they found it."""

from collections.abc import Iterator

import pytest

from leadhand.testing import ScriptedServer


@pytest.fixture(scope="session")
def running() -> Iterator[ScriptedServer]:
    """A server that lasts as long as the tests."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def server(running: ScriptedServer) -> ScriptedServer:
    """That server, set back: no script, no faults, no latency, nothing counted."""
    running.reset(script=None, faults={}, seed=0, latency_ms=0, model="scripted", keep_bodies=100)
    return running
