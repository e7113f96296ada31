"""The options of the commands that work with runs, each declared once. Imports typer alone.

A command takes a dataclass of its options: each field is an option, or a group of them.
"""

import inspect
import os
import shlex
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, is_dataclass
from pathlib import Path
from typing import Annotated, Literal, get_type_hints

import typer

from leadhand.errors import InputError

AnswerFormat = Literal["text", "json", "markdown"]

_debugging = False


def is_debugging() -> bool:
    """Whether `--debug` was given: tracebacks are shown."""
    return _debugging


def _debug(context: typer.Context, asked: bool) -> None:
    global _debugging
    # `leadhand --debug show` means the same as `leadhand show --debug`.
    _debugging = asked or (_debugging and context.parent is not None)


Debug = Annotated[
    bool,
    typer.Option(
        "--debug", help="Show tracebacks.", callback=_debug, is_eager=True, expose_value=False
    ),
]
"""Every command takes it, by `command`. It is not passed on: see `is_debugging`."""
Deadline = Annotated[
    str | None,
    typer.Option(
        help="When the answer is due, from now: 90s, 10m, 1h. Default: 10m, but none where you are "
        "asked at the terminal.",
        metavar="DURATION",
    ),
]
BudgetUsd = Annotated[
    float | None, typer.Option(help="The most that models may cost, in US dollars.", metavar="USD")
]
BudgetTokens = Annotated[
    int | None, typer.Option(help="The most tokens that models may use.", metavar="COUNT")
]
Concurrency = Annotated[
    int, typer.Option(help="Tasks at once.", metavar="COUNT", min=1, max=10_000)
]
Json = Annotated[bool, typer.Option("--json", help="As JSON on stdout.")]
Events = Annotated[
    str | None,
    typer.Option(help="Write one JSON event a line, as they happen; - is stdout.", metavar="FILE"),
]
TEAM_HELP = (
    "A ready-made team, a folder, a file.py[:name], or a module:name; the Python of all but "
    "ready-made ones is imported."
)
Team = Annotated[str, typer.Argument(help=TEAM_HELP, metavar="TEAM")]
TeamOfRun = Annotated[str | None, typer.Option("--team", help=TEAM_HELP, metavar="TEAM")]
OtherTeam = Annotated[
    str | None,
    typer.Option(
        "--team",
        help="The team of a run that a program started, or where its team is now.",
        metavar="TEAM",
    ),
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Import a team's Python even if it is another user's.")
]
Inputs = Annotated[
    list[Path] | None,
    typer.Option("--input", help="A file or folder to work on; may be repeated.", metavar="PATH"),
]
Model = Annotated[
    str | None, typer.Option(help="The model of every role, or `none`.", metavar="PROVIDER:NAME")
]
NoModel = Annotated[bool, typer.Option("--no-model", help="Use no model.")]
NoInput = Annotated[bool, typer.Option("--no-input", help="Ask no questions at the terminal.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Home = Annotated[
    str | None,
    typer.Option(
        help="Where runs are stored. Default: LEADHAND_HOME, else your data folder.",
        metavar="DIR|URL",
    ),
]
After = Annotated[
    str | None,
    typer.Option(
        help="Follow this run: an id, the start of one, or `last`. Without --team, as it was run.",
        metavar="RUN",
    ),
]
RunId = Annotated[
    str, typer.Argument(help="The run's id, the start of it, or `last`.", metavar="RUN")
]
Approve = Annotated[
    str | None,
    typer.Option(
        help="When a person is asked: plan, escalation, or both with a comma.", metavar="WHEN"
    ),
]

Out = Annotated[
    Path | None,
    typer.Option(
        help="Write the report as files into this folder: report.html, report.md, and what the "
        "team adds. Files of the same names are replaced.",
        metavar="DIR",
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    format: Annotated[AnswerFormat, typer.Option(help="How to print the answer.")] = "text"
    json: Annotated[bool, typer.Option("--json", help="The answer document as JSON on stdout.")] = (
        False
    )
    events: Events = None
    quiet: Quiet = False
    no_input: NoInput = False

    @property
    def answer_format(self) -> AnswerFormat:
        return "json" if self.json else self.format


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitOptions:
    """Which model a run uses, how long it may take, and what it may spend."""

    model: Model = None
    no_model: NoModel = False
    deadline: Deadline = None
    budget_usd: BudgetUsd = None
    budget_tokens: BudgetTokens = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCommandOptions:
    team: TeamOfRun = None
    request: Annotated[
        str | None,
        typer.Argument(
            help="What is to be done; - reads it from stdin.", metavar="REQUEST", show_default=False
        ),
    ] = None
    inputs: Inputs = None
    plan: Annotated[
        Path | None,
        typer.Option(help="Run this plan, as `leadhand plan --json` prints it.", metavar="FILE"),
    ] = None
    amend: Annotated[
        bool, typer.Option("--amend", help="Let results amend the plan of --plan.")
    ] = False
    after: After = None
    limits: LimitOptions = LimitOptions()
    concurrency: Concurrency = 64
    output: OutputOptions = OutputOptions()
    approve: Approve = None
    out: Out = None
    home: Home = None
    trust: Trust = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOptions:
    request: Annotated[
        str, typer.Argument(help="What is to be done; - reads it from stdin.", metavar="REQUEST")
    ]
    team: TeamOfRun = None
    inputs: Inputs = None
    after: After = None
    limits: LimitOptions = LimitOptions()
    json: Annotated[
        bool, typer.Option("--json", help="The plan as JSON on stdout, for `run --plan`.")
    ] = False
    out: Annotated[
        Path | None, typer.Option(help="Write the plan to this file, for `run --plan`.")
    ] = None
    quiet: Quiet = False
    no_input: NoInput = False
    home: Home = None
    trust: Trust = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeOptions:
    run: RunId
    from_task: Annotated[
        str | None,
        typer.Option(
            "--from",
            help="Do this task and all that depend on it again; keep the rest.",
            metavar="TASK",
        ),
    ] = None
    limits: LimitOptions = LimitOptions()
    output: OutputOptions = OutputOptions()
    home: Home = None
    team: OtherTeam = None
    trust: Trust = False

    @property
    def changed(self) -> dict[str, object]:
        # A team that is named now is looked for in the current folder.
        folder = os.getcwd() if self.team else None
        return {**asdict(self.limits), "team": self.team, "trust": self.trust, "folder": folder}

    @property
    def kept(self) -> str:
        team = f" --team {shlex.quote(self.team)}" if self.team else ""
        return f"{team}{' --trust' if self.trust else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyOptions:
    """The reply on the command line of `leadhand answer`; if empty, the person here is asked."""

    text: Annotated[
        str | None,
        typer.Argument(
            help="What the worker should know, or why the plan or a tool call is refused.",
            metavar="TEXT",
            show_default=False,
        ),
    ] = None
    task_id: Annotated[
        str | None, typer.Option("--task", help="The task whose worker asks.", metavar="TASK")
    ] = None
    approve: Annotated[
        bool, typer.Option("--approve", help="Carry out the plan, or make all tool calls.")
    ] = False
    refuse: Annotated[
        bool, typer.Option("--refuse", help="Don't carry out the plan, or make no tool call.")
    ] = False
    approved_calls: Annotated[
        list[str] | None,
        typer.Option(
            "--approve-call",
            help="Make this tool call, by its number or id; give a reply about each of them.",
            metavar="CALL",
        ),
    ] = None
    refused_calls: Annotated[
        list[str] | None,
        typer.Option("--refuse-call", help="Don't make this tool call.", metavar="CALL"),
    ] = None
    plan: Annotated[
        Path | None, typer.Option(help="Carry out this plan instead.", metavar="FILE")
    ] = None

    def check(self) -> None:
        """Raises `InputError` for options that exclude each other."""
        each = bool(self.approved_calls or self.refused_calls)
        if sum((self.approve, self.refuse, self.plan is not None, each)) > 1:
            options = "--approve, --refuse and --plan"
            raise InputError(f"give one of {options}, or a reply about each call")
        if (self.approve or self.plan is not None) and self.text is not None:
            raise InputError("TEXT is for a worker, or says why the plan is refused: leave it out")


def command(
    app: typer.Typer, name: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds a function to `app` as a command with `--debug`; fields of dataclasses are options."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        app.command(name)(_ungrouped(function))
        return function

    return add


def group(app: typer.Typer) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Makes a function the command that `app` is without a subcommand; else as `command`."""

    def add(function: Callable[..., None]) -> Callable[..., None]:
        app.callback(invoke_without_command=True)(_ungrouped(function))
        return function

    return add


def _ungrouped(command: Callable[..., None]) -> Callable[..., None]:
    debug = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, annotation=Debug)
    parameters = [*_options(command), debug.replace(default=False)]

    def run(**values: object) -> None:
        _call(command, values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    vars(run)["__signature__"] = inspect.Signature(parameters)
    return run


def _options(takes: Callable[..., object]) -> Iterator[inspect.Parameter]:
    """All options, also those within groups."""
    hints = get_type_hints(takes, include_extras=True)
    for name, parameter in _taken(takes).items():
        if is_dataclass(hints[name]):
            yield from _options(hints[name])
        else:
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[name])


def _call(takes: Callable[..., object], values: dict[str, object]) -> object:
    """`takes` called with its options among `values`."""
    hints = get_type_hints(takes)
    return takes(
        **{
            name: _call(hints[name], values) if is_dataclass(hints[name]) else values[name]
            for name in _taken(takes)
        }
    )


def _taken(takes: Callable[..., object]) -> dict[str, inspect.Parameter]:
    """Without `debug`, which commands of installed packages may declare, too."""
    parameters = inspect.signature(takes).parameters
    return {name: parameter for name, parameter in parameters.items() if name != "debug"}
