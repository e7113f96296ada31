"""A scripted model server that stands in for the providers."""

from collections.abc import Iterator

import pytest

from leadhand.testing import ScriptedServer


@pytest.fixture(scope="module")
def process() -> Iterator[ScriptedServer]:
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def server(process: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    process.reset(script=None)
    for name, value in process.env().items():
        monkeypatch.setenv(name, value)
    return process
