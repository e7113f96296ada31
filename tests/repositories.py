"""Builds small git repositories for tests, with real git and nothing of the machine's settings."""

import os
import subprocess
from pathlib import Path

_DATE = "2024-01-02T03:04:05+00:00"


class Repo:
    """A repository in `folder`, which is made; every commit has the same author and date."""

    def __init__(self, folder: Path, *init: str) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", "--initial-branch=main", "--template=", *init)

    def write(self, path: str, content: str | bytes) -> Path:
        """The file at `path`, written with just that content and no translation of line ends."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file

    def commit(self, message: str = "a commit") -> str:
        """The id of a new commit of everything in the work tree, even of no change."""
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    def git(self, *args: str, given: bytes = b"") -> str:
        """What `git *args` prints in this repository, without white space around it."""
        done = subprocess.run(
            ["git", *args], cwd=self.folder, env=hermetic(), input=given, capture_output=True
        )
        assert done.returncode == 0, done.stderr.decode(errors="replace")
        return done.stdout.decode("utf-8", errors="replace").strip()


def hermetic() -> dict[str, str]:
    """An environment in which git reads no settings and signs with a fixed name and date."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": os.devnull,
        "LC_ALL": "C",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_NAME": "A Tester",
        "GIT_AUTHOR_EMAIL": "tester@example.com",
        "GIT_AUTHOR_DATE": _DATE,
        "GIT_COMMITTER_NAME": "A Tester",
        "GIT_COMMITTER_EMAIL": "tester@example.com",
        "GIT_COMMITTER_DATE": _DATE,
    }
