"""What the routes share: the supervisors of a service, its journal and limits, and who calls."""

import asyncio
import os
from collections import Counter
from collections.abc import Coroutine, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Request

from leadhand.contracts.summary import RunSummary
from leadhand.errors import InputError
from leadhand.journal.store_journal import MemoryStore
from leadhand.ports import Journal
from leadhand.redaction import Redactor
from leadhand.run.handle import Run
from leadhand.serve.principals import EVERY_TENANT, Current, Principal, UserRole, authenticated
from leadhand.serve.problems import RETRY_S, HttpProblem
from leadhand.serve.run_records import RunRecord, RunRecords
from leadhand.state.fold import RunState
from leadhand.supervisor import Supervisor

R = TypeVar("R")
AnySupervisor = Supervisor[Any, object]
"""With a context and an output of any type."""
UNKEPT = "unkept"
"""In the origin of a run: it is erased once its answer was given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The limits of a service."""

    grace_s: float = 10.0
    """How long runs have to finish before a shutdown interrupts them."""
    take_over_s: float = 30.0
    """How often interrupted runs of processes that died are taken over."""
    retain_s: float | None = None
    """How long finished runs are kept after their last event; None: until they are deleted."""
    unread_s: float = 60.0
    """How long a run with `store: false` stays after its end, unless a response had its answer."""
    heartbeat_s: float = 15.0
    """The longest silence of a stream."""
    max_body_bytes: int = 4_000_000
    """Of a request without files."""
    max_upload_bytes: int = 100_000_000
    """Of a request with files."""
    max_uploads: int = 200
    """Files of one request."""
    max_streams: int = 100
    """That one principal has open at once, with its waits for answers and calls of MCP."""
    max_connections: int = 1_000
    """At once; more are answered 503. For the server that `leadhand serve` starts."""
    body_s: float = 60.0
    """The longest wait for the next part of a body."""


@dataclass(eq=False, kw_only=True)
class Service:
    supervisors: Mapping[str, AnySupervisor]
    """By the names of their teams."""
    journal: Journal
    """That of all supervisors."""
    settings: ServiceSettings = field(default_factory=ServiceSettings)
    draining: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once the service is told to stop: streams end, and new runs are refused."""
    streams: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """That are open, by the tenant and name of their reader."""
    drained: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once every run has ended or is interrupted."""
    records: RunRecords = field(init=False)
    """The runs that were shown last."""

    def __post_init__(self) -> None:
        self.records = RunRecords(self.journal)

    def supervisor(self, team: str) -> AnySupervisor:
        """Raises `HttpProblem` 404 that names the teams."""
        if team not in self.supervisors:
            names = ", ".join(self.supervisors)
            raise HttpProblem(404, f"there is no team {team!r:.80} here: {names}")
        return self.supervisors[team]

    async def is_held(self, run: RunRecord) -> bool:
        """Whether a process works on it; not looked at for a run that has its answer."""
        return run.state.answer is None and await self.journal.holder(run.state.run_id) is not None

    def handle(self, run: RunRecord) -> Run[Any, object]:
        """Raises `HttpProblem` if its team is not served here."""
        return self.supervisor(run.state.team).handle(run.state.run_id)


def revoked() -> HttpProblem:
    return HttpProblem(401, "the token was revoked, or has expired")


def no_such_run(run_id: str) -> HttpProblem:
    return HttpProblem(404, f"there is no run {run_id!r:.200}")


def service_of(
    supervisors: Sequence[AnySupervisor], *, settings: ServiceSettings, allow_memory: bool
) -> Service:
    """Raises `InputError` for supervisors that can't be served together."""
    if not supervisors:
        raise InputError("nothing to serve: give a supervisor")
    by_team = {one.team.name: one for one in supervisors}
    if len(by_team) < len(supervisors):
        raise InputError("two supervisors have a team of the same name: rename one of them")
    journal = supervisors[0].journal
    if any(one.journal is not journal for one in supervisors):
        raise InputError(
            "the supervisors have different journals: give each the same one, as in "
            "`journal=leadhand.journal.open_journal(home)`"
        )
    if isinstance(store := getattr(journal, "store", None), MemoryStore):
        if not allow_memory:
            raise InputError(
                "runs would be in memory only: give the supervisors a home, or allow_memory=True"
            )
        store.redact = Redactor.of(os.environ)
    return Service(supervisors=by_team, journal=journal, settings=settings)


