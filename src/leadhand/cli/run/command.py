"""`leadhand run`: from the options to the answer and the exit status."""

import contextlib
import os
import shlex
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

from pydantic import JsonValue

from leadhand.cli.home import home_of, stored_runs
from leadhand.cli.live.person import TerminalPerson, at_terminal
from leadhand.cli.options import AnswerFormat, OutputOptions
from leadhand.cli.run.arguments import load_team, read_plan, read_request
from leadhand.cli.run.execution import INTERRUPTED, LiveRun, Watch
from leadhand.cli.run.models import choose_models, print_models
from leadhand.cli.run.options import RunSetup
from leadhand.cli.run.session import hold_session
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.runs.views import find_run
from leadhand.cli.standard_streams import writing_output
from leadhand.cli.views.answer import markdown, show_answer
from leadhand.cli.views.consoles import DataConsole, error_console, print_note
from leadhand.cli.views.terminal import print_json
from leadhand.contracts.answer import JOURNAL_GAP, Answer
from leadhand.contracts.events import Event
from leadhand.contracts.people import Question
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.contracts.tools import is_read_only
from leadhand.errors import InputError
from leadhand.journal import MemoryStore
from leadhand.models.choice import ModelChoice
from leadhand.plans.checks import check, errors_in
from leadhand.run.people import Ask
from leadhand.run.resumption import failed_for_good, is_over
from leadhand.run.stored import StoredRun
from leadhand.state.fold import RunState, fold
from leadhand.supervisor import Supervisor
from leadhand.teams.sources import absolute


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamSetup(RunSetup):
    """What sets up a run of a team that has a name or a folder."""

    team: str
    trust: bool = False
    """Whether another user's files may be imported. Not stored: the user who resumes decides."""
    folder: str = ""
    """The folder in which a team that is a module is looked for; empty: the current folder."""

    def load(self) -> Team:
        """The team. Raises `InputError`."""
        return load_team(self.team, trust=self.trust, folder=self.folder)

    def origin(self, command: str) -> dict[str, JsonValue]:
        """What is stored with the run: the team as it is found from any folder."""
        origin = RunSetup.origin(self, command)
        origin.pop("trust", None)
        team = absolute(self.team, self.folder)
        return {**origin, "team": team, "folder": str(Path(self.folder).absolute())}

    def supervisor(
        self, choice: ModelChoice, storage: RunStorage, person: Ask | None
    ) -> Supervisor:
        """The supervisor, with the models of `choice`. Raises `InputError`.

        If a person may be asked here, there is no default deadline: they see what the run does,
        and can stop it.
        """
        at_leisure = self.deadline is None and person is not None and "escalation" in self.approve
        only_reads = all(map(is_read_only, choice.team.workers))
        return Supervisor(
            choice.team,
            deadline_s=None if at_leisure else self.left_s(choice.team),
            budget=self.budget,
            concurrency=self.concurrency,
            approve=self.approve,
            person=person,
            journal=storage.read_only_journal if only_reads else storage.journal,
        )


@dataclass(frozen=True, slots=True)
class RunOptions:
    """The options of `leadhand run`."""

    setup: TeamSetup
    request: str | None
    inputs: tuple[Path, ...]
    plan: Path | None
    amend: bool
    home: str | None
    output: OutputOptions
    after: str | None = None


def run_command(options: RunOptions) -> int:
    """Run the request, print the answer, and return the exit status.

    Without a request, a person at the terminal gives one after the other.
    """
    after, setup = followed(options.setup, options.after, options.home)
    options = replace(options, setup=setup, after=after)
    if after is not None and not options.output.quiet:
        print_note(f"follows run {after}")
    if options.amend and options.plan is None:
        raise InputError("--amend is for a plan of your own: give --plan FILE as well")
    # Raises for invalid options, before anything is done.
    _ = setup.deadline_s, setup.budget
    plan = read_plan(options.plan) if options.plan is not None else None
    if plan is not None and plan.max_rounds is not None and not options.output.quiet:
        print_note("the plan is only the first round: its planner is not asked what is next")
    in_session = options.request is None and plan is None and may_ask(options.output)
    request = "" if in_session else read_request(options.request, plan)
    team = setup.load()
    choice = choose_models(team, model=setup.model, no_model=setup.no_model)
    trust = " --trust" if setup.trust else ""
    with RunStorage(options.home, options=trust, new=True) as storage:
        if not options.output.quiet:
            print_models(choice, error_console())
        if in_session:
            return _session(options, choice, storage)
        return print_answer(
            _answer(options, request, plan, choice, storage), storage, options.output
        )


def followed(setup: TeamSetup, after: str | None, home: str | None) -> tuple[str | None, TeamSetup]:
    """The id of the run that `after` names, and the setup of the run that follows it.

    Without a team that is the setup of the earlier run, with the options that are given now.
    Raises `InputError`.
    """
    if after is None:
        return None, setup
    where = home_of(home, os.environ)
    with contextlib.closing(stored_runs(where) or MemoryStore()) as store:
        run_id = find_run(store, after, where)
        if setup.team:
            return run_id, setup
        origin = StoredRun.of(run_id, store.events(run_id)).state.origin
    if origin.get("command") != "run":
        raise InputError(
            f"run {run_id!r} was not started by `leadhand run`: name the team that follows it with "
            "--team TEAM"
        )
    default, given = TeamSetup(team=""), dict[str, object]()
    for field in fields(TeamSetup):
        value: object = getattr(setup, field.name)
        if value != getattr(default, field.name):
            given[field.name] = value
    return run_id, TeamSetup.of(origin, **given)


