"""`leadhand eval` and `leadhand compare`: from the options to the report and the exit status."""

import asyncio
import datetime as dt
import os
import sys
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import cast, get_args

from leadhand.cli.added_commands import added_command
from leadhand.cli.eval.commands import MeasureOptions
from leadhand.cli.eval.views import show_changes, show_comparison, show_report, show_trial
from leadhand.cli.run.arguments import load_team
from leadhand.cli.run.execution import INTERRUPTED
from leadhand.cli.run.models import choose_models, print_models
from leadhand.cli.run.setup import RunSetup
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.standard_streams import writing_output
from leadhand.cli.views.consoles import DataConsole, error_console, print_note
from leadhand.cli.views.terminal import print_json
from leadhand.contracts.team import ModelSpec, Team
from leadhand.errors import InputError
from leadhand.evals.cases import Case, Fault, FaultKind
from leadhand.evals.formats import junit, page
from leadhand.evals.judging import AnswerJudge, judge_model
from leadhand.evals.reading import cases_beside, read_cases
from leadhand.evals.report import EvalReport, TeamReport, TrialReport, changes, is_worse
from leadhand.evals.runner import EvalSettings, TeamContender, evaluate, new_eval_id
from leadhand.evals.trials import Scorer
from leadhand.models.choice import VARIABLE, models_of
from leadhand.run.settings import Batches, StartArguments
from leadhand.supervisor import Supervisor
from leadhand.teams import functions
from leadhand.teams.installed import team_folders
from leadhand.teams.sources import python_team, team_of

_KINDS: dict[str, FaultKind] = {kind: kind for kind in get_args(FaultKind)}


def eval_command(
    teams: Sequence[str], measure: MeasureOptions, cases: Path | None, baseline: Path | None
) -> int:
    before = EvalReport.read(baseline) if baseline is not None else None
    with RunStorage(measure.home, new=True) as storage:
        rows: list[tuple[TeamContender, Sequence[Case]]] = [
            (contender_of(name, measure, storage), cases_of(cases, name)) for name in teams
        ]
        by_name = {one.team: one for one in before.teams} if before is not None else {}
        names = [contender.name for contender, _ in rows]
        if before is not None and not {*names} & {*by_name}:
            known = ", ".join(by_name) or "no team"
            raise InputError(f"the baseline {baseline} has {known}, and not {', '.join(names)}")
        report = measured(rows, measure, storage)
    if report is None:
        return INTERRUPTED
    moved = [changes(one, by_name[one.team]) if one.team in by_name else [] for one in report.teams]
    printed = _printed(report, measure)
    for team, changed in zip(report.teams, moved, strict=True):
        console = error_console() if printed else DataConsole()
        if not printed:
            show_report(team, console)
        if before is not None:
            show_changes(team.team, changed, console)
    return 1 if any(map(is_worse, moved)) else 0


def compare_command(
    file: Path, teams: Sequence[str], measure: MeasureOptions, *, single: bool
) -> int:
    if len(teams) + single != 2:
        raise InputError("compare needs two: --team TEAM --single, or --team A --team B")
    cases = read_cases(file)
    with RunStorage(measure.home, new=True) as storage:
        given = [
            TeamContender(loaded(name, measure), settings_of(measure), storage.journal)
            for name in teams
        ]
        if single:
            given.append(replace(given[0], as_single=True))
            # Only a team routes, plans, and has workers of their own.
            apart = {"routing": None, "plan": None, "workers": ()}
            cases = [case.model_copy(update=apart) for case in cases]
        report = measured([(one, cases) for one in given], measure, storage)
    if report is None:
        return INTERRUPTED
    one, other = report.teams
    if not _printed(report, measure):
        show_comparison(one, other, changes(other, one), DataConsole())
    return 0


def _printed(report: EvalReport, measure: MeasureOptions) -> bool:
    """Whether the report was printed for a program; if not, it is to be shown as text."""
    kind = "json" if measure.json else measure.format
    with writing_output():
        if kind == "json":
            print_json(report.model_dump(mode="json"))
        elif kind != "text":
            sys.stdout.write(page(report) if kind == "html" else junit(report))
    return kind != "text"


