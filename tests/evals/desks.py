"""A team without a model, and cases for it, as files."""

from pathlib import Path

TEAM = """\
from leadhand import Escalated, Handoff, Route, Team, Worker


def count(handoff: Handoff) -> dict[str, float]:
    words = handoff.intent.split()
    return {"words": len(words), "mean": sum(map(len, words)) / len(words)}


def shout(handoff: Handoff) -> object:
    if "quiet" in handoff.intent:
        return Escalated(reason="out_of_scope", message="it only shouts")
    return handoff.intent.upper()


team = Team(
    "desk",
    planner="routed",
    workers=[Worker("count", "Counts", run=count), Worker("shout", "Shouts", run=shout)],
    routes=[Route("count", words=["count"], also=["shout"]), Route("shout", words=["shout"])],
)
"""
CASES = """\
- request: count these words
  routing: {primary: count, secondary: [shout]}
- name: confused
  request: shout and count
  routing: {primary: shout}
- name: outside
  request: a joke
  routing: {primary: null}
- name: loud
  request: shout loud
  answer: {status: complete, output: SHOUT LOUD}
  synthesis: {facts: [loud, [soft, SHOUT]], forbidden: [whisper]}
- name: alone
  request: one two three
  workers:
    - {worker: count, output: {mean: 3.7}, tolerance: 0.05}
    - worker: count
      check: [{path: words, equals: 3, type: number, at_least: 3, at_most: 3}]
    - {worker: shout, intent: be quiet, escalates: out_of_scope}
    - {worker: shout, check: [{contains: two}, {contains: /^one t/}, {length: 13}]}
"""


def desk(folder: Path, cases: str = CASES, team: str = TEAM) -> Path:
    """`desk.py`, and `cases.yaml` beside it."""
    (folder / "desk.py").write_text(team, encoding="utf-8")
    (folder / "cases.yaml").write_text(cases, encoding="utf-8")
    return folder
