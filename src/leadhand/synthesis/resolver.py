"""The contradictions of one run: each is recorded when it is found, and judged if possible.

Ones without a verdict stay unresolved. None is dropped unless the judge decides that it is none.
"""

import asyncio
import re
from collections.abc import Sequence

from leadhand.contracts import events
from leadhand.contracts.answer import Conflict
from leadhand.contracts.outcome import TaskResult
from leadhand.engine.recorder import Recorder
from leadhand.errors import ModelError
from leadhand.synthesis.judge import ConflictVerdict, Judge

MAX_JUDGED = 5
"""Contradictions of one run that are judged; the others are listed as unresolved."""


class ConflictResolver:
    def __init__(self, recorder: Recorder, judge: Judge, *, request: str) -> None:
        self._recorder = recorder
        self._judge = judge
        self._request = request
        self._left = MAX_JUDGED

    async def resolve(
        self,
        conflicts: Sequence[Conflict],
        results: Sequence[TaskResult],
        *,
        within_s: float | None,
    ) -> list[ConflictVerdict]:
        """The verdict on each conflict, in order; judging takes at most `within_s`."""
        count = min(self._left, len(conflicts))
        self._left -= count
        for conflict in (*conflicts[:count], *map(_unjudged, conflicts[count:])):
            self._recorder.record(events.ConflictFound(**self._recorder.stamp(), conflict=conflict))
        async with asyncio.TaskGroup() as group:
            judging = [
                group.create_task(self._verdict(conflict, results, within_s))
                for conflict in conflicts[:count]
            ]
        verdicts = [task.result() for task in judging]
        return verdicts + [ConflictVerdict(_unjudged(one), holds=True) for one in conflicts[count:]]

    async def _verdict(
        self, conflict: Conflict, results: Sequence[TaskResult], within_s: float | None
    ) -> ConflictVerdict:
        try:
            async with asyncio.timeout(within_s):
                verdict = await self._judge.settle(conflict, results, request=self._request)
        except TimeoutError:
            verdict = _not_judged(conflict, "there was no time to judge it")
        except ModelError as error:
            verdict = _not_judged(conflict, f"it could not be judged: {error}")
        self._recorder.record(
            events.ConflictJudged(
                **self._recorder.stamp(),
                conflict=verdict.conflict,
                holds=verdict.holds,
                confidence=verdict.confidence,
            )
        )
        return verdict


def differs(verdict: ConflictVerdict, draft: Conflict) -> bool:
    judged = verdict.conflict
    if not verdict.holds or (judged.resolution is None) != (draft.resolution is None):
        return True
    return bool(judged.taken and draft.taken) and set(judged.taken) != set(draft.taken)


def repeats(conflict: Conflict, verdicts: Sequence[ConflictVerdict]) -> bool:
    """Whether one of the verdicts is about the same contradiction."""
    about = _words(conflict.about)
    return any(
        set(conflict.task_ids) <= set(judged.task_ids)
        and _words(judged.about.partition(" is ")[0].rpartition(".")[2]) <= about
        for judged in (verdict.conflict for verdict in verdicts)
    )


def _words(text: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", text.casefold()))


def described(verdict: ConflictVerdict) -> str:
    conflict = verdict.conflict
    who = f"[{', '.join(conflict.task_ids)}] {conflict.about}"
    if not verdict.holds:
        return f"{who}: no contradiction. {conflict.why}"
    if conflict.resolution is None:
        return f"{who}: open. {conflict.why}"
    by = f" for [{', '.join(conflict.taken)}]" if conflict.taken else ""
    return f"{who}: decided{by}: {conflict.resolution} ({conflict.why})"


def _unjudged(conflict: Conflict) -> Conflict:
    return _not_judged(conflict, f"not judged: there are more than {MAX_JUDGED}").conflict


def _not_judged(conflict: Conflict, why: str) -> ConflictVerdict:
    return ConflictVerdict(
        conflict if conflict.why else conflict.model_copy(update={"why": why}), True
    )
