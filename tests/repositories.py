"""Builds small git repositories for tests, with real git and nothing of the machine's settings."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from shutil import which

import pytest

_DATE = "2024-01-02T03:04:05+00:00"


def note_git(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in `folder` that gets a line for each git process that is started from now on."""
    git, started = folder / "bin" / "git", folder / "started"
    git.parent.mkdir()
    git.write_text(f'#!/bin/sh\necho >> {started}\nexec {which("git")} "$@"\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", f"{git.parent}:{os.environ['PATH']}")
    return started


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

    def commit(
        self,
        message: str = "a commit",
        files: Mapping[str, str | bytes] | Mapping[str, str] | None = None,
    ) -> str:
        """The id of a new commit of all in the work tree, with `files` in it, even of no change."""
        for path, content in (files or {}).items():
            self.write(path, content)
        self.git("add", "--all")
        self.git("commit", "-q", "--allow-empty", "--no-verify", "-m", message)
        return self.git("rev-parse", "HEAD")

    def commits(self, *commits: tuple[str, Mapping[str, str]]) -> None:
        """Many commits at once, each a message and the texts of the files that it changes."""
        who = "A Tester <tester@example.com> 1704164645 +0000"
        stream = list[str]()
        begun = self.git("rev-parse", "-q", "--verify", "HEAD", status=None)
        for number, (message, files) in enumerate(commits):
            stream.append(f"commit refs/heads/main\ncommitter {who}\n{_data(message)}")
            if begun and number == 0:
                stream.append(f"from {begun}\n")
            stream += [f"M 100644 inline {path}\n{_data(text)}" for path, text in files.items()]
        self.git("fast-import", "--quiet", given="".join(stream).encode())
        self.git("reset", "-q", "--hard")

    def git(self, *args: str, given: bytes = b"", status: int | None = 0) -> str:
        """What `git *args` prints in this repository, without white space around it.

        It must end with `status`, if there is one.
        """
        done = subprocess.run(
            ["git", *args], cwd=self.folder, env=hermetic(), input=given, capture_output=True
        )
        assert status in (None, done.returncode), done.stderr.decode(errors="replace")
        return done.stdout.decode("utf-8", errors="replace").strip()


def _data(text: str) -> str:
    """A text as `git fast-import` reads it."""
    return f"data {len(text.encode())}\n{text}\n"


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
