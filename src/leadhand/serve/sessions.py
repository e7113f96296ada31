"""Sessions of browsers: a one-time code or a token, exchanged for a signed cookie."""

import datetime as dt
import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

COOKIE = "leadhand_session"
CSRF_HEADER = "X-CSRF-Token"
LASTS = dt.timedelta(hours=12)
CODE_LASTS = dt.timedelta(minutes=15)
_MAX_CODES = 100


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """What a cookie says, whose signature is right."""

    holder: str
    """Whose session it is: the digest of the token that was exchanged."""
    nonce: str
    expires_s: int


@dataclass(eq=False)
class Sessions:
    """Cookies are signed and not stored, so that every process with the key knows them."""

    key: Callable[[], bytes]
    _codes: dict[str, tuple[str, dt.datetime]] = field(
        default_factory=dict[str, tuple[str, dt.datetime]]
    )
    _ended: dict[str, int] = field(default_factory=dict[str, int])
    """Sessions that a user of this process has ended, until they would have expired."""

    def new_code(self, holder: str, now: dt.datetime) -> str:
        """A code that one browser can exchange for a cookie, soon."""
        code = secrets.token_urlsafe(24)
        while len(self._codes) >= _MAX_CODES:
            self._codes.pop(next(iter(self._codes)))
        self._codes[code] = (holder, now + CODE_LASTS)
        return code

    def holder_of(self, code: str, now: dt.datetime) -> str | None:
        """Whose code it is; it counts once."""
        holder, until = self._codes.pop(code, ("", now))
        return holder if now < until else None

    def cookie(self, holder: str, now: dt.datetime) -> str:
        expires_s = int((now + LASTS).timestamp())
        said = f"{holder}.{expires_s}.{secrets.token_hex(16)}"
        return f"{said}.{self._signature('session', said)}"

    def read(self, cookie: str, now: dt.datetime) -> BrowserSession | None:
        """None if it was not signed here, has expired or was ended."""
        said, _, signature = cookie.rpartition(".")
        if not hmac.compare_digest(signature.encode(), self._signature("session", said).encode()):
            return None
        holder, expires_s, nonce = said.split(".")
        found = BrowserSession(holder, nonce, int(expires_s))
        if now.timestamp() >= found.expires_s or nonce in self._ended:
            return None
        return found

    def csrf(self, session: BrowserSession) -> str:
        return self._signature("csrf", session.nonce)

    def is_csrf(self, session: BrowserSession, given: str) -> bool:
        return hmac.compare_digest(given.encode(), self.csrf(session).encode())

    def end(self, session: BrowserSession, now: dt.datetime) -> None:
        self._ended = {
            nonce: until for nonce, until in self._ended.items() if until > now.timestamp()
        }
        self._ended[session.nonce] = session.expires_s

    def _signature(self, purpose: str, text: str) -> str:
        return hmac.digest(self.key(), f"{purpose}:{text}".encode(), "sha256").hex()
