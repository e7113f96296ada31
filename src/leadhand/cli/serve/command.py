"""`leadhand serve`, `ui` and `mcp`: teams, models and tokens, served until a signal."""

import asyncio
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from leadhand.cli.added_commands import added_command
from leadhand.cli.duration import parse_duration
from leadhand.cli.home import shown_home
from leadhand.cli.run.arguments import load_team
from leadhand.cli.run.execution import INTERRUPTED, LEAVING_S
from leadhand.cli.run.models import choose_models
from leadhand.cli.run.setup import TeamSetup, occasions
from leadhand.cli.run.storage import RunStorage
from leadhand.cli.serve.commands import ServeOptions, TeamOptions, named_tokens
from leadhand.cli.views.consoles import print_note
from leadhand.errors import InputError
from leadhand.redaction import RedactingFilter, Redactor
from leadhand.run.queue import RunQueue
from leadhand.serve import Authenticate, ServiceSettings, app
from leadhand.serve.authentication import TokenAuthentication
from leadhand.serve.lifespan import serving
from leadhand.serve.mcp import server_of
from leadhand.serve.service import AnySupervisor, Service, service_of
from leadhand.serve.tokens import OPERATOR, OPERATOR_FILE, new_token, operator_token
from leadhand.supervisor import Supervisor
from leadhand.teams import functions
from leadhand.teams.installed import COMMANDS, entry_points
from leadhand.teams.loader import ready_made
from leadhand.teams.trust import check_owners

MAX_RUNS, MAX_WAITING = 256, 1_024
"""How many runs work at once and how many wait, of all teams; then clients are answered 429."""


def serve_command(options: ServeOptions, *, ui: bool = False, browse: bool = False) -> int:
    """Until a signal ends it. Raises `InputError` before it listens."""
    family, address = _address(options)
    loopback = ipaddress.ip_address(address[0]).is_loopback
    retain_s = None if options.retain is None else parse_duration(options.retain)
    settings = ServiceSettings(grace_s=parse_duration(options.grace), retain_s=retain_s)
    with RunStorage(options.teams.home) as storage:
        if storage.lost is not None:
            raise InputError(storage.lost)
        auth = _auth(options, storage.home, loopback=loopback, ui=ui)
        supervisors = supervisors_of(options.teams, storage)
        service = app(
            supervisors,
            auth=auth,
            home=storage.home,
            allow_hosts=options.allow_host or (),
            settings=settings,
        )
        with listening(address, family) as listener:
            host, port = listener.getsockname()[:2]
            url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"

            def announce() -> None:
                served = (
                    f"{len(supervisors)} teams" if supervisors[1:] else supervisors[0].team.name
                )
                print_note(f"serving {served} at {url}, runs in {shown_home(storage.home)}")
                _show_link(url, auth, storage.home, ui=ui, browse=browse)

            _log_to_stderr()
            config = uvicorn.Config(
                service,
                log_config=None,
                access_log=False,
                server_header=False,
                http=ServedConnection,
                limit_concurrency=settings.max_connections,
                timeout_graceful_shutdown=5,
            )
            server = _Server(config, service.state.service, announce)
            # A terminal that is closed ends the service as SIGTERM does.
            signal.signal(signal.SIGHUP, lambda _, __: signal.raise_signal(signal.SIGTERM))
            server.run(sockets=[listener])
            return 0 if server.started else 3


def mcp_command(options: TeamOptions) -> None:
    """Over stdio, until the client closes it. Raises `InputError` before it serves."""
    with RunStorage(options.home) as storage:
        if storage.lost is not None:
            raise InputError(storage.lost)
        settings, supervisors = ServiceSettings(), supervisors_of(options, storage)
        service = service_of(supervisors, settings=settings, allow_memory=False)
        added = [added_command(name) for name in entry_points(COMMANDS)]
        tools = [one.tool(options.home) for one in added if one is not None and one.tool]
        server = server_of(service, *tools, principal=OPERATOR)

        async def serve() -> None:
            async with serving(service):
                await server.run_stdio_async()

        asyncio.run(serve())


class ServedConnection(H11Protocol):
    """Closes itself if no request comes for `timeout_keep_alive`, also at the beginning: others
    would be kept out."""

    _due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # pyright: ignore[reportIncompatibleMethodOverride]
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._due is not None:
            self._due.cancel()

    def _watch(self) -> None:
        """A part of a request is none: the time counts from the end of the last one."""
        if self.cycle is None or self.cycle.response_complete:  # pyright: ignore[reportUnnecessaryComparison]
            self._due = self._due or self.loop.call_later(
                self.timeout_keep_alive, self.transport.close
            )
        elif self._due is not None:
            self._due.cancel()
            self._due = None


