"""`leadhand run`: from the options to the answer and the exit status."""

import codecs
import json
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from leadhand.cli import session
from leadhand.cli.answer_text import markdown, show_answer
from leadhand.cli.budget import budget_of
from leadhand.cli.console import Output
from leadhand.cli.duration import parse_duration
from leadhand.cli.models import chosen, tell_models
from leadhand.cli.output import written
from leadhand.contracts.answer import Answer
from leadhand.contracts.task import Plan
from leadhand.contracts.team import Team
from leadhand.errors import InputError, ModelError, PlanRejected
from leadhand.supervisor import Supervisor
from leadhand.teams.loader import load

Format = Literal["text", "json", "markdown"]
MAX_PLAN_BYTES = 200_000_000
"""A plan of 100,000 tasks, the most there may be, has about a third of it."""


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What was asked for on the command line; see `leadhand run --help`."""

    request: str | None
    team: str
    inputs: tuple[Path, ...]
    plan: Path | None
    model: str | None
    no_model: bool
    deadline: str | None
    budget_usd: float | None
    budget_tokens: int | None
    concurrency: int
    format: Format
    events: str | None
    quiet: bool


def run_command(options: RunOptions) -> int:
    """Run what `options` say, print the answer, and give the exit status."""
    deadline_s = parse_duration(options.deadline) if options.deadline else 600.0
    budget = budget_of(options.budget_usd, options.budget_tokens)
    plan = read_plan(options.plan) if options.plan is not None else None
    request = read_request(options.request, plan)
    team = load_team(options.team)
    choice = chosen(team, model=options.model, no_model=options.no_model)
    supervisor = Supervisor(
        choice.team, deadline_s=deadline_s, budget=budget, concurrency=options.concurrency
    )
    if not options.quiet:
        tell_models(choice, session.error_console())
    try:
        answer = session.run(
            supervisor,
            request,
            title=f"team {team.name}",
            plan=plan,
            inputs=options.inputs,
            events=options.events,
            quiet=options.quiet,
        )
    except PlanRejected as error:
        if plan is not None:
            raise
        # Nobody who typed the command can mend this one.
        raise ModelError(f"the planner gave no sound plan: {error}", transient=False) from error
    with written():
        _show(answer, options.format)
    return exit_status(answer)


def load_team(name: str) -> Team:
    """The team of that name or in that folder. Raises `InputError` for one that can't be run so."""
    if name == "review":
        raise InputError("the team review needs a change to look at: use `leadhand review`")
    return load(name)


def read_request(given: str | None, plan: Plan | None = None) -> str:
    """The request: as given, from stdin where it is `-`, else the plan's goal."""
    if given is None:
        if plan is None:
            raise InputError("nothing to run: give a REQUEST, - to read it from stdin, or --plan")
        return plan.goal
    text = sys.stdin.buffer.read().decode("utf-8", "replace") if given == "-" else given
    if not text.strip():
        raise InputError("the request is empty: say what is to be done")
    return text.strip()


def read_plan(file: Path) -> Plan:
    """The plan in a JSON file. Raises `InputError` naming every field that is wrong."""
    try:
        mode = file.stat().st_mode
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise InputError(f"can't read the plan {file}: it is a device")
        with file.open("rb") as stream:
            data = stream.read(MAX_PLAN_BYTES + 1)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else str(error)
        raise InputError(f"can't read the plan {file}: {why}") from error
    if len(data) > MAX_PLAN_BYTES:
        raise InputError(f"plan {file} is too large: over {MAX_PLAN_BYTES:,} bytes")
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        json.loads(data)
        return Plan.model_validate_json(data)
    except json.JSONDecodeError as error:
        place = f"{file}:{error.lineno}:{error.colno}"
        raise InputError(f"{place}: the plan is not valid JSON: {error.msg}") from error
    except ValidationError as error:
        faults = [_fault(fault["loc"], fault["msg"]) for fault in error.errors()]
        more = f"; and {len(faults) - 5:,} more" if len(faults) > 5 else ""
        raise InputError(f"{file}: {'; '.join(faults[:5])}{more}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{file}: the plan is not JSON that can be read: {error}") from error


def _fault(place: tuple[int | str, ...], message: str) -> str:
    path = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in place)
    return f"{path.lstrip('.') or 'the plan'}: {message[:1].lower()}{message[1:]}"


def exit_status(answer: Answer) -> int:
    """The exit status of a run: what ended it, else whether its answer is whole."""
    if answer.status == "complete":
        return 0
    if answer.status == "cancelled":
        return session.INTERRUPTED
    return 4 if answer.ended_by in ("budget", "deadline") else 3


def _show(answer: Answer, format: Format) -> None:
    match format:
        case "text":
            show_answer(answer, Output())
        case "json":
            # Not pydantic's own: it sends control and bidirectional characters on as they are.
            sys.stdout.write(json.dumps(answer.model_dump(mode="json"), indent=2) + "\n")
        case "markdown":
            sys.stdout.flush()
            sys.stdout.buffer.write(markdown(answer).encode("utf-8"))
            sys.stdout.buffer.flush()
