"""Who sends a request, by a token or a browser's cookie; and the routes of sessions."""

import datetime as dt
import inspect
import ipaddress
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel

from leadhand import __version__
from leadhand.errors import InputError
from leadhand.serve.principals import EVERY_TENANT, Authenticate, Current, Principal, UserRole
from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import Serving
from leadhand.serve.sessions import COOKIE, CSRF_HEADER, LASTS, BrowserSession, Sessions
from leadhand.serve.tokens import NAMED_FILE, NamedTokens, digest_of, operator_token

OPERATOR = Principal("operator", EVERY_TENANT, frozenset(("operator",)))
"""Who has the token in the home: the person whose service it is."""
_SAFE = ("GET", "HEAD", "OPTIONS")

router = APIRouter(prefix="/api/v1", tags=["session"])


class TokenAuthentication:
    """An `Authenticate`: the token in a home for loopback, named tokens, and browsers' cookies."""

    def __init__(self, *, operator: str | None, named: NamedTokens) -> None:
        self._operator = operator and digest_of(operator)
        self._named = named
        self.sessions = Sessions(lambda: named.key)

    def new_code(self) -> str | None:
        """A one-time code of the operator for a browser; None where only named tokens count."""
        return self._operator and self.sessions.new_code(self._operator, _now())

    def __call__(self, request: Request) -> Principal | None:
        if token := bearer_of(request):
            return self.principal_of(digest_of(token), request)
        session = self.session_of(request)
        if session is None:
            return None
        given = request.headers.get(CSRF_HEADER, "")
        if request.method not in _SAFE and not self.sessions.is_csrf(session, given):
            raise HttpProblem(403, f"send the header {CSRF_HEADER} with the `csrf` of /api/v1/me")
        return self.principal_of(session.holder, request)

    def session_of(self, request: Request) -> BrowserSession | None:
        cookie = request.cookies.get(COOKIE)
        return self.sessions.read(cookie, _now()) if cookie else None

    def principal_of(self, digest: str, request: Request) -> Principal | None:
        """Whose token it is, while it counts."""
        if self._operator and secrets.compare_digest(digest, self._operator):
            return OPERATOR if _is_loopback(request) else None
        named = self._named.of_digest(digest)
        return named.principal if named is not None and named.is_valid(_now()) else None


def token_authentication(home: str | Path | None) -> TokenAuthentication:
    """By the tokens in a folder. Raises `InputError`."""
    if home is None or "://" in str(home):
        raise InputError("who may call the service: give `auth`, or a home=FOLDER with tokens")
    folder = Path(home)
    return TokenAuthentication(
        operator=operator_token(folder), named=NamedTokens(folder / NAMED_FILE)
    )


def authenticated_by(auth: Authenticate) -> Callable[[Request], Awaitable[Principal]]:
    """The principal, or `HttpProblem` 401."""

    async def authenticate(request: Request) -> Principal:
        found = auth(request)
        principal = await found if inspect.isawaitable(found) else found
        if principal is None:
            asked = {"WWW-Authenticate": "Bearer"}
            raise HttpProblem(401, "send a token as `Authorization: Bearer`", headers=asked)
        return principal

    return authenticate


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


class NewSession(BaseModel):
    code: str
    """The one-time code of the link that the program has printed."""


_Token = Annotated[HTTPAuthorizationCredentials | None, Depends(HTTPBearer(auto_error=False))]


@router.get("/me")
async def read_me(request: Request, principal: Current, service: Serving) -> Me:
    tokens = _tokens_of(request)
    session = None if tokens is None or bearer_of(request) else tokens.session_of(request)
    return Me(
        name=principal.name,
        tenant=principal.tenant,
        roles=sorted(principal.roles),
        csrf=tokens.sessions.csrf(session) if tokens and session else None,
        version=__version__,
        teams=sorted(service.supervisors),
    )


@router.post("/session", status_code=204)
async def start_session(request: Request, token: _Token, new: NewSession | None = None) -> Response:
    """Exchange a one-time code, or a token, for a cookie."""
    tokens = _tokens_of(request)
    if tokens is None:
        raise HttpProblem(409, "this service has its own way to sign in")
    holder = tokens.sessions.holder_of(new.code, _now()) if new else None
    if token is not None and new is None:
        holder = digest_of(token.credentials)
    if holder is None or tokens.principal_of(holder, request) is None:
        raise HttpProblem(401, "the code or token does not count, or no more")
    response = Response(status_code=204)
    response.set_cookie(
        COOKIE,
        tokens.sessions.cookie(holder, _now()),
        max_age=int(LASTS.total_seconds()),
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return response


@router.delete("/session", status_code=204)
async def end_session(request: Request, _: Current) -> Response:
    """The browser's cookie counts no more."""
    tokens = _tokens_of(request)
    if tokens is not None and (session := tokens.session_of(request)) is not None:
        tokens.sessions.end(session, _now())
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


def _now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)
