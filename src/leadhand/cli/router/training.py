"""`leadhand router train`: reads examples, trains, and writes the router."""

from pathlib import Path

from leadhand.cli.router.testing import examples_in, report
from leadhand.cli.views.consoles import print_note
from leadhand.cli.views.terminal import sentence
from leadhand.errors import InputError
from leadhand.routing.examples import too_few
from leadhand.routing.trained import FORMAT
from leadhand.routing.training import CHECKED, FEW_EXAMPLES, train
from leadhand.teams.draft import read
from leadhand.teams.loader import find, ready_made
from leadhand.teams.notes import Notes
from leadhand.teams.sources import team_of
from leadhand.teams.trained_router import KEY, ROUTER_FILE, name_in_team_file
from leadhand.tools.text import counted


def train_router(
    team: str, file: Path, *, out: Path | None, accept: float, right: float, trust: bool
) -> None:
    """Raises `InputError`."""
    if out is None and (team in ready_made() or not Path(team).is_dir()):
        raise InputError(
            f"{team!r} has no folder of its own to keep a router in: name a file with --out"
        )
    path = out or Path(team, ROUTER_FILE)
    try:
        known = path.is_file() and FORMAT.encode() in path.read_bytes()[:200]
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror or error}") from error
    if not known and path.exists():
        raise InputError(f"{path} exists and is no trained router: name another --out")
    if out is None or Path(team).is_dir():
        # Without a check of its old router, which no longer fits after a worker was renamed.
        draft = read(find(Path(team)), Notes())
        workers, kinds = draft.names, draft.team.kinds if draft.team is not None else {}
    else:
        workers, kinds = [worker.name for worker in team_of(team, trust=trust).workers], {}
    examples = examples_in(file, workers, kinds)
    print_note(f"training on {counted(len(examples), 'example')}")
    training = train(examples, accept=accept, right=right)
    new = path.with_name(f".{path.name}.new")
    try:
        new.write_text(training.router.to_json(), encoding="utf-8")
        new.replace(path)
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror or error}") from error
    shares = {"calibration error of the confidence": training.calibration_error}
    print(f"{report(training.figures, shares)}\nwrote {path}")
    if training.figures.examples < CHECKED:
        print(f"not checked: whether the confidence is right, which takes {CHECKED} examples")
    for worker, count in too_few(examples, workers, FEW_EXAMPLES).items():
        have = f"{counted(count, 'example')}, fewer than {FEW_EXAMPLES}"
        have = have if count else "no examples, so the router never chooses it"
        print(f"warning: {sentence(worker)} has {have}")
    if out is None and not name_in_team_file(Path(team), ROUTER_FILE):
        print(f"add this line to {Path(team, 'team.yaml')}:\n{KEY}: {ROUTER_FILE}")
    elif out is None:
        print(f"{Path(team, 'team.yaml')} names it: {KEY}: {ROUTER_FILE}")
