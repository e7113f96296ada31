"""Planners and synthesizers that a team has as code: `Role(run=...)`.

Imported only for such teams. What the code raises becomes a `ModelError` that names it, in a line.
"""

import functools
import inspect
import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar, cast

from leadhand.contracts.answer import Synthesis
from leadhand.contracts.outcome import TaskResult, with_location
from leadhand.contracts.planner_kinds import Decision, Round
from leadhand.contracts.role import Role, code_name, planner_title
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import Team
from leadhand.engine.failures import failure_of
from leadhand.errors import LeadhandError, ModelError
from leadhand.ports import Decider, Planner, Synthesizer
from leadhand.synthesis.merge import merge
from leadhand.threads import DaemonThreads

T = TypeVar("T")

_log = logging.getLogger("leadhand")


def code_planner(role: Role) -> Planner | Decider:
    return CodeDecider(role, role.run) if isinstance(role.run, Decider) else CodePlanner(role)


def code_synthesizer(role: Role) -> Synthesizer:
    return role.run if isinstance(role.run, Synthesizer) else CodeSynthesizer(role)


class CodePlanner:
    def __init__(self, role: Role) -> None:
        self.name = code_name(role)
        self._who, self._function = planner_title(role), getattr(role.run, "plan", role.run)

    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        return await _made(Plan, self._who, self._function, request, team)


class CodeDecider:
    def __init__(self, role: Role, decider: Decider) -> None:
        self.name = code_name(role)
        self._who, self._decider = planner_title(role), decider

    async def decide(
        self, now: Round, *, problems: Callable[[Decision], Sequence[str]]
    ) -> Decision:
        decide = functools.partial(self._decider.decide, problems=problems)
        return await _made(Decision, self._who, decide, now)


class CodeSynthesizer:
    calls_model = False

    def __init__(self, role: Role) -> None:
        self.name, self._function = code_name(role), role.run

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return await _made(Synthesis, self.name, self._function, plan, results)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return merge(plan, results)  # the function has failed


async def _made(kind: type[T], who: str, function: object, *arguments: object) -> T:
    """What `function` returns. It is called in a thread, because it may read files."""
    call, threads = cast("Callable[..., object]", function), DaemonThreads()
    try:
        made = await threads.call(lambda given: call(*given), arguments, name=who)
        if inspect.isawaitable(made):
            made = await cast("Awaitable[object]", made)
    except LeadhandError:
        raise
    except Exception as error:
        _log.debug("%s failed", who, exc_info=error)
        failed = failure_of(error)
        why = with_location(" ".join(failed.message.split()), failed.where)
        raise ModelError(f"{who} failed: {why}", transient=False) from error
    finally:
        threads.close()
    if not isinstance(made, kind):
        why = f"{who} returned {type(made).__name__}, and has to return a {kind.__name__}"
        raise ModelError(why, transient=False)
    return made
