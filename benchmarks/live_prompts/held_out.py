"""Cases on which nothing was tuned: another team, other tools and types. Do not change a prompt for
one of these; write new ones instead if that happened."""

from functools import partial
from typing import Literal

from pydantic import BaseModel

from benchmarks.live_prompts.case import Case, Lab
from benchmarks.live_prompts.work import Needs, call, typed, wrong_plan
from leadhand import Role, Supervisor, Team, Worker

HOTEL = (
    Worker("desk", "Looks up bookings, rooms and guests", instructions="You look things up."),
    Worker("kitchen", "Plans menus, and knows dishes and allergens", instructions="You cook."),
    Worker("accountant", "Computes costs, prices and revenue", instructions="You compute."),
    Worker("copywriter", "Writes letters, notices and web texts", instructions="You write."),
)
BEDS = {12: 2, 14: 1, 20: 4}
RATES = {"summer": 140, "winter": 95}
ALLERGENS = {"risotto": "milk", "satay": "peanuts", "salad": "none"}


def beds(room: int) -> str:
    """The number of beds in a room."""
    return f"{BEDS.get(room, 'unknown')}"


def rate(season: str) -> str:
    """The price of a night in a season, summer or winter, in euros."""
    return f"{RATES.get(season.lower(), 'unknown')}"


def allergens(dish: str) -> str:
    """What a dish contains that guests may be allergic to."""
    return ALLERGENS.get(dish.lower(), "unknown")


PORTER = Worker(
    "porter",
    "Answers guests",
    instructions="You answer questions about a hotel with your tools. Never guess.",
    tools=(beds, rate, allergens),
)


class Booking(BaseModel):
    """A booking in a message."""

    nights: int
    guests: int
    breakfast: bool


class Complaint(BaseModel):
    """What a guest complains about."""

    about: Literal["noise", "food", "room"]
    wants_refund: bool


PLANS: list[tuple[str, Needs, tuple[str, str] | None]] = [
    ("Is room 12 free on 3 June?", {"desk": 1}, None),
    ("Write a notice that the lift is out of order until Friday.", {"copywriter": 1}, None),
    ("Plan a dinner of three courses without nuts for 20 guests.", {"kitchen": 1}, None),
    ("What did the restaurant earn in July?", {"accountant": 1}, None),
    ("Find the booking of Ms Okafor, and write her a letter that confirms it.",
     {"desk": 1, "copywriter": 1}, ("desk", "copywriter")),
    ("What did we earn in May, and what in June?", {"accountant": 2}, None),
    ("Which of our desserts contain milk, and how many guests arrive on Saturday?",
     {"kitchen": 1, "desk": 1}, None),
    ("Compute the revenue per room for 2025, and plan a vegetarian lunch.",
     {"accountant": 1, "kitchen": 1}, None),
    ("Plan a menu for New Year's Eve, and write a web text that advertises it.",
     {"kitchen": 1, "copywriter": 1}, ("kitchen", "copywriter")),
    ("Who stayed in room 20 last night?", {"desk": 1}, None),
]  # fmt: skip
CALLS = [
    ("How many beds does room 20 have?", ("beds",), "4|four"),
    ("What does a night in winter cost?", ("rate",), "95"),
    ("May a guest with a peanut allergy eat the satay?", ("allergens",), "peanut"),
    ("What do two nights in summer cost?", ("rate",), "280"),
    ("Which room has more beds, 12 or 14?", ("beds",), "12"),
]


async def plan(lab: Lab, request: str, needs: Needs, edge: tuple[str, str] | None) -> str:
    team = Team("hotel", model=lab.model, workers=HOTEL, planner=Role(kind="ahead"))
    return wrong_plan(await Supervisor(team).plan(request), needs, edge)


HELD_OUT_CASES = [
    *(Case("held out: planner", partial(plan, request=one, needs=needs, edge=edge))
      for one, needs, edge in PLANS),
    *(Case("held out: worker with tools",
           partial(call, worker=PORTER, intent=one, tools=tools, expected=expected))
      for one, tools, expected in CALLS),
    Case("held out: typed answer", partial(
        typed, output=Booking, intent="Read the booking: Three nights for two, with breakfast.",
        right=lambda it: it == {"nights": 3, "guests": 2, "breakfast": True})),
    Case("held out: typed answer", partial(
        typed, output=Complaint, intent="Classify: The soup was cold. I want my money back.",
        right=lambda it: it == {"about": "food", "wants_refund": True})),
    Case("held out: typed answer", partial(
        typed, output=list[int], intent="List the room numbers in: Rooms 4, 17 and 32 are free.",
        right=lambda it: it == [4, 17, 32])),
    Case("held out: typed answer", partial(
        typed, output=float, intent="What is the price in: The suite is 219.50 euros a night?",
        right=lambda it: it == 219.5)),
    Case("held out: typed answer", partial(
        typed, output=Complaint, intent="Classify: Music until 3 a.m.! I just want to sleep.",
        right=lambda it: it == {"about": "noise", "wants_refund": False})),
]  # fmt: skip
