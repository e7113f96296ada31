"""Has a model write the answer: condenses results that are too long, drafts, and revises drafts.

The model sees the request and the results, not how tasks were dispatched. Code checks its
citations.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.answer import Synthesis
from leadhand.contracts.outcome import TaskResult
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import ModelError
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.prompts import joined, prompt
from leadhand.models.request import PLAN_TOKENS
from leadhand.models.structured import BadAnswer, StructuredAnswer, ask_structured
from leadhand.plans.payloads import DeclaredType
from leadhand.synthesis import forms
from leadhand.synthesis.citations import check_citations, entries
from leadhand.synthesis.merge import given_of, sources_of
from leadhand.synthesis.reduction import budget_of, reduced, size
from leadhand.untrusted.fence import Fence

CONTEXT_TOKENS = 128_000
"""The assumed context window of a model, if it is unknown."""
_REQUESTER = Requester("synthesizer", shown=True)
_CONDENSING = Requester("synthesizer")

T = TypeVar("T")


class ResultsText(NamedTuple):
    plan: Plan
    results: Sequence[TaskResult]
    text: str
    lost: Sequence[str]
    """The ids of the tasks that it no longer mentions."""


class Writer:
    def __init__(
        self,
        caller: Caller,
        team: Team,
        fence: Fence,
        *,
        request: str,
        context_tokens: int | None = None,
    ) -> None:
        self._caller = caller
        self._role = team.synthesizer
        self._models = team.models_of(team.synthesizer)
        self._fence = fence
        self._request = request
        self._budget = budget_of(context_tokens or CONTEXT_TOKENS)
        self._output = DeclaredType(team.output, "output") if team.output is not None else None

    async def material(self, plan: Plan, results: Sequence[TaskResult]) -> ResultsText:
        async def condense(chunk: str) -> str:
            return await self._condense(chunk, instruction=plan.instruction)

        shown = entries(results)
        text = await reduced(shown, budget=self._budget, condense=condense)
        condensed = text != "\n".join(shown)
        return ResultsText(plan, results, text, _uncited(text, results) if condensed else ())

    def question(self, instruction: str) -> str:
        return joined(
            f"Request: {self._request}", f"Instruction: {instruction}" if instruction else ""
        )

    async def draft(self, material: ResultsText, *, judged: Sequence[str]) -> Synthesis:
        """An answer; `judged` are the verdicts on contradictions."""
        plan, fence = material.plan, self._fence
        if self._role.plain:
            instruction = plan.instruction if plan.instruction != self._request else ""
            parts = (self._request, instruction, fence.around(material.text))
            text = "\n".join(part for part in (*parts, self._listed(judged)) if part)
            asked = CallRequest(self._role.instructions, settings=self._role.settings)
        else:
            results_text = fence.around(material.text, source="results")
            text = joined(self.question(plan.instruction), results_text, self._listed(judged))
            asked = self._prompted("merge", output=forms.merged_form(self._output))
        return await self._written(text, asked, material.results)

    async def revise(
        self, material: ResultsText, *, draft: Synthesis, points: Sequence[str]
    ) -> Synthesis:
        """The draft, revised by the `points` against it."""
        text = joined(
            self.question(material.plan.instruction),
            self._fence.around(material.text, source="results"),
            self._fence.around(draft.answer, source="draft"),
            self._fence.around("\n".join(f"- {one}" for one in points), source="points"),
        )
        own = self._role.instructions
        revising = prompt("leadhand.synthesis", "revise")
        if self._role.plain:
            instructions = joined(own, revising, self._fence.explanation)
            asked = CallRequest(instructions, settings=self._role.settings)
        else:
            asked = self._prompted("merge", revising, output=forms.merged_form(self._output))
        revised = await self._written(text, asked, material.results)
        output = revised.answer if isinstance(draft.output, str) else draft.output
        return draft.model_copy(
            update={
                "answer": revised.answer,
                "output": output if self._output is None else revised.output,
                "confidence": draft.confidence
                if revised.confidence is None
                else revised.confidence,
                "sources": revised.sources or draft.sources,
            }
        )

    async def _written(
        self, text: str, request: CallRequest, results: Sequence[TaskResult]
    ) -> Synthesis:
        """An answer whose data is not of the declared type is better than none."""
        output = self._output
        if output is None:
            return synthesis_of(await self._ask(text, request, forms.read_merged), results)
        answers: list[forms.Merged] = []

        def read(answer: StructuredAnswer) -> forms.Merged:
            answers.append(forms.read_merged(answer))
            forms.check_output(answers[-1], output)
            return answers[-1]

        try:
            await self._ask(text, request, read)
        except ModelError:
            if not answers:
                raise
        data = {"output": answers[-1].output}
        return synthesis_of(answers[-1], results).model_copy(update=data)

    async def _condense(self, chunk: str, *, instruction: str) -> str:
        length = f"Condense to at most {self._budget.condensed:,} characters."

        def read(answer: StructuredAnswer) -> str:
            if size(answer.text) > self._budget.most:
                raise BadAnswer(f"That is too long: {len(answer.text):,} characters. {length}")
            return answer.text

        question = self.question(f"{instruction} {length}".strip())
        text = joined(question, self._fence.around(chunk, source="results"))
        return await self._ask(text, self._prompted("reduce"), read, requester=_CONDENSING)

    async def _ask(
        self,
        text: str,
        request: CallRequest,
        read: Callable[[StructuredAnswer], T],
        *,
        requester: Requester = _REQUESTER,
    ) -> T:
        return await ask_structured(
            self._caller, requester, text, request=request, models=self._models, read=read
        )

    def _prompted(self, name: str, *more: str, output: ToolDefinition | None = None) -> CallRequest:
        """A request whose prompt ends with the fence's nonce, so that providers can cache it."""
        own = "" if self._role.plain else self._role.instructions
        package = "leadhand.synthesis"
        instructions = joined(prompt(package, name), *more, own, self._fence.explanation)
        return CallRequest(
            instructions,
            output=output,
            settings=self._role.settings,
            answers=self._role.answers,
            tokens=PLAN_TOKENS,
            words=True,
        )

    def _listed(self, judged: Sequence[str]) -> str:
        lines = "\n".join(f"- {one}" for one in judged)
        return self._fence.around(lines, source="judged contradictions") if judged else ""


def synthesis_of(merged: forms.Merged, results: Sequence[TaskResult]) -> Synthesis:
    """The answer with correct citations only, and the results that they cite as sources."""
    given = {one.task.id: (one, result) for one, result in given_of(results)}
    answer = check_citations(merged.answer, known=[one.task.id for one in results], given=given)
    text = answer.text.strip()
    if answer.removed:
        what = "1 citation" if answer.removed == 1 else f"{answer.removed} citations"
        text += f"\n\n*{what} of tasks without a result removed.*"
    return Synthesis(
        answer=text,
        confidence=forms.percent(merged.confidence),
        conflicts=tuple(forms.conflicts(merged.contradictions, given=given)),
        sources=sources_of([given[id] for id in answer.cited]),
    )


def _uncited(material: str, results: Sequence[TaskResult]) -> list[str]:
    """The tasks with a result that condensed material no longer cites."""
    ids = [one.task.id for one, _ in given_of(results)]
    left = set(check_citations(material, known=ids, given=ids).cited)
    return [id for id in ids if id not in left]
