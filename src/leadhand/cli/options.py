"""Options that several commands share. Imports typer alone, so that `--help` is quick."""

import enum
from pathlib import Path
from typing import Annotated

import typer


class Format(enum.StrEnum):
    """How a review is printed."""

    text = "text"
    json = "json"
    markdown = "markdown"
    sarif = "sarif"
    github = "github"


class AnswerFormat(enum.StrEnum):
    """How an answer is printed."""

    text = "text"
    json = "json"
    markdown = "markdown"


class FailOn(enum.StrEnum):
    """The severity from which findings make the exit status 1."""

    critical = "critical"
    warning = "warning"
    info = "info"
    never = "never"


Deadline = Annotated[
    str | None,
    typer.Option(
        help="When the answer is due, from now: 90s, 10m, 1h. Default: 10m, but none where you are "
        "asked at the terminal.",
        metavar="DURATION",
    ),
]
BudgetUsd = Annotated[
    float | None, typer.Option(help="What models may cost in all, in US dollars.", metavar="USD")
]
BudgetTokens = Annotated[
    int | None, typer.Option(help="Tokens that models may use in all.", metavar="COUNT")
]
Concurrency = Annotated[int, typer.Option(help="Tasks at once.", min=1, max=10_000)]
Json = Annotated[bool, typer.Option("--json", help="The answer document as JSON on stdout.")]
Events = Annotated[
    str | None,
    typer.Option(help="Write one JSON event a line, as they happen; - is stdout.", metavar="FILE"),
]
TeamName = Annotated[
    str, typer.Option("--team", help="A ready-made team, or a folder.", metavar="NAME|DIR")
]
Inputs = Annotated[
    list[Path] | None,
    typer.Option("--input", help="A file or folder to work on; may be repeated.", metavar="PATH"),
]
Model = Annotated[
    str | None,
    typer.Option(help="The model of every role, or `none`.", metavar="PROVIDER:NAME"),
]
NoModel = Annotated[bool, typer.Option("--no-model", help="Use no model.")]
NoInput = Annotated[bool, typer.Option("--no-input", help="Never ask a person anything.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Home = Annotated[
    str | None,
    typer.Option(
        help="Where runs are kept. Default: LEADHAND_HOME, else your data folder.",
        metavar="DIR|URL",
    ),
]
RunId = Annotated[
    str, typer.Argument(help="Its id, the beginning of it, or `last`.", metavar="RUN")
]
Approve = Annotated[
    str | None,
    typer.Option(
        help="When a person is asked: plan, escalation, or both with a comma.",
        metavar="WHEN",
    ),
]
