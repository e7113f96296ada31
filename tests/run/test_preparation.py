"""A service prepares its process before the first run, without a call of a model or a tool."""

import asyncio

import pytest

from leadhand import Handoff, Supervisor, Team, ToolContext, Worker, WorkerFactory
from leadhand.errors import InputError
from leadhand.models import rates
from leadhand.run.connections import SharedConnections
from leadhand.run.service import prepare, rehearse
from leadhand.testing import ScriptedServer
from tests.models.asking import OPENAI
from tests.run.test_connections import Counting, team

pytestmark = pytest.mark.wall_clock


def test_a_rehearsal_goes_the_whole_way_of_a_run() -> None:
    answer = asyncio.run(rehearse())
    assert answer.status == "complete"
    assert answer.engine == "model"
    # The planner, for a task a call of a tool and an answer, and the synthesizer.
    assert answer.metrics.requests == 4


async def test_no_model_is_asked_and_connections_stay_open_until_they_are_released() -> None:
    model, shared = Counting(), SharedConnections()
    await prepare(team(model))
    for _ in range(2):
        await shared.keep(team(model))
    assert (model.opened, model.closed) == (1, 0)
    assert model.last_model_request_parameters is None
    async with shared.of(team(model)) as connections:
        await connections.open(model)
    assert (model.opened, model.closed) == (1, 0)
    await shared.release()
    assert (model.opened, model.closed) == (1, 1)
    await shared.release()


async def test_the_models_of_a_prepared_process_are_those_of_the_team(
    model_server: ScriptedServer,
) -> None:
    shared = SharedConnections()
    await prepare(team(OPENAI))
    await shared.keep(team(OPENAI))
    await shared.release()
    assert [one.model for one in rates.health()] == [OPENAI.partition(":")[2]]
    assert model_server.stats().requests == 0


def test_what_the_first_run_would_raise_is_raised() -> None:
    def look(query: str, ctx: ToolContext) -> str:
        """Look it up."""
        return query

    with_wrong_tool = Team("t", model=Counting(), workers=(Worker("w", "", tools=(look,)),))
    with_wrong_catalogue = Team("t", model=Counting(), worker_factory=WorkerFactory([look]))
    wrong = [("nowhere:nothing", team("nowhere:nothing"))]
    wrong += [("ToolContext", one) for one in (with_wrong_tool, with_wrong_catalogue)]
    for why, one in wrong:
        with pytest.raises(InputError, match=why):
            asyncio.run(Supervisor(one).ready())


def test_a_team_without_a_model_needs_no_preparation() -> None:
    def work(handoff: Handoff) -> str:
        return "done"

    code = Team("t", workers=(Worker("w", "", run=work),))

    async def main() -> None:
        await prepare(code)
        await SharedConnections().keep(code)

    asyncio.run(main())
    assert asyncio.run(Supervisor(code).run("Do it.")).status == "complete"


async def test_connections_are_kept_from_ready_until_shutdown() -> None:
    model = Counting()
    supervisor = Supervisor(team(model))
    await supervisor.ready()
    assert (model.opened, model.closed) == (1, 0)
    await supervisor.shutdown()
    assert (model.opened, model.closed) == (1, 1)
    await supervisor.close()
