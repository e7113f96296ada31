"""The step of a run that plans: a plan that its team can carry out, approved if people want to."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

from leadhand.contracts import events
from leadhand.contracts.people import EXPIRY
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import planner_title
from leadhand.contracts.task import Plan, PlanRequest
from leadhand.contracts.team import uses_model
from leadhand.engine.failures import failure_of
from leadhand.errors import (
    MAX_SHOWN_PROBLEMS,
    InputError,
    LeadhandError,
    ModelError,
    NoValidAnswer,
    PlanError,
)
from leadhand.planners.levels import no_tasks_left
from leadhand.planners.routing import (
    BY_ROUTER,
    IN_DOUBT,
    ROUTER,
    Router,
    RoutingPlanner,
    Unplaced,
    routed_plan,
)
from leadhand.planners.template import TemplatePlanner
from leadhand.plans.checks import Problem, check, errors_in
from leadhand.plans.planned_workers import with_chosen_tools
from leadhand.plans.routes import named_workers
from leadhand.run.step_context import Cancelled, StepContext
from leadhand.run.work_step import EarlyStart

_log = logging.getLogger("leadhand")

QUESTION = "Is this plan to be carried out?"
PLANNING_SHARE = 0.4
"""The share of the time for work that planning may take if the team has a plan without a model."""


@dataclass(frozen=True, slots=True)
class _Made:
    """The plan that was made for a request, or why there is none."""

    plan: Plan | None = None
    warnings: Sequence[Problem] | None = None
    """`None`: it was not checked."""
    in_doubt: bool = False
    """Whether no route places the request: a person is asked about the plan."""
    why: str = ""
    problems: tuple[str, ...] = ()
    late: bool = False
    answered: bool = False
    """Whether a model that plans answers, although not with a valid plan."""

    def said(self, context: StepContext) -> str:
        by_model = context.team.tiers and context.team.planner.run is None
        who = "the model" if by_model else "the planner"
        in_time = " in time" if self.late else ""
        return f"no {'valid ' if self.problems else ''}plan came from {who}{in_time}"


async def planned(
    context: StepContext, request: PlanRequest, plan: Plan | None, early: EarlyStart
) -> None:
    """Have `plan`, or one made now, accepted.

    Tasks that started `early` and are in the plan go on; others are cancelled. The run has no plan
    afterwards if it was stopped, waits for an approval, or for the reason `context.unplanned`.
    """
    recorder = context.recorder
    known = recorder.state.proposed
    if recorder.state.proposed_by == IN_DOUBT and _question(context) is None:
        # It was to be put to a person, whom the resumed run can't ask.
        known = None
    proposed, found = known, None
    if proposed is None:
        proposed, found = await _proposed(context, request, plan)
    if proposed is None:
        return
    routed = recorder.state.proposed_by in BY_ROUTER
    problems = _problems(context, proposed, request) if found is None else found
    if errors := errors_in(problems):
        if known is None:  # a known one stays, so that the team can go back to what it was
            _reject(context, *(problem.message for problem in errors))
            await recorder.commit()
        raise PlanError(errors)
    was_asked = _question(context) is not None
    approved = await _approved(context, proposed, request)
    if approved is None:
        return
    if approved is not proposed:
        stamp = recorder.stamp()
        reply = recorder.state.reply
        by = ROUTER if reply is not None and reply.verdict == "declined" else "person"
        recorder.record(events.PlanProposed(**stamp, plan=approved, by=by))
        problems = _problems(context, approved, request)
    await early.drop_others(approved)
    # The intents of a routed plan are the request, word for word.
    noted = [one for one in problems if not routed or one.code != "vague_intent"]
    warnings = tuple(problem.message for problem in noted)
    recorder.record(events.PlanAccepted(**recorder.stamp(), warnings=warnings, approved=was_asked))
    early.accepted()
    await recorder.commit()


async def _proposed(
    context: StepContext, request: PlanRequest, plan: Plan | None
) -> tuple[Plan | None, Sequence[Problem] | None]:
    recorder, author, lack, found = context.recorder, "person", "", None
    if plan is None:
        try:
            made = await _asked(context, request)
            author = context.roles.planner.name  # a router hands over to another planner
            if made.in_doubt:
                author = IN_DOUBT
            if made.plan is None:
                author, lack = TemplatePlanner.name, made.said(context)
                made = await _by_template(context, request, made)
        except Cancelled:
            return None, None
        except LeadhandError as error:
            if isinstance(error, InputError):  # so will every other try
                context.unplanned = str(error)
            _reject(context, str(error), by=context.roles.planner.name if context.unplanned else "")
            await recorder.commit()
            raise
        if made.plan is None:
            # The user can't repair a plan that the planner wrote: the answer says why.
            who = planner_title(context.team.planner)
            why = f"{who} gave no valid plan: {made.why}" if made.problems else made.why
            _reject(context, *(made.problems[:MAX_SHOWN_PROBLEMS] or (why,)))
            context.unplanned = why
            context.no_plan = made.said(context)
            return None, None
        plan, found = made.plan, made.warnings
    if found is None:
        plan = with_chosen_tools(plan, context.team)
    planner = context.roles.planner
    why = planner.why if author == ROUTER and isinstance(planner, RoutingPlanner) else lack
    recorder.record(events.PlanProposed(**recorder.stamp(), plan=plan, by=author, why=why))
    return plan, found


async def _asked(context: StepContext, request: PlanRequest) -> _Made:
    recorder, team = context.recorder, context.team
    level = context.roles.level
    if level is not None and level.tasks_left <= 0:
        return _Made(why=no_tasks_left())
    try:
        planner = context.roles.planner
        work = planner.plan(request, team)
        if isinstance(planner, TemplatePlanner):  # which waits for nothing
            plan = await work
        else:
            until_s = context.loop_time(_until_s(context))
            plan = await context.active.unless_stopped(work, until_s=until_s)
        if plan.workers:
            plan = with_chosen_tools(plan, team)
        found = _problems(context, plan, request)
        errors = errors_in(found)
        # Other levels may have planned meanwhile.
        errors += level.problems(plan) if level is not None else ()
        if errors:
            raise PlanError(errors)
        return _Made(plan, found)
    except PlanError as error:
        problems = tuple(problem.message for problem in error.problems)
        return _Made(why=str(error), problems=problems, answered=True)
    except Unplaced as error:
        return _unplaced(context, request, error)
    except ModelError as error:
        return _Made(why=str(error), answered=isinstance(error, NoValidAnswer))
    except TimeoutError:
        taken_s = recorder.elapsed_s() - recorder.began_s
        limit = f"in {taken_s:.3g} s, with the run's deadline of {context.settings.deadline_s:g} s"
        return _late(context, request, limit)
    except (Cancelled, LeadhandError):
        raise
    except Exception as error:
        # A planner of the user's own may raise anything.
        _log.warning("the planner failed", exc_info=error)
        return _Made(why=f"the planner failed: {failure_of(error).message}")


def _late(context: StepContext, request: PlanRequest, limit: str) -> _Made:
    """Who gets a request whose router was too slow; no plan if it was another planner."""
    planner, team, error = context.roles.planner, context.team, None
    if isinstance(planner, RoutingPlanner) and KINDS[team.planner.kind].must_route:
        error = planner.late(request, team, f"it gave no answer {limit}")
    if error is None:
        return _Made(why=f"no plan came {limit}", late=True)
    if error.default:
        return _Made(routed_plan(request, error.default, team))
    return replace(_unplaced(context, request, error), late=True)


def _unplaced(context: StepContext, request: PlanRequest, error: Unplaced) -> _Made:
    """Who gets a request that no route places: a person says so, else the default worker."""
    people, team = context.people, context.team
    if people is not None and "escalation" in people.occasions:
        return _Made(routed_plan(request, error.likeliest, team), in_doubt=True)
    if error.default:
        return _Made(routed_plan(request, error.default, team))
    return _Made(why=str(error))


async def _by_template(context: StepContext, request: PlanRequest, failure: _Made) -> _Made:
    context.late = context.late or failure.late
    # A routed request is for one worker or a few: the template would give it to others too.
    if KINDS[context.team.planner.kind].must_route:
        return failure
    if not _has_template(context):
        return _whole(context, request, failure) if failure.answered else failure
    try:
        plan = await TemplatePlanner().plan(request, context.team)
    except InputError:
        return failure
    _log.warning("planned by the team's template, because %s", failure.why)
    # What kept the planner from its model keeps every role from that model.
    role = context.team.planner
    by_tier = not failure.problems and role.model is None and role.run is None
    if by_tier and context.roles.give_up_models(failure.why):
        context.work_ends_s = context.due_s  # no time is reserved for a synthesis by a model
        context.recorder.wait_for_commits_until(context.work_ends_s)
    return _Made(plan)


def _whole(context: StepContext, request: PlanRequest, failure: _Made) -> _Made:
    """The whole request for those that the team's rules or trained router name, else its default
    worker, else each worker that a model does, unless it is known to change things; no plan if no
    model plans."""
    team, roles = context.team, context.roles
    if context.roles.breaks_down or team.planner.run is not None or roles.own.planner is not None:
        return failure
    router = Router(team)
    opinions = (*router.by_code(request.text), router.default)
    each = [one.name for one in team.workers if uses_model(one) and one.read_only is not False]
    names = next((one.workers for one in opinions if one.workers), each)
    plan = routed_plan(request, names, team)
    return failure if errors_in(_problems(context, plan, request)) else _Made(plan)


def _until_s(context: StepContext) -> float | None:
    """Seconds into the run when there has to be a plan, so that a team that can plan without a
    model still has time to work."""
    until_s, now_s = context.work_ends_s, context.recorder.elapsed_s()
    if until_s is None or not _has_template(context):
        return until_s
    return now_s + PLANNING_SHARE * (until_s - now_s)


def _has_template(context: StepContext) -> bool:
    """Whether there is a plan without a model: the team's template, or a task for each worker if
    all of them have offline code and no code plans. There is none for a task that is broken down.
    """
    team = context.team
    offline = bool(team.workers) and all(one.offline is not None for one in team.workers)
    each = offline and team.planner.run is None
    return not context.roles.breaks_down and (bool(team.template) or each)


def _problems(context: StepContext, plan: Plan, request: PlanRequest) -> tuple[Problem, ...]:
    return check(plan, context.team, request=request.text, earlier=request.earlier)


async def _approved(context: StepContext, plan: Plan, request: PlanRequest) -> Plan | None:
    """The plan that a person approved, if any. The time that they take is not the run's."""
    people, recorder = context.people, context.recorder
    question = _question(context, plan)
    if people is None or question is None:
        return plan
    in_doubt = recorder.state.proposed_by == IN_DOUBT

    def problems(given: Plan) -> list[str]:
        given = with_chosen_tools(given, context.team)
        return [problem.message for problem in errors_in(_problems(context, given, request))]

    since_s = recorder.elapsed_s()
    patiently = context.is_nested  # the run around it may have more to do
    names = [worker.name for worker in context.team.workers]
    asking = people.approve_plan(question, problems=problems, patiently=patiently)
    try:
        reply = await context.active.unless_stopped(people.only(asking))
    except Cancelled:
        return None
    if not context.is_nested:
        context.extend(recorder.elapsed_s() - since_s)
    if reply is None:
        return None
    named = named_workers(reply.text, names) if in_doubt and reply.by != EXPIRY else ()
    if reply.verdict == "declined":
        named = Router(context.team).default.workers
    if reply.verdict != "approved" and named:
        return routed_plan(request, named, context.team)
    if reply.verdict != "approved":
        why = f"a person {reply.verdict} the plan: {reply.text.strip()}".rstrip(": ")
        if reply.by == EXPIRY:
            why = reply.refusal("the plan", reply.text)
        _reject(context, why)
        context.unplanned = why
        return None
    return with_chosen_tools(reply.plan or plan, context.team)


def _question(context: StepContext, plan: Plan | None = None) -> str | None:
    people = context.people
    if people is None:
        return None
    if context.recorder.state.proposed_by == IN_DOUBT and "escalation" in people.occasions:
        workers = "\n".join(f"- {one.name}: {one.description}" for one in context.team.workers)
        guessed = " and ".join(task.worker for task in plan.tasks) if plan is not None else ""
        return (
            "The request is ambiguous: no route leads from it to a worker. "
            f"Is it for {guessed}? If not, name the worker that it is for.\n{workers}"
        )
    if "plan" not in people.occasions:
        return None
    path = context.recorder.path.rstrip("/")
    return f"{QUESTION} It breaks down task {path}." if path else QUESTION


def _reject(context: StepContext, *problems: str, by: str = "") -> None:
    stamp = context.recorder.stamp()
    context.recorder.record(events.PlanRejected(**stamp, problems=problems, by=by))
