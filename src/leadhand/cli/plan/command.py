"""`leadhand plan`: the plan of a request, what each task would use, and what it may cost."""

import asyncio
import contextlib
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.text import Text

from leadhand.cli.duration import parse_duration
from leadhand.cli.home import home_of, stored_runs
from leadhand.cli.options import LimitOptions
from leadhand.cli.run.arguments import load_team, read_request
from leadhand.cli.run.models import choose_models, print_models
from leadhand.cli.run.options import DEADLINE_S, budget_note, budget_of
from leadhand.cli.standard_streams import writing_output
from leadhand.cli.views.consoles import DataConsole, error_console, print_note
from leadhand.cli.views.plan import show_earlier, show_plan
from leadhand.cli.views.terminal import encodable, print_json, safe, sentence
from leadhand.contracts.budget import Budget
from leadhand.contracts.planner_kinds import KINDS
from leadhand.contracts.role import SUBPLANNER
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import InputError, ModelError, PlanError, ToolError
from leadhand.journal import MemoryStore, StoreJournal
from leadhand.journal.store import Store
from leadhand.models.choice import models_by_role
from leadhand.planners.template import TemplatePlanner
from leadhand.plans.checks import MAX_TASKS
from leadhand.plans.planned_workers import with_planned_workers
from leadhand.run.following import earlier_runs
from leadhand.state.fold import fold
from leadhand.supervisor import Supervisor
from leadhand.tools.text import counted
from leadhand.trace.formatting import format_price


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """The options of `leadhand plan`."""

    request: str
    team: str
    trust: bool
    inputs: tuple[Path, ...]
    limits: LimitOptions
    json: bool
    out: Path | None
    quiet: bool
    after: str | None = None
    home: str | None = None
    folder: str = ""
    """The folder in which a team that is a module is looked for; empty: the current folder."""


def plan_command(options: PlanOptions) -> int:
    """Plan the request, print the plan, and return the exit status. No work is done."""
    request = read_request(options.request)
    options = _followed(options)
    limits = options.limits
    budget = budget_of(limits.budget_usd, limits.budget_tokens)
    loaded = load_team(options.team, trust=options.trust, folder=options.folder)
    choice = choose_models(loaded, model=limits.model, no_model=limits.no_model)
    deadline_s = parse_duration(limits.deadline) if limits.deadline else DEADLINE_S
    if not options.quiet:
        print_models(choice, error_console())
    if options.out is not None:
        _check_writable(options.out)
    with contextlib.closing(_store(options)) as store:
        journal = StoreJournal(store)
        supervisor = Supervisor(choice.team, deadline_s=deadline_s, budget=budget, journal=journal)
        plan = asyncio.run(planned(supervisor, request, options.inputs, options.after))
        events = store.events(options.after) if options.after else ()
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
            line = encodable(safe(_cost_line(plan, team, used, budget)), console.encoding)
            console.print(Text(line), soft_wrap=True)
    if options.out is not None:
        _write(options.out, document)
    return 0


def _followed(options: PlanOptions) -> PlanOptions:
    """The options with those of the run that is followed, if there is one. Raises `InputError`."""
    if options.after is None:
        return options
    # Imported here because it takes half as long as all other imports of `plan`.
    from leadhand.cli.run.command import TeamSetup, followed

    given = TeamSetup(team=options.team, trust=options.trust, **options.limits._asdict())
    after, setup = followed(given, options.after, options.home)
    limits = LimitOptions(*(getattr(setup, name) for name in LimitOptions._fields))
    if not options.quiet:
        print_note(f"follows run {after}")
    return replace(options, after=after, team=setup.team, folder=setup.folder, limits=limits)


def _store(options: PlanOptions) -> Store:
    """Where the run that is followed is stored."""
    stored = stored_runs(home_of(options.home, os.environ)) if options.after is not None else None
    return stored or MemoryStore()


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
    beyond = budget_note(budget, expected.cost_usd)
    beyond += _later_rounds(plan, budget) + _deeper_plans(plan)
    if expected.cost_usd is None:
        unpriced = ", ".join(expected.unpriced)
        return f"cost unknown: no known price of {unpriced}; {calls}{beyond}"
    low, high = expected.cost_usd
    cost = f"about {format_price(low)} to {format_price(high)}"
    return f"{cost} in {calls} ({expected.assumption}){beyond}"
