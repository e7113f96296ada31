"""`leadhand router train`: reads examples, trains, and writes the router and its model card."""

from pathlib import Path

from leadhand.cli.router.examples import examples_in
from leadhand.cli.router.testing import report
from leadhand.cli.views.consoles import print_note
from leadhand.cli.views.terminal import sentence
from leadhand.errors import InputError
from leadhand.routing.examples import contradictions, too_few
from leadhand.routing.trained import FORMAT
from leadhand.routing.training import CHECKED, FEW_EXAMPLES, Training, train
from leadhand.teams.draft import read
from leadhand.teams.loader import find, ready_made
from leadhand.teams.notes import Notes
from leadhand.teams.sources import team_of
from leadhand.teams.trained_router import KEY, ROUTER_FILE, name_in_team_file
from leadhand.tools.text import counted
from leadhand.untrusted.markdown import escaped

_MAX_CHARS = 60
_TITLE = "# Trained router of "


def train_router(
    team: str, file: Path, *, out: Path | None, accept: float, right: float, trust: bool
) -> None:
    """Train a router for a team, and print what it can do. Raises `InputError`."""
    if out is None and (team in ready_made() or not Path(team).is_dir()):
        raise InputError(
            f"{team!r} has no folder of its own to keep a router in: name a file with --out"
        )
    path = out or Path(team, ROUTER_FILE)
    beside = path.with_suffix(".md")
    _check_replaceable(path, beside)
    name, workers = _workers_of(team, trust=trust)
    examples = examples_in(file, workers)
    print_note(f"training on {counted(len(examples), 'example')}")
    training = train(examples, accept=accept, right=right)
    shares = {"calibration error of the confidence": training.calibration_error}
    card = _card(name, training, report(training.figures, shares, most=None))
    try:
        for file, text in {path: training.router.to_json(), beside: card}.items():
            new = file.with_name(f".{file.name}.new")
            new.write_text(text, encoding="utf-8")
            new.replace(file)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror or error}") from error
    print(f"{report(training.figures, shares)}\nwrote {path} and {beside}")
    if training.figures.examples < CHECKED:
        print(f"not checked: whether the confidence is right, which takes {CHECKED} examples")
    for worker, count in too_few(examples, workers, FEW_EXAMPLES).items():
        have = f"{counted(count, 'example')}, fewer than {FEW_EXAMPLES}"
        have = have if count else "no examples, so the router never chooses it"
        print(f"warning: {sentence(worker)} has {have}")
    if both := [sentence(text) for text in contradictions(examples)]:
        shown = both[0] if len(both[0]) <= _MAX_CHARS else f"{both[0][: _MAX_CHARS - 1]}…"
        print(f"warning: {counted(len(both), 'text')} for more than one worker: '{shown}'")
    if out is None and not name_in_team_file(Path(team), ROUTER_FILE):
        print(f"add this line to {Path(team, 'team.yaml')}:\n{KEY}: {ROUTER_FILE}")
    elif out is None:
        print(f"{Path(team, 'team.yaml')} names it: {KEY}: {ROUTER_FILE}")


def _check_replaceable(path: Path, beside: Path) -> None:
    """Raises `InputError` if training would overwrite files that are no router and no card."""
    if path == beside:
        raise InputError(f"{path} is for the model card: name the router's file FILE.json")
    for file, mark in {path: FORMAT, beside: _TITLE}.items():
        try:
            known = not file.exists() or mark.encode() in file.read_bytes()[:200]
        except OSError as error:
            raise InputError(f"{file} can't be read: {error.strerror or error}") from error
        if not known:
            raise InputError(f"{file} exists and is not of a trained router: name another --out")


def _workers_of(team: str, *, trust: bool) -> tuple[str, list[str]]:
    """The name of a team and of its workers; of a folder without importing its Python.

    So a router can be trained again after a worker was renamed, when the old one no longer fits.
    """
    if team in ready_made() or Path(team).is_dir():
        draft = read(find(Path(team) if Path(team).is_dir() else team), Notes())
        return draft.name, draft.names
    found = team_of(team, trust=trust)
    return found.name, [worker.name for worker in found.workers]


def _card(team: str, training: Training, figures: str) -> str:
    """The model card. Its figures are those of examples while they were held back."""
    return f"""{_TITLE}{escaped(team)}

Chooses one of {len(training.router.workers):,} workers for a request by its words and pieces of
words, or abstains if its confidence is below {training.router.weights.threshold:.1%}.
Each of the examples was held back once; of them, while the router had not seen them:

```text
{figures}
```

Requests unlike the examples are less often routed right than these. Train it again when workers or
their jobs change, and with what `leadhand router examples` collects from stored runs.
"""