@dataclass(frozen=True, slots=True)
class ServiceCaller:
    """A principal at the service."""

    principal: Principal
    service: Service
    request: Request | None = None
    """None over stdio."""

    @property
    def is_operator(self) -> bool:
        return self.principal.has("operator")

    def check_role(self, role: UserRole, *, everywhere: bool = False) -> None:
        """Raises `HttpProblem` 403. `everywhere`: in all tenants."""
        if not self.principal.has(role):
            raise HttpProblem(403, f"this is for the role {role}")
        if everywhere and self.principal.tenant != EVERY_TENANT:
            raise HttpProblem(403, f"this is for operators of the tenant {EVERY_TENANT}")

    async def visible(self, run_id: str) -> RunRecord:
        """The run as it is now, if the caller may see it. Raises `HttpProblem` 404."""
        run = await self.service.records.read(run_id)
        if run is None or not self.principal.may_see(run.state.origin):
            raise no_such_run(run_id)
        return run

    async def followed(self, run_id: str) -> RunRecord:
        """As `visible`, without waiting for the journal if this process works on the run: who may
        see it never changes."""
        run = self.service.records.known(run_id)
        known = run is not None and self.principal.may_see(run.state.origin)
        if known and run is not None and self.service.handle(run).is_under_way:
            return run
        return await self.visible(run_id)

    def may_reply(self, run: RunState | RunSummary) -> bool:
        """Whether the caller may answer its questions: an operator, or an approver of the tenant,
        who needs the team's leave for a run of their own; a requester has no more than that."""
        supervisor, principal = self.service.supervisors.get(run.team), self.principal
        if supervisor is None:
            return False
        if principal.owns(run.origin) and not self.is_operator:
            return supervisor.team.requester_approves
        return principal.rules(run.origin, "approver")

    @property
    def has_stream(self) -> bool:
        """Whether the caller may open a further stream."""
        return self.service.streams[self._name] < self.service.settings.max_streams

    def check_streams(self) -> None:
        """Raises `HttpProblem` 429."""
        most = self.service.settings.max_streams
        if not self.has_stream:
            why = f"{most} of your streams and waits are open: close one, or follow /api/v1/events"
            raise HttpProblem(429, why, headers={"Retry-After": str(RETRY_S)})

    @contextmanager
    def streaming(self) -> Generator[None]:
        """A stream is open during the block."""
        self.service.streams[self._name] += 1
        try:
            yield
        finally:
            self.service.streams[self._name] -= 1
            self.service.streams += Counter()  # without those of none

    @property
    def _name(self) -> tuple[str, str]:
        return self.principal.tenant, self.principal.name

    async def while_counting(self, work: Coroutine[None, None, R]) -> R:
        """What `work` gives. It is one of the caller's streams, and is cancelled once the caller
        counts no more. Raises `HttpProblem` 429 and 401, and what `work` raises."""
        working = asyncio.create_task(work)
        try:
            self.check_streams()
            with self.streaming():
                while True:
                    await asyncio.wait([working], timeout=self.service.settings.heartbeat_s)
                    if working.done():
                        return working.result()
                    if not await self.still_counts():
                        raise revoked()
        finally:
            working.cancel()
            await asyncio.wait([working])

    async def still_counts(self) -> bool:
        """Whether the caller is still who it was when the request began: tokens are revoked."""
        if self.request is None:
            return True
        try:
            now = await authenticated(self.request)
        except HttpProblem:
            return False
        before = self.principal
        return (now.name, now.tenant, now.roles) == (before.name, before.tenant, before.roles)


async def _calling(request: Request, principal: Current) -> ServiceCaller:
    return ServiceCaller(principal, request.app.state.service, request)


Calling = Annotated[ServiceCaller, Depends(_calling)]
"""The caller, for routes; a request without one is 401."""
