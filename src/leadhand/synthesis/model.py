"""The model synthesizer: a model writes one answer from many results, or chooses one of them.

Contradictions in the data are judged before the answer is written; those in the text, which only
the writer can find, after it. Then the team's critic reads it. If a later step fails or takes too
long, the draft stays.
"""

import asyncio
from collections.abc import Sequence

from leadhand.contracts.answer import Conflict, Gap, Synthesis
from leadhand.contracts.outcome import Result, TaskResult
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team, declared_output
from leadhand.errors import ModelError
from leadhand.models.calls import Caller
from leadhand.plans.payloads import DeclaredType
from leadhand.synthesis.conflicts import compare, kind_between
from leadhand.synthesis.critic import Critic
from leadhand.synthesis.forms import percent
from leadhand.synthesis.judge import ConflictVerdict, Judge
from leadhand.synthesis.merge import chosen, combine, given_of, last_of, unchanged
from leadhand.synthesis.resolver import ConflictResolver, described, differs, repeats
from leadhand.synthesis.writing import ResultsText, Writer
from leadhand.untrusted.fence import Fence

MARGIN_S = 0.2
"""Work on a draft ends this long before the run's deadline."""
JUDGING = 1 / 3
"""The share of the remaining time before there is a draft."""


class ModelSynthesizer:
    """Asks the team's synthesizer for the answer; a single result is the answer without a call."""

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
        self._recorder = caller.recorder
        self._team = team
        self._output = DeclaredType(team.output, "output") if team.output is not None else None
        self._request = request
        self._judge = Judge(caller, team, fence)
        self._resolver = ConflictResolver(caller.recorder, self._judge, request=request)
        self._writer = Writer(caller, team, fence, request=request, context_tokens=context_tokens)
        self._chooses = not team.synthesizer.plain
        self._critic = (
            Critic(caller, team, team.critic, fence, request=request) if team.critic else None
        )

    async def synthesize(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        """Nothing is written if one result of the team's type is the answer. Raises
        `ModelError`."""
        given = given_of(results)
        if not given:
            return combine(plan, results)
        choose = plan.synthesis == "select" and self._chooses and len(given) > 1
        if choose and all(self._fits(*one) for one in given):
            return await self._choose(plan, results)
        last = last_of(plan, results) if plan.synthesis == "last" else None
        only = given[0] if len(plan.tasks) == 1 or len(given) == 1 else last
        if only is None or not self._fits(*only):
            return await self._write(plan, results)
        synthesis = combine(plan, results) if self._output is None else unchanged(only[1], given)
        found = [one for one in self._found(results) if one.kind == "contradiction"]
        await self._resolver.resolve(found, results, within_s=self._judging_s())
        if not isinstance(synthesis.output, str):  # data, or several results
            return synthesis
        material = await self._writer.material(plan, results)
        return await self._approved(material, synthesis, drafting_s=0.0)

    def _fits(self, one: TaskResult, result: Result) -> bool:
        """Whether a result is of the team's type, by declaration and in fact."""
        if self._output is None:
            return True
        worker = self._team.worker(one.worker)
        declares = worker is not None and declared_output(worker) == self._team.output
        return declares and not self._output.problems(result.output)

    def by_code(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        return combine(plan, results)

    async def _choose(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        by_id = {one.task.id: one for one, _ in given_of(results)}
        material = await self._writer.material(plan, results)
        question = self._writer.question(plan.instruction)
        choice = await self._judge.choose(question, material.text, ids=list(by_id))
        confidence = percent(choice.confidence)
        best = by_id[choice.choice]
        taken = {"resolution": f"the result of {choice.choice}", "why": choice.why}
        settled = [
            one.model_copy(update={**taken, "taken": tuple({choice.choice} & {*one.task_ids})})
            for one in self._found(results)
        ]
        synthesis = chosen(best, results, why=choice.why, confidence=confidence)
        return _noted(synthesis.model_copy(update={"conflicts": tuple(settled)}), material)

    def _found(self, results: Sequence[TaskResult]) -> Sequence[Conflict]:
        return compare(results, self._team, self._request)[0]

    async def _write(self, plan: Plan, results: Sequence[TaskResult]) -> Synthesis:
        verdicts = await self._resolver.resolve(
            self._found(results), results, within_s=self._judging_s()
        )
        material = await self._writer.material(plan, results)
        started_s = self._recorder.elapsed_s()
        draft = await self._writer.draft(material, judged=[*map(described, verdicts)])
        drafting_s = self._recorder.elapsed_s() - started_s
        team, request = self._team, self._request
        found = [
            one.model_copy(update={"kind": kind_between(one.task_ids, results, team, request)})
            for one in draft.conflicts
            if not repeats(one, verdicts)
        ]
        later = await self._resolver.resolve(found, results, within_s=self._left_s())
        draft = await self._corrected(material, draft, found, later)
        draft = await self._approved(material, draft, drafting_s=drafting_s)
        standing = [one.conflict for one in (*verdicts, *later) if one.holds]
        return _noted(draft.model_copy(update={"conflicts": tuple(standing)}), material)

    async def _corrected(
        self,
        material: ResultsText,
        draft: Synthesis,
        found: Sequence[Conflict],
        verdicts: Sequence[ConflictVerdict],
    ) -> Synthesis:
        """The draft, revised where it disagrees with the verdicts on the conflicts it `found`."""
        pairs = zip(verdicts, found, strict=True)
        wrong = [described(verdict) for verdict, one in pairs if differs(verdict, one)]
        if not wrong:
            return draft
        try:
            async with asyncio.timeout(self._left_s()):
                return await self._writer.revise(material, draft=draft, points=wrong)
        except (ModelError, TimeoutError):
            notes = "\n".join(f"- {one}" for one in wrong)
            text = f"{draft.answer}\n\n*Judged after this was written:*\n\n{notes}"
            return draft.model_copy(update={"answer": text})

    async def _approved(
        self, material: ResultsText, draft: Synthesis, *, drafting_s: float
    ) -> Synthesis:
        if self._critic is None:
            return draft

        async def revise(draft: Synthesis, points: Sequence[str]) -> Synthesis:
            return await self._writer.revise(material, draft=draft, points=points)

        without = [one for one in material.results if one.result is None]
        missing = [f"{one.task.intent} ({one.status})" for one in without]
        return await self._critic.approved(
            draft, revise, missing=missing, time_left=self._left_s, needed_s=drafting_s
        )

    def _judging_s(self) -> float | None:
        """None without a deadline."""
        left_s = self._left_s()
        return None if left_s is None else left_s * JUDGING

    def _left_s(self) -> float | None:
        """None without a deadline."""
        due_s = self._recorder.state.due_s
        if due_s is None:
            return None
        return max(due_s - MARGIN_S - self._recorder.elapsed_s(), 0.0)


def _noted(synthesis: Synthesis, material: ResultsText) -> Synthesis:
    """The synthesis, with a gap for each result that was lost when the results were condensed."""
    why = "its result is not in the answer: the results were too long for the model at once"
    return synthesis.model_copy(
        update={"gaps": (*synthesis.gaps, *(Gap(task_id=id, why=why) for id in material.lost))}
    )


def context_tokens(caller: Caller, team: Team) -> int | None:
    specs = team.models_of(team.synthesizer)
    known = [size for spec in specs if (size := caller.model(spec).context_window) is not None]
    return min(known, default=None)
