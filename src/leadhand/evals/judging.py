"""A model as judge, only of what code can't decide: rubrics.

Each question is asked twice, the second time with its answers in the other order. If the two
verdicts differ, or the judge is unsure, it abstains. Each time is a run of its own in the journal.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

from leadhand.contracts.data import Record
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import ModelSpec, Team, Worker, model_name, uses_model
from leadhand.evals.trials import ORIGIN, CaseScore, Trial, share
from leadhand.models.choice import models_of
from leadhand.ports import Journal
from leadhand.supervisor import Supervisor

_INSTRUCTIONS = """\
You judge an answer by one question, from the text of the answer alone. Its length and style don't
matter unless the question is about them. If the text does not decide it, you are unsure."""


class JudgeVerdict(Record):
    why: str
    verdict: Literal["yes", "no", "unsure"]


@dataclass(frozen=True, slots=True)
class AnswerJudge:
    model: ModelSpec
    journal: Journal | None = None

    async def scores(self, trial: Trial, scores: Sequence[CaseScore]) -> list[CaseScore]:
        expected = trial.case.synthesis
        if expected is None or trial.work is not None:
            return [*scores]
        found = [*scores]
        failed: list[str] = []
        decided = 0
        for item in expected.rubric:
            yes = await self._verdict(trial, item.question)
            found.append(CaseScore(name="judge.abstained", value=float(yes is None), bar=0))
            if yes is None:
                continue
            decided += 1
            if not yes:
                failed.append(item.question)
            if item.label is not None:
                agrees = float(yes == item.label)
                found.append(CaseScore(name="judge.agreement", value=agrees, bar=0))
        return [*found, *share("synthesis.rubric", failed, decided, "no: ")]

    async def _verdict(self, trial: Trial, question: str) -> bool | None:
        """Yes or no; None if the judge abstains."""
        first = await self._ask(trial, question, "yes, no")
        second = await self._ask(trial, question, "no, yes")
        return first == "yes" if first == second != "unsure" else None

    async def _ask(self, trial: Trial, question: str, order: str) -> str:
        worker = Worker(
            "judge",
            "Judges an answer",
            instructions=_INSTRUCTIONS,
            material=lambda _: {"answer": trial.answer.answer},
            output=JudgeVerdict,
        )
        intent = f"{question}\nAnswer {order} or unsure."
        plan = Plan(goal=question, tasks=[Task(id="judge", worker="judge", intent=intent)])
        team = Team("judge", model=self.model, workers=(worker,), output=JudgeVerdict)
        supervisor: Supervisor[object, JudgeVerdict] = Supervisor(
            team, journal=self.journal, deadline_s=120.0
        )
        asked = blake2b(question.encode(), digest_size=4).hexdigest()
        name = f"{trial.answer.run_id}-judge-{asked}-{order[0]}"
        answer = await supervisor.run(plan=plan, run_id=name, if_exists="join", origin=ORIGIN)
        verdict = answer.output_as() if answer.status == "complete" else None
        return verdict.verdict if verdict is not None else "unsure"


def judge_model(team: Team) -> ModelSpec:
    """A model of the team that no worker starts with; None if there is none."""
    used = [model_name(team.model_of(one)) for one in team.workers if uses_model(one)]
    free = [one for one in models_of(team) if model_name(one) not in used]
    return free[-1] if free else None
