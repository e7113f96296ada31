"""`leadhand teams try`: a team on its own sample, and what to type for files of one's own."""

import shlex
from pathlib import Path

from leadhand.cli.options import LimitOptions, OutputOptions, RunCommandOptions
from leadhand.cli.run.command import run_command
from leadhand.cli.views.consoles import print_note
from leadhand.errors import InputError
from leadhand.teams.loader import find

REQUEST_FILE = "request.txt"


def sample_of(team: Path, name: str | None = None) -> tuple[str, list[Path]]:
    """The request of a sample and its inputs. Raises `InputError` naming the samples there are."""
    samples = team / "samples"
    others = sorted(file.parent for file in samples.glob(f"*/{REQUEST_FILE}"))
    folder = samples if name is None else samples / name
    if folder not in (samples, *others) or not (folder / REQUEST_FILE).is_file():
        names = ", ".join(one.name for one in others)
        there = f"it has {names}" if names else f"put a request into samples/{REQUEST_FILE}"
        what = "sample" if name is None else f"sample {name!r}"
        raise InputError(f"team {team.resolve().name} has no {what}: {there}")
    request, *_ = (folder / REQUEST_FILE).read_text(encoding="utf-8").splitlines() or [""]
    left_out = {folder / REQUEST_FILE, *others}
    inputs = [one for one in sorted(folder.iterdir()) if one not in left_out]
    return request.strip(), [one for one in inputs if not one.name.startswith((".", "_"))]


def try_team(
    team: str,
    sample: str | None,
    limits: LimitOptions,
    output: OutputOptions,
    *,
    out: Path | None,
    home: str | None,
    trust: bool,
) -> int:
    """Run a sample, say how to run the team on other files, and return the exit status."""
    folder = find(team)
    request, inputs = sample_of(folder, sample)
    out = out or Path(f"{folder.resolve().name}-report")
    options = RunCommandOptions(
        team=team,
        request=request,
        inputs=inputs or None,
        limits=limits,
        output=output,
        out=out,
        home=home,
        trust=trust,
    )
    status = run_command(options)
    given = " --input PATH" if inputs else ""
    command = f"leadhand run {shlex.quote(request)} --team {shlex.quote(team)}{given} --out DIR"
    print_note(f"on your own files: {command}" if given else f"with your own request: {command}")
    return status
