"""`leadhand plan`: the plan of a request, what each task would use, and what it may cost."""

import asyncio
import contextlib
import os
from collections.abc import Sequence
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
from leadhand.contracts.role import SUBPLANNER
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
    """Plan the request, print the plan, and return the exit status. No work is done."""
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
        _write(options.out, document)
    return 0


async def planned(
    supervisor: Supervisor, request: str, inputs: Sequence[Path], after: str | None = None
) -> Plan:
    """The plan that a run would have: by the team's template if no model gives one in time."""
    try:
        return await supervisor.plan(request, inputs=inputs, after=after)
    except PlanError as error:
        # The user can't fix a plan that the planner wrote.
        why = f"the planner gave no valid plan: {error}"
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


def _write(file: Path, document: str) -> None:
    """Write the file as a whole: an older plan stays until the new one is complete."""
    new = file.with_name(f".{file.name}.new")
    try:
        if file.exists() and not file.is_file():  # a device or a pipe can't be replaced
            file.write_text(document, encoding="utf-8")
            return
        new.write_text(document, encoding="utf-8")
        new.replace(file)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise ToolError(f"can't write the plan to {file}: {error.strerror}") from error


def _budget_note(budget: Budget | None, cost_usd: tuple[float, float] | None) -> str:
    """The budget in words, after the cost of a plan: from and to, or unknown."""
    if budget is None:
        return ""
    tokens = None if budget.tokens is None else f"{budget.tokens:,} tokens"
    usd = None if budget.usd is None else format_price(budget.usd)
    said = f"; the budget is {' and '.join(part for part in (usd, tokens) if part)}"
    if budget.usd is None or cost_usd is None:
        return said
    low, high = cost_usd
    if budget.usd < low:
        return f"{said}, which is not enough"
    return f"{said}, which may not be enough" if budget.usd < high else said


def _later_rounds(plan: Plan, budget: Budget | None) -> str:
    """What an estimate of a stepwise planner's first round leaves out, and what limits that."""
    if plan.max_rounds is None:
        return ""
    limit = f"the limit of {plan.max_rounds} rounds"
    said = "; that is round 1 and one more decision: later rounds cost more, up to "
    return f"{said}{limit} and the budget" if budget else f"{said}{limit}: no budget is set"


def _deeper_plans(plan: Plan) -> str:
    """What an estimate has to guess if tasks are broken down, and what limits that."""
    count = sum(task.worker == SUBPLANNER for task in plan.tasks)
    if not count:
        return ""
    plans = counted(count, "nested plan is", "nested plans are")
    guess = f"; {plans} not known yet: assumed is one task for each worker and no deeper plan, "
    return f"{guess}the limit is {MAX_TASKS['model']} tasks in all"


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
    beyond = _budget_note(budget, expected.cost_usd)
    beyond += _later_rounds(plan, budget) + _deeper_plans(plan)
    if expected.cost_usd is None:
        unpriced = ", ".join(expected.unpriced)
        return f"cost unknown: no known price of {unpriced}; {calls}{beyond}"
    low, high = expected.cost_usd
    cost = f"about {format_price(low)} to {format_price(high)}"
    return f"{cost} in {calls} ({expected.assumption}){beyond}"
