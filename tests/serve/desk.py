"""A team without a model, principals, and the service of both under a real server."""

import asyncio
import socket
import threading
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import uvicorn
from fastapi import FastAPI, Request
from uvicorn.protocols.http.h11_impl import H11Protocol

from leadhand import Handoff, Permanent, Supervisor, TaskTemplate, Team, Worker
from leadhand.contracts.outcome import Completed, Escalated, Outcome, Result
from leadhand.journal import open_journal
from leadhand.serve import Authenticate, Principal, ServiceSettings, app
from leadhand.serve.principals import UserRole
from tests.patience import HANG_S, wait_until


def _person(name: str, tenant: str, *roles: UserRole) -> Principal:
    return Principal(name, tenant, frozenset(roles))


PEOPLE: Mapping[str, Principal] = {
    one.name: one
    for one in (
        _person("ann", "acme", "requester"),
        _person("bob", "acme", "requester"),
        _person("cleo", "acme", "approver"),
        _person("olga", "acme", "operator"),
        _person("zoe", "zeta", "requester", "operator"),
        _person("root", "*", "operator"),
    )
}
"""By the token that they send, which is their name."""


def authenticate(request: Request) -> Principal | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return PEOPLE.get(token) if scheme == "Bearer" else None


class Gate:
    """Where the worker `waiter` waits until a test opens it."""

    def __init__(self) -> None:
        self.arrived = threading.Event()
        self._opened = False
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    async def work(self, handoff: Handoff) -> str:
        opened = asyncio.Event()
        self._waiting.append((asyncio.get_running_loop(), opened))
        self.arrived.set()
        if not self._opened:
            await opened.wait()
        return handoff.intent

    def open(self) -> None:
        """For any thread."""
        self._opened = True
        for loop, opened in self._waiting:
            loop.call_soon_threadsafe(opened.set)


def echo(handoff: Handoff) -> Outcome:
    """Answers with the request; fails, or asks a person, where the request says so."""
    words = handoff.intent.split()
    if words[:1] == ["fail"]:
        raise Permanent("the request says so")
    if words[:1] == ["ask"]:
        if "says: " not in handoff.intent:
            return Escalated(reason="ambiguous_input", message=" ".join(words[1:]))
        return Completed(result=Result(output=handoff.intent.rpartition("says: ")[2]))
    return Completed(result=Result(output=handoff.intent))


def supervisors_of(home: str | Path, gate: Gate) -> list[Supervisor]:
    """Of the team `desk`, which echoes, and the team `gate`, whose runs wait at the gate."""
    journal = open_journal(home)
    teams = [
        Team(
            name,
            workers=[worker],
            template=[TaskTemplate("t1", worker.name, "{request}")],
        )
        for name, worker in (
            ("desk", Worker("clerk", "Echoes", run=echo)),
            ("gate", Worker("waiter", "Waits", run=gate.work)),
        )
    ]
    return [Supervisor(team, journal=journal, approve=["escalation"]) for team in teams]


@dataclass(eq=False)
class Desk:
    """A service under way."""

    url: str
    gate: Gate
    app: FastAPI
    _clients: dict[str, httpx2.Client] = field(default_factory=dict[str, httpx2.Client])

    def client(self, name: str = "ann") -> httpx2.Client:
        """The client of a principal; without a name, of none."""
        if name not in self._clients:
            headers = {"Authorization": f"Bearer {name}"} if name else {}
            self._clients[name] = httpx2.Client(
                base_url=self.url, headers=headers, timeout=HANG_S, trust_env=False
            )
        return self._clients[name]

    def close(self) -> None:
        for client in self._clients.values():
            client.close()


@contextmanager
def served(
    app: FastAPI,
    *,
    port: int = 0,
    keep_alive_s: int = 5,
    patience_s: int = 5,
    http: type[asyncio.Protocol] = H11Protocol,
) -> Generator[str]:
    """The URL of an app under a server of its own, at any free port.

    At the end it waits for requests under way, such as streams, for `patience_s`.
    """
    with socket.create_server(("127.0.0.1", port)) as listener:
        config = uvicorn.Config(
            app,
            log_level="warning",
            timeout_graceful_shutdown=patience_s,
            timeout_keep_alive=keep_alive_s,
            http=http,
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        try:
            wait_until(lambda: server.started or not thread.is_alive())
            assert server.started
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(HANG_S)


@contextmanager
def serving_desk(
    home: Path,
    *,
    auth: Authenticate | None = authenticate,
    settings: ServiceSettings | None = None,
    gate: Gate | None = None,
    allow_hosts: Collection[str] = (),
) -> Generator[Desk]:
    """The service of the desk's teams; runs that wait at the gate are interrupted at the end."""
    gate = gate or Gate()
    service = app(
        supervisors_of(home, gate),
        auth=auth,
        home=home,
        allow_hosts=allow_hosts,
        settings=settings or ServiceSettings(grace_s=0),
    )
    with served(service) as url:
        desk = Desk(url, gate, service)
        try:
            yield desk
        finally:
            desk.close()
