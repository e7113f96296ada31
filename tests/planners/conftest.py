"""The scripted model server under a short name."""

import pytest

from leadhand.testing import ScriptedServer


@pytest.fixture
def server(model_server: ScriptedServer) -> ScriptedServer:
    return model_server
