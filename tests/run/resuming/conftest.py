"""The processes of these tests."""

from collections.abc import Iterator

import pytest

from tests.programs import forkserver
from tests.run.resuming.processes import Processes


@pytest.fixture(name="processes")
def _processes() -> Iterator[Processes]:
    """Where processes begin that may be killed."""
    server = forkserver()
    yield Processes(server)
    server.clear()


@pytest.fixture(name="later")
def _later() -> Iterator[Processes]:
    """Where those begin that go on with what was left: sets come in another order there."""
    server = forkserver(hash_seed=2)
    yield Processes(server)
    server.clear()