class _Server(uvicorn.Server):
    """Says when it is ready, drains before it closes, and ends at once on a second signal."""

    def __init__(
        self, config: uvicorn.Config, service: Service, announce: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._service, self._announce = service, announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            # What is imported by now stays. A full collection looked at it for 0.2 s each time, in
            # which nothing else was done.
            gc.collect()
            gc.freeze()
            self._announce()
            self._stopping = asyncio.create_task(self._say_that_it_stops())

    async def _say_that_it_stops(self) -> None:
        await self._service.draining.wait()
        print_note(
            f"stopping: runs have {self._service.settings.grace_s:g} s to finish; those that do "
            "not are resumed by the next service. A second signal ends it at once"
        )

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The lifespan calls it once it has drained, or on a second signal."""
        if self._service.draining.is_set() and not self._service.drained.is_set():
            leaving = threading.Thread(target=self._leave, daemon=True)
            leaving.start()
            leaving.join(LEAVING_S)
            os._exit(INTERRUPTED)
        self.should_exit = True

    def _leave(self) -> None:
        for supervisor in self._service.supervisors.values():
            supervisor.post_interruption()


def supervisors_of(options: TeamOptions, storage: RunStorage) -> list[AnySupervisor]:
    """One of each team, over one journal; says which model each uses. Raises `InputError`."""
    setup = TeamSetup.of(
        {},
        **asdict(options.limits),
        team="",
        concurrency=options.concurrency,
        approve=occasions(options.approve),
    )
    journal, made = storage.journal, list[AnySupervisor]()
    queue = RunQueue(MAX_RUNS, waiting=MAX_WAITING)
    for name in options.teams or ready_made():
        try:
            team = load_team(name, trust=options.trust)
            choice = choose_models(team, model=setup.model, no_model=setup.no_model)
        except InputError as error:
            if options.teams:
                raise
            print_note(f"not served: {error}")  # by default: what can be
            continue
        print_note(f"team {choice.team.name}: {choice.why}")
        made.append(
            Supervisor(
                choice.team,
                deadline_s=setup.deadline_s,
                budget=setup.budget,
                concurrency=setup.concurrency,
                approve=setup.approve,
                journal=journal,
                queue=queue,
            )
        )
    return made


def listening(address: tuple[str, int], family: socket.AddressFamily) -> socket.socket:
    """A listener whose connections send at once: asyncio sets that for its own sockets alone, and
    without it each response on a kept connection comes 40 ms later. Raises `InputError`."""
    try:
        listener = socket.create_server(address, family=family, backlog=2_048)
    except OSError as error:
        where = f"{address[0]} port {address[1]}"
        raise InputError(f"can't listen at {where}: {os.strerror(error.errno or 0)}") from error
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _address(options: ServeOptions) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        found = socket.getaddrinfo(options.host, options.port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InputError(f"--host {options.host}: there is no such address ({error})") from error
    family, _, _, _, address = found[0]
    return family, (str(address[0]), options.port)


def _auth(options: ServeOptions, home: Path | str, *, loopback: bool, ui: bool) -> Authenticate:
    """Raises `InputError` if anyone could call the service, or if no caller could."""
    if options.auth is not None:
        return _own_auth(options.auth, trust=options.teams.trust)
    named = named_tokens(options.teams.home, options.tokens)
    operator = operator_token(home) if isinstance(home, Path) and loopback else None
    if ui and operator is None:
        operator = new_token()  # of this process alone
    if operator is None and not named.content.tokens:
        where = "home is a database" if loopback else f"{options.host} is not this machine alone"
        raise InputError(
            f"{where}: add a token with `leadhand serve tokens add NAME`, or give --auth"
        )
    return TokenAuthentication(operator=operator, named=named)


def _own_auth(name: str, *, trust: bool) -> Authenticate:
    folder = Path.cwd()
    if ":" not in name:
        raise InputError(f"--auth {name}: name a function, as in module:function")
    if not trust:
        check_owners(folder, whole=False)
    functions.make_importable(folder)
    found = functions.resolve(name, folder)
    if not callable(found):
        raise InputError(f"--auth {name} is {type(found).__name__}; it must be a function")
    return cast("Authenticate", found)


def _show_link(url: str, auth: Authenticate, home: Path | str, *, ui: bool, browse: bool) -> None:
    """The code is in the fragment, which no server and no log sees."""
    code = auth.new_code() if isinstance(auth, TokenAuthentication) else None
    if code is None:
        return
    link = f"{url}/#code={code}"
    if ui:
        sys.stdout.write(f"{link}\n")
        sys.stdout.flush()
        if browse:
            webbrowser.open(link)
    elif sys.stderr.isatty():
        print_note(f"open {link} (it counts once)")
    else:
        print_note(f"its token is in {Path(home) / OPERATOR_FILE}")


def _log_to_stderr() -> None:
    """Warnings, without secrets and control characters."""
    handler = logging.StreamHandler(sys.stderr)
    handler.addFilter(RedactingFilter(Redactor.of(os.environ)))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, format="%(message)s")
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # the client is told
