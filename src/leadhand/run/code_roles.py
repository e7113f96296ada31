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
    return CodeDecider(role) if isinstance(role.run, Decider) else CodePlanner(role)


def code_synthesizer(role: Role) -> Synthesizer:
    return role.run if isinstance(role.run, Synthesizer) else CodeSynthesizer(role)


class _Code:
    def __init__(self, role: Role) -> None:
        self.name, self._role = code_name(role), role


class CodePlanner(_Code):
    async def plan(self, request: PlanRequest, team: Team) -> Plan:
        function = getattr(self._role.run, "plan", self._role.run)
        return await _made(Plan, planner_title(self._role), function, request, team)


class CodeDecider(_Code):
    async def decide(
        self, now: Round, *, problems: Callable[[Decision], Sequence[str]]
    ) -> Decision:
        decide = functools.partial(cast("Decider", self._role.run).decide, problems=problems)
        return await _made(Decision, planner_title(self._role), decide, now)


class CodeSynthesizer(_Code):
    calls_model = False

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return await _made(Synthesis, self.name, self._role.run, plan, results)

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
