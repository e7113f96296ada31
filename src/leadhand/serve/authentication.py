"""Who sends a request, by a token or a browser's cookie; and the routes of sessions.

A browser exchanges a one-time code or a token for a cookie, which is random. The journal has its
hash, so that every process that serves the journal knows the session, and its end.
"""

import ipaddress
import secrets
import time
from pathlib import Path

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from leadhand import __version__
from leadhand.errors import InputError
from leadhand.ports import Journal
from leadhand.serve.principals import Current, Principal, UserRole
from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import Calling, Service
from leadhand.serve.tokens import (
    NAMED_FILE,
    OPERATOR,
    NamedTokens,
    digest_of,
    new_token,
    operator_token,
)

COOKIE = "leadhand_session"
CSRF_HEADER = "X-CSRF-Token"
LASTS_S = 12 * 3_600
CODE_LASTS_S = 15 * 60
_MAX_CODES = 100
_SESSIONS = "session/"
_SAFE = ("GET", "HEAD", "OPTIONS")

router = APIRouter(prefix="/api/v1", tags=["session"])


class TokenAuthentication:
    """An `Authenticate`: the token in a home for loopback, named tokens, and browsers' cookies."""

    def __init__(self, *, operator: str | None, named: NamedTokens) -> None:
        self._operator = operator and digest_of(operator)
        self._named = named
        self._codes = dict[str, float]()
        """Until when each counts, for the operator."""

    async def __call__(self, request: Request) -> Principal:
        """Raises `HttpProblem` 401, and 403 without the CSRF token."""
        if token := bearer_of(request):
            digest = digest_of(token)
        else:
            digest = await _session_of(request)
            given = request.headers.get(CSRF_HEADER, "")
            is_csrf = secrets.compare_digest(given.encode(), csrf_of(request).encode())
            if digest and request.method not in _SAFE and not is_csrf:
                why = f"send the header {CSRF_HEADER} with the `csrf` of /api/v1/me"
                raise HttpProblem(403, why)
        principal = self.principal_of(digest, request) if digest else None
        if principal is None:
            unknown = "this token is not known, revoked or expired"
            why = unknown if digest else "send a token as `Authorization: Bearer`"
            raise HttpProblem(401, why, headers={"WWW-Authenticate": "Bearer"})
        return principal

    def principal_of(self, digest: str, request: Request) -> Principal | None:
        """Whose token it is, while it counts."""
        if self._operator and secrets.compare_digest(digest, self._operator):
            return OPERATOR if _is_loopback(request) else None
        return self._named.principal_of(digest)

    def new_code(self) -> str | None:
        """A one-time code of the operator, which one browser can exchange for a cookie, soon; None
        where only named tokens count."""
        if self._operator is None:
            return None
        while len(self._codes) >= _MAX_CODES:
            self._codes.pop(next(iter(self._codes)))
        code = new_token()
        self._codes[code] = time.time() + CODE_LASTS_S
        return code

    def exchanged(self, request: Request) -> str | None:
        """The digest of the request's token, which may be a one-time code; None: it counts no
        more."""
        token = bearer_of(request) or ""
        by_code = time.time() < self._codes.pop(token, 0)
        digest = self._operator if by_code and self._operator else digest_of(token)
        return digest if self.principal_of(digest, request) else None


async def _session_of(request: Request) -> str | None:
    """The digest of the token that was exchanged for the request's cookie, while that counts."""
    key = _key_of(request.cookies.get(COOKIE, ""))
    note = (await _journal_of(request).notes(key)).get(key, b"0")
    expires_s, _, digest = note.decode().partition(" ")
    return digest if time.time() < int(expires_s) else None


def _key_of(cookie: str) -> str:
    """Of a session among the journal's notes: who reads them can't make a cookie of it."""
    return f"{_SESSIONS}{digest_of(cookie)}"


def csrf_of(request: Request) -> str:
    """What proves that a page of this service sends the request: no other can read it."""
    return digest_of(f"csrf {request.cookies.get(COOKIE)}")


def _journal_of(request: Request) -> Journal:
    service: Service = request.app.state.service
    return service.journal


def token_authentication(home: str | Path | None) -> TokenAuthentication:
    """By the tokens in a folder. Raises `InputError`."""
    if home is None or "://" in str(home):
        raise InputError("who may call the service: give `auth`, or a home=FOLDER with tokens")
    named = NamedTokens(Path(home) / NAMED_FILE)
    return TokenAuthentication(operator=operator_token(Path(home)), named=named)


def bearer_of(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


class Me(BaseModel):
    name: str
    tenant: str
    roles: list[UserRole]
    csrf: str | None
    """What a browser sends as `X-CSRF-Token` with everything but GET; None without a cookie."""
    version: str
    teams: list[str]


@router.get("/me")
async def read_me(request: Request, caller: Calling) -> Me:
    principal, by_cookie = caller.principal, _tokens_of(request) and not bearer_of(request)
    return Me(
        name=principal.name,
        tenant=principal.tenant,
        roles=sorted(principal.roles),
        csrf=csrf_of(request) if by_cookie else None,
        version=__version__,
        teams=sorted(caller.service.supervisors),
    )


@router.post("/session", status_code=204)
async def start_session(request: Request) -> Response:
    """Exchange a token, or the one-time code of the program's link in its place, for a cookie."""
    tokens = _tokens_of(request)
    if tokens is None:
        raise HttpProblem(409, "this service has its own way to sign in")
    digest = tokens.exchanged(request)
    if digest is None:
        raise HttpProblem(401, "the code or token does not count, or no more")
    cookie, journal, now_s = new_token(), _journal_of(request), int(time.time())
    for key, note in (await journal.notes(_SESSIONS)).items():
        if int(note.partition(b" ")[0]) <= now_s:
            await journal.swap_note(key, note, None)
    await journal.swap_note(_key_of(cookie), None, f"{now_s + LASTS_S} {digest}".encode())
    response, secure = Response(status_code=204), request.url.scheme == "https"
    response.set_cookie(
        COOKIE, cookie, max_age=LASTS_S, httponly=True, samesite="strict", secure=secure
    )
    return response


@router.delete("/session", status_code=204)
async def end_session(request: Request, _: Current) -> Response:
    """The browser's cookie counts no more."""
    journal = _journal_of(request)
    for key, note in (await journal.notes(_key_of(request.cookies.get(COOKIE, "")))).items():
        await journal.swap_note(key, note, None)
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, httponly=True, samesite="strict")
    return response


def _tokens_of(request: Request) -> TokenAuthentication | None:
    tokens: object = request.app.state.auth
    return tokens if isinstance(tokens, TokenAuthentication) else None


def _is_loopback(request: Request) -> bool:
    """Whether the request came to an address of this machine alone."""
    server = request.scope.get("server")
    try:
        return ipaddress.ip_address(server[0]).is_loopback if server else False
    except ValueError:
        return False
