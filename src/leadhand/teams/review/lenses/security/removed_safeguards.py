"""Rules on safeguards that a change removes without a replacement, function by function.

The rules compare the old function with the new one of the same name. Anything that may replace the
safeguard counts: another check, a call of a helper, the same text elsewhere in the change.
"""

import ast
import re
from collections.abc import Iterator

from leadhand.contracts.finding import Finding, Severity
from leadhand.teams.review.change import ChangedFile
from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.moves import Moves, definitions
from leadhand.teams.review.lenses.security.safeguards import (
    ESCAPES,
    GUARDS_ACCESS,
    VERIFIES,
    SafeguardCheck,
    Safeguards,
    names_in,
    safeguards_in,
)  # fmt: skip
from leadhand.teams.review.lenses.security.secrets import mask_secrets, safe_quote
from leadhand.teams.review.lenses.syntax import Function, first_line, last_name, word_set

_FAMILY = "security/removed-safeguard"
_RESTORE = "Restore it, or explain in the change why it is no longer needed."


def _rule(name: str, severity: Severity, why: str) -> LensRule:
    return LensRule(f"security/removed-{name}", _FAMILY, severity, why, _RESTORE, removal=True)


CHECK = _rule("check", "warning", "What it rejected is now accepted.")
ACCESS = _rule("access-check", "critical", "Users that it rejected now have access.")
ESCAPE = _rule("escape", "critical", "Input that it made safe now passes through unchanged.")
DECORATOR = _rule("access-guard", "critical", "Anyone can now reach it.")
VERIFICATION = _rule("verification", "warning", "Data that it verified is now used unverified.")
TIMEOUT = _rule("timeout", "warning", "A peer that never answers now blocks the caller forever.")
LOCK = _rule("lock", "warning", "Two threads can now run this code at the same time.")
RULES = (CHECK, ACCESS, ESCAPE, DECORATOR, VERIFICATION, TIMEOUT, LOCK)

_HINT = re.compile(
    r"\braise\b|\babort\(|\breturn\b|\block|Lock|mutex|[sS]emaphore|timeout|^\s*@|class |Depends"
    r"|_classes|verify|valid|check|escape|quote|saniti|secure_|strip_tags|clean|compare|ensure_"
    r"|auth|perm|require"
)
_CLASS_SETTINGS = word_set("permission_classes authentication_classes throttle_classes")
_MAX_REWRITTEN = 0.5
"""If the change removes a larger part of a function, the versions can't be compared."""


def find(file: ChangedFile, moves: Moves) -> Iterator[Finding]:
    """The safeguards that the change removes from `file`."""
    if file.status not in ("modified", "renamed"):
        return
    suspect = [line for line, text in file.removed.items() if _HINT.search(text[:400])]
    if not suspect or file.base_tree is None or file.head_tree is None:
        return
    definitions_now = definitions(file.head_tree)
    for name, old in definitions(file.base_tree).items():
        new = definitions_now.get(name)
        last = old.end_lineno or old.lineno
        if new is None or not any(first_line(old) <= line <= last for line in suspect):
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
    removed = sum(1 for line in range(old.lineno, last + 1) if line in file.removed)
    if removed > max(3, (last - old.lineno + 1) * _MAX_REWRITTEN):
        return
    before, after = safeguards_in(old), safeguards_in(new)
    new_calls = after.calls.keys() - before.calls.keys()
    if (
        any(VERIFIES.match(call) or ESCAPES.match(call) for call in new_calls)
        or len(after.checks) > len(before.checks)
        or new_calls & moves.defined
    ):
        return  # something else may have taken over
    yield from _checks(file, name, before, after, moves)
    for rule, calls, kept in (
        (ESCAPE, before.escapes, after.escapes),
        (VERIFICATION, before.verifications, after.verifications),
    ):
        known = {call.name for call in kept} | moves.calls | moves.removed
        for call in calls:
            subjects = sorted(call.subjects & after.names)
            if call.line not in file.removed or call.name in known:
                continue
            if subjects or not call.subjects:
                on = f" on `{', '.join(subjects[:3])}`" if subjects else ""
                message = f"`{name}` no longer calls `{call.name}`{on}."
                yield _finding(file, rule, call.line, message)
    yield from _timeouts(file, name, before, after)
    yield from _locks(file, name, before, after)


