"""Runs cases with a team: each is a run in the journal, so that an evaluation can be resumed.

The team gets the request of a case as it would get it from a user. If only routing and the plan are
scored, the run ends with the plan. Workers that are scored alone get a task each, in a run of its
own.
"""

import asyncio
import datetime as dt
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pydantic import JsonValue

from leadhand.contracts.budget import Budget
from leadhand.contracts.events import ToolCalled
from leadhand.contracts.ladder import RetryRules
from leadhand.contracts.task import Plan, Task
from leadhand.contracts.team import Team
from leadhand.errors import InputError, LeadhandError, RunExists
from leadhand.evals.answers import answer_scores, synthesis_scores, work_scores
from leadhand.evals.cases import Case, ExpectedWork, Fault
from leadhand.evals.first_error import first_error
from leadhand.evals.identity import team_digest
from leadhand.evals.judging import AnswerJudge
from leadhand.evals.planning import (
    distinct_score,
    plan_scores,
    routing_scores,
    shape_of,
    workers_of,
)
from leadhand.evals.preparation import REFUSED, SINGLE, prepared, single
from leadhand.evals.report import TeamReport, TrialReport, team_report
from leadhand.evals.trials import ORIGIN, CaseScore, Scorer, Trial, scored_by
from leadhand.ports import Journal
from leadhand.run.settings import StartArguments, digest_of
from leadhand.supervisor import Supervisor


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalSettings:
    repeat: int = 1
    """How often each case is run."""
    at_once: int = 4
    deadline_s: float | None = 600.0
    """Of each run, as the budget."""
    budget: Budget | None = None
    allow_writes: bool = False
    """Whether tools are called that may change something."""
    faults: tuple[Fault, ...] = ()
    """Besides those of the cases."""


SetUp = Callable[[Case, str], tuple[Supervisor, StartArguments[object]]]
"""Makes the supervisor of a case, and what its run of that id is started with."""


@dataclass(frozen=True, slots=True)
class TeamContender:
    team: Team
    settings: EvalSettings = EvalSettings()
    journal: Journal | None = None
    as_single: bool = False
    """Whether one worker does everything, without a planner."""
    set_up: SetUp | None = None

    @property
    def name(self) -> str:
        return f"{self.team.name} ({SINGLE})" if self.as_single else self.team.name

    def check(self, cases: Sequence[Case]) -> None:
        """Raises `InputError` if a case does not fit the team."""
        for case in cases:
            if self.set_up is None:
                self._prepared(case)
            elif case.workers or case.tools or case.faults or self.settings.faults:
                why = "workers alone, faults and tools are not for a team of a command"
                raise InputError(f"case {case.name!r}: {why}, as {self.name} is")

    def start(
        self, case: Case, plan: Plan | None, run_id: str
    ) -> tuple[Supervisor, StartArguments[object]]:
        """The supervisor for a case, and what its run is started with.

        With a `plan`, its tasks are all that is done.
        """
        if self.set_up is not None:
            return self.set_up(case, run_id)
        team = self._prepared(case)
        if self.as_single:
            task = Task(id=SINGLE, worker=SINGLE, intent=case.request, artifacts=case.inputs)
            plan = Plan(goal=case.request, tasks=[task])
        elif plan is not None:
            team = replace(team, retry=RetryRules(max_attempts=1))  # no other worker helps
        ends_with_plan = plan is None and case.ends_with_plan
        supervisor: Supervisor[object, object] = Supervisor(
            team,
            deadline_s=self.settings.deadline_s,
            budget=self.settings.budget,
            journal=self.journal,
            approve=["plan"] if ends_with_plan else None,
        )
        arguments: StartArguments[object] = {"inputs": case.inputs}
        return supervisor, {**arguments, "plan": plan} if plan is not None else arguments

    def _prepared(self, case: Case) -> Team:
        writes = self.settings.allow_writes
        if not self.as_single:
            return prepared(self.team, case, faults=self.settings.faults, allow_writes=writes)
        apart: dict[str, object] = {"faults": (), "routing": None, "plan": None, "workers": ()}
        return prepared(single(self.team), case.model_copy(update=apart), allow_writes=writes)

    def origin(self, case: Case, work: ExpectedWork | None) -> dict[str, JsonValue]:
        """Digests of all but expectations that a run of the case depends on."""
        given = work and (work.worker, work.intent, work.payload, work.artifacts)
        how = (self.as_single, self.settings.faults, self.settings.allow_writes)
        said = (how, case.ends_with_plan, case.inputs, case.tools, case.faults, given)
        digest = digest_of([repr(said), team_digest(self.team)])
        return {**ORIGIN, "case": case.name, "digest": digest}


Progress = Callable[[str, TrialReport, int, int], None]
"""Called after each trial: the team's name, the trial, how many are done, and of how many."""


def new_eval_id(now: dt.datetime) -> str:
    """An id that no other evaluation has; those of its runs begin with it."""
    return f"eval-{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"