def _session(options: RunOptions, choice: ModelChoice, storage: RunStorage) -> int:
    started = 0

    def ask(request: str, after: str | None) -> Answer:
        nonlocal started
        started += 1
        now = replace(options, after=after)
        answer = _answer(now, request, None, choice, storage, append=started > 1)
        print_answer(answer, storage, options.output)
        return answer

    hold_session(choice.team.name, ask, after=options.after, quiet=options.output.quiet)
    return 0


def _answer(
    options: RunOptions,
    request: str,
    plan: Plan | None,
    choice: ModelChoice,
    storage: RunStorage,
    *,
    append: bool = False,
) -> Answer:
    """The answer of a new run."""
    setup, output, team = options.setup, options.output, choice.team
    run_id = storage.new_run_id()
    watch = watch_of(storage, run_id, f"team {team.name}", output)
    session = LiveRun(replace(watch, append=append))
    supervisor = setup.supervisor(choice, storage, person_of(session, output, team, request))
    if not output.quiet:
        setup.print_time_left()
    return session.follow(
        supervisor,
        lambda listener: supervisor.run(
            request,
            plan=plan,
            amend=options.amend,
            run_id=run_id,
            inputs=options.inputs,
            origin=setup.origin("run"),
            after=options.after,
            listener=listener,
        ),
    )


def watch_of(
    storage: RunStorage,
    run_id: str,
    title: str,
    output: OutputOptions,
    *,
    past: Sequence[Event] = (),
    replied: Collection[str | None] = (),
) -> Watch:
    """How the run is watched. Warns if the run is not stored."""
    if storage.lost is not None and not output.quiet:
        print_note(storage.lost)
    return Watch(
        title,
        storage.command("resume", run_id) if storage.lost is None else None,
        how_to_answer=storage.command("answer", run_id),
        events=output.events,
        quiet=output.quiet,
        past=past,
        replied=replied,
    )


def person_of(session: LiveRun, output: OutputOptions, team: Team, request: str) -> Ask | None:
    """The person at the terminal; None without one, or with `--no-input`."""
    if not may_ask(output):
        return None
    problems = partial(plan_errors, team, request)
    return TerminalPerson(error_console(), session.paused, problems)


def plan_errors(team: Team, request: str, plan: Plan) -> list[str]:
    """The errors of a plan for `team`."""
    return [problem.message for problem in errors_in(check(plan, team, request=request))]


def may_ask(output: OutputOptions) -> bool:
    """Whether a person at the terminal may be asked."""
    return at_terminal() and not output.no_input


def print_answer(
    answer: Answer, storage: RunStorage, output: OutputOptions, stored: StoredRun | None = None
) -> int:
    """Print an answer and what the user can do next; returns the exit status."""
    with writing_output():
        _show(answer, output.answer_format)
    follow_up(answer, storage, stored)
    return exit_status(answer)


def follow_up(answer: Answer, storage: RunStorage, stored: StoredRun | None = None) -> None:
    """Print on stderr what to type if a run waits, was stopped, or lacks something.

    `stored` is the run, if the command has read it.
    """
    unkept = any(gap.task_id == JOURNAL_GAP for gap in answer.gaps)  # that gap says what to type
    if storage.lost is not None or answer.status == "complete" or unkept:
        return
    state = stored.state if stored is not None else fold(storage.store.events(answer.run_id))
    for said in _next_steps(answer, state, storage):
        print_note(said)


def _next_steps(answer: Answer, state: RunState, storage: RunStorage) -> Iterator[str]:
    """What the user can do with a run that is not complete, with the commands."""
    if answer.waiting:
        command = storage.command("answer", answer.run_id)
        how = how_to_reply(answer.waiting[0]) if len(answer.waiting) == 1 else ""
        yield f"it waits for a person: {command}{how}"
        return
    resume = storage.command("resume", answer.run_id)
    budget = state.budget
    if answer.ended_by == "budget" and budget is not None:
        tokens = " --budget-tokens N" if budget.tokens is not None else ""
        usd = " --budget-usd N" if budget.usd is not None else ""
        yield f"continue with a larger budget: {resume}{tokens}{usd}"
    elif not is_over(state):
        yield f"continue with: {resume}"
    failed = failed_for_good(state)
    if failed:
        one = shlex.quote(failed[0]) if len(failed) == 1 else "TASK"
        yield f"do a task again: {resume} --from {one}"


def how_to_reply(question: Question) -> str:
    """What is typed after `leadhand answer RUN` to reply to a question."""
    if question.route:
        return " --approve | WORKER | --refuse"
    task = f" --task {question.task_id}" if question.task_id is not None else ""
    if question.plan is not None:
        return f"{task} --approve | --refuse [WHY] | --plan FILE"
    if not question.call:
        return f"{task} TEXT"
    each = "" if len(question.calls) < 2 else " | --approve-call 1 --refuse-call 2 [WHY]"
    return f"{task} --approve | --refuse [WHY]{each}"


def exit_status(answer: Answer) -> int:
    """The exit status for an answer."""
    if answer.status == "complete":
        return 0
    if answer.status == "cancelled":
        return INTERRUPTED
    return 4 if answer.ended_by in ("budget", "deadline") else 3


def _show(answer: Answer, format: AnswerFormat) -> None:
    match format:
        case "text":
            show_answer(answer, DataConsole())
        case "json":
            # Not pydantic's own, which does not escape control and bidirectional characters.
            print_json(answer.model_dump(mode="json"))
        case "markdown":
            sys.stdout.flush()
            sys.stdout.buffer.write(markdown(answer).encode("utf-8"))
            sys.stdout.buffer.flush()
