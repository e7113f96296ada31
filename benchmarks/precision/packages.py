"""The pinned packages that hits come from, and git histories made of them.

A package becomes a repository of three commits: an older release, a newer one, and the newer one
with slips in it (see `slips`). That gives four changes: `new` (the older release as added files),
`upgrade`, `downgrade`, which brings back what the newer release mended and takes away what it
added, and `slips`.
"""

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.precision.slips import make_slips

Change = Literal["new", "upgrade", "downgrade", "slips"]

RANGES: Mapping[Change, str] = {
    "new": "HEAD~2",
    "upgrade": "HEAD~2..HEAD~1",
    "downgrade": "HEAD~1..HEAD~2",
    "slips": "HEAD~1..HEAD",
}


SLIPS = 150
"""Files of a package in which something slips."""


@dataclass(frozen=True, slots=True)
class Package:
    """Two releases of one package; both have wheels, so nothing of them is run to read them."""

    name: str
    older: str
    newer: str


TABLE = (
    Package("bokeh", "3.0.0", "3.6.2"),
    Package("buildbot", "3.9.0", "4.1.0"),
    Package("celery", "5.2.7", "5.4.0"),
    Package("checkov", "2.3.0", "3.2.300"),
    Package("distributed", "2023.1.0", "2024.12.1"),
    Package("gradio", "3.50.0", "5.9.1"),
    Package("jupyter-server", "2.0.6", "2.15.0"),
    Package("llama-index-core", "0.10.10", "0.12.8"),
    Package("localstack-core", "3.4.0", "4.0.3"),
    Package("mitmproxy", "9.0.0", "11.0.2"),
    Package("moto", "4.0.0", "5.0.24"),
    Package("nltk", "3.8", "3.9.1"),
    Package("notebook", "6.4.0", "6.5.7"),
    Package("scrapy", "2.8.0", "2.12.0"),
    Package("streamlit", "1.20.0", "1.41.1"),
    Package("twisted", "22.10.0", "24.11.0"),
    Package("wagtail", "4.2", "6.3.1"),
)
"""What the table of confidences is measured on: many packages, well kept and less so."""

HELD_OUT = (
    Package("aiohttp", "3.8.6", "3.11.11"),
    Package("attrs", "22.2.0", "24.3.0"),
    Package("click", "8.0.4", "8.1.8"),
    Package("django", "4.2", "5.1.4"),
    Package("fastapi", "0.95.0", "0.115.6"),
    Package("flask", "2.2.5", "3.1.0"),
    Package("httpx", "0.23.0", "0.28.1"),
    Package("requests", "2.28.2", "2.32.3"),
    Package("sqlalchemy", "2.0.0", "2.0.36"),
    Package("werkzeug", "2.2.3", "3.1.3"),
)
"""Ten well-kept packages that the table has not seen: what is shown on them is labelled too."""


def repository(package: Package, cache: Path) -> Path:
    """The git repository of the package's two releases, made in `cache` where it is not there."""
    made = cache / "repositories" / package.name
    if (made / ".done").exists():
        return made
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    _git(made, "init", "--quiet")
    for version in (package.older, package.newer):
        for entry in made.iterdir():
            if entry.is_dir() and entry.name != ".git":
                shutil.rmtree(entry)
        _extract(_wheel(package.name, version, cache / "wheels"), made)
        _git(made, "add", "--all", "--force")
        _git(made, "commit", "--quiet", "--message", f"{package.name} {version}")
    make_slips(made, count=SLIPS, seed=len(package.name))
    _git(made, "add", "--all", "--force")
    _git(made, "commit", "--quiet", "--message", "Edit in a hurry")
    (made / ".done").touch()
    return made


def _wheel(name: str, version: str, folder: Path) -> Path:
    target = folder / f"{name}-{version}"
    if not any(target.glob("*.whl")):
        subprocess.run(
            [
                *(sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"),
                *("--only-binary", ":all:", "--dest", str(target), f"{name}=={version}"),
            ],
            check=True,
        )
    return next(target.glob("*.whl"))


def _extract(wheel: Path, folder: Path) -> None:
    """The Python files of a wheel; a name that leaves the folder is no file of the package."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            target = (folder / member.filename).resolve()
            if member.filename.endswith(".py") and target.is_relative_to(folder.resolve()):
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(member))


def _git(folder: Path, *arguments: str) -> None:
    who = {
        f"GIT_{role}_{field}": value
        for role in ("AUTHOR", "COMMITTER")
        for field, value in (
            ("NAME", "benchmark"),
            ("EMAIL", "benchmark@example.invalid"),
            ("DATE", "2024-01-01T00:00:00Z"),
        )
    }
    subprocess.run(
        ["git", "-C", str(folder), *arguments],
        check=True,
        env={**os.environ, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
    )
