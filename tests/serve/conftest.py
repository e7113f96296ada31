"""The service of the desk, for tests over real HTTP: `desk.client("ann").get("/api/v1/me")`."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.desk import Desk, serving_desk


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with serving_desk(tmp_path / "home") as desk:
        yield desk
