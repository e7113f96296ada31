"""`leadhand run`: from the options to the answer and the exit status."""

import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from leadhand.cli.options import AnswerFormat, OutputOptions, RunCommandOptions
from leadhand.cli.run.arguments import read_plan, read_request
from leadhand.cli.run.execution import INTERRUPTED, LiveRun
from leadhand.cli.run.models import choose_models, print_models
from leadhand.cli.run.person import TerminalPerson, at_terminal
from leadhand.cli.run.session import hold_session
from leadhand.cli.run.setup import TeamSetup, setup_of
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.standard_streams import writing_output
from leadhand.cli.views.answer import markdown, show_answer
from leadhand.cli.views.consoles import DataConsole, error_console, print_note
from leadhand.cli.views.terminal import print_json
from leadhand.contracts.answer import JOURNAL_GAP, Answer
from leadhand.contracts.people import Question
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import InputError
from leadhand.models.choice import ModelChoice
from leadhand.plans.checks import check, errors_in
from leadhand.run.people import Ask
from leadhand.run.stored import StoredRun, failed_for_good, is_over
from leadhand.state.fold import RunState, fold


def run_command(options: RunCommandOptions) -> int:
    """Without a request, a person at the terminal gives one after the other."""
    setup, after = setup_of(options)
    output = options.output
    if after is not None and not output.quiet:
        print_note(f"follows run {after}")
    if options.amend and options.plan is None:
        raise InputError("--amend is for a plan of your own: give --plan FILE as well")
    # Raises for invalid options, before anything is done.
    _ = setup.deadline_s, setup.budget
    plan = read_plan(options.plan) if options.plan is not None else None
    if plan is not None and plan.max_rounds is not None and not output.quiet:
        print_note("the plan is only the first round: its planner is not asked what is next")
    in_session = options.request is None and plan is None and may_ask(output)
    if options.out is not None:
        from leadhand.cli.views.report import check_folder

        if in_session:
            raise InputError("--out is for one run: give a request as well")
        check_folder(options.out)
    request = "" if in_session else read_request(options.request, plan)
    choice = choose_models(setup.load(), model=setup.model, no_model=setup.no_model)
    trust = " --trust" if setup.trust else ""
    with RunStorage(options.home, options=trust, new=True) as storage:
        if not output.quiet:
            print_models(choice, error_console())
        runs = _Runs(options, setup, choice, storage)
        if not in_session:
            answer = runs.answer(request, after, plan)
            status = print_answer(answer, storage, output)
            if options.out is not None and not answer.waiting:
                from leadhand.cli.views.report import write_report

                write_report(answer, choice.team, options.out)
            return status
        hold_session(choice.team.name, runs.next_in_session, after=after, quiet=output.quiet)
        return 0


@dataclass(slots=True)
class _Runs:
    options: RunCommandOptions
    setup: TeamSetup
    choice: ModelChoice
    storage: RunStorage
    started: int = 0

    def next_in_session(self, request: str, after: str | None) -> Answer:
        """The answer of another run, which is printed."""
        answer = self.answer(request, after)
        print_answer(answer, self.storage, self.options.output)
        return answer

    def answer(self, request: str, after: str | None, plan: Plan | None = None) -> Answer:
        output, team = self.options.output, self.choice.team
        run_id = self.storage.new_run_id()
        title, append = f"team {team.name}", self.started > 0
        session = LiveRun(self.storage, run_id, title, output, append=append)
        self.started += 1
        person = person_of(session, output, team, request)
        supervisor = self.setup.supervisor(self.choice, self.storage, person)
        return session.follow(
            supervisor,
            lambda listener: supervisor.run(
                request,
                plan=plan,
                amend=self.options.amend,
                run_id=run_id,
                inputs=self.options.inputs or (),
                origin=self.setup.origin("run"),
                after=after,
                listener=listener,
            ),
        )


def person_of(session: LiveRun, output: OutputOptions, team: Team, request: str) -> Ask | None:
    """None without a terminal, or with `--no-input`."""
    if not may_ask(output):
        return None
    problems = partial(plan_errors, team, request)
    return TerminalPerson(error_console(), session.paused, problems)


def plan_errors(team: Team, request: str, plan: Plan) -> list[str]:
    return [problem.message for problem in errors_in(check(plan, team, request=request))]


def may_ask(output: OutputOptions) -> bool:
    return at_terminal() and not output.no_input


def print_answer(
    answer: Answer, storage: RunStorage, output: OutputOptions, stored: StoredRun | None = None
) -> int:
    """Returns the exit status."""
    with writing_output():
        _show(answer, output.answer_format)
    follow_up(answer, storage, stored)
    return exit_status(answer)


def follow_up(answer: Answer, storage: RunStorage, stored: StoredRun | None = None) -> None:
    """Print on stderr what to type if a run waits, was stopped, or lacks something."""
    unkept = any(gap.task_id == JOURNAL_GAP for gap in answer.gaps)  # that gap says what to type
    if storage.lost is not None or answer.status == "complete" or unkept:
        return
    state = stored.state if stored is not None else fold(storage.store.events(answer.run_id))
    for said in _next_steps(answer, state, storage):
        print_note(said)


def _next_steps(answer: Answer, state: RunState, storage: RunStorage) -> Iterator[str]:
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
        if state.models and answer.engine == "deterministic" and answer.status != "cancelled":
            yield "no output of a model was used: to do without one, run it anew with --no-model"
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
