"""What holds for the whole suite: no test ever reaches a real model, or keeps a run at home.

The switch and the missing keys are in the environment before any test module is imported, so that
the processes that tests start have them too.
"""

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from leadhand.testing import ScriptedServer
from tests.scripted_server import start_over

os.environ["LEADHAND_LOOPBACK_ONLY"] = "1"
_home = tempfile.mkdtemp(prefix="leadhand-tests-")
atexit.register(shutil.rmtree, _home, ignore_errors=True)
os.environ["LEADHAND_HOME"] = _home
for _name in [*os.environ]:
    if _name.endswith(("_API_KEY", "_API_TOKEN", "_BASE_URL")):
        del os.environ[_name]

# How fast the machine is decides nothing: not how long an example takes, nor how long finding it.
settings.register_profile("tests", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


@pytest.fixture(scope="session")
def model_process() -> Iterator[ScriptedServer]:
    """A scripted model server that lasts as long as the tests."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture
def scripted(model_process: ScriptedServer) -> ScriptedServer:
    """That server as it starts."""
    return start_over(model_process)


@pytest.fixture
def model_server(scripted: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> ScriptedServer:
    """And where both providers' SDKs find their models."""
    for name, value in scripted.env().items():
        monkeypatch.setenv(name, value)
    return scripted
