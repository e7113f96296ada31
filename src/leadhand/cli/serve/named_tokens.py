"""`leadhand serve tokens`: the file of named tokens, changed and shown."""

import datetime as dt
import os
import sys
from pathlib import Path

from leadhand.cli.duration import parse_duration
from leadhand.cli.home import home_of, state_folder
from leadhand.cli.views.consoles import print_note
from leadhand.cli.views.terminal import print_json, safe
from leadhand.serve.principals import UserRole
from leadhand.serve.tokens import NAMED_FILE, NamedTokens


def tokens_file(home: str | None, tokens: Path | None) -> Path:
    """Where they are kept: a home that is a database has no files, but the user's folder does."""
    if tokens is not None:
        return tokens
    where = home_of(home, os.environ)
    return (where if isinstance(where, Path) else state_folder(os.environ)) / NAMED_FILE


def add_token(file: Path, name: str, *, tenant: str, role: UserRole, expires: str | None) -> None:
    """Raises `InputError`."""
    now = dt.datetime.now(dt.UTC)
    until = now + dt.timedelta(seconds=parse_duration(expires)) if expires else None
    token = NamedTokens(file).add(name, tenant=tenant, role=role, now=now, expires_at=until)
    print_note(f"the token of {name}, shown this once; its hash is in {file}:")
    sys.stdout.write(f"{token}\n")


def print_tokens(file: Path, *, as_json: bool) -> None:
    found = [one.model_dump(mode="json", exclude={"digest"}) for one in NamedTokens(file).all]
    if as_json:
        print_json(found)
        return
    for one in found:
        until = f"until {one['expires_at']}" if one["expires_at"] else "does not expire"
        line = f"{one['name']}  tenant {one['tenant']}  {one['role']}  {until}"
        sys.stdout.write(f"{safe(line)}\n")
    if not found:
        sys.stdout.write(f"no tokens in {safe(str(file))}\n")


def revoke_token(file: Path, name: str) -> None:
    """Raises `InputError`."""
    NamedTokens(file).revoke(name)
    print_note(f"the token {name} counts no more")
