"""What runs need to call models: the libraries, loaded in time, and shared connections.

The import of the libraries takes seconds, once in a process: a thread does it, so that the first
run keeps its deadline.
"""

import asyncio
import importlib
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from leadhand.contracts.role import Answers
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import ModelSpec, Team
from leadhand.engine.recorder import Recorder
from leadhand.errors import TeamError
from leadhand.models.choice import models_of, resolve_auto
from leadhand.models.ledger import Account
from leadhand.plans.nesting import all_teams, with_inherited_models
from leadhand.plans.team_checks import team_problems, without_model
from leadhand.run.settings import RESERVE
from leadhand.threads import DaemonThreads
from leadhand.workers.open_toolsets import OpenToolsets
from leadhand.workers.runners import MAX_CLOSING_S, needs_model

if TYPE_CHECKING:
    from leadhand.models.connections import Connections

_log = logging.getLogger("leadhand")

CLOSING_S = 0.2


@dataclass(slots=True, eq=False)
class _Shared:
    connections: "Connections"
    toolsets: OpenToolsets = field(default_factory=OpenToolsets)
    users: int = 0
    kept: AsyncExitStack | None = None


class SharedConnections:
    """One set of connections for each event loop, which holds nothing of a run."""

    def __init__(self, home: Path | None = None) -> None:
        """`home` keeps what is found out about models."""
        self._home = home
        self._open: dict[asyncio.AbstractEventLoop, _Shared] = {}

    async def keep(self, team: Team) -> None:
        """Keep connections open until `release`. Raises `InputError` for a model without any."""
        if not needs_model(team):
            return
        async with self.of(team) as connections:
            for spec in models_of(team):
                await connections.open(spec)
            shared = self._open[asyncio.get_running_loop()]
            if shared.kept is None:
                shared.toolsets.kept = True
                shared.kept = AsyncExitStack()
                await shared.kept.enter_async_context(self.of(team))

    async def release(self) -> None:
        """Let the last run close the connections of this event loop; now, if there is none."""
        shared = self._open.get(asyncio.get_running_loop())
        if shared is not None and shared.kept is not None:
            kept, shared.kept = shared.kept, None
            shared.toolsets.kept = False
            with suppress(TimeoutError):
                async with asyncio.timeout(MAX_CLOSING_S):
                    await shared.toolsets.release()
            await kept.aclose()

    def toolsets(self) -> OpenToolsets:
        return self._open[asyncio.get_running_loop()].toolsets

    @asynccontextmanager
    async def of(self, team: Team, account: Account | None = None) -> "AsyncGenerator[Connections]":
        """Raises `InputError` for a model that can't be connected or that `account` can't price."""
        # What these import takes seconds; a run without a model never gets here.
        from leadhand.models.admission import check_price
        from leadhand.models.connections import Connections
        from leadhand.models.habits import answers_of
        from leadhand.models.rates import rates_of

        teams = all_teams(team)
        loop = asyncio.get_running_loop()
        if (shared := self._open.get(loop)) is None:
            rates = {name: rate for one in reversed(teams) for name, rate in one.rates.items()}
            answers: dict[str, Answers] = {}
            for one in reversed(teams):
                answers |= one.answers
            connections = Connections(
                rates=rates_of(rates, os.environ),
                answers=answers_of(answers, os.environ),
                home=self._home,
            )
            shared = self._open[loop] = _Shared(connections)
        shared.users += 1
        try:
            # All of them at once: a wrong name is reported before money is spent on the others.
            for one in teams:
                for spec in (*models_of(one), *_models_of_agents(one)):
                    connection = shared.connections.to(spec)
                    if account is not None:
                        check_price(connection, account)
            yield shared.connections
        finally:
            shared.users -= 1
            if not shared.users:
                del self._open[loop]
                with suppress(TimeoutError):
                    async with asyncio.timeout(CLOSING_S):
                        await shared.connections.__aexit__(None, None, None)


def _models_of_agents(team: Team) -> list[ModelSpec]:
    agents = [worker.run for worker in team.workers if not callable(worker.run)]
    return [model for agent in agents if (model := getattr(agent, "model", None)) is not None]


CODE_SHARE = 0.6
"""The share of the deadline that is left for code, if the team has any that can do the work."""
_MODULES = (
    "leadhand.models.calls",
    "leadhand.models.names",
    "leadhand.planners.ahead",
    "leadhand.workers.loop",
)
_loaded: set[str] = set()


async def load(team: Team, recorder: Recorder, deadline_s: float | None) -> str | None:
    """Load what calls the models of a team; returns why it is not loaded in time, if it is not."""
    specs = [spec for one in all_teams(team) for spec in models_of(one) if isinstance(spec, str)]
    providers = sorted({spec.partition(":")[0].partition("-")[0] for spec in specs})
    modules = [f"pydantic_ai.models.{provider}" for provider in providers]
    names = [name for name in (*_MODULES, *modules) if name not in _loaded]
    if not names:
        return None
    within_s = None
    if deadline_s is not None:
        code = team.template or any(worker.offline is not None for worker in team.workers)
        share = CODE_SHARE if code else RESERVE
        within_s = (1 - share) * deadline_s - (recorder.elapsed_s() - recorder.began_s)
    threads = DaemonThreads()
    try:
        async with asyncio.timeout(within_s):
            await threads.call(_load, names, name="imports", quiet=True)
    except TimeoutError:
        return (
            f"the libraries that call models were not loaded {within_s:.3g} s after the start, "
            f"with the run's deadline of {deadline_s:g} s"
        )
    finally:
        threads.close()
    return None


def _load(names: list[str]) -> None:
    for name in names:
        # The code that needs it reports what can't be imported.
        with suppress(ImportError):
            importlib.import_module(name)
        _loaded.add(name)


class LatePlanner:
    name = "planner"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """Raises `TimeoutError`."""
        raise TimeoutError


async def with_found_models(team: Team) -> Team:
    """The team with a model in place of `auto`. Raises `InputError`, `TeamError`."""
    choice = await resolve_auto(team, os.environ)
    if without_model(choice.team):
        why = f'`model="auto"` found nothing ({choice.why})'
        raise TeamError(team.name, (why, *team_problems(choice.team)))
    # The provider's client looks here for the address of a server on this machine.
    os.environ.update(choice.environ)
    _log.info("team %s: %s", team.name, choice.why)
    return with_inherited_models(choice.team)
