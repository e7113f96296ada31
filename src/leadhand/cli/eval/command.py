"""`leadhand eval` and `leadhand compare`: from the options to the report and the exit status."""

import asyncio
import datetime as dt
import importlib
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import cast, get_args

from leadhand.cli.added_commands import Command, added_command
from leadhand.cli.eval.commands import CompareOptions, EvalOptions, MeasureOptions
from leadhand.cli.eval.views import show_changes, show_comparison, show_report, show_trial
from leadhand.cli.run.arguments import load_team
from leadhand.cli.run.execution import INTERRUPTED
from leadhand.cli.run.models import choose_models, print_models
from leadhand.cli.run.setup import RunSetup
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.standard_streams import writing_output
from leadhand.cli.views.consoles import DataConsole, error_console, print_note
from leadhand.cli.views.terminal import print_json
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.evals.cases import Case, Fault, FaultKind
from leadhand.evals.formats import junit, page
from leadhand.evals.reading import cases_beside, read_cases
from leadhand.evals.report import EvalReport, TrialReport, changes, is_worse
from leadhand.evals.runner import (
    Contender,
    EvalSettings,
    TeamContender,
    evaluate,
    new_eval_id,
)
from leadhand.evals.trials import Scorer
from leadhand.models.choice import VARIABLE, models_of
from leadhand.run.intake import Batches
from leadhand.run.settings import StartArguments
from leadhand.supervisor import Supervisor
from leadhand.teams import functions
from leadhand.teams.installed import team_folders
from leadhand.teams.sources import python_team, team_of

Trial = Callable[
    [RunSetup, RunStorage, Path, Sequence[Path]],
    tuple[Supervisor[object, object], Batches],
]
"""What `Command.trial` is."""

_KINDS: dict[str, FaultKind] = {kind: kind for kind in get_args(FaultKind)}


