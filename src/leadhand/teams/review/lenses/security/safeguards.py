"""Safeguards that a change takes away and puts nothing in place of, function by function.

The old function is compared with the new one of the same name. Whatever may be the safeguard's new
form counts as one: another check, a helper called instead, the same words elsewhere in the change.
"""

import ast
import re
from collections.abc import Iterator, Sequence

from leadhand.contracts.finding import Finding
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import Function
from leadhand.teams.review.lenses.security.moves import Moves, definitions
from leadhand.teams.review.lenses.security.protections import (
    ESCAPES,
    GUARDS_ACCESS,
    VERIFIES,
    Guard,
    ProtectionCheck,
    Protections,
    last_name,
    names_in,
    protections,
)  # fmt: skip
from leadhand.teams.review.lenses.security.secrets import masked, quote

_FAMILY = "security/removed-safeguard"
_BACK = "Put it back, or say in the change why it is not needed any more."
CHECK = LensRule(
    "security/removed-check", _FAMILY, "warning",
    "What it refused is now let through.", _BACK,
)  # fmt: skip
ACCESS = LensRule(
    "security/removed-access-check", _FAMILY, "critical",
    "Those whom it turned away are now let in.", _BACK,
)  # fmt: skip
ESCAPE = LensRule(
    "security/removed-escape", _FAMILY, "critical",
    "What it made harmless now goes through as it came.", _BACK,
)  # fmt: skip
DECORATOR = LensRule(
    "security/removed-access-guard", _FAMILY, "critical",
    "Anyone can now reach it.", _BACK,
)  # fmt: skip
VERIFICATION = LensRule(
    "security/removed-verification", _FAMILY, "warning",
    "What it verified is now taken on trust.", _BACK,
)  # fmt: skip
TIMEOUT = LensRule(
    "security/removed-timeout", _FAMILY, "warning",
    "A peer that never answers now holds the caller for ever.", _BACK,
)  # fmt: skip
LOCK = LensRule(
    "security/removed-lock", _FAMILY, "warning",
    "Two threads can now be in there at once.", _BACK,
)  # fmt: skip
RULES = (CHECK, ACCESS, ESCAPE, DECORATOR, VERIFICATION, TIMEOUT, LOCK)

_HINT = re.compile(
    r"\braise\b|\babort\(|\breturn\b|\block|Lock|mutex|[sS]emaphore|timeout|^\s*@|class |Depends"
    r"|_classes|verify|valid|check|escape|quote|saniti|secure_|strip_tags|clean|compare|ensure_"
    r"|auth|perm|require"
)
_CLASS_SETTINGS = frozenset(("permission_classes", "authentication_classes", "throttle_classes"))
_MOST_REWRITTEN = 0.5
"""Of an old function's lines; where more are gone it was rewritten, and nothing can be said."""


def find(file: ChangedFile, moves: Moves) -> Iterator[Finding]:
    """The safeguards that the change takes out of `file`."""
    if file.status not in ("modified", "renamed"):
        return
    suspect = [line for line, text in file.removed.items() if _HINT.search(text[:400])]
    if not suspect or file.base_tree is None or file.head_tree is None:
        return
    before, after = definitions(file.base_tree), definitions(file.head_tree)
    for name, old in before.items():
        new = after.get(name)
        first = min((part.lineno for part in old.decorator_list), default=old.lineno)
        last = old.end_lineno or old.lineno
        if new is None or not any(first <= line <= last for line in suspect):
            continue
        if isinstance(old, ast.ClassDef):
            if isinstance(new, ast.ClassDef):
                yield from _class(file, name, old, new, moves)
        elif not isinstance(new, ast.ClassDef):
            yield from _function(file, name, old, new, moves)


def _function(
    file: ChangedFile, name: str, old: Function, new: Function, moves: Moves
) -> Iterator[Finding]:
    yield from _decorators(file, name, old, new, moves)
    last = old.end_lineno or old.lineno
    gone = sum(1 for line in range(old.lineno, last + 1) if line in file.removed)
    if gone > max(3, (last - old.lineno + 1) * _MOST_REWRITTEN):
        return
    was, now = protections(old), protections(new)
    fresh = {call for call in now.calls if call not in was.calls}
    taken_over = any(VERIFIES.match(call) or ESCAPES.match(call) for call in fresh)
    taken_over = taken_over or now.raises > was.raises or bool(fresh & moves.defined)
    if taken_over:
        return
    yield from _checks(file, name, was, now, moves)
    for rule, olds, wake_up in (
        (ESCAPE, was.escapes, now.escapes),
        (VERIFICATION, was.verifications, now.verifications),
    ):
        for guard in _missing(file, olds, wake_up):
            kept = guard.on & now.names or not guard.on
            if kept and guard.name not in moves.calls and guard.name not in moves.dropped:
                what = f"`{name}` does not call `{guard.name}` any more"
                on = ", ".join(sorted(guard.on & now.names)[:3])
                message = f"{what} on `{on}`." if on else f"{what}."
                yield _finding(file, rule, guard.line, message)
    yield from _time_limits(file, name, was, now)
    yield from _locks(file, name, was, now)


def _checks(
    file: ChangedFile, name: str, was: Protections, now: Protections, moves: Moves
) -> Iterator[Finding]:
    if now.raises >= was.raises:
        return
    olds, wake_up = {check.key for check in was.checks}, {check.key for check in now.checks}
    reworded = {check.refusal for check in now.checks if check.key not in olds}
    for check in was.checks:
        if check.ordinary or check.line not in file.removed or check.key in wake_up:
            continue
        if check.refusal in reworded:
            continue
        if _said_elsewhere(check, moves) or check.test is None:
            continue
        if not _still_about(check.test, now, file.head):
            continue
        rule = ACCESS if check.access else CHECK
        test = " ".join(ast.unparse(check.test).split())
        message = f"`{name}` does not refuse `{test[:120]}` with `{check.refusal}` any more."
        yield _finding(file, rule, check.line, message)


