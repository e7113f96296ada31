"""Handoffs: everything that a worker is given of a run. Pure."""

import json
from typing import TYPE_CHECKING, TypeVar

from leadhand.contracts.outcome import Digest, Handoff, Result
from leadhand.contracts.task import NO_LIMITS, EarlierResult, EarlierRun, Limits
from leadhand.state.fold import RunState, TaskState
from leadhand.untrusted import cutting

if TYPE_CHECKING:
    from leadhand.contracts.team import Team, Worker

_Number = TypeVar("_Number", int, float)

EXCERPT_CHARS = 2_000
DEFAULT_TIMEOUT_S = 120.0


def handoff(
    state: RunState,
    task: TaskState,
    worker: "Worker",
    limits: Limits,
    *,
    path: str = "",
    run_context: object = None,
) -> Handoff:
    """The next attempt's handoff; `path` is the prefix of a nested run's task ids: `legal/`."""
    spec = task.task
    needed = [state.tasks[id] for id in spec.depends_on]
    earlier = {name: state.earlier[name] for name in spec.artifacts if name in state.earlier}
    return Handoff(
        run_id=state.run_id,
        task_id=spec.id,
        attempt=task.next_attempt,
        from_agent="supervisor",
        to_agent=worker.name,
        intent=spec.intent,
        payload=spec.payload,
        context=(
            *[digest(other) for other in needed],
            *[earlier_digest(name, one) for name, one in earlier.items()],
        ),
        inputs={
            other.task.id: other.result.output
            for other in needed
            if other.status == "completed" and other.result is not None
        }
        | {
            name: one.answer if isinstance(one, EarlierRun) else one.output
            for name, one in earlier.items()
            if isinstance(one, EarlierRun) or one.why is None
        },
        artifacts=tuple(one for one in spec.artifacts if one not in earlier),
        done_when=spec.done_when,
        limits=limits,
        allowed=task.allowed,
        refused=task.refused,
        paused=task.paused,
        return_to="supervisor",
        key=f"{state.run_id}/{path}{spec.id}",
        origin=state.origin,
        run_context=run_context,
    )


def digest(task: TaskState) -> Digest:
    """What another role sees of `task`: its summary and a bounded excerpt of its output."""
    result = task.result
    missing = task.status != "completed"
    doubt = (task.error,) if task.error is not None and not missing else ()
    return Digest(
        task_id=task.id,
        status=task.status,
        summary=result.summary if result else "",
        excerpt=excerpt(result) if result else "",
        why_missing=(task.error or task.status) if missing else None,
        missing=(*doubt, *result.missing) if result else (),
    )


def earlier_digest(name: str, earlier: EarlierResult | EarlierRun) -> Digest:
    if isinstance(earlier, EarlierRun):
        asked, answer = f"Earlier request: {earlier.request}", beginning(earlier.answer)
        return Digest(task_id=name, status=earlier.status, summary=asked, excerpt=answer)
    done, why = earlier.status == "completed", earlier.why
    return Digest(
        task_id=name,
        status=earlier.status,
        summary=earlier.summary,
        excerpt=earlier.excerpt,
        why_missing=None if done else why or earlier.status,
        missing=(*earlier.missing, *((why,) if done and why is not None else ())),
    )


def excerpt(result: Result) -> str:
    """The first `EXCERPT_CHARS` characters of an output as text, marked where they are cut."""
    output = result.output
    return beginning(output if isinstance(output, str) else json.dumps(output, ensure_ascii=False))


def beginning(text: str, max_chars: int = EXCERPT_CHARS) -> str:
    return cutting.cut(text, max_chars, f" [cut: {len(text):,} characters in all]")


def limits_of(team: "Team", worker: "Worker", limits: Limits) -> Limits:
    """A task's limits, bounded by its worker's and the team's. Only attempts of nested teams, whose
    runs have a deadline, may have no timeout."""
    own = worker.limits
    if worker.tier is not None:
        own = own.model_copy(update={"tier": own.tier or worker.tier})
    inner = narrowed(limits, within=narrowed(own, within=team.limits))
    if inner.timeout_s is None and worker.team is None:
        return inner.model_copy(update={"timeout_s": DEFAULT_TIMEOUT_S})
    return inner


def narrowed(limits: Limits, *, within: Limits) -> Limits:
    """`limits`, with unset ones taken from `within` and none above it."""
    if limits == NO_LIMITS:
        return within
    if within == NO_LIMITS:
        return limits
    return Limits(
        timeout_s=_least(limits.timeout_s, within.timeout_s),
        max_tokens=_least(limits.max_tokens, within.max_tokens),
        max_steps=_least(limits.max_steps, within.max_steps),
        tier=limits.tier or within.tier,
    )


def _least(a: _Number | None, b: _Number | None) -> _Number | None:
    if a is None or b is None:
        return b if a is None else a
    return min(a, b)