@dataclass(frozen=True, slots=True)
class CommandContender:
    """A team that only a command of its own can set up."""

    name: str
    team: Team
    command: Command
    setup: RunSetup
    storage: RunStorage

    def start(
        self, case: Case, plan: Plan | None, run_id: str
    ) -> tuple[Supervisor, StartArguments[object]]:
        """The supervisor that the command makes for the case's inputs. Raises `InputError`."""
        if plan is not None or case.faults or case.tools:
            raise InputError(
                f"case {case.name!r}: workers alone, faults and tools are not for team {self.name}"
            )
        folder = self.storage.folder(run_id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        trial = cast("Trial", self.command.trial)
        supervisor, batches = trial(self.setup, self.storage, folder, [*map(Path, case.inputs)])
        return supervisor, {"batches": batches}


def eval_command(options: EvalOptions) -> int:
    """Evaluate the teams, print the report, and return the exit status."""
    measure = options.measure
    before = EvalReport.read(options.baseline) if options.baseline is not None else None
    settings, scorers = settings_of(measure), scorers_of(measure)
    teams = [(name, loaded(name, measure)) for name in options.teams]
    reports: list[EvalReport] = []
    with RunStorage(measure.home, new=True) as storage:
        eval_id = measure.resume or new_eval_id(dt.datetime.now(dt.UTC))
        for place, (name, team) in enumerate(teams):
            cases = cases_of(options.cases, name)
            contender = contender_of(name, team, measure, storage)
            own_id = eval_id if len(teams) == 1 else f"{eval_id}-t{place + 1}"
            found = measured([contender], cases, measure, settings, scorers, own_id, eval_id)
            if found is None:
                return INTERRUPTED
            reports.append(found)
    report = EvalReport(id=eval_id, teams=tuple(one for each in reports for one in each.teams))
    by_name = {one.team: one for one in before.teams} if before is not None else {}
    moved = [changes(one, by_name[one.team]) if one.team in by_name else [] for one in report.teams]
    with writing_output():
        match measure.report_format:
            case "json":
                print_json(report.model_dump(mode="json"))
            case "junit":
                sys.stdout.write(junit(report))
            case "html":
                sys.stdout.write(page(report, moved))
            case "text":
                console = DataConsole()
                for team, changed in zip(report.teams, moved, strict=True):
                    show_report(team, console)
                    if before is not None:
                        show_changes(changed, console, known=team.team in by_name)
    return 1 if any(map(is_worse, moved)) else 0


def compare_command(options: CompareOptions) -> int:
    """Run the cases with both, print the figures side by side, and return the exit status."""
    measure = options.measure
    if len(options.teams) + options.single != 2:
        raise InputError("compare needs two: --team TEAM --single, or --team A --team B")
    settings, scorers = settings_of(measure), scorers_of(measure)
    cases = read_cases(options.cases)
    teams = [loaded(name, measure) for name in options.teams]
    with RunStorage(measure.home, new=True) as storage:
        eval_id = measure.resume or new_eval_id(dt.datetime.now(dt.UTC))
        contenders = [TeamContender(one, settings, storage.journal) for one in teams]
        if options.single:
            contenders.append(TeamContender(teams[0], settings, storage.journal, as_single=True))
            cases = [as_a_whole(case) for case in cases]
        found = measured(contenders, cases, measure, settings, scorers, eval_id, eval_id)
    if found is None:
        return INTERRUPTED
    one, other = found.teams
    with writing_output():
        match measure.report_format:
            case "json":
                print_json(found.model_dump(mode="json"))
            case "junit":
                sys.stdout.write(junit(found))
            case "html":
                sys.stdout.write(page(found, [changes(one, other)]))
            case "text":
                show_comparison(one, other, changes(other, one), DataConsole())
    return 0


def as_a_whole(case: Case) -> Case:
    """The case without what only a team can do: routing, plans, single workers."""
    return case.model_copy(update={"routing": None, "plan": None, "workers": ()})


def measured(
    contenders: Sequence[Contender],
    cases: Sequence[Case],
    measure: MeasureOptions,
    settings: EvalSettings,
    scorers: Sequence[Scorer],
    own_id: str,
    eval_id: str,
) -> EvalReport | None:
    """The report; None if it was interrupted, and how to go on was said."""

    def tell(team: str, trial: TrialReport, done: int, total: int) -> None:
        if not measure.quiet:
            show_trial(team, trial, done, total, error_console())

    try:
        return asyncio.run(
            evaluate(
                *contenders,
                cases=cases,
                settings=settings,
                scorers=scorers,
                eval_id=own_id,
                progress=tell,
            )
        )
    except KeyboardInterrupt:
        print_note(f"interrupted; the same command with --resume {eval_id} goes on")
        return None


def contender_of(name: str, team: Team, measure: MeasureOptions, storage: RunStorage) -> Contender:
    """The team as it is run, or as its own command runs it."""
    command = added_command(name)
    if command is not None and command.trial is not None and name in team_folders():
        return CommandContender(name, team, command, setup_of(measure), storage)
    return TeamContender(team, settings_of(measure), storage.journal)


def settings_of(measure: MeasureOptions) -> EvalSettings:
    """How cases are run. Raises `InputError`."""
    setup = setup_of(measure)
    return EvalSettings(
        repeat=measure.repeat,
        at_once=measure.at_once,
        deadline_s=setup.deadline_s,
        budget=setup.budget,
        allow_writes=measure.allow_writes,
        faults=tuple(map(_fault, measure.faults or ())),
    )


def setup_of(measure: MeasureOptions) -> RunSetup:
    """The limits of each run."""
    return RunSetup(**asdict(measure.limits))


def _fault(given: str) -> Fault:
    worker, equals, kind = given.rpartition("=")
    if not equals or kind not in _KINDS:
        raise InputError(f"--fault {given}: give WORKER=KIND, KIND one of {', '.join(_KINDS)}")
    name = int(worker) if worker.isdigit() else worker
    return Fault(worker=name, fails=_KINDS[kind])


def scorers_of(measure: MeasureOptions) -> list[Scorer]:
    """The user's functions. Raises `InputError` if one can't be imported."""
    found: list[Scorer] = []
    for source in measure.scorers or ():
        python = python_team(source)
        if python is None or not python.attribute:
            raise InputError(f"--scorer {source}: give FILE.py:NAME or module:NAME")
        if python.folder is not None:
            functions.make_importable(python.folder)
        try:
            scorer: object = getattr(importlib.import_module(python.module), python.attribute, None)
        except Exception as error:  # a module may raise anything
            why = f"{type(error).__name__}: {error}"
            raise InputError(f"--scorer {source} can't be imported: {why}") from error
        if not callable(scorer):
            raise InputError(f"--scorer {source}: there is no function {python.attribute!r}")
        found.append(cast("Scorer", scorer))
    return found


def loaded(name: str, measure: MeasureOptions) -> Team:
    """The team with its models: those that are named, else its own. Raises `InputError`.

    No other model is looked for: many cases cost many times as much as one request.
    """
    limits = measure.limits
    command = added_command(name) if name in team_folders() else None
    if command is not None and command.trial is not None:
        return team_of(name)
    team = load_team(name, trust=measure.trust)
    named = limits.model or os.environ.get(VARIABLE) or models_of(team)
    choice = choose_models(team, model=limits.model, no_model=limits.no_model or not named)
    if named and not measure.quiet:
        print_models(choice, error_console())
    return choice.team


def cases_of(given: Path | None, team: str) -> list[Case]:
    """The cases that are given, else those beside the team. Raises `InputError`."""
    if given is not None:
        return read_cases(given)
    folder = team_folders().get(team)
    if folder is None:
        python = python_team(team)
        folder = Path(team) if python is None else python.folder
    place = cases_beside(folder) if folder is not None else None
    if place is None:
        raise InputError(
            f"team {team!r} has no cases beside it: name a file of `- request: ...` with --cases"
        )
    return read_cases(place)
