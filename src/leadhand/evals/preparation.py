"""Prepares a team for a case: tools that may change something, faults, and one worker for all.

A tool is called only if it only reads: a ready-made one, one of a worker with `read_only=True`, or
one that its MCP server says so of. `allow_writes` calls all.
"""

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence

from pydantic import JsonValue

from leadhand.contracts.outcome import Escalated, Failed, Handoff, Outcome
from leadhand.contracts.role import TIERS, Tier
from leadhand.contracts.team import Team, Worker, uses_model
from leadhand.contracts.tools import tool_name, tools_of
from leadhand.errors import InputError
from leadhand.evals.cases import Case, Fault, FaultKind

REFUSED = "Not called: this is an evaluation, and the tool may change something."
"""What the model gets instead of the result of such a tool."""
_MAY_WRITE = "it may change something: use --allow-writes"
SINGLE = "single"
"""The name of the worker that does the work of a whole team."""


def prepared(
    team: Team, case: Case, *, faults: Sequence[Fault] = (), allow_writes: bool = False
) -> Team:
    """The team for one case. Raises `InputError` if the case does not fit the team."""
    known = {one.name for worker in _all_workers(team) for one in tools_of(worker)}
    if unknown := [name for name in case.tools if name not in known and None not in known]:
        raise InputError(f"case {case.name!r} gives the result of {unknown[0]!r}: no such tool")
    team = _guarded(team, case.tools, allow_writes)
    broken: dict[str, FaultKind] = {
        _name_of(one, team, case): one.fails for one in (*case.faults, *faults)
    }
    workers = [
        _failing(one, broken[one.name], f"fault of the evaluation: {broken[one.name]}")
        if one.name in broken
        else one
        for one in team.workers
    ]
    return dataclasses.replace(team, workers=workers)


def single(team: Team) -> Team:
    """One worker with all tools and the joined instructions of the team's workers.

    Raises `InputError` if a worker is code: a model can't do that work.
    """
    workers = [*_all_workers(team)]
    for worker in workers:
        if worker.run is not None:
            raise InputError(
                f"worker {worker.name!r} of team {team.name!r} is code, whose work one worker "
                "with a model can't do: compare two teams with --team A --team B"
            )
    tools: list[object] = []
    for tool in (tool for worker in workers for tool in worker.tools):
        if not any(tool is one or tool == one for one in tools):
            tools.append(tool)
    tiers: list[Tier] = [worker.tier or "standard" for worker in workers]
    parts = [f"## {one.name}: {one.description}\n\n{one.instructions}".strip() for one in workers]
    worker = Worker(
        SINGLE,
        team.description or f"Does everything that team {team.name} does",
        instructions="\n\n".join(["You do the work of these specialists.", *parts]),
        tools=tools,
        tier=max(tiers, key=TIERS.index),
        model=next((one.model for one in workers if one.model is not None), None),
        read_only=all(one.read_only is True for one in workers) or None,
        max_tool_calls=max(one.max_tool_calls for one in workers),
    )
    kept = ("model", "models", "output", "limits", "retry", "rates", "answers")
    fields = {name: getattr(team, name) for name in kept}
    return Team(team.name, team.description, workers=(worker,), **fields)


def _all_workers(team: Team) -> Iterator[Worker]:
    for worker in team.workers:
        yield from _all_workers(worker.team) if worker.team is not None else (worker,)


def _name_of(fault: Fault, team: Team, case: Case) -> str:
    names = [worker.name for worker in team.workers]
    if isinstance(fault.worker, int) and 1 <= fault.worker <= len(names):
        return names[fault.worker - 1]
    if fault.worker not in names:
        has = f"team {team.name!r} has {', '.join(names)}"
        raise InputError(f"case {case.name!r}: a fault is for worker {fault.worker!r}, and {has}")
    return str(fault.worker)


def _failing(worker: Worker, kind: FaultKind, message: str) -> Worker:
    kept = ("output", "input", "fallback", "role", "limits")
    fields = {name: getattr(worker, name) for name in kept}
    return Worker(worker.name, worker.description, run=_failing_work(kind, message), **fields)


def _failing_work(kind: FaultKind, message: str) -> Callable[[Handoff], Outcome]:
    def fail(handoff: Handoff) -> Outcome:
        if kind in ("out_of_scope", "ambiguous_input"):
            return Escalated(reason=kind, message=message)
        return Failed(kind=kind, message=message)

    return fail


def _guarded(team: Team, given: Mapping[str, JsonValue], allow_writes: bool) -> Team:
    def guarded(worker: Worker) -> Worker:
        if worker.read_only is False and worker.offline is not None and not allow_writes:
            fails = _failing_work("error", _MAY_WRITE)
            worker = dataclasses.replace(worker, offline=fails, draft=worker.draft and fails)
        if worker.team is not None:
            inner = worker.team
            if worker.read_only is False:
                writing = [
                    one if one.read_only else dataclasses.replace(one, read_only=False)
                    for one in inner.workers
                ]
                inner = dataclasses.replace(inner, workers=writing)
            return dataclasses.replace(worker, team=_guarded(inner, given, allow_writes))
        if worker.run is not None:
            # Which tools an agent has, only the agent knows.
            reads = (
                worker.read_only is True if uses_model(worker) else worker.read_only is not False
            )
            return worker if reads or allow_writes else _failing(worker, "error", _MAY_WRITE)
        reads = allow_writes or worker.read_only is True
        tools = tuple(_guarded_tool(tool, given, reads) for tool in worker.tools)
        return worker if tools == worker.tools else dataclasses.replace(worker, tools=tools)

    factory = team.worker_factory
    if factory is not None:
        tools = [_guarded_tool(tool, given, allow_writes) for tool in factory.tools]
        factory = dataclasses.replace(factory, tools=tools)
    workers = tuple(map(guarded, team.workers))
    return dataclasses.replace(team, workers=workers, worker_factory=factory)


def _guarded_tool(tool: object, given: Mapping[str, JsonValue], reads: bool) -> object:
    if isinstance(tool, str):
        if tool in given:
            raise InputError(f"the result of the ready-made tool {tool!r} can't be given: it reads")
        return tool
    name = tool_name(tool)
    if not callable(tool) or hasattr(tool, "get_tools"):
        if reads and not given:
            return tool
        # Imported here because it imports pydantic-ai.
        from leadhand.evals.toolsets import guarded_toolset

        return guarded_toolset(tool, given, reads=reads)
    if reads and name not in given:
        return tool
    result: JsonValue = given.get(name or "", REFUSED)

    @functools.wraps(tool)
    async def called(*_: object, **__: object) -> JsonValue:
        return result

    return called
