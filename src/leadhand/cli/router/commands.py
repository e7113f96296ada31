"""The commands about routers, for `leadhand.cli.app`, which adds them. Imports typer alone."""

from pathlib import Path
from typing import Annotated

import typer

from leadhand.cli.options import Home, Json, Team, Trust, command

router_app = typer.Typer(help="Routers: train one on examples, test routing, explain a choice.")

_FORM = 'One example a line: {"text": ..., "worker": NAME or null}.'
Examples = Annotated[Path, typer.Option(help=_FORM, metavar="FILE.jsonl")]
AskModel = Annotated[
    bool, typer.Option("--ask-model", help="Ask the router's model too, which may cost money.")
]
_OUT = "Where to write it. Default: router.json beside team.yaml, which then names it."
_ACCEPT = "The share of the held-back examples to accept."
_RIGHT = "The share of accepted ones that must be right; else fewer are accepted."


@command(router_app, "train")
def router_train(
    team: Team,
    examples: Examples,
    out: Annotated[Path | None, typer.Option(help=_OUT, metavar="FILE.json")] = None,
    accept: Annotated[float, typer.Option(help=_ACCEPT, min=0.01, max=1.0)] = 0.93,
    right: Annotated[float, typer.Option(help=_RIGHT, min=0.0, max=1.0)] = 0.95,
    trust: Trust = False,
) -> None:
    """Train a router on examples, and write it.

    Needs scikit-learn: pip install "leadhand\\[router]". The trained router runs without it.
    """
    from leadhand.cli.router.training import train_router

    train_router(team, examples, out=out, accept=accept, right=right, trust=trust)


@command(router_app, "test")
def router_test(
    team: Team,
    examples: Examples,
    ask_model: AskModel = False,
    json: Json = False,
    trust: Trust = False,
) -> None:
    """Measure a team's routing (rules, trained router, model, default worker) on new examples.

    No model is asked without --ask-model. "also" of an example names workers beside the first.
    """
    from leadhand.cli.router.testing import test_router
    from leadhand.teams.sources import team_of

    test_router(team_of(team, trust=trust), examples, ask_model=ask_model, as_json=json)


@command(router_app, "explain")
def router_explain(
    team: Team,
    text: Annotated[str, typer.Argument(help="A request; - reads it from stdin.", metavar="TEXT")],
    ask_model: AskModel = False,
    json: Json = False,
    trust: Trust = False,
) -> None:
    """Say which worker a request goes to, which step decides, and what the others say.

    No model is asked without --ask-model.
    """
    from leadhand.cli.router.testing import explain_route
    from leadhand.teams.sources import team_of

    explain_route(team_of(team, trust=trust), text, ask_model=ask_model, as_json=json)


@command(router_app, "examples")
def router_examples(
    team: Annotated[
        str | None, typer.Option(help="Only runs of the team with this name.", metavar="NAME")
    ] = None,
    home: Home = None,
) -> None:
    """Collect examples for `router train` from stored runs whose route was wrong.

    One JSON object a line: what a person, a judge or a worker that handed the request back said.
    """
    import contextlib
    import os

    from leadhand.cli.home import home_of, stored_runs
    from leadhand.cli.router.examples import collect_examples

    with contextlib.closing(stored_runs(home_of(home, os.environ))) as store:
        collect_examples(store, team)