async def evaluate(
    team: Team | TeamContender,
    cases: Sequence[Case],
    *,
    settings: EvalSettings | None = None,
    scorers: Sequence[Scorer] = (),
    judge: AnswerJudge | None = None,
    eval_id: str | None = None,
    progress: Progress | None = None,
) -> TeamReport:
    """Run all cases with a team, and score them.

    The runs of an evaluation with the same `eval_id` are not repeated, as far as the journal has
    them. Raises `InputError` if a case does not fit the team.
    """
    contender = TeamContender(team, settings or EvalSettings()) if isinstance(team, Team) else team
    settings = settings or contender.settings
    eval_id = eval_id or new_eval_id(dt.datetime.now(dt.UTC))
    contender.check(cases)
    slots = asyncio.Semaphore(settings.at_once)
    done = 0

    async def one(place: int, case: Case, repeat: int) -> TrialReport:
        nonlocal done
        report = TrialReport(case=case.name, repeat=repeat)
        async with slots:
            try:
                works = [None, *case.workers] if case.has_whole_run else case.workers
                for number, work in enumerate(works):
                    suffix = f"-{number}" if work else ""
                    run_id = f"{eval_id}-{place}-{repeat}{suffix}"
                    trial = await _run(contender, case, work, run_id)
                    scores = [*scores_of(trial, scorers)]
                    if judge is not None:
                        scores = await judge.scores(trial, scores)
                    report = _with_run(report, trial, scores)
            except InputError:
                raise
            except LeadhandError as error:
                report = report.model_copy(update={"error": str(error)})
        done += 1
        if progress is not None:
            progress(contender.name, report, done, len(cases) * settings.repeat)
        return report

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(one(place, case, repeat))
                for place, case in enumerate(cases, start=1)
                for repeat in range(1, settings.repeat + 1)
            ]
    except ExceptionGroup as failed:  # each would name the same mistake
        raise failed.exceptions[0] from None
    return team_report(contender.name, [*_distinct([task.result() for task in tasks])])


async def _run(
    contender: TeamContender, case: Case, work: ExpectedWork | None, run_id: str
) -> Trial:
    plan = None
    if work is not None:
        task = Task(
            id=work.worker,
            worker=work.worker,
            intent=work.intent or case.request,
            payload=work.payload,
            artifacts=work.artifacts,
        )
        plan = Plan(goal=case.request, tasks=[task])
    # In a thread, because a command's way to set up a run may start an event loop of its own.
    supervisor, arguments = await asyncio.to_thread(contender.start, case, plan, run_id)
    origin = contender.origin(case, work)
    arguments |= {"run_id": run_id, "if_exists": "join", "origin": origin}
    try:
        answer = await supervisor.run(case.request, **arguments)
    except RunExists as error:
        what = "the request, the case, the options, the team or its models"
        why = f"run {run_id}: {what} changed: begin anew, without --resume"
        raise InputError(f"case {case.name!r} can't go on with {why}") from error
    log = await supervisor.journal.events(run_id)
    return Trial(case, supervisor.team, answer, log, work)


def _with_run(report: TrialReport, trial: Trial, scores: Sequence[CaseScore]) -> TrialReport:
    answer, metrics, routing = trial.answer, trial.answer.metrics, trial.case.routing
    costs = [one for one in (report.cost_usd, metrics.cost_usd) if one is not None]
    refused = [
        event.tool
        for event in trial.log
        if isinstance(event, ToolCalled) and REFUSED in event.output
    ]
    changed: dict[str, object] = {
        "run_ids": (*report.run_ids, answer.run_id),
        "engine": "model" if "model" in (report.engine, answer.engine) else answer.engine,
        "scores": (*report.scores, *scores),
        "seconds": report.seconds + metrics.makespan_s,
        "requests": report.requests + metrics.requests,
        "tokens": report.tokens + metrics.input_tokens + metrics.output_tokens,
        "cost_usd": sum(costs) if costs else None,
        "refused": (*dict.fromkeys((*report.refused, *refused)),),
        "first_error": report.first_error or first_error(trial, scores),
        "status": report.status or ("planned" if answer.status == "waiting" else answer.status),
    }
    if trial.work is None:
        changed |= {"speedup": metrics.speedup or None, "shape": shape_of(trial)}
        first = next(iter(workers_of(trial)), None)
        changed |= {"routed": (routing.primary, first) if routing is not None else None}
    return report.model_copy(update=changed)


def _distinct(trials: Sequence[TrialReport]) -> Iterator[TrialReport]:
    for trial in trials:
        others = [one.shape for one in trials if one.shape and one.case != trial.case]
        more = [distinct_score(trial.shape, others)] if trial.shape is not None and others else []
        yield trial.model_copy(update={"scores": (*trial.scores, *more)})


def scores_of(trial: Trial, scorers: Sequence[Scorer] = ()) -> Iterator[CaseScore]:
    case = trial.case
    if trial.work is not None:
        for score in work_scores(trial.work, trial):
            why = f"{trial.work.worker}: {score.why}" if score.why else ""
            yield score.model_copy(update={"why": why})
        return
    if case.routing is not None:
        yield from routing_scores(case.routing, trial)
    if case.plan is not None:
        yield from plan_scores(case.plan, trial)
    if case.synthesis is not None:
        yield from synthesis_scores(case.synthesis, trial)
    if not case.ends_with_plan:
        yield from answer_scores(case.answer, trial)
    for scorer in scorers:
        yield from scored_by(scorer, trial)
