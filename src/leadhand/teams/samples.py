"""The samples of a team: a request, and the files beside it as inputs."""

from pathlib import Path

from leadhand.errors import InputError

REQUEST_FILE = "request.txt"


def sample_names(team: Path) -> list[str]:
    """The samples that there are; `default` is the one without a name."""
    samples = team / "samples"
    others = sorted(file.parent.name for file in samples.glob(f"*/{REQUEST_FILE}"))
    return ["default", *others] if (samples / REQUEST_FILE).is_file() else others


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
