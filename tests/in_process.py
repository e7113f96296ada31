"""Runs the `leadhand` program in the process of the tests, without a start of its own."""

import sys
from dataclasses import dataclass

import pytest

from leadhand.cli import main, start_time


@dataclass(frozen=True, slots=True)
class Ended:
    """What a finished program left behind."""

    status: int
    """Its exit status; less than 0: the signal that it died of."""
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class InProcess:
    """The program, in the current folder and environment, away from any terminal."""

    monkeypatch: pytest.MonkeyPatch
    capture: pytest.CaptureFixture[str]

    def __call__(self, *arguments: str) -> Ended:
        """What `leadhand ARGUMENTS` does."""
        start_time.begin()  # else the first deadline would count from the imports
        self.capture.readouterr()
        self.monkeypatch.setattr(sys, "argv", ["leadhand", *arguments])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = self.capture.readouterr()
        return Ended(int(ended.value.code or 0), shown.out, shown.err)
