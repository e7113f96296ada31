"""The runs of a supervisor share their connections, from the first to the last of them."""

import asyncio

import pytest
from pydantic_ai.models.test import TestModel

from leadhand import Team, Worker
from leadhand.errors import InputError
from leadhand.run.connections import SharedConnections

pytestmark = pytest.mark.wall_clock


class Counting(TestModel):
    """Counts how often it is opened and closed."""

    opened = 0
    closed = 0

    async def __aenter__(self) -> "Counting":
        self.opened += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self.closed += 1


def team(model: object) -> Team:
    return Team("t", model=model, workers=(Worker("w", ""),))


async def test_runs_at_once_share_connections_and_the_last_one_closes_them() -> None:
    model, shared = Counting(), SharedConnections()
    async with shared.of(team(model)) as first:
        await first.open(model)
        async with shared.of(team(model)) as second:
            await second.open(model)
            assert second is first
        assert (model.opened, model.closed) == (1, 0)
    assert (model.opened, model.closed) == (1, 1)
    async with shared.of(team(model)) as later:
        assert later is not first


async def test_each_event_loop_has_connections_of_its_own() -> None:
    model, shared = Counting(), SharedConnections()

    async def main() -> object:
        async with shared.of(team(model)) as connections:
            return connections

    async with shared.of(team(model)) as connections:
        assert await asyncio.to_thread(asyncio.run, main()) is not connections


async def test_a_model_that_cannot_be_connected_leaves_nothing_open() -> None:
    model, shared = Counting(), SharedConnections()
    for _ in range(2):
        with pytest.raises(InputError, match="nowhere:nothing"):
            async with shared.of(team("nowhere:nothing")):
                pass
    async with shared.of(team(model)) as connections:
        await connections.open(model)
    assert model.closed == 1
