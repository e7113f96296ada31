"""Fixtures of the tests of teams."""

import sys

import pytest


@pytest.fixture(autouse=True)
def own_import_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove folders that a test made importable."""
    monkeypatch.setattr(sys, "path", list(sys.path))