def measured(
    rows: Sequence[tuple[TeamContender, Sequence[Case]]],
    measure: MeasureOptions,
    storage: RunStorage,
) -> EvalReport | None:
    """The report; None if it was interrupted, and how to go on was said."""
    scorers = scorers_of(measure)
    for contender, cases in rows:
        contender.check(cases)
    eval_id = measure.resume or new_eval_id(dt.datetime.now(dt.UTC))
    if measure.resume and not storage.store.runs(
        limit=1, where=lambda run: run.run_id.startswith(f"{eval_id}-")
    ):
        raise InputError(f"there is no evaluation {eval_id!r} to resume in {storage.home}")
    if measure.record is not None and measure.replay is not None:
        raise InputError("--record and --replay exclude each other: give one of them")
    exchanges, file = None, measure.replay or measure.record
    if file is not None:
        # Imported here because it imports pydantic-ai.
        from leadhand.evals.recordings import Exchanges

        replay, goes_on = measure.replay is not None, measure.resume is not None
        exchanges = Exchanges(file, replay=replay, goes_on=goes_on)

    def tell(team: str, trial: TrialReport, done: int, total: int) -> None:
        if not measure.quiet:
            show_trial(team, trial, done, total, error_console())

    async def main() -> EvalReport:
        found: list[TeamReport] = []
        async with AsyncExitStack() as stack:
            if exchanges is not None:
                await stack.enter_async_context(exchanges)
            for place, (contender, cases) in enumerate(rows, start=1):
                spec = _judge(measure, contender, cases)
                if exchanges is not None:
                    spec = exchanges.model(spec)
                    contender = replace(contender, team=exchanges.team(contender.team))
                report = await evaluate(
                    contender,
                    cases,
                    scorers=scorers,
                    judge=AnswerJudge(spec, storage.journal) if spec is not None else None,
                    eval_id=f"{eval_id}-{place}",
                    progress=tell,
                )
                found.append(report)
        return EvalReport(id=eval_id, teams=tuple(found))

    try:
        report = asyncio.run(main())
    except KeyboardInterrupt:
        print_note(f"interrupted; the same command with --resume {eval_id} goes on")
        return None
    if exchanges is not None:
        exchanges.check()
    return report


def _judge(measure: MeasureOptions, contender: TeamContender, cases: Sequence[Case]) -> ModelSpec:
    """The model that judges; None: none does."""
    asked = any(case.synthesis is not None and case.synthesis.rubric for case in cases)
    spec = measure.judge or (judge_model(contender.team) if asked else None)
    if asked and spec is None:
        print_note(
            "rubrics are not judged, because no model is at hand that is no worker's: name one "
            "with --judge PROVIDER:NAME"
        )
    return spec


def contender_of(name: str, measure: MeasureOptions, storage: RunStorage) -> TeamContender:
    """The team as it is run, or as its own command runs it. Raises `InputError`."""
    settings, command = settings_of(measure), added_command(name)
    if command is None or command.trial is None or name not in team_folders():
        return TeamContender(loaded(name, measure), settings, storage.journal)
    trial, setup = command.trial, RunSetup(**asdict(measure.limits))

    def set_up(case: Case, run_id: str) -> tuple[Supervisor, StartArguments[object]]:
        folder = storage.folder(run_id)
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = trial(setup, storage, folder, [Path(one) for one in case.inputs])
        supervisor, batches = cast("tuple[Supervisor, Batches]", made)
        return supervisor, {"batches": batches}

    return TeamContender(team_of(name), settings, set_up=set_up)


def settings_of(measure: MeasureOptions) -> EvalSettings:
    """How cases are run. Raises `InputError`."""
    setup = RunSetup(**asdict(measure.limits))
    faults: list[Fault] = []
    for given in measure.faults or ():
        worker, _, kind = given.rpartition("=")
        if not worker or kind not in _KINDS:
            raise InputError(f"--fault {given}: give WORKER=KIND, KIND one of {', '.join(_KINDS)}")
        name = int(worker) if worker.isdecimal() else worker
        faults.append(Fault(worker=name, fails=_KINDS[kind]))
    return EvalSettings(
        repeat=measure.repeat,
        at_once=measure.at_once,
        deadline_s=setup.deadline_s,
        budget=setup.budget,
        allow_writes=measure.allow_writes,
        faults=tuple(faults),
    )


def scorers_of(measure: MeasureOptions) -> list[Scorer]:
    """The user's functions. Raises `InputError` if one can't be imported."""
    found: list[Scorer] = []
    for source in measure.scorers or ():
        python = python_team(source)
        if python is None or not python.attribute:
            raise InputError(f"--scorer {source}: give FILE.py:NAME or module:NAME")
        if python.folder is not None:
            functions.make_importable(python.folder)
        name = f"{python.module}:{python.attribute}"
        found.append(cast("Scorer", functions.resolve(name, python.folder)))
    return found


def loaded(name: str, measure: MeasureOptions) -> Team:
    """The team with its models: those that are named, else its own. Raises `InputError`.

    No other model is looked for: many cases cost many times as much as one request.
    """
    limits = measure.limits
    team = load_team(name, trust=measure.trust)
    if measure.replay is not None:
        return team if limits.model is None else replace(team, model=limits.model)
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