def _checks(
    file: ChangedFile, name: str, before: Safeguards, after: Safeguards, moves: Moves
) -> Iterator[Finding]:
    if len(after.checks) >= len(before.checks):
        return
    old_keys = {check.key for check in before.checks}
    new_keys = {check.key for check in after.checks}
    reworded = {check.refusal for check in after.checks if check.key not in old_keys}
    for check in before.checks:
        if check.ordinary or check.line not in file.removed or check.key in new_keys:
            continue
        if check.test is None or check.refusal in reworded or _is_elsewhere(check, moves):
            continue
        if _subjects_remain(check.test, after, file.head):
            test = " ".join(ast.unparse(check.test).split())
            message = f"`{name}` no longer refuses with `{check.refusal}` when `{test[:120]}`."
            yield _finding(file, ACCESS if check.access else CHECK, check.line, message)


def _subjects_remain(test: ast.expr, after: Safeguards, head: str) -> bool:
    """Whether the new code still has what `test` checked."""
    called = {id(part.func) for part in ast.walk(test) if isinstance(part, ast.Call)}
    subjects = {
        part.id
        for part in ast.walk(test)
        if isinstance(part, ast.Name) and id(part) not in called and part.id not in ("self", "cls")
    }
    if subjects:
        return bool(subjects & after.names)
    return any(name in head for name in names_in(test))


def _is_elsewhere(check: SafeguardCheck, moves: Moves) -> bool:
    """Whether the added lines raise the same exception or contain the same text."""
    if check.refusal != "return" and f"raise {check.refusal}" in moves.added:
        return True
    texts = re.findall(r"['\"]([^'\"]{8,})['\"]", check.text)
    return any(text in moves.added for text in (*texts, check.text))


def _timeouts(
    file: ChangedFile, name: str, before: Safeguards, after: Safeguards
) -> Iterator[Finding]:
    if after.timeouts or any("timeout" in word for word in after.names):
        return
    for call in before.timeouts:
        if call.line in file.removed and after.calls[call.name] >= before.calls[call.name] > 0:
            message = f"`{name}` now calls `{call.name}` without a timeout."
            yield _finding(file, TIMEOUT, call.line, message)


def _locks(
    file: ChangedFile, name: str, before: Safeguards, after: Safeguards
) -> Iterator[Finding]:
    if after.locks or "acquire" in after.calls:
        return
    for lock, inside in before.locks:
        kept = any(text.split("\n", 1)[0] in file.head for text in inside)
        words = {word for text in inside for word in re.findall(r"[A-Za-z_]\w+", text)}
        if lock.line in file.removed and kept and (words - {"self", "return"}) & after.names:
            message = f"`{name}` no longer holds `{lock.name}` while it runs the guarded code."
            yield _finding(file, LOCK, lock.line, message)


def _decorators(
    file: ChangedFile, name: str, old: Function, new: Function, moves: Moves
) -> Iterator[Finding]:
    if _dependencies(new) or _guards_access(new.decorator_list):
        return
    for decorator in old.decorator_list:
        text = ast.unparse(decorator)
        short = last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
        moved = short in moves.removed or text in moves.added
        if decorator.lineno in file.removed and GUARDS_ACCESS.search(text) and not moved:
            message = f"`{name}` is no longer guarded by `@{text[:80]}`."
            yield _finding(file, DECORATOR, decorator.lineno, message)
    for dependency in _dependencies(old):
        if dependency.lineno in file.removed:
            message = f"`{name}` no longer depends on `{ast.unparse(dependency)[:80]}`."
            yield _finding(file, DECORATOR, dependency.lineno, message)


def _guards_access(nodes: list[ast.expr]) -> bool:
    return any(GUARDS_ACCESS.search(ast.unparse(node)) for node in nodes)


def _dependencies(function: Function) -> list[ast.Call]:
    """Parameter defaults such as `Depends(current_user)` that restrict who may call."""
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
    for base in () if _guards_access(new.bases) else old.bases:
        text = ast.unparse(base)
        if base.lineno in file.removed and GUARDS_ACCESS.search(text) and text not in moves.added:
            message = f"`{name}` no longer inherits from `{text}`."
            yield _finding(file, DECORATOR, base.lineno, message)
    kept = _settings(new)
    for key, node in _settings(old).items():
        empty = ast.unparse(node) in ("[]", "()")
        if key not in kept and node.lineno in file.removed and not empty:
            yield _finding(file, DECORATOR, node.lineno, f"`{name}` no longer sets `{key}`.")


def _settings(node: ast.ClassDef) -> dict[str, ast.expr]:
    return {
        target.id: statement.value
        for statement in node.body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
        if isinstance(target, ast.Name) and target.id in _CLASS_SETTINGS
    }


def _finding(file: ChangedFile, rule: LensRule, line: int, message: str) -> Finding:
    hunk = file.hunk_removing(line)
    return rule.finding(
        file,
        hunk.new_line if hunk is not None else line,
        message=mask_secrets(message),
        evidence=safe_quote(file.removed[line]),
    )
