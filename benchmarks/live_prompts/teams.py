"""The teams and tools of the cases. All of it is made up."""

from typing import Literal

from pydantic import BaseModel

from leadhand import Role, Team, Worker, WorkerFactory
from leadhand.contracts.planner_kinds import PlannerKind

WORKERS = (
    Worker("researcher", "Finds facts in the company's reports", instructions="You search."),
    Worker("analyst", "Computes figures from the table of sales", instructions="You compute."),
    Worker("programmer", "Writes and fixes Python code", instructions="You program."),
    Worker("writer", "Writes and translates texts for readers", instructions="You write."),
)
SALES = {("March", "Germany"): 41_200, ("April", "Germany"): 38_900, ("March", "France"): 52_750}
STOCK = {"lamp": 14, "desk": 0, "chair": 230}
HOLIDAYS = {"Portugal": "25 April", "Japan": "3 May"}


def office(model: object, kind: PlannerKind = "ahead", *, describes_workers: bool = False) -> Team:
    """Four workers, under a planner of each kind."""
    return Team(
        "office",
        model=model,
        workers=WORKERS[:2] if describes_workers else WORKERS,
        planner=Role(kind=kind),
        router=Role() if kind == "routed" else None,
        worker_factory=WorkerFactory([sales, stock]) if describes_workers else None,
    )


def sales(month: str, country: str) -> str:
    """The sales of a month in a country, in euros."""
    found = SALES.get((month, country))
    return f"{found} euros" if found is not None else "unknown"


def stock(product: str) -> str:
    """How many pieces of a product are in stock."""
    return f"{STOCK.get(product.lower().removesuffix('s'), 'unknown')}"


def holiday(country: str) -> str:
    """The next public holiday in a country."""
    return HOLIDAYS.get(country, "unknown")


CLERK = Worker(
    "clerk",
    "Looks up sales, stock and holidays",
    instructions="You answer questions about a furniture shop with your tools. Never guess.",
    tools=(sales, stock, holiday),
)
WRITER = Worker("writer", "Writes short texts", instructions="You write short, plain texts.")
INVOICES = Worker(
    "invoices",
    "Questions about the invoices that you are given",
    instructions="You answer questions about the invoice in your task. Other questions are out of "
    "scope. If the invoice lacks what you need, the input is ambiguous. Then escalate.",
)


class Order(BaseModel):
    """An order in a message."""

    product: str
    quantity: int
    express: bool


class Ticket(BaseModel):
    """What a message is about."""

    topic: Literal["billing", "delivery", "technical"]
    urgent: bool


class Meeting(BaseModel):
    """When people meet."""

    date: str
    people: list[str]


class Amounts(BaseModel):
    """Amounts in a text."""

    amounts: list[float]
    currency: Literal["EUR", "USD"]


def reader(output: object) -> Worker:
    """A worker with a typed answer."""
    return Worker("reader", "Reads data", instructions="You read data off texts.", output=output)
