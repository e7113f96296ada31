"""`leadhand router train`: reads examples, trains, and writes the router and its model card."""

from pathlib import Path

from leadhand.cli.router.files import examples_in, workers_of, write_text
from leadhand.cli.views.consoles import print_note
from leadhand.cli.views.terminal import sentence
from leadhand.errors import InputError
from leadhand.routing.card import TITLE as CARD_TITLE
from leadhand.routing.card import card, share
from leadhand.routing.examples import contradictions, too_few
from leadhand.routing.training import FEW_EXAMPLES, Training, train
from leadhand.routing.weights import FORMAT as ROUTER_FORMAT
from leadhand.teams.loader import ready_made
from leadhand.teams.trained_router import KEY, ROUTER_FILE, name_in_team_file
from leadhand.tools.text import counted

MAX_SHOWN_CHARS = 60


def train_router(
    team: str,
    file: Path,
    *,
    out: Path | None,
    accept: float,
    right: float,
    quiet: bool,
    trust: bool,
) -> None:
    """Train a router for a team, and print what it can do. Raises `InputError`."""
    if out is None and (team in ready_made() or not Path(team).is_dir()):
        raise InputError(
            f"{team!r} has no folder of its own to keep a router in: name a file with --out"
        )
    path = out or Path(team, ROUTER_FILE)
    beside = path.with_suffix(".md")
    _check_replaceable(path, beside)
    name, workers = workers_of(team, trust=trust)
    examples = examples_in(file, workers)

    def progress(what: str) -> None:
        if not quiet:
            print_note(f"training on {sentence(what)}")

    training = train(examples, accept=accept, right=right, progress=progress)
    write_text(path, training.router.to_json())
    write_text(beside, card(training, examples, name))
    print(_report(training, path, beside))
    for worker in too_few(examples, workers, least=FEW_EXAMPLES).items():
        print(_warning(*worker))
    if both := contradictions(examples):
        print(f"warning: {counted(len(both), 'text')} for more than one worker: {_shown(both[0])}")
    if out is None and not name_in_team_file(Path(team), ROUTER_FILE):
        print(f"add this line to {Path(team, 'team.yaml')}:\n{KEY}: {ROUTER_FILE}")
    elif out is None:
        print(f"{Path(team, 'team.yaml')} names it: {KEY}: {ROUTER_FILE}")


def _check_replaceable(path: Path, beside: Path) -> None:
    """Raises `InputError` if training would overwrite files that are no router and no card."""
    if path == beside:
        raise InputError(f"{path} is for the model card: name the router's file FILE.json")
    for file, mark in {path: ROUTER_FORMAT, beside: CARD_TITLE}.items():
        if not file.exists():
            continue
        try:
            with file.open("rb") as stream:
                known = mark.encode() in stream.read(200)
        except OSError as error:
            raise InputError(f"{file} can't be read: {error.strerror or error}") from error
        if not known:
            raise InputError(f"{file} exists and is not of a trained router: name another --out")


def _report(training: Training, path: Path, beside: Path) -> str:
    found = training.figures
    known = counted(len(training.router.workers), "worker")
    lines = [
        f"trained on {counted(found.examples, 'example')} of {known} and {found.out_of_scope:,} "
        "of no worker; of those that were held back",
        f"  {share(found.accuracy)} have the right worker, without abstention",
        f"  {share(found.accepted)} are accepted, of which {share(found.right)} are right",
    ]
    if found.out_of_scope:
        lines.append(f"  {share(found.out_of_scope_accepted)} of those of no worker are accepted")
    lines.append(f"  the confidence is off by {share(found.calibration_error)} on average")
    return "\n".join([*lines, f"wrote {path} and {beside}"])


def _shown(text: str) -> str:
    """A text of the examples, quoted and cut."""
    line = sentence(text)
    return f"'{line}'" if len(line) <= MAX_SHOWN_CHARS else f"'{line[: MAX_SHOWN_CHARS - 1]}…'"


def _warning(worker: str, count: int) -> str:
    """What too few examples of a worker mean."""
    if count == 0:
        return f"warning: {sentence(worker)} has no examples, so the router never chooses it"
    return f"warning: {sentence(worker)} has {counted(count, 'example')}, fewer than {FEW_EXAMPLES}"