def _still_about(test: ast.expr, now: Protections, head: str) -> bool:
    """Whether what `test` asked about is still there to be asked about."""
    called = {id(part.func) for part in ast.walk(test) if isinstance(part, ast.Call)}
    subjects = {
        part.id
        for part in ast.walk(test)
        if isinstance(part, ast.Name) and id(part) not in called and part.id not in ("self", "cls")
    }
    if subjects:
        return bool(subjects & now.names)
    return any(name in head for name in names_in(test))


def _said_elsewhere(check: ProtectionCheck, moves: Moves) -> bool:
    """Whether the lines added raise the same, or say the same words."""
    if check.refusal != "return" and f"raise {check.refusal}" in moves.added:
        return True
    texts = re.findall(r"['\"]([^'\"]{8,})['\"]", check.text)
    return any(text in moves.added for text in texts) or check.text in moves.added


def _missing(file: ChangedFile, olds: Sequence[Guard], wake_up: Sequence[Guard]) -> Iterator[Guard]:
    """The guards on removed lines whose like the new function has fewer of."""
    for guard in olds:
        count = sum(1 for other in olds if other.name == guard.name)
        left = sum(1 for other in wake_up if other.name == guard.name)
        if guard.line in file.removed and left == 0 < count:
            yield guard


def _time_limits(
    file: ChangedFile, name: str, was: Protections, now: Protections
) -> Iterator[Finding]:
    if now.time_limits or any("timeout" in word for word in now.names):
        return
    for guard in was.time_limits:
        if guard.line in file.removed and now.calls[guard.name] >= was.calls[guard.name] > 0:
            message = f"`{guard.name}` in `{name}` is called without a timeout now."
            yield _finding(file, TIMEOUT, guard.line, message)


def _locks(file: ChangedFile, name: str, was: Protections, now: Protections) -> Iterator[Finding]:
    if now.locks or "acquire" in now.calls:
        return
    for guard, inside in was.locks:
        new = file.head
        kept = [text for text in inside if text.split("\n", 1)[0] in new]
        if (
            guard.line in file.removed
            and kept
            and any(part in now.names for part in _parts(inside))
        ):
            message = f"`{name}` does what `{guard.name}` guarded without holding it."
            yield _finding(file, LOCK, guard.line, message)


def _parts(inside: frozenset[str]) -> set[str]:
    return {word for text in inside for word in re.findall(r"[A-Za-z_]\w+", text)} - {
        "self",
        "return",
    }


def _decorators(
    file: ChangedFile, name: str, old: Function, new: Function, moves: Moves
) -> Iterator[Finding]:
    wake_up = {ast.unparse(part) for part in new.decorator_list}
    guarded = any(GUARDS_ACCESS.search(text) for text in wake_up) or _injected(new)
    for decorator in old.decorator_list:
        text = ast.unparse(decorator)
        if text in wake_up or not GUARDS_ACCESS.search(text) or guarded:
            continue
        short = last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        if (
            decorator.lineno in file.removed
            and short not in moves.dropped
            and text not in moves.added
        ):
            message = f"`{name}` is not guarded by `@{text[:80]}` any more."
            yield _finding(file, DECORATOR, decorator.lineno, message)
    for injected in _injected(old):
        if not guarded and injected.lineno in file.removed:
            message = f"`{name}` does not depend on `{ast.unparse(injected)[:80]}` any more."
            yield _finding(file, DECORATOR, injected.lineno, message)


def _injected(function: Function) -> list[ast.Call]:
    """The parameters' defaults (`Depends(current_user)`) that let only some callers in."""
    return [
        default
        for default in (*function.args.defaults, *function.args.kw_defaults)
        if isinstance(default, ast.Call)
        and last_name(default.func) in ("Depends", "Security")
        and GUARDS_ACCESS.search(ast.unparse(default))
    ]


def _class(
    file: ChangedFile, name: str, old: ast.ClassDef, new: ast.ClassDef, moves: Moves
) -> Iterator[Finding]:
    wake_up = {ast.unparse(base) for base in new.bases}
    if not any(GUARDS_ACCESS.search(text) for text in wake_up):
        for base in old.bases:
            text = ast.unparse(base)
            if (
                base.lineno in file.removed
                and GUARDS_ACCESS.search(text)
                and text not in moves.added
            ):
                message = f"`{name}` does not derive from `{text}` any more."
                yield _finding(file, DECORATOR, base.lineno, message)
    kept = _settings(new)
    for key, node in _settings(old).items():
        if (
            key not in kept
            and node.lineno in file.removed
            and ast.unparse(node) not in ("[]", "()")
        ):
            message = f"`{name}` has no `{key}` any more."
            yield _finding(file, DECORATOR, node.lineno, message)


def _settings(node: ast.ClassDef) -> dict[str, ast.expr]:
    return {
        target.id: statement.value
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id in _CLASS_SETTINGS
    }


def _finding(file: ChangedFile, rule: LensRule, line: int, message: str) -> Finding:
    return rule.finding(
        file, _stands_now(file, line), message=masked(message), evidence=quote(file.removed[line])
    )


def _stands_now(file: ChangedFile, line: int) -> int:
    """The line of the new file that stands where `line` of the old one stood."""
    for hunk in file.hunks:
        if hunk.old_start <= line < hunk.old_start + hunk.old_count:
            return hunk.new_line
    return line
