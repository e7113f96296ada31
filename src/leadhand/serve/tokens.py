"""Tokens of the service: the operator's, which lies in the home, and named ones, kept as hashes."""

import contextlib
import datetime as dt
import fcntl
import hashlib
import os
import secrets
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError

from leadhand.contracts.data import Record, in_one_line
from leadhand.errors import InputError, ToolError
from leadhand.serve.principals import EVERY_TENANT, Principal, UserRole

OPERATOR = Principal("operator", EVERY_TENANT, frozenset(("operator",)))
"""Who has the token in the home: the person whose service it is."""
OPERATOR_FILE = "serve.token"
NAMED_FILE = "serve-tokens.json"
MIN_CHARS = 32
BEGINS = "lhs_"
"""Every token, cookie and code begins with it, so that redaction finds them."""


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
    created_at: dt.datetime = Field(default_factory=lambda: dt.datetime.now(dt.UTC))
    expires_at: dt.datetime | None = None


class TokenFile(BaseModel):
    tokens: list[NamedToken] = []


class NamedTokens:
    """The named tokens in a file, which any process may change meanwhile."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._read: tuple[tuple[int, int], TokenFile] | None = None

    @property
    def content(self) -> TokenFile:
        """Read again if it has changed."""
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return TokenFile()
        version = (found.st_mtime_ns, found.st_ino)
        if self._read is None or self._read[0] != version:
            try:
                self._read = version, TokenFile.model_validate_json(self.file.read_bytes())
            except (OSError, ValueError) as error:
                raise ToolError(f"can't read the tokens in {self.file}: {error}") from error
        return self._read[1]

    def principal_of(self, digest: str, now: dt.datetime | None = None) -> Principal | None:
        """Whose token it is, while it counts."""
        now = now or dt.datetime.now(dt.UTC)
        for one in self.content.tokens:
            counts = one.expires_at is None or now < one.expires_at
            if secrets.compare_digest(one.digest, digest) and counts:
                return Principal(one.name, one.tenant, frozenset((one.role,)))
        return None

    def add(
        self, name: str, *, tenant: str, role: UserRole, expires_at: dt.datetime | None = None
    ) -> str:
        """The token, which is shown this once. Raises `InputError` for a name that is taken."""
        if (name, tenant) == (OPERATOR.name, OPERATOR.tenant):
            raise InputError(
                f"{name!r} of the tenant {tenant!r} has serve.token: take another name"
            )
        fields = {"name": name, "tenant": tenant, "role": role, "expires_at": expires_at}
        token = new_token()
        try:
            entry = NamedToken.model_validate({**fields, "digest": digest_of(token)})
        except ValidationError as error:
            raise InputError(in_one_line(error, fields)) from None
        with self._changing() as content:
            if any(one.name == name for one in content.tokens):
                raise InputError(f"there is a token {name!r} already: revoke it first")
            content.tokens.append(entry)
        return token

    def revoke(self, name: str) -> None:
        """It counts no more from the next request on, nor do its cookies. Raises `InputError`."""
        with self._changing() as content:
            kept = [one for one in content.tokens if one.name != name]
            if len(kept) == len(content.tokens):
                raise InputError(f"there is no token {name!r}")
            content.tokens = kept

    def digest_of(self, name: str) -> str | None:
        return next((one.digest for one in self.content.tokens if one.name == name), None)

    @contextlib.contextmanager
    def _changing(self) -> Generator[TokenFile]:
        """The content, which is saved; no other process changes it meanwhile."""
        self.file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(f"{self.file}.lock", "ab") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            content = self.content.model_copy(deep=True)
            yield content
            _save(self.file, content.model_dump_json(indent=2))
