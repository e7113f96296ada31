"""Questions to people over HTTP: what waits for whom, the replies, and plans that people edit."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field, ValidationError

from leadhand.contracts.data import in_one_line
from leadhand.contracts.events import ApprovalRequested
from leadhand.contracts.people import CallReply, Reply, Verdict
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.plans.checks import Problem, check, errors_in
from leadhand.plans.planned_workers import with_chosen_tools
from leadhand.run.questions import messages_of, questions_asked
from leadhand.run.stored import StoredRun
from leadhand.serve.documents import OpenQuestion, run_questions
from leadhand.serve.new_runs import AcceptedRun, RequestText, accepted, foreign_files
from leadhand.serve.principals import Principal
from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import Calling, ServiceCaller, no_such_run
from leadhand.state.fold import RunState

router = APIRouter(prefix="/api/v1", tags=["questions"])

MAX_RUNS = 500
"""Of which questions are shown at once: the latest that wait."""
MAX_REPLIES = 200


class GivenReply(BaseModel, extra="forbid"):
    question: str
    """Its id."""
    verdict: Verdict = "answered"
    text: str = Field("", max_length=100_000)
    plan: Plan | None = None
    """The plan to carry out instead of the one in the question."""
    calls: dict[str, CallReply | bool] = {}
    """The reply about each tool call of the question, by its id; empty: `verdict` is about all."""


class RunReplies(BaseModel, extra="forbid"):
    """Replies to questions of one run; all are taken, or none."""

    replies: list[GivenReply] = Field(min_length=1, max_length=MAX_REPLIES)
    seen: int = Field(ge=1, description="The `seq` of the run as the person saw it.")


class RunReply(GivenReply):
    run_id: str
    seen: int = Field(ge=1, description="The `seq` of the run as the person saw it.")


class Replies(BaseModel, extra="forbid"):
    """Replies to questions of many runs; all are taken, or none."""

    replies: list[RunReply] = Field(min_length=1, max_length=MAX_REPLIES)


class InboxQuestion(OpenQuestion):
    run_id: str
    team: str
    request: str
    seq: int
    """Of the run's last event: what a reply has `seen`."""


class Inbox(BaseModel):
    questions: list[InboxQuestion]


class AcceptedReplies(BaseModel):
    runs: list[AcceptedRun]


@router.get("/questions")
async def list_questions(caller: Calling) -> Inbox:
    """The open questions that the caller may answer, the one first that has waited longest."""
    runs = await caller.service.journal.runs(
        limit=MAX_RUNS, where=lambda run: run.questions > 0 and caller.may_reply(run)
    )
    found: list[InboxQuestion] = []
    for run in runs:
        record = await caller.service.records.read(run.run_id)
        if record is not None:
            async with record.reading:
                about: dict[str, Any] = {"run_id": run.run_id, "team": run.team}
                about |= {"request": record.state.request, "seq": record.last.seq}
                asked = run_questions(record.state, seen=True, replies=True)
                found += [InboxQuestion(**dict(one), **about) for one in asked]
    return Inbox(questions=sorted(found, key=lambda one: one.asked_at))


@router.post("/runs/{run_id}/replies", status_code=202)
async def reply_to_run(run_id: str, body: RunReplies, caller: Calling) -> AcceptedRun:
    """Answer questions of a run, which then continues. 409 if one was asked later, or is closed."""
    return (await _reply(caller, {run_id: (body.replies, body.seen)}))[0]


@router.post("/questions/replies", status_code=202)
async def reply_to_many(body: Replies, caller: Calling) -> AcceptedReplies:
    """Answer questions of many runs, which then continue."""
    by_run: dict[str, tuple[list[GivenReply], int]] = {}
    for one in body.replies:
        replies, seen = by_run.get(one.run_id, ([], one.seen))
        by_run[one.run_id] = [*replies, one], min(seen, one.seen)
    return AcceptedReplies(runs=await _reply(caller, by_run))


async def _reply(
    caller: ServiceCaller, given: Mapping[str, tuple[Sequence[GivenReply], int]]
) -> list[AcceptedRun]:
    """Nothing is recorded unless all replies fit. Raises `HttpProblem`."""
    checked = {
        run_id: (await _replies_to(caller, run_id, replies, seen=seen), seen)
        for run_id, (replies, seen) in given.items()
    }
    done: list[AcceptedRun] = []
    for run_id, ((team, replies), seen) in checked.items():
        try:
            await caller.service.supervisor(team).handle(run_id).reply(*replies, seen=seen)
        except InputError as error:  # another person was faster, by a moment
            left = [*checked][len(done) :]
            raise HttpProblem(409, str(error), extra={"not_replied": [*left]}) from None
        done.append(await accepted(caller, run_id, team))
    return done


