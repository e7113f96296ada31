"""Options that several commands share. Imports typer alone, so that `--help` is quick."""

import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_type_hints

import typer

AnswerFormat = Literal["text", "json", "markdown"]
"""How an answer is printed."""

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
"""Every command takes it. It is not passed on: see `is_debugging`."""
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
Concurrency = Annotated[int, typer.Option(help="Tasks at once.", min=1, max=10_000)]
Json = Annotated[bool, typer.Option("--json", help="The answer document as JSON on stdout.")]
Events = Annotated[
    str | None,
    typer.Option(help="Write one JSON event a line, as they happen; - is stdout.", metavar="FILE"),
]
TEAM_HELP = (
    "A ready-made team, a folder, a file.py[:name], or a module:name; the Python of all but "
    "ready-made ones is imported."
)
TeamName = Annotated[str, typer.Option("--team", help=TEAM_HELP, metavar="TEAM")]
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


class OutputOptions(NamedTuple):
    """How a run is shown and its answer printed."""

    format: Annotated[AnswerFormat, typer.Option(help="How to print the answer.")] = "text"
    json: Json = False
    events: Events = None
    quiet: Quiet = False
    no_input: NoInput = False

    @property
    def answer_format(self) -> AnswerFormat:
        """The format; `--json` is short for one."""
        return "json" if self.json else self.format


class LimitOptions(NamedTuple):
    """Which model a run uses, how long it may take, and what it may spend."""

    model: Model = None
    no_model: NoModel = False
    deadline: Deadline = None
    budget_usd: BudgetUsd = None
    budget_tokens: BudgetTokens = None


DEFAULT_OUTPUT, DEFAULT_LIMITS = OutputOptions(), LimitOptions()


def ungrouped(command: Callable[..., None]) -> Callable[..., None]:
    """`command` as typer takes it: each field of its groups of options is an option of its own."""
    hints = get_type_hints(command, include_extras=True)
    kinds = (OutputOptions, LimitOptions)
    groups = {name: kind for name, hint in hints.items() for kind in kinds if hint is kind}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        kind = groups.get(parameter.name)
        if kind is None:
            parameters.append(parameter.replace(annotation=hints[parameter.name]))
            continue
        fields = get_type_hints(kind, include_extras=True).items()
        parameters += [
            inspect.Parameter(
                name, parameter.kind, default=kind._field_defaults[name], annotation=hint
            )
            for name, hint in fields
        ]

    def run(**given: object) -> None:
        for name, kind in groups.items():
            given[name] = kind._make(given.pop(field) for field in kind._fields)
        command(**given)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    vars(run)["__signature__"] = inspect.Signature(parameters)
    return run
