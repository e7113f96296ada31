"""`leadhand serve` and `leadhand ui` as programs: addresses, tokens, signals."""

import json
import re
import signal
import socket
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx2
import pytest

from leadhand.cli.serve.command import listening
from tests.cli.program import leadhand, started
from tests.patience import HANG_S, wait_until
from tests.programs import Program

TEAM = """
import asyncio
import pathlib

from leadhand import TaskTemplate, Team, Worker


async def echo(handoff):
    while handoff.intent == "wait" and not pathlib.Path("go").exists():
        await asyncio.sleep(0.01)
    return handoff.intent


worker = Worker("echo", "Echoes; waits until there is a file", run=echo)
team = Team("echo", workers=[worker], template=[TaskTemplate("t1", "echo", "{request}")])
"""


def echo_team(folder: Path) -> tuple[str, ...]:
    """The options that name it."""
    (folder / "echoes.py").write_text(TEAM, encoding="utf-8")
    return ("--team", "echoes.py:team", "--trust", "--home", "home")


@contextmanager
def serving(folder: Path, *options: str) -> Generator[tuple[Program, str]]:
    """`leadhand serve` of the echo team in `folder`, with its home there, and its address."""
    words = ("serve", *echo_team(folder), "--port", "0", *options)
    with started(*words, folder=folder) as program:
        program.says(", runs in ", "err")
        found = re.search(r"serving echo at (http://\S+), runs in ", program.said("err"))
        assert found is not None
        yield program, found[1]


