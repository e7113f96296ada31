"""The clients on the page of the service work as they stand, against `leadhand serve` and `mcp`."""

import os
import re
import runpy
import signal
from pathlib import Path

from fastapi import Request

from leadhand.serve import Principal
from tests.cli.program import started
from tests.programs import forkserver
from tests.test_docs import DOCS, Block, blocks

PAGE = blocks(DOCS / "service.md")


def written(folder: Path, name: str) -> Block:
    """The file of that name on the page, written into the folder."""
    block = next(one for one in PAGE if one.file == name)
    (folder / name).write_text(block.text, encoding="utf-8")
    return block


def printed(folder: Path, name: str, **env: str) -> str:
    done = forkserver().run("-W", "error", name, folder=folder, env={**os.environ, **env})
    assert done.status == 0, done.err
    return done.out


def test_openai_s_client_asks_a_team(tmp_path: Path) -> None:
    written(tmp_path, "desk.py")
    block = written(tmp_path, "ask.py")
    words = ("serve", "--team", "desk.py:team", "--trust", "--home", "runs", "--port", "0")
    with started(*words, folder=tmp_path) as program:
        program.says(", runs in ", "err")
        url = re.search(r"serving desk at (http://\S+), runs in ", program.said("err"))
        assert url is not None
        token = (tmp_path / "runs" / "serve.token").read_text().strip()
        out = printed(tmp_path, "ask.py", OPENAI_BASE_URL=f"{url[1]}/v1", OPENAI_API_KEY=token)
        program.kill(signal.SIGTERM)
        assert program.ended().status == 0
    assert out == block.out


def test_the_function_that_says_who_calls_takes_no_user_without_a_tenant(tmp_path: Path) -> None:
    written(tmp_path, "logins.py")
    caller = runpy.run_path(str(tmp_path / "logins.py"))["caller"]

    def called(*user: str) -> object:
        headers = [(b"x-forwarded-user", one.encode()) for one in user]
        return caller(Request({"type": "http", "headers": headers}))

    ann = called("ann@acme")
    assert isinstance(ann, Principal)
    assert (ann.name, ann.tenant) == ("ann", "acme")
    assert [called(), *map(called, ("", "ann", "ann@", "ann@*", "@acme"))] == [None] * 6


def test_a_client_of_mcp_asks_a_team(tmp_path: Path) -> None:
    written(tmp_path, "desk.py")
    block = written(tmp_path, "mcp_client.py")
    assert printed(tmp_path, "mcp_client.py") == block.out
