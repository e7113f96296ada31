"""`leadhand plan`: the plan of a request, what each task would use, and what it may cost."""

import asyncio
import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from leadhand.cli.home import home_of, stored_runs
from leadhand.cli.options import PlanOptions
from leadhand.cli.run.arguments import read_request
from leadhand.cli.run.models import choose_models, print_models
from leadhand.cli.run.setup import setup_of
from leadhand.cli.standard_streams import writing_output
from leadhand.cli.views.consoles import DataConsole, error_console, print_line, print_note
from leadhand.cli.views.plan import show_earlier, show_plan
from leadhand.cli.views.terminal import print_json, safe, sentence
from leadhand.contracts.budget import Budget
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import SUBPLANNER, planner_title
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import InputError, ModelError, PlanError, ToolError
from leadhand.journal import MemoryStore, StoreJournal
from leadhand.models.choice import models_by_role
from leadhand.planners.template import TemplatePlanner
from leadhand.plans.checks import MAX_TASKS
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.run.stored import earlier_runs
from leadhand.state.fold import fold
from leadhand.supervisor import Supervisor
from leadhand.tools.text import counted
from leadhand.trace.formatting import format_price


def plan_command(options: PlanOptions) -> int:
    request = read_request(options.request)
    setup, after = setup_of(options)
    if after is not None and not options.quiet:
        print_note(f"follows run {after}")
    deadline_s, budget = setup.deadline_s, setup.budget
    choice = choose_models(setup.load(), model=setup.model, no_model=setup.no_model)
    if not options.quiet:
        print_models(choice, error_console())
    if options.out is not None:
        _check_writable(options.out)
    stored = stored_runs(home_of(options.home, os.environ)) if after is not None else None
    with contextlib.closing(stored or MemoryStore()) as store:
        journal = StoreJournal(store)
        supervisor = Supervisor(choice.team, deadline_s=deadline_s, budget=budget, journal=journal)
        plan = asyncio.run(planned(supervisor, request, options.inputs or (), after))
        events = store.events(after) if after is not None else ()
    document = plan.model_dump_json(indent=2) + "\n"
    with writing_output():
        if options.json:
            print_json(plan.model_dump(mode="json"))
        else:
            console = DataConsole()
            team = with_planned_workers(choice.team, plan)
            used = models_by_role(team)
            show_plan(plan, console, models=used)
            if events:
                show_earlier(earlier_runs(fold(events)), console)
            print_line(console, safe(_cost_line(plan, team, used, budget)))
    if options.out is not None:
        try:
            options.out.write_text(document, encoding="utf-8")
        except OSError as error:
            raise ToolError(f"can't write the plan to {options.out}: {error.strerror}") from error
    return 0


async def planned(
    supervisor: Supervisor, request: str, inputs: Sequence[Path], after: str | None = None
) -> Plan:
    """The team's template gives the plan if no model does in time."""
    try:
        return await supervisor.plan(request, inputs=inputs, after=after)
    except PlanError as error:
        # The user can't fix a plan that the planner wrote.
        who = planner_title(supervisor.team.planner)
        why = f"{who} gave no valid plan: {error}"
        failure = ModelError(why, transient=False)
    except ModelError as error:
        late = isinstance(error.__cause__, TimeoutError)
        more = "; give it more time with --deadline, or plan without one by --no-model"
        failure = ModelError(f"{error}{more}", transient=error.transient) if late else error
    if not supervisor.team.template or KINDS[supervisor.team.planner.kind].must_route:
        raise failure
    journal = supervisor.journal
    by_template = Supervisor(supervisor.team, planner=TemplatePlanner(), journal=journal)
    try:
        plan = await by_template.plan(request, inputs=inputs, after=after)
    except InputError:
        raise failure from None
    said = f"planned by the team's template, because {sentence(str(failure))}"
    print_note(said)
    return plan


def _check_writable(file: Path) -> None:
    """Raises `InputError`, before money is spent on a plan, if the file can't be written."""
    folder = file.parent
    if file.is_dir() or not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"can't write the plan to {file}: its folder does not exist or can't be written"
        )


def _beyond(
    plan: Plan, budget: Budget | None, cost_usd: tuple[float, float] | None
) -> Iterator[str]:
    """Whether the budget is enough for the cost, what the cost leaves out, and what limits that."""
    if budget is not None:
        amounts = [format_price(budget.usd)] if budget.usd is not None else []
        amounts += [f"{budget.tokens:,} tokens"] if budget.tokens is not None else []
        said = f"the budget is {' and '.join(amounts)}"
        if budget.usd is not None and cost_usd is not None and budget.usd < cost_usd[1]:
            said += f", which {'is not' if budget.usd < cost_usd[0] else 'may not be'} enough"
        yield said
    if plan.max_rounds is not None:
        limit = f"the limit of {plan.max_rounds} rounds"
        limit += " and the budget" if budget else ": no budget is set"
        yield f"that is round 1 and one more decision: later rounds cost more, up to {limit}"
    if deeper := sum(task.worker == SUBPLANNER for task in plan.tasks):
        plans = counted(deeper, "nested plan is", "nested plans are")
        guess = "assumed is one task for each worker and no deeper plan"
        yield f"{plans} not known yet: {guess}, the limit is {MAX_TASKS['model']} tasks in all"


def _cost_line(plan: Plan, team: Team, used: dict[str, str], budget: Budget | None) -> str:
    if not used:
        return "costs nothing: no model is used"
    # Imported here because only models have prices.
    from leadhand.models.estimate import estimate

    expected = asyncio.run(estimate(plan, team))
    if expected.calls.high == 0:
        return "costs nothing: none of its tasks uses a model"
    low_calls = f"{expected.calls.low:,} to " if expected.calls.low < expected.calls.high else ""
    calls = f"{low_calls}{counted(expected.calls.high, 'call')}"
    beyond = "".join(f"; {note}" for note in _beyond(plan, budget, expected.cost_usd))
    if expected.cost_usd is None:
        unpriced = ", ".join(expected.unpriced)
        return f"cost unknown: no known price of {unpriced}; {calls}{beyond}"
    low, high = expected.cost_usd
    cost = f"about {format_price(low)} to {format_price(high)}"
    return f"{cost} in {calls} ({expected.assumption}){beyond}"
