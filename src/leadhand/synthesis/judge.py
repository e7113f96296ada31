"""The judge: decides between results, with a reason, or says why it can't.

It sees a question and results under ids, never the names of their workers; of results of the same
text, what their workers are for. It can name only these ids. It may be asked concurrently.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.answer import Conflict
from leadhand.contracts.outcome import JudgedChoice, Result, TaskResult
from leadhand.contracts.task import Task
from leadhand.contracts.team import Team
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.prompts import joined, prompt
from leadhand.models.structured import StructuredAnswer, ask_structured
from leadhand.synthesis import forms
from leadhand.synthesis.citations import entries
from leadhand.synthesis.reduction import pieces
from leadhand.untrusted.fence import Fence

MAX_BYTES = 40_000
"""Of each result, in UTF-8; the judge is told if it is cut."""
_REQUESTER = Requester("judge")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ConflictVerdict:
    conflict: Conflict
    """The conflict with its resolution, or unresolved."""
    holds: bool
    """False: the results can all be right."""
    confidence: int | None = None
    """0 to 100."""


class Judge:
    """With the synthesizer's model if the judge has none."""

    def __init__(self, caller: Caller, team: Team, fence: Fence) -> None:
        self._caller = caller
        self._team = team
        self._role = team.judge
        self._models = team.models_of(team.judge) or team.models_of(team.synthesizer)
        self._fence = fence

    async def judge(self, question: str, candidates: Sequence[Result]) -> JudgedChoice:
        """Raises `ModelError` if no model answers."""
        ids = [str(number) for number in range(1, len(candidates) + 1)]
        shown = [
            TaskResult(Task(id=id, worker="", intent=""), "", "completed", result, None)
            for id, result in zip(ids, candidates, strict=True)
        ]
        chosen = await self.choose(f"Request: {question}", _shown(shown), ids=ids)
        return JudgedChoice(ids.index(chosen.choice), chosen.why, forms.percent(chosen.confidence))

    async def choose(self, question: str, material: str, *, ids: Sequence[str]) -> forms.BestResult:
        """Raises `ModelError` if no model answers."""
        text = joined(question, self._fence.around(material, source="results"))
        return await self._ask(
            "select", text, forms.choice_form(ids), lambda answer: forms.read_choice(answer, ids)
        )

    async def settle(
        self, conflict: Conflict, results: Sequence[TaskResult], *, request: str
    ) -> ConflictVerdict:
        """Raises `ModelError` if no model answers."""
        ids = conflict.task_ids
        shown = [one for one in results if one.task.id in ids]
        experts = self._experts(shown)
        text = joined(
            f"Request: {request}",
            experts,
            self._fence.around(conflict.about, source="what they disagree on"),
            self._fence.around(_shown(shown), source="results"),
        )
        judged = await self._ask(
            "judge",
            text,
            forms.judgement_form(ids, with_fields=bool(experts)),
            lambda answer: forms.read_judgement(answer, ids),
        )
        return _verdict(conflict, judged)

    def _experts(self, results: Sequence[TaskResult]) -> str:
        """Empty unless the workers all got the same text."""
        workers = [self._team.worker(one.worker) for one in results]
        known = {worker.name: worker for worker in workers if worker is not None}
        if len({one.task.intent for one in results}) > 1 or len(known) < max(len(results), 2):
            return ""
        lines = [
            f"- [{one.task.id}] {' '.join(known[one.worker].description.split())}"
            for one in results
        ]
        return "\n".join(["The same text went to an expert for each of these:", *lines])

    async def _ask(
        self, name: str, text: str, form: ToolDefinition, read: Callable[[StructuredAnswer], T]
    ) -> T:
        instructions = joined(
            prompt("leadhand.synthesis", name), self._role.instructions, self._fence.explanation
        )
        request = CallRequest(
            instructions, output=form, settings=self._role.settings, answers=self._role.answers
        )
        return await ask_structured(
            self._caller, _REQUESTER, text, request=request, models=self._models, read=read
        )


def _verdict(conflict: Conflict, judged: forms.Judgement) -> ConflictVerdict:
    taken = [id for id in conflict.task_ids if id in judged.winners]
    misrouted = {*judged.misrouted} - {*judged.winners}
    resolution = " ".join((judged.resolution or "").split()) or None
    settled = conflict.model_copy(
        update={
            "resolution": resolution if judged.contradict else None,
            "why": " ".join(judged.why.split()),
            "taken": tuple(taken) if judged.contradict else (),
            "misrouted": tuple(id for id in conflict.task_ids if id in misrouted),
        }
    )
    return ConflictVerdict(settled, judged.contradict, forms.percent(judged.confidence))


def _shown(results: Sequence[TaskResult]) -> str:
    texts: list[str] = []
    for one, entry in zip(results, entries(results), strict=True):
        first, *rest = pieces(entry, MAX_BYTES)
        texts.append(f"{first}\n(the rest is cut)" if rest else first)
        texts += [f"  intent: {' '.join(one.task.intent.split())}"] if one.task.intent else []
        evidence = one.result.evidence if one.result is not None else ()
        texts += [f"  evidence: {' '.join(ref.split())}" for ref in evidence[:20]]
    return "\n".join(texts)
