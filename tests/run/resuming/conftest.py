"""The processes of these tests."""

from collections.abc import Iterator

import pytest

from tests.run.resuming.nursery import Nursery


@pytest.fixture(scope="session", name="first_nursery")
def _first_nursery() -> Iterator[Nursery]:
    with Nursery(hash_seed=1) as nursery:
        yield nursery


@pytest.fixture(scope="session", name="second_nursery")
def _second_nursery() -> Iterator[Nursery]:
    with Nursery(hash_seed=2) as nursery:
        yield nursery


@pytest.fixture(name="nursery")
def _nursery(first_nursery: Nursery) -> Iterator[Nursery]:
    """Where processes begin that may be killed."""
    yield first_nursery
    first_nursery.clear()


@pytest.fixture(name="later")
def _later(second_nursery: Nursery) -> Iterator[Nursery]:
    """Where those begin that go on with what was left: sets come in another order there."""
    yield second_nursery
    second_nursery.clear()
