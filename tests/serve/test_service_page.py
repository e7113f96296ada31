"""The page "Serve teams": its table has every route, and what it types works against a service."""

import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.program import started
from tests.patience import HANG_S
from tests.serve.desk import Desk
from tests.test_docs import DOCS, blocks

PAGE = DOCS / "service.md"
METHODS = ("get", "post", "put", "patch", "delete")


def test_the_page_lists_every_route_and_no_other(desk: Desk) -> None:
    described = {
        f"{method.upper()} {path}"
        for path, operations in desk.app.openapi()["paths"].items()
        for method in operations
        if method in METHODS
    }
    listed = re.findall(r"^\| `((?:GET|POST|DELETE|PUT) /\S+)`", PAGE.read_text(), re.MULTILINE)
    assert {*listed} == described
    assert len(listed) == len({*listed})


@pytest.mark.skipif(shutil.which("curl") is None, reason="the page types curl")
def test_what_the_page_types_works(tmp_path: Path) -> None:
    """Its `bash` blocks: the first starts the service, those with curl ask it."""
    for block in blocks(PAGE):
        if block.file is not None:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
    commands = [block.text for block in blocks(PAGE) if block.language == "bash"]
    serve, *others = commands
    assert serve.startswith("leadhand serve ")
    words = serve.split()[1:]
    with started(*words, "--port", "0", folder=tmp_path) as program:
        program.says(", runs in ", "err")
        url = re.findall(r" at (http://\S+), runs in ", program.said("err"))[0]
        typed = [one.replace("http://127.0.0.1:8765", url) for one in others]
        exports = "".join(one for one in typed if one.startswith("export "))
        asked = [one for one in typed if "curl " in one]
        assert asked
        for command in asked:
            done = subprocess.run(
                ["sh", "-ec", exports + command],
                cwd=tmp_path,
                capture_output=True,
                text=True,
                timeout=HANG_S,
                check=True,
            )
            assert done.stdout, command
            assert '"status":4' not in done.stdout, done.stdout
        program.kill(signal.SIGTERM)
        assert program.ended().status == 0
