"""Who sends a request, by a token or a browser's cookie; and the routes of sessions.

A browser exchanges a one-time code or a token for a cookie. It is not stored but signed with the
digest of the token, so that every process that knows the token knows its cookies.
"""

import hmac
import ipaddress
import secrets
import time
from pathlib import Path
from typing import NamedTuple

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from leadhand import __version__
from leadhand.errors import InputError
from leadhand.serve.principals import EVERY_TENANT, Current, Principal, UserRole
from leadhand.serve.problems import HttpProblem
from leadhand.serve.service import Calling
from leadhand.serve.tokens import NAMED_FILE, NamedTokens, digest_of, operator_token

OPERATOR = Principal("operator", EVERY_TENANT, frozenset(("operator",)))
"""Who has the token in the home: the person whose service it is."""
COOKIE = "leadhand_session"
CSRF_HEADER = "X-CSRF-Token"
LASTS_S = 12 * 3_600
CODE_LASTS_S = 15 * 60
_MAX_CODES = 100
_SAFE = ("GET", "HEAD", "OPTIONS")

router = APIRouter(prefix="/api/v1", tags=["session"])


class BrowserSession(NamedTuple):
    """What a cookie says, whose signature is right."""

    digest: str
    """Of the token that was exchanged."""
    expires_s: float
    csrf: str
    """Random; no other site can read it, so that it also proves where a request comes from."""


class TokenAuthentication:
    """An `Authenticate`: the token in a home for loopback, named tokens, and browsers' cookies."""

    def __init__(self, *, operator: str | None, named: NamedTokens) -> None:
        self._operator = operator and digest_of(operator)
        self._named = named
        self._codes = dict[str, float]()
        """Until when each counts, for the operator."""
        self._ended = dict[str, float]()
        """Sessions that their users ended, and when they would have expired."""

    def __call__(self, request: Request) -> Principal:
        """Raises `HttpProblem` 401, and 403 without the CSRF token."""
        token, session = bearer_of(request), None
        if token is None and (session := self.session_of(request)) is not None:
            given = request.headers.get(CSRF_HEADER, "").encode()
            is_csrf = hmac.compare_digest(given, session.csrf.encode())
            if request.method not in _SAFE and not is_csrf:
                why = f"send the header {CSRF_HEADER} with the `csrf` of /api/v1/me"
                raise HttpProblem(403, why)
        digest = digest_of(token) if token else session and session.digest
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
        code = secrets.token_urlsafe(24)
        self._codes[code] = time.time() + CODE_LASTS_S
        return code

    def cookie_for(self, request: Request) -> str | None:
        """A cookie for the request's token, which may be a one-time code."""
        token = bearer_of(request) or ""
        by_code = time.time() < self._codes.pop(token, 0)
        digest = self._operator if by_code and self._operator else digest_of(token)
        if (principal := self.principal_of(digest, request)) is None:
            return None
        name = "" if principal is OPERATOR else principal.name
        said = f"{name}.{int(time.time()) + LASTS_S}.{secrets.token_hex(16)}"
        return f"{said}.{_signature(said, digest)}"

    def session_of(self, request: Request) -> BrowserSession | None:
        """None if the cookie was not signed here, has expired or was ended."""
        said, _, signature = request.cookies.get(COOKIE, "").rpartition(".")
        name = said.rpartition(".")[0].rpartition(".")[0]
        digest = self._named.digest_of(name) if name else self._operator
        if digest is None or not hmac.compare_digest(
            signature.encode(), _signature(said, digest).encode()
        ):
            return None
        _, expires_s, csrf = said.rsplit(".", 2)
        expired = time.time() >= int(expires_s) or csrf in self._ended
        return None if expired else BrowserSession(digest, int(expires_s), csrf)

    def end(self, session: BrowserSession) -> None:
        """In this process."""
        now_s = time.time()
        self._ended = {one: until for one, until in self._ended.items() if until > now_s}
        self._ended[session.csrf] = session.expires_s


def _signature(text: str, digest: str) -> str:
    return hmac.digest(digest.encode(), text.encode(), "sha256").hex()


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
    tokens, principal = _tokens_of(request), caller.principal
    session = None if tokens is None or bearer_of(request) else tokens.session_of(request)
    return Me(
        name=principal.name,
        tenant=principal.tenant,
        roles=sorted(principal.roles),
        csrf=session and session.csrf,
        version=__version__,
        teams=sorted(caller.service.supervisors),
    )


@router.post("/session", status_code=204)
async def start_session(request: Request) -> Response:
    """Exchange a token, or the one-time code of the program's link in its place, for a cookie."""
    tokens = _tokens_of(request)
    if tokens is None:
        raise HttpProblem(409, "this service has its own way to sign in")
    cookie = tokens.cookie_for(request)
    if cookie is None:
        raise HttpProblem(401, "the code or token does not count, or no more")
    response, secure = Response(status_code=204), request.url.scheme == "https"
    response.set_cookie(
        COOKIE, cookie, max_age=LASTS_S, httponly=True, samesite="strict", secure=secure
    )
    return response


@router.delete("/session", status_code=204)
async def end_session(request: Request, _: Current) -> Response:
    """The browser's cookie counts no more."""
    tokens = _tokens_of(request)
    if tokens is not None and (session := tokens.session_of(request)) is not None:
        tokens.end(session)
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
