"""Single edits that make code less safe, whatever else the change does to the definition."""

import ast
from collections.abc import Callable, Iterator

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import (
    DefinitionPairs,
    Edit,
    Pair,
    Removal,
    asked,
    shown,
    vocabulary,
)
from leadhand_teams.review.comparison.code import names_in, squeezed
from leadhand_teams.review.comparison.guards import called_in, subjects_of
from leadhand_teams.review.lens import LensRule
from leadhand_teams.review.lenses.security.credentials import HARD_CODED
from leadhand_teams.review.lenses.security.removed.declarations import guards
from leadhand_teams.review.lenses.security.removed.rules import DECORATOR, REQUEST, SAFER

_REQUESTS = syntax.word_set(
    "method origin referer referrer host is_secure is_ajax is_xhr"
    " validate_on_submit is_submitted is_valid content_type remote_addr is_local same_origin"
)
"""What a condition on a request or a submitted form is about."""
_SECRETS = syntax.word_set("secret password passwd token credentials apikey key passphrase")
_BUILT = (ast.BinOp, ast.JoinedStr, ast.Compare)
_MIN_SECRET = 8

Row = Callable[[Edit, Pair, DefinitionPairs], str]


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What the rows below ask about the edits of a definition."""
    if pair.is_rewritten:
        return
    for edit in pair.edits:
        for rule, row in _ROWS:
            if question := row(edit, pair, sides):
                yield from asked(rule, edit, pair, question)


def _decorated(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A check that a decorator's argument no longer names, or a method that it now lets in."""
    decorators = getattr(pair.old.node, "decorator_list", [])
    if edit.old is None or not any(one in edit.above for one in decorators):
        return ""
    lost = names_in(edit.old) - (names_in(edit.new) if edit.new is not None else frozenset())
    name = next((one for one in sorted(lost) if guards(one)), "")
    if not name or sides.added_words[name]:
        return ""
    return f"Is {pair.place} still protected? Its decorator named `{name}` before."


def _request(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A condition on the request or the form that is gone."""
    match edit:
        case Edit(old=ast.If(test=test), new=None):
            pass
        case Edit(old=ast.expr() as test, new=None, above=(ast.BoolOp(), *_)):
            pass
        case Edit(old=ast.expr() as test, new=ast.Constant(), above=(ast.If(), *_)):
            pass
        case _:
            return ""
    names = subjects_of(test) | called_in(test)
    if names.isdisjoint(_REQUESTS) or pair.is_dropped_variant(test):
        return ""
    text = ast.unparse(test)
    if pair.tests_anew(names & _REQUESTS) or squeezed(text) in sides.added_text:
        return ""
    if sides.rewrites(called_in(test)) or not names & (pair.new.names if pair.new else names):
        return ""
    return f"Is `{shown(text)}` checked elsewhere? {pair.place} asked for it here."


def _replaced(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A function that made a value safe, in whose place now stands an expression without it."""
    match edit:
        case Edit(old=ast.Call(func=function) as call, new=ast.expr() as new):
            name = syntax.last_name(function)
        case _:
            return ""
    formats = isinstance(new, ast.Call) and syntax.last_name(new.func) == "format"
    if not (isinstance(new, _BUILT) or formats) or not vocabulary.checks(name):
        return ""
    if any(vocabulary.protects(one) for one in called_in(new)):
        return ""
    if squeezed(ast.unparse(call)) in sides.added_text:
        return ""
    return f"Is `{shown(ast.unparse(new))}` as safe as `{name}` here? {pair.place} used that."


def _written_out(edit: Edit, pair: Pair, sides: DefinitionPairs) -> str:
    """A secret that came from outside and is a constant now."""
    match edit:
        case Edit(old=ast.Call() | ast.Subscript() | ast.Attribute() as old,
                  new=ast.Constant(value=str() | bytes() as value)):  # fmt: skip
            pass
        case _:
            return ""
    if len(value) < _MIN_SECRET:
        return ""
    owner = next((one for one in edit.above if isinstance(one, ast.Assign | ast.keyword)), None)
    named = names_in(owner.targets if isinstance(owner, ast.Assign) else [])
    keyword = (owner.arg or "") if isinstance(owner, ast.keyword) else ""
    text = value if isinstance(value, str) else value.decode("latin-1")
    if any(char in text for char in " /{}<>") or _SECRETS.isdisjoint(
        word for one in (*names_in(old), *named, keyword) for word in syntax.words(one)
    ):
        return ""
    return f"Is a secret in the code now? {pair.place} read `{shown(ast.unparse(old))}` before."


_ROWS: tuple[tuple[LensRule, Row], ...] = (
    (DECORATOR, _decorated),
    (REQUEST, _request),
    (SAFER, _replaced),
    (HARD_CODED, _written_out),
)
