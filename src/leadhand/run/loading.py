"""Loads the libraries that call models in a thread, so that the first run keeps its deadline: the
import takes seconds, once in a process."""

import asyncio
import importlib
from contextlib import suppress

from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.recorder import Recorder
from leadhand.models.choice import models_of
from leadhand.plans.nesting import nested_teams
from leadhand.run.deadline import RESERVE
from leadhand.threads import DaemonThreads

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
    specs = [spec for one in _teams(team) for spec in models_of(one) if isinstance(spec, str)]
    providers = sorted({spec.partition(":")[0].partition("-")[0] for spec in specs})
    names = [name for name in (*_MODULES, *_modules_of(providers)) if name not in _loaded]
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


def _teams(team: Team) -> list[Team]:
    return [team, *(inner.team for inner in nested_teams(team))]


def _modules_of(providers: list[str]) -> list[str]:
    return [f"pydantic_ai.models.{provider}" for provider in providers]


def _load(names: list[str]) -> None:
    for name in names:
        # The code that needs it reports what can't be imported.
        with suppress(ImportError):
            importlib.import_module(name)
        _loaded.add(name)


class LatePlanner:
    """Stands for a planner whose model can't be called in time."""

    name = "planner"

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        """Raises `TimeoutError`."""
        raise TimeoutError
