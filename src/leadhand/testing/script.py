"""Scripts for the server's answers: rules, a user's function, and random faults.

A rule is JSON: `{"match": {...}, "reply": {...}, "times": 2}`. The first that matches and is not
used up decides, else the role. Random faults only add a misbehaviour.
"""

import importlib
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from leadhand.errors import InputError
from leadhand.testing.exchange import ModelReply, Request, Role, ScriptedCall
from leadhand.testing.json_data import Json, Object, items, mapping, text
from leadhand.testing.misbehaviour import check_misbehaviours, parse_fault

Function = Callable[[Request, Role], ModelReply | None]
"""A user's script: a reply, or None to let the role answer."""

_MATCH = {"role", "contains", "system", "tool", "nth", "step"}
_REPLY = {"text", "tool_calls", "json", "misbehave"}
_RULE = {"match", "reply", "times"}


@dataclass(slots=True)
class Rule:
    match: Object
    reply: ModelReply
    times: int | None = None
    met: int = 0
    used: int = 0

    def matches(self, request: Request, role: Role) -> bool:
        """Whether this rule answers this request; counts the requests that meet its conditions."""
        if self.times is not None and self.used >= self.times:
            return False
        if not all(_met(key, value, request, role) for key, value in self.match.items()):
            return False
        self.met += 1
        if self.match.get("nth", self.met) != self.met:
            return False
        self.used += 1
        return True


def _met(key: str, value: Json, request: Request, role: Role) -> bool:
    match key:
        case "role":
            return value == role
        case "contains":
            return text(value) in request.last_user
        case "system":
            return text(value) in request.system
        case "tool":
            return any(tool.name == value for tool in request.tools)
        case "step":
            return value == request.step
        case _:
            return True  # `nth` counts the requests that meet the other conditions


class Script:
    """Rules or a function, and random faults; it counts its own replies."""

    def __init__(self, script: Json, faults: Mapping[str, float], *, seed: int) -> None:
        self._rules = [] if isinstance(script, str) else parse_rules(items(script))
        self._function = load_function(script) if isinstance(script, str) else None
        self._faults = [(*parse_fault(name), share) for name, share in faults.items()]
        self._random = random.Random(seed)

    def reply(self, request: Request, role: Role) -> ModelReply:
        chance = self._chance()
        reply = self._scripted(request, role) or ModelReply()
        if not chance:
            return reply
        return replace(reply, misbehave={**chance, **reply.misbehave})

    def _scripted(self, request: Request, role: Role) -> ModelReply | None:
        if self._function is not None:
            return self._function(request, role)
        return next((rule.reply for rule in self._rules if rule.matches(request, role)), None)

    def _chance(self) -> Object:
        """At most one misbehaviour, drawn once per request, so that a seed gives one sequence."""
        if not self._faults:
            return {}
        drawn = self._random.random()
        for name, parameter, share in self._faults:
            drawn -= share
            if drawn < 0:
                return {name: parameter}
        return {}


def parse_rules(script: Sequence[Json]) -> list[Rule]:
    """Raises `InputError` for the first problem."""
    return [_rule(mapping(rule), number) for number, rule in enumerate(script, start=1)]


def _rule(rule: Object, number: int) -> Rule:
    where = f"rule {number} of the script"
    match, reply, times = mapping(rule.get("match")), mapping(rule.get("reply")), rule.get("times")
    _known(rule, _RULE, where)
    _known(match, _MATCH, f"`match` of {where}")
    _known(reply, _REPLY, f"`reply` of {where}")
    if "reply" not in rule:
        raise InputError(f"{where} has no `reply`: say what to answer")
    if times is not None and not isinstance(times, int):
        raise InputError(f"`times` of {where} is {times!r}: give a whole number")
    misbehave = mapping(reply.get("misbehave"))
    check_misbehaviours(misbehave, where)
    said = reply.get("text")
    calls = tuple(_call(mapping(call), where) for call in items(reply.get("tool_calls")))
    given = text(said) if said is not None else None
    return Rule(match, ModelReply(given, calls, reply.get("json"), misbehave), times)


def _call(call: Object, where: str) -> ScriptedCall:
    arguments = call.get("arguments", {})
    if not text(call.get("name")) or not isinstance(arguments, dict | str):
        raise InputError(f"a tool call of {where} needs a `name` and `arguments` (object or text)")
    return ScriptedCall(text(call.get("name")), arguments)


def _known(given: Object, known: set[str], where: str) -> None:
    if unknown := sorted(given.keys() - known):
        names = ", ".join(sorted(known))
        raise InputError(f"{where} has {', '.join(unknown)}, which means nothing: it takes {names}")


def load_function(name: str) -> Function:
    """Raises `InputError` if `module:function` names none."""
    module_name, _, attribute = name.partition(":")
    try:
        found: object = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"no script {name!r} (give module:function): {error}") from error
    if not callable(found):
        raise InputError(f"script {name!r} is not a function")
    return cast("Function", found)


def name_of(function: Callable[..., object]) -> str:
    """`module:function`. Raises `InputError` for a function that can't be imported."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", "")
    if module in (None, "__main__") or not str(name).isidentifier():
        raise InputError(
            f"the script {name or function!r} is not a function of a module that another process "
            "can import: define it at the top of a module, or give rules"
        )
    return f"{module}:{name}"
