"""The commands of the service: `serve`, `serve tokens`, `ui` and `mcp`. Imports typer alone."""

import contextlib
import datetime as dt
import os
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from leadhand.cli.duration import parse_duration
from leadhand.cli.home import home_of, state_folder
from leadhand.cli.options import (
    TEAM_HELP,
    Approve,
    Concurrency,
    Home,
    Json,
    LimitOptions,
    Trust,
    command,
    group,
)
from leadhand.cli.views.terminal import print_json, safe
from leadhand.errors import InputError

if TYPE_CHECKING:
    from leadhand.serve.principals import UserRole
    from leadhand.serve.tokens import NamedTokens

Tokens = Annotated[
    Path | None,
    typer.Option(
        help="The file of named tokens. Default: serve-tokens.json in the home, or beside it in "
        "your data folder if the home is a database.",
        metavar="FILE",
    ),
]

serve_app = typer.Typer()
tokens_app = typer.Typer(help="Named tokens: who may call the service.")
serve_app.add_typer(tokens_app, name="tokens", no_args_is_help=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamOptions:
    """Which teams are served, and how they run."""

    teams: Annotated[
        list[str] | None,
        typer.Option(
            "--team", help=f"{TEAM_HELP} May be repeated; default: ready-made.", metavar="TEAM"
        ),
    ] = None
    limits: LimitOptions = field(default_factory=LimitOptions)
    concurrency: Concurrency = 64
    approve: Approve = None
    home: Home = None
    trust: Trust = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    teams: TeamOptions = field(default_factory=TeamOptions)
    host: Annotated[
        str, typer.Option(help="The address to listen at; other than this machine's with tokens.")
    ] = "127.0.0.1"
    port: Annotated[int, typer.Option(help="0: any free one.", min=0, max=65_535)] = 8765
    auth: Annotated[
        str | None,
        typer.Option(
            help="A function `auth(request) -> Principal` of yours says who calls.",
            metavar="MODULE:FUNCTION",
        ),
    ] = None
    tokens: Tokens = None
    grace: Annotated[
        str,
        typer.Option(help="How long runs may go on after a signal.", metavar="DURATION"),
    ] = "10s"
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name under which it is reached; may be repeated.", metavar="HOST"),
    ] = None
    retain: Annotated[
        str | None,
        typer.Option(
            help="Delete finished runs by itself, so long after their last event: 30d, 12h.",
            metavar="DURATION",
        ),
    ] = None


@group(serve_app)
def serve(context: typer.Context, options: ServeOptions) -> None:
    """Serve teams over HTTP: an API, what OpenAI's and MCP clients speak, and a page.

    On this machine alone, for who has the token in HOME/serve.token, unless you say otherwise.
    SIGTERM and Ctrl-C interrupt the runs, which the next process resumes; a second one ends at
    once.
    """
    context.obj = (options.teams.home, options.tokens)
    if context.invoked_subcommand is None:
        raise typer.Exit(_serve(options))


@command(tokens_app)
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Of the person or program.", metavar="NAME")],
    tenant: Annotated[
        str, typer.Option(help="Whose runs and questions; `*`: of all, for operators.")
    ] = "default",
    role: Annotated[
        list[str] | None,
        typer.Option(
            help="requester, the default: its own runs; approver: its tenant's questions, too; "
            "operator: all of its tenant.",
            metavar="ROLE",
        ),
    ] = None,
    expires: Annotated[
        str | None, typer.Option(help="When it ends, from now: 12h, 30d.", metavar="DURATION")
    ] = None,
    home: Home = None,
    tokens: Tokens = None,
) -> None:
    """Make a token and print it, this once: only its hash is kept."""
    from leadhand.cli.views.consoles import print_note

    named, now = _named(context, home, tokens), dt.datetime.now(dt.UTC)
    until = now + dt.timedelta(seconds=parse_duration(expires)) if expires else None
    given, *more = role or ["requester"]
    if more:
        raise InputError("--role counts once: an approver may do what a requester may, and so on")
    token = named.add(name, tenant=tenant, role=cast("UserRole", given), expires_at=until)
    print_note(f"the token of {name}, shown this once; its hash is in {named.file}:")
    sys.stdout.write(f"{token}\n")


@command(tokens_app, "list")
def list_(
    context: typer.Context, home: Home = None, tokens: Tokens = None, json: Json = False
) -> None:
    """List the named tokens."""
    named = _named(context, home, tokens)
    found = [one.model_dump(mode="json", exclude={"digest"}) for one in named.content.tokens]
    if json:
        print_json(found)
        return
    for one in found:
        until = f"until {one['expires_at']}" if one["expires_at"] else "does not expire"
        line = f"{one['name']}  tenant {one['tenant']}  {one['role']}  {until}"
        sys.stdout.write(f"{safe(line)}\n")
    if not found:
        sys.stdout.write(f"no tokens in {safe(str(named.file))}\n")


@command(tokens_app)
def revoke(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="NAME")],
    home: Home = None,
    tokens: Tokens = None,
) -> None:
    """End a token, and the browsers' sessions that were begun with it."""
    from leadhand.cli.views.consoles import print_note

    _named(context, home, tokens).revoke(name)
    print_note(f"the token {name} counts no more")


def ui(
    teams: TeamOptions,
    port: Annotated[int, typer.Option(help="0: any free one.", min=0, max=65_535)] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")
    ] = True,
) -> None:
    """Open the page of your runs and teams in the browser, for you alone."""
    raise typer.Exit(_serve(ServeOptions(teams=teams, port=port), ui=True, browse=browser))


def mcp(teams: TeamOptions) -> None:
    """Offer teams as tools of MCP over stdin and stdout, to the client that starts this.

    Tools start runs, wait for them, answer their questions and cancel them; `review` reviews a
    change. Over HTTP, `leadhand serve` has them at /mcp, without `review`.
    """
    with _libraries():
        from leadhand.cli.serve.command import mcp_command
    mcp_command(teams)


def add_to(app: typer.Typer) -> None:
    app.add_typer(serve_app, name="serve")
    command(app)(ui)
    command(app)(mcp)


@contextlib.contextmanager
def _libraries() -> Generator[None]:
    """Raises `InputError` if those of the service are not installed."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("leadhand"):
            raise
        why = f"the service needs {error.name}: `pip install 'leadhand[web]'`"
        raise InputError(why) from error


def _serve(options: ServeOptions, *, ui: bool = False, browse: bool = False) -> int:
    with _libraries():
        from leadhand.cli.serve.command import serve_command
    return serve_command(options, ui=ui, browse=browse)


def _named(context: typer.Context, home: str | None, tokens: Path | None) -> "NamedTokens":
    group_home, group_tokens = context.obj
    return named_tokens(home or group_home, tokens or group_tokens)


def named_tokens(home: str | None, tokens: Path | None) -> "NamedTokens":
    """A home that is a database has no files, but the user's folder does."""
    with _libraries():
        from leadhand.serve.tokens import NAMED_FILE, NamedTokens
    where = home_of(home, os.environ)
    folder = where if isinstance(where, Path) else state_folder(os.environ)
    return NamedTokens(tokens or folder / NAMED_FILE)
