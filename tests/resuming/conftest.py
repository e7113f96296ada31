"""The processes of these tests."""

from collections.abc import Iterator

import pytest

from tests.resuming.nursery import Nursery


@pytest.fixture(scope="session", name="nursery")
def _nursery() -> Iterator[Nursery]:
    """Where processes begin that may be killed."""
    with Nursery(hash_seed=1) as nursery:
        yield nursery


@pytest.fixture(scope="session", name="later")
def _later() -> Iterator[Nursery]:
    """Where those begin that go on with what was left: sets come in another order there."""
    with Nursery(hash_seed=2) as nursery:
        yield nursery
