"""Tokens of the service: the operator's, which lies in the home, and named ones, kept as hashes."""

import contextlib
import datetime as dt
import fcntl
import hashlib
import os
import secrets
import tempfile
import time
from collections.abc import Callable, Collection, Generator, Mapping
from pathlib import Path

from pydantic import Field, ValidationError

from leadhand.contracts.data import Record, in_one_line
from leadhand.errors import InputError, ToolError
from leadhand.serve.principals import Principal, UserRole

OPERATOR_FILE = "serve.token"
NAMED_FILE = "serve-tokens.json"
MIN_CHARS = 32
BEGINS = "lhs_"
"""Every token begins with it, so that redaction finds them."""


def new_token() -> str:
    return BEGINS + secrets.token_hex(32)


def digest_of(token: str) -> str:
    """A plain hash is enough: tokens are random, not chosen by people."""
    return hashlib.sha256(token.encode()).hexdigest()


def operator_token(folder: Path) -> str:
    """The token in `serve.token`, which is made at first. Raises `InputError` for a file that
    others can read, or that can't be read."""
    file = folder / OPERATOR_FILE
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            with contextlib.suppress(FileExistsError):  # another process was faster
                _save(file, f"{new_token()}\n", os.link)
        with open(file, encoding="ascii") as opened:
            found, token = os.fstat(opened.fileno()), opened.read(1_000).strip()
    except (OSError, ValueError) as error:
        raise InputError(f"can't keep the service's token in {file}: {error}") from error
    if found.st_mode & 0o077 or found.st_uid != os.getuid() or len(token) < MIN_CHARS:
        raise InputError(f"{file} is not yours alone, or no token: delete it, and one is made")
    return token


def _save(file: Path, text: str, name: Callable[[str, Path], None] = os.replace) -> None:
    """Whole, and for this user alone, before it gets its name."""
    with tempfile.NamedTemporaryFile("w", dir=file.parent, encoding="utf-8", delete=False) as new:
        new.write(text)
    try:
        name(new.name, file)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(new.name)


class NamedToken(Record):
    name: str = Field(min_length=1, max_length=100, pattern=r"^[\w.@+-]+$")
    digest: str
    """Of the token, which itself is not kept."""
    tenant: str = Field(min_length=1, max_length=100)
    role: UserRole
    created_at: dt.datetime
    expires_at: dt.datetime | None = None

    def is_valid(self, now: dt.datetime) -> bool:
        return self.expires_at is None or now < self.expires_at

    @property
    def principal(self) -> Principal:
        return Principal(self.name, self.tenant, frozenset((self.role,)))


class _File(Record):
    key: str
    """Signs the cookies of browsers."""
    tokens: tuple[NamedToken, ...] = ()
    ended: Mapping[str, float] = Field(default_factory=dict)
    """Sessions of browsers that their users ended, and when they would have expired."""


class NamedTokens:
    """The named tokens in a file, which any process may change meanwhile."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._read: tuple[tuple[int, int], _File] | None = None

    @property
    def all(self) -> tuple[NamedToken, ...]:
        return self._content().tokens

    @property
    def key(self) -> bytes:
        """Signs cookies; made at first."""
        if not self._content().key:
            with self._changing():
                pass
        return bytes.fromhex(self._content().key)

    def of_digest(self, digest: str) -> NamedToken | None:
        return next((one for one in self.all if secrets.compare_digest(one.digest, digest)), None)

    def add(
        self,
        name: str,
        *,
        tenant: str,
        role: UserRole,
        now: dt.datetime,
        expires_at: dt.datetime | None = None,
    ) -> str:
        """The token, which is shown this once. Raises `InputError` for a name that is taken."""
        token = new_token()
        try:
            entry = NamedToken(
                name=name,
                digest=digest_of(token),
                tenant=tenant,
                role=role,
                created_at=now,
                expires_at=expires_at,
            )
        except ValidationError as error:
            raise InputError(in_one_line(error, {"name": name})) from None
        with self._changing() as (tokens, _):
            if any(one.name == name for one in tokens):
                raise InputError(f"there is a token {name!r} already: revoke it first")
            tokens.append(entry)
        return token

    def revoke(self, name: str) -> None:
        """It counts no more from the next request on, nor do its cookies. Raises `InputError`."""
        with self._changing() as (tokens, _):
            found = [one for one in tokens if one.name == name]
            if not found:
                raise InputError(f"there is no token {name!r}")
            tokens.remove(found[0])

    @property
    def ended_sessions(self) -> Collection[str]:
        return self._content().ended

    def end_session(self, nonce: str, *, until_s: float) -> None:
        """Raises `OSError` if the file can't be written."""
        with self._changing() as (_, ended):
            for one in [one for one, until in ended.items() if until < time.time()]:
                del ended[one]
            ended[nonce] = until_s

    def _content(self) -> _File:
        """Read again if it has changed."""
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return _File(key="")
        version = (found.st_mtime_ns, found.st_ino)
        if self._read is None or self._read[0] != version:
            try:
                content = _File.model_validate_json(self.file.read_bytes())
            except (OSError, ValueError) as error:
                raise ToolError(f"can't read the tokens in {self.file}: {error}") from error
            self._read = (version, content)
        return self._read[1]

    @contextlib.contextmanager
    def _changing(self) -> Generator[tuple[list[NamedToken], dict[str, float]]]:
        """The tokens and the ended sessions, which are saved with a key; no other process changes
        them meanwhile."""
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(f"{self.file}.lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            content = self._content()
            tokens, ended = [*content.tokens], {**content.ended}
            yield tokens, ended
            key = content.key or secrets.token_hex(32)
            content = _File(key=key, tokens=tuple(tokens), ended=ended)
            _save(self.file, content.model_dump_json(indent=2))
