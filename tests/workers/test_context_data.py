"""A run's context reaches worker processes if it is data; if not, the run does not start."""

import datetime as dt
import sqlite3
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, SecretStr

from leadhand import Handoff, InputError, Supervisor, Team, Worker
from leadhand.workers.context_data import ContextData

SECRET = "sk-this-is-nobodys-business"


class Account(BaseModel):
    """Data of a model."""

    id: str
    since: dt.date = dt.date(2026, 5, 1)
    token: SecretStr = SecretStr(SECRET)


@dataclass
class Customer:
    """Data of a dataclass."""

    account: Account
    limit: Decimal = Decimal("12.50")
    tags: set[str] = field(default_factory=lambda: {"vip"})


@dataclass
class Desk:
    """What can't be sent."""

    database: sqlite3.Connection


class Lossy(BaseModel):
    """What is data, but not of all that it has."""

    id: object


def shown(handoff: Handoff[Customer]) -> str:
    """What arrived in the process."""
    customer = handoff.run_context
    assert customer.account.token.get_secret_value() == SECRET
    assert customer == Customer(Account(id="c9"))
    return f"{customer.account.id} with {handoff.origin}"


def team() -> Team:
    """A team whose only worker is in a process, within another team."""
    inner = Team("inner", workers=(Worker("clerk", "Answers", run=shown, isolate="process"),))
    return Team("outer", workers=(Worker("inner", "Answers", team=inner),))


def test_a_context_reaches_the_process_of_a_worker_and_nothing_else(tmp_path: Path) -> None:
    supervisor = Supervisor(team(), context_type=Customer, home=tmp_path)
    given = Customer(Account(id="c9"))
    answer = supervisor.run_sync("who?", context=given, origin={"ticket": 7})
    assert "c9 with {'ticket': 7}" in answer.answer, answer.gaps
    files = [file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not any(SECRET.encode() in content for content in files)


@pytest.mark.parametrize("context", [{"id": "c9", "n": [1, None]}, "c9", 7, Account(id="c9")])
def test_what_is_data_comes_back_as_it_was(context: object) -> None:
    sent = ContextData.of(context)
    again = ContextData.model_validate_json(sent.model_dump_json()).load()
    assert (again, type(again)) == (context, type(context))
    assert SECRET not in repr(sent)


def nameless() -> object:
    """An instance of a class that no other process can import."""

    class Nameless(BaseModel):
        id: str = SECRET

    return Nameless()


@pytest.mark.parametrize(
    ("context", "why"),
    [
        (Desk(sqlite3.connect(":memory:")), "schema for <class 'sqlite3.Connection'>"),
        ({"database": Desk}, "serialize unknown type: <class 'type'>"),
        ({"since": dt.date(2026, 5, 1), "token": SECRET}, "dict changes on the way through JSON"),
        (Lossy(id=(SECRET,)), "Lossy changes on the way through JSON"),
        (nameless(), r"Nameless has no name that another process could import: define it at"),
    ],
)
def test_a_run_with_a_worker_process_needs_a_context_that_is_data(context: Any, why: str) -> None:
    supervisor: Supervisor[Any] = Supervisor(team())
    with pytest.raises(InputError, match=why) as raised:
        supervisor.run_sync("who?", context=context)
    assert "to the process of worker 'clerk': " in str(raised.value)
    assert 'or leave out `isolate="process"`' in str(raised.value)
    assert SECRET not in str(raised.value)
