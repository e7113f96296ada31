"""What every test of teams needs."""

import sys

import pytest


@pytest.fixture(autouse=True)
def own_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders that a test makes importable are forgotten after it."""
    monkeypatch.setattr(sys, "path", list(sys.path))