def test_a_service_takes_the_token_in_its_home_and_ends_on_a_signal(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        with serving(tmp_path) as (program, url):
            token = (tmp_path / "home" / "serve.token").read_text().strip()
            headers = {"Authorization": f"Bearer {token}"}
            me = httpx2.get(f"{url}/api/v1/me", headers=headers, timeout=HANG_S, trust_env=False)
            assert me.json()["teams"] == ["echo"]
            assert token not in program.said("err")
            program.kill(number)
            ended = program.ended()
        assert (ended.status, ended.out) == (0, "")
        assert "Traceback" not in ended.err
        assert "stopping: runs have 10 s to finish" in ended.err


@contextmanager
def operator(folder: Path, url: str) -> Generator[httpx2.Client]:
    """A client of the service in `folder`."""
    token = (folder / "home" / "serve.token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    with httpx2.Client(base_url=url, headers=headers, timeout=HANG_S, trust_env=False) as client:
        yield client


def start(client: httpx2.Client, request: str) -> httpx2.Response:
    return client.post("/api/v1/runs", json={"team": "echo", "request": request})


def events(client: httpx2.Client, run_id: str) -> str:
    """To the end of the run."""
    return client.get(f"/api/v1/runs/{run_id}/events").text


def status_of(folder: Path) -> str:
    listed = leadhand("runs", "--json", "--home", "home", folder=folder)
    return json.loads(listed.out)[0]["status"]


def test_a_signal_interrupts_runs_and_the_next_process_resumes_them(tmp_path: Path) -> None:
    with serving(tmp_path, "--grace", "50ms") as (program, url):
        with operator(tmp_path, url) as client:
            run_id = start(client, "wait").json()["run_id"]
            with client.stream("GET", f"/api/v1/runs/{run_id}/events") as followed:
                lines = followed.iter_lines()
                while "task_dispatched" not in next(lines):
                    pass
                program.kill(signal.SIGTERM)
                assert "event: end" not in [*lines], "the stream ends, and the run does not"
        ended = program.ended()
    assert (ended.status, "Traceback" in ended.err) == (0, False)
    assert status_of(tmp_path) == "interrupted"
    with serving(tmp_path) as (program, url):
        (tmp_path / "go").touch()
        with operator(tmp_path, url) as client:
            assert "event: end" in events(client, run_id)
        program.kill(signal.SIGKILL)
    assert status_of(tmp_path) == "complete"


def test_a_service_answers_while_it_drains_and_ends_at_once_on_a_second_signal(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, "--grace", "1h") as (program, url):
        with operator(tmp_path, url) as client:
            run_id = start(client, "wait").json()["run_id"]
            assert client.get("/readyz").status_code == 200
            program.kill(signal.SIGTERM)
            wait_until(lambda: client.get("/readyz").status_code == 503)
            assert client.get("/healthz").status_code == 200
            assert client.get(f"/api/v1/runs/{run_id}").json()["status"] == "running"
            refused = start(client, "more")
            assert (refused.status_code, refused.headers["retry-after"]) == (503, "2")
        program.kill(signal.SIGTERM)
        assert program.ended().status == 130
    assert status_of(tmp_path) == "interrupted"


def test_what_a_killed_process_leaves_is_taken_over(tmp_path: Path) -> None:
    with serving(tmp_path) as (program, url):
        with operator(tmp_path, url) as client:
            run_id = start(client, "wait").json()["run_id"]
        program.kill(signal.SIGKILL)
        program.ended()
    (tmp_path / "go").touch()
    with serving(tmp_path) as (_, url), operator(tmp_path, url) as client:
        assert "event: end" in events(client, run_id)


def test_the_page_is_opened_by_a_link_that_counts_once(tmp_path: Path) -> None:
    with started("ui", *echo_team(tmp_path), "--no-browser", folder=tmp_path) as program:
        program.says("#code=")
        url, code = program.said().strip().split("/#code=")
        sent = {"Authorization": f"Bearer {code}"}
        with httpx2.Client(base_url=url, timeout=HANG_S, trust_env=False) as browser:
            assert browser.post("/api/v1/session", headers=sent).status_code == 204
            assert browser.get("/api/v1/me").json()["roles"] == ["operator"]
            assert browser.post("/api/v1/session", headers=sent).status_code == 401
        program.kill(signal.SIGTERM)
        assert program.ended().status == 0


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_an_address_that_others_reach_is_refused_without_tokens(host: str, tmp_path: Path) -> None:
    """F33"""
    words = ("serve", *echo_team(tmp_path), "--host", host, "--port", "0")
    refused = leadhand(*words, folder=tmp_path)
    assert (refused.status, refused.out) == (2, "")
    assert re.fullmatch(
        r"leadhand: .+ is not this machine alone: .*serve tokens add.*\n", refused.err
    )


def test_a_named_token_is_shown_once_and_lets_others_in(tmp_path: Path) -> None:
    words = ("serve", "tokens")
    home = ("--home", "home")
    assert leadhand(*words, "list", *home, folder=tmp_path).out.startswith("no tokens in ")
    added = leadhand(
        *words, "add", "ann", "--tenant", "acme", "--expires", "30d", *home, folder=tmp_path
    )
    roles = ("--role", "approver", "--role", "requester")
    twice = leadhand(*words, "add", "bob", *roles, *home, folder=tmp_path)
    assert (twice.status, twice.out) == (2, "")
    assert twice.err.startswith("leadhand: --role counts once: ")
    token = added.out.strip()
    assert (added.status, token[:4]) == (0, "lhs_")
    listed = leadhand(*words, "list", "--json", *home, folder=tmp_path)
    assert token not in listed.out
    assert [(one["name"], one["role"]) for one in json.loads(listed.out)] == [("ann", "requester")]
    with serving(tmp_path, "--host", "0.0.0.0") as (program, url):
        here = url.replace("0.0.0.0", "127.0.0.1")
        headers = {"Authorization": f"Bearer {token}"}
        me = httpx2.get(f"{here}/api/v1/me", headers=headers, timeout=HANG_S, trust_env=False)
        assert (me.json()["name"], me.json()["tenant"]) == ("ann", "acme")
        assert not (tmp_path / "home" / "serve.token").exists()
        program.kill(signal.SIGTERM)
        assert program.ended().status == 0
    assert leadhand(*words, "revoke", "ann", *home, folder=tmp_path).status == 0
    assert leadhand(*words, "revoke", "ann", *home, folder=tmp_path).status == 2


def test_a_function_of_ones_own_says_who_calls(tmp_path: Path) -> None:
    (tmp_path / "logins.py").write_text(
        "from leadhand.serve import Principal\n\n\n"
        "def who(request):\n"
        '    name = request.headers.get("x-user")\n'
        '    return name and Principal(name, "acme", frozenset({"requester"}))\n'
    )
    with serving(tmp_path, "--auth", "logins:who") as (program, url):
        me = httpx2.get(
            f"{url}/api/v1/me", headers={"x-user": "ann"}, timeout=HANG_S, trust_env=False
        )
        assert me.json()["name"] == "ann"
        assert httpx2.get(f"{url}/api/v1/me", timeout=HANG_S, trust_env=False).status_code == 401
        program.kill(signal.SIGTERM)
        assert program.ended().status == 0


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--auth", "logins"), "module:function"),
        (("--auth", "nothing_here:who"), "there is no module"),
        (("--host", "no.such.host.invalid"), "no such address"),
        (("--team", "no-such-team"), "no-such-team"),
    ],
)
def test_a_mistake_is_one_line(options: tuple[str, str], why: str, tmp_path: Path) -> None:
    refused = leadhand("serve", *echo_team(tmp_path), *options, folder=tmp_path)
    assert refused.status == 2
    last = refused.err.splitlines()[-1]
    assert last.startswith("leadhand: ")
    assert why in last


def test_connections_send_at_once() -> None:
    """They inherit it from their listener."""
    with (
        listening(("127.0.0.1", 0), socket.AF_INET) as listener,
        socket.create_connection(listener.getsockname()),
        listener.accept()[0] as accepted,
    ):
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
