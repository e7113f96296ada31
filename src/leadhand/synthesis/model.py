"""The synthesizer by model: one answer out of many results, written or chosen by a model.

It sees the results and the request, never the dispatching. What the model says is text: code checks
its citations and the tasks it names, and nothing it says reaches the plan.
"""

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

from pydantic_ai.tools import ToolDefinition

from leadhand.contracts.answer import Synthesis
from leadhand.contracts.task import Plan
from leadhand.contracts.team import ModelSpec, Team
from leadhand.fence import Fence
from leadhand.models.calls import Asker, Caller, Request
from leadhand.models.structured import Answer, Unfit, ask_for
from leadhand.ports import TaskResult
from leadhand.prompts import joined, prompt
from leadhand.synthesis.citations import checked
from leadhand.synthesis.forms import (
    Merged,
    choice_form,
    conflicts,
    merged_form,
    percent,
    read_choice,
    read_merged,
)
from leadhand.synthesis.material import entries
from leadhand.synthesis.merge import chosen, combine, given_of, sources_of
from leadhand.synthesis.reduction import budget_of, reduced, size

CONTEXT_TOKENS = 128_000
"""The context of a model that nobody knows better."""
_ASKER = Asker("synthesizer")
_LISTED = 20

T = TypeVar("T")


class ModelSynthesizer:
    """Asks the team's synthesizer for the answer; a single result is the answer without asking."""

    name = "synthesizer"
    calls_model = True

    def __init__(
        self,
        caller: Caller,
        team: Team,
        fence: Fence,
        *,
        request: str,
        context_tokens: int | None = None,
    ) -> None:
        """`request` is what the user asked; `context_tokens` what the model holds, if known."""
        self._caller = caller
        self._role = team.synthesizer
        self._models = _models(team)
        self._fence = fence
        self._request = request
        self._budget = budget_of(context_tokens or CONTEXT_TOKENS)

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The answer, by the plan's strategy. Raises `ModelError` where no model gives one."""
        if len(plan.tasks) == 1 or len(given_of(results)) <= 1:
            return combine(plan, results)
        shown = entries(results)
        condense = functools.partial(self._condense, instruction=plan.instruction)
        material = await reduced(shown, budget=self._budget, condense=condense)
        condensed = material != "\n".join(shown)
        lost = _uncited(material, results) if condensed else []
        if self._role.plain:
            synthesis = await self._write_plainly(plan, results, material)
        elif plan.synthesis == "select":
            synthesis = await self._choose(plan, results, material)
        else:
            synthesis = await self._write(plan, results, material)
        return _noted(synthesis, lost)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """The results as they are, by the plan's strategy."""
        return combine(plan, results)

    async def _write(self, plan: Plan, results: Sequence[TaskResult], material: str) -> Synthesis:
        text = self._message(material, instruction=plan.instruction)
        prompted = self._prompted("merge", output=merged_form())
        return _synthesis(await self._ask(text, prompted, read_merged), results)

    async def _write_plainly(
        self, plan: Plan, results: Sequence[TaskResult], material: str
    ) -> Synthesis:
        """The answer of a role whose instructions are the whole prompt."""
        instruction = plan.instruction if plan.instruction != self._request else ""
        parts = (self._request, instruction, self._fence.around(material))
        text = "\n".join(part for part in parts if part)
        prompted = Request(self._role.instructions, settings=self._role.settings)
        return _synthesis(await self._ask(text, prompted, read_merged), results)

    async def _choose(self, plan: Plan, results: Sequence[TaskResult], material: str) -> Synthesis:
        by_id = {one.task.id: one for one, _ in given_of(results)}
        text = self._message(material, instruction=plan.instruction)
        prompted = self._prompted("select", output=choice_form(list(by_id)))
        choice = await self._ask(text, prompted, lambda answer: read_choice(answer, by_id))
        confidence = percent(choice.confidence)
        return chosen(by_id[choice.choice], results, why=choice.why, confidence=confidence)

    async def _condense(self, chunk: str, *, instruction: str) -> str:
        length = f"Condense to at most {self._budget.condensed:,} characters."

        def read(answer: Answer) -> str:
            if size(answer.text) > self._budget.most:
                raise Unfit(f"That is too long, with {len(answer.text):,} characters. {length}")
            return answer.text

        text = self._message(chunk, instruction=f"{instruction} {length}".strip())
        return await self._ask(text, self._prompted("reduce"), read)

    async def _ask(self, text: str, request: Request, read: Callable[[Answer], T]) -> T:
        return await ask_for(
            self._caller, _ASKER, text, request=request, models=self._models, read=read
        )

    def _prompted(self, name: str, *, output: ToolDefinition | None = None) -> Request:
        """The stable part first; what differs from run to run, the fence's nonce, last."""
        own = "" if self._role.plain else self._role.instructions
        instructions = joined(prompt("leadhand.synthesis", name), own, self._fence.explanation)
        return Request(instructions, output=output, settings=self._role.settings)

    def _message(self, material: str, *, instruction: str) -> str:
        return joined(
            f"Request: {self._request}",
            f"Instruction: {instruction}" if instruction else "",
            self._fence.around(material, source="results"),
        )


def _models(team: Team) -> Sequence[ModelSpec]:
    role = team.synthesizer
    return (role.model,) if role.model is not None else team.tiers.get(role.tier, ())


def _synthesis(merged: Merged, results: Sequence[TaskResult]) -> Synthesis:
    """The answer with citations that hold, and with what they cite as its sources."""
    given = {one.task.id: (one, result) for one, result in given_of(results)}
    answer = checked(merged.answer, known=[one.task.id for one in results], given=given)
    text = answer.text.strip()
    if answer.removed:
        what = "1 citation" if answer.removed == 1 else f"{answer.removed} citations"
        text += f"\n\n*{what} of tasks without a result removed.*"
    return Synthesis(
        answer=text,
        confidence=percent(merged.confidence),
        conflicts=tuple(conflicts(merged.contradictions, given=given)),
        sources=sources_of([given[id] for id in answer.cited]),
    )


def _uncited(material: str, results: Sequence[TaskResult]) -> list[str]:
    """The tasks with a result that condensed material no longer names."""
    ids = [one.task.id for one, _ in given_of(results)]
    left = set(checked(material, known=ids, given=ids).cited)
    return [id for id in ids if id not in left]


def _noted(synthesis: Synthesis, lost: Sequence[str]) -> Synthesis:
    """The same, saying whose results did not outlast the condensing."""
    if not lost:
        return synthesis
    listed = ", ".join(lost[:_LISTED])
    more = f" and {len(lost) - _LISTED:,} more" if len(lost) > _LISTED else ""
    note = "*The results were too long for the model at once. Condensed, they say nothing of: "
    note += f"{listed}{more}.*"
    return synthesis.model_copy(update={"answer": f"{synthesis.answer}\n\n{note}"})
