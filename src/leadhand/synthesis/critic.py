"""The critic: compares a draft of the answer with the request, and may have it revised.

It sees only what the reader will see, and is limited in rounds and time; then the draft is the
answer, and its last objections are a gap.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from leadhand.contracts import events
from leadhand.contracts.answer import CritiquePoint, Gap, Synthesis
from leadhand.contracts.team import Role, Team
from leadhand.errors import ModelError
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.prompts import joined, prompt
from leadhand.models.structured import ask_structured
from leadhand.synthesis.forms import critique_form, read_critique
from leadhand.untrusted.cutting import cut
from leadhand.untrusted.fence import Fence

MAX_REVISIONS = 2
MAX_OBJECTION_CHARS = 500
_REQUESTER = Requester("critic")

Revise = Callable[[Synthesis, Sequence[str]], Awaitable[Synthesis]]
"""Raises `ModelError`."""
TimeLeft = Callable[[], float | None]
"""Seconds until the answer is due; None without a deadline."""


class Critic:
    def __init__(
        self, caller: Caller, team: Team, role: Role, fence: Fence, *, request: str
    ) -> None:
        self._caller = caller
        self._recorder = caller.recorder
        self._models = team.models_of(role) or team.models_of(team.synthesizer)
        self._fence = fence
        self._asked = request
        instructions = joined(
            prompt("leadhand.synthesis", "critic"), role.instructions, fence.explanation
        )
        self._request = CallRequest(
            instructions, output=critique_form(), settings=role.settings, answers=role.answers
        )

    async def points(self, draft: str, *, missing: Sequence[str]) -> tuple[CritiquePoint, ...]:
        """Raises `ModelError` if no model answers."""
        text = joined(
            f"Request: {self._asked}",
            self._fence.around("\n".join(missing), source="missing") if missing else "",
            self._fence.around(draft, source="draft"),
        )
        return await ask_structured(
            self._caller,
            _REQUESTER,
            text,
            request=self._request,
            models=self._models,
            read=read_critique,
        )

    async def approved(
        self,
        draft: Synthesis,
        revise: Revise,
        *,
        missing: Sequence[str],
        time_left: TimeLeft,
        needed_s: float,
    ) -> Synthesis:
        """The draft, revised until the critic approves, a model fails or time runs out;
        `needed_s` is the likely time of a call."""
        for number in range(1, MAX_REVISIONS + 2):
            left_s = time_left()
            if left_s is not None and left_s < 2 * needed_s:
                return self._skipped(number, draft, "there is no time left for it")
            try:
                async with asyncio.timeout(left_s):
                    points = await self.points(draft.answer, missing=missing)
            except (ModelError, TimeoutError) as error:
                return self._skipped(number, draft, _said(error))
            musts = [point for point in points if point.severity == "must"]
            if not musts:
                self._record(number, "approved", points)
                return draft
            if number > MAX_REVISIONS:
                self._record(number, "objected", points)
                return _objected(draft, musts)
            self._record(number, "sent_back", points)
            try:
                async with asyncio.timeout(time_left()):
                    draft = await revise(draft, [_line(point) for point in points])
            except (ModelError, TimeoutError) as error:
                why = f"the draft was not revised: {_said(error)}"
                self._record(number, "objected", points, why)
                return _objected(draft, musts)
        return draft

    def _skipped(self, number: int, draft: Synthesis, why: str) -> Synthesis:
        self._record(number, "skipped", why=why)
        return _with_gap(draft, f"the critic did not read the answer: {why}")

    def _record(
        self,
        number: int,
        verdict: events.CritiqueVerdict,
        points: Sequence[CritiquePoint] = (),
        why: str | None = None,
    ) -> None:
        self._recorder.record(
            events.CritiqueGiven(
                **self._recorder.stamp(),
                round=number,
                verdict=verdict,
                points=tuple(points),
                why=why,
            )
        )


def _said(error: Exception) -> str:
    return str(error) or "there was no time left"


def _line(point: CritiquePoint) -> str:
    where = f' (at: "{" ".join(point.where.split())}")' if point.where.strip() else ""
    return f"{point.severity}: {' '.join(point.point.split())}{where}"


def _objected(draft: Synthesis, musts: Sequence[CritiquePoint]) -> Synthesis:
    held = " ".join(" ".join(point.point for point in musts).split())
    return _with_gap(draft, f"the critic objects: {cut(held, MAX_OBJECTION_CHARS, '...')}")


def _with_gap(draft: Synthesis, why: str) -> Synthesis:
    return draft.model_copy(update={"gaps": (*draft.gaps, Gap(task_id="critic", why=why))})
