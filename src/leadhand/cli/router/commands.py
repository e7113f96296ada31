"""The commands about trained routers, for `leadhand.cli.app`. Imports typer alone."""

from pathlib import Path
from typing import Annotated

import typer

from leadhand.cli.options import TEAM_HELP, Debug, Home, Quiet, Trust

router_app = typer.Typer(help="Trained routers: train one on examples, test it, explain a choice.")

Team = Annotated[str, typer.Argument(help=TEAM_HELP, metavar="TEAM")]
Examples = Annotated[
    Path,
    typer.Option(
        help='One example a line: {"text": ..., "worker": NAME or null}.', metavar="FILE.jsonl"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="The result as JSON on stdout.")]


def add_to(app: typer.Typer) -> None:
    """Add `router` and its commands to `app`."""
    app.add_typer(router_app, name="router", no_args_is_help=True)


@router_app.command("train")
def router_train(
    team: Team,
    examples: Examples,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where to write it. Default: router.json beside team.yaml, which then names it.",
            metavar="FILE.json",
        ),
    ] = None,
    accept: Annotated[
        float,
        typer.Option(help="The share of the held-back examples to accept.", min=0.01, max=1.0),
    ] = 0.95,
    right: Annotated[
        float,
        typer.Option(
            help="The share of accepted ones that must be right; else fewer are accepted.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.95,
    quiet: Quiet = False,
    trust: Trust = False,
    debug: Debug = False,
) -> None:
    """Train a router on examples, and write it with a model card beside it.

    Needs scikit-learn: pip install "leadhand\\[router]". The trained router runs without it.
    """
    from leadhand.cli.router.training import train_router

    train_router(team, examples, out=out, accept=accept, right=right, quiet=quiet, trust=trust)


@router_app.command("test")
def router_test(
    team: Team, examples: Examples, json: Json = False, trust: Trust = False, debug: Debug = False
) -> None:
    """Measure a team's trained router on examples that it was not trained on."""
    from leadhand.cli.router.testing import test_router

    test_router(team, examples, as_json=json, trust=trust)


@router_app.command("explain")
def router_explain(
    team: Team,
    text: Annotated[str, typer.Argument(help="A request; - reads it from stdin.", metavar="TEXT")],
    ask_model: Annotated[
        bool, typer.Option("--ask-model", help="Ask the router's model too, which may cost money.")
    ] = False,
    json: Json = False,
    trust: Trust = False,
    debug: Debug = False,
) -> None:
    """Say which worker a request goes to, which step decides, and what the others say.

    No model is asked without --ask-model.
    """
    from leadhand.cli.router.explaining import explain_route

    explain_route(team, text, ask_model=ask_model, as_json=json, trust=trust)


@router_app.command("examples")
def router_examples(
    team: Annotated[
        str | None, typer.Option(help="Only runs of the team with this name.", metavar="NAME")
    ] = None,
    home: Home = None,
    debug: Debug = False,
) -> None:
    """Collect examples for `router train` from stored runs whose route was wrong.

    One JSON object a line: what a person, a judge or a worker that handed the request back said.
    """
    import os

    from leadhand.cli.home import home_of, stored_runs
    from leadhand.cli.router.collecting import collect_examples

    store = stored_runs(home_of(home, os.environ))
    try:
        collect_examples(store, team)
    finally:
        if store is not None:
            store.close()