async def _replies_to(
    caller: ServiceCaller, run_id: str, given: Sequence[GivenReply], *, seen: int
) -> tuple[str, list[Reply]]:
    """The team of a run, and the replies to its questions. Raises `HttpProblem`."""
    principal, service = caller.principal, caller.service
    run = await service.records.read(run_id)
    if run is None or not (
        principal.may_see(run.state.origin) or principal.rules(run.state.origin, "approver")
    ):
        raise no_such_run(run_id)
    if seen > run.last.seq:
        raise HttpProblem(422, f"run {run_id!r} has {run.last.seq} events: `seen` is {seen}")
    if not caller.may_reply(run.state):
        raise HttpProblem(403, "another person has to answer the questions of this run")
    team, log = service.supervisor(run.state.team).team, await service.journal.events(run_id)
    state, at = StoredRun.of(run_id, log).state, dt.datetime.now(dt.UTC)
    asked = {str(one.seq): one.task_id for one in log if isinstance(one, ApprovalRequested)}
    still = {
        one.task_id: str(event.seq)
        for one, event in questions_asked(state)
        if not one.has_expired(at)
    }
    replies: dict[str, Reply] = {}
    for one in given:
        if one.question not in asked:
            if not still and not principal.may_see(state.origin):
                raise no_such_run(run_id)
            raise HttpProblem(422, f"run {run_id!r} has no question {one.question!r:.50}")
        if one.verdict == "answered" and not one.text.strip() and not one.calls:
            raise HttpProblem(422, f"the answer to question {one.question} has no text")
        task_id = asked[one.question]
        fields = one.model_dump(include={"verdict", "text", "calls"})
        reply = Reply(task_id=task_id, plan=one.plan, by=principal.name, **fields)
        if replies.setdefault(one.question, reply) != reply:
            raise HttpProblem(422, f"there are two replies to question {one.question}")
        try:
            messages_of(log, state, [reply], now=at, seen=seen)
        except InputError as error:
            is_open = still.get(task_id) == one.question and int(one.question) <= seen
            raise HttpProblem(422 if is_open else 409, str(error)) from None
        if int(one.question) > seen or still.get(task_id) not in (None, one.question):
            raise HttpProblem(409, f"run {run_id!r} has a newer question: read it first")
        if one.plan is not None:
            check_sound(one.plan, team, state, principal)
    return state.team, [*replies.values()]


# Plans


class WantedPlan(BaseModel, extra="forbid"):
    team: str
    request: RequestText
    after: str | None = None


class GivenPlan(BaseModel, extra="forbid"):
    team: str
    plan: dict[str, Any]
    """As far as it is written."""


class PlanProblems(BaseModel):
    problems: list[Problem]


@router.post("/plans")
async def plan_request(body: WantedPlan, caller: Calling) -> Plan:
    """The plan for a request. No work is done; the planner may ask its model."""
    caller.check_role("operator")
    if body.after is not None:
        await caller.visible(body.after)
    return await caller.service.supervisor(body.team).plan(body.request, after=body.after)


@router.post("/plans/check")
async def check_plan(body: GivenPlan, caller: Calling) -> PlanProblems:
    """What is wrong with a plan, while it is edited. No model is asked."""
    caller.check_role("approver")
    team = caller.service.supervisor(body.team).team
    try:
        plan = Plan.model_validate(body.plan)
    except ValidationError as error:
        return PlanProblems(problems=[Problem("invalid", in_one_line(error))])
    return PlanProblems(problems=[*_problems(plan, team, RunState())])


def check_sound(plan: Plan, team: Team, state: RunState, principal: Principal) -> None:
    """Raises `HttpProblem` with all errors of a plan that a person sends for a run."""
    errors = [*errors_in(_problems(plan, team, state)), *foreign_files(plan, principal, state)]
    if errors:
        found = [asdict(one) for one in errors]
        raise HttpProblem(422, "the plan can't be carried out", extra={"problems": [*found]})


def _problems(plan: Plan, team: Team, state: RunState) -> Sequence[Problem]:
    return check(
        with_chosen_tools(plan, team), team, request=state.request or None, earlier=state.earlier
    )
