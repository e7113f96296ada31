"""Protective calls, safer variants, and keywords that a change drops from a definition."""

import ast
import re
from collections.abc import Iterator

from leadhand_teams.review import syntax
from leadhand_teams.review.comparison import vocabulary
from leadhand_teams.review.comparison.code import Code, names_in, squeezed
from leadhand_teams.review.comparison.pairs import DefinitionPairs, Pair
from leadhand_teams.review.comparison.removals import Removal, shown
from leadhand_teams.review.lens import LensRule
from leadhand_teams.review.lenses.security.removed.rules import (
    CALL,
    FLAG,
    LIMIT,
    SAFER,
    TLS,
    VALIDATOR,
)

_TLS = syntax.word_set(
    "context ssl_context sslcontext ssl verify cafile ca_certs cert_reqs check_hostname"
    " server_hostname tls ssl_version assert_hostname fingerprint"
)
_CONTEXTS = syntax.word_set("ssl tls ctx context cert")
_FLAGS = syntax.word_set(
    "httponly secure samesite autoescape strict safe escape allow_pickle weights_only"
    " shell restricted sandboxed read_only readonly salt nonce digestmod algorithms audience"
    " issuer max_age expires resolve_entities no_network forbid_dtd filter csrf csrf_enabled"
    " http_only quote validate verify_signature trusted_hosts allowed_hosts allowed_methods"
)
_VALIDATORS = syntax.word_set(
    "validators validator min_length max_length pattern regex gt ge lt le multiple_of choices"
    " validate required constraints"
)
_SAFER: dict[str, frozenset[str]] = {
    safe: frozenset(unsafe.split())
    for safe, unsafe in (
        ("json", "pickle marshal shelve dill cloudpickle eval exec yaml"),
        ("safe_load", "load unsafe_load full_load"),
        ("safe_load_all", "load_all"),
        ("literal_eval", "eval exec"),
        ("SandboxedEnvironment", "Environment"),
        ("ImmutableSandboxedEnvironment", "Environment"),
        ("defusedxml", "ElementTree etree minidom sax xml lxml"),
        ("secrets", "random randint choice"),
        ("SystemRandom", "random Random randint choice"),
        ("urandom", "random getrandbits randint"),
        ("token_hex", "random randint choice getrandbits uuid1"),
        ("token_urlsafe", "random randint choice getrandbits uuid1"),
        ("mkstemp", "mktemp"),
        ("NamedTemporaryFile", "mktemp"),
        ("sha256", "md5 sha1"),
        ("sha512", "md5 sha1"),
        ("pbkdf2_hmac", "md5 sha1 sha256"),
        ("uuid4", "uuid1 random randint"),
        ("fullmatch", "match search"),
        ("compare_digest", ""),
        ("format_html", "mark_safe format"),
        ("isfile", "exists"),
        ("SafeLoader", "Loader UnsafeLoader FullLoader"),
        ("CSafeLoader", "Loader CLoader UnsafeLoader FullLoader"),
        ("EmailField", "CharField TextField StringField"),
        ("URLField", "CharField TextField StringField"),
        ("SlugField", "CharField TextField"),
    )
}
"""What is safe -> what it must not be exchanged for."""


def find(pair: Pair, sides: DefinitionPairs) -> Iterator[Removal]:
    """What the new code of a definition no longer calls, passes or holds."""
    if pair.new is None:
        return
    yield from _calls(pair, pair.new, sides)
    yield from _safer(pair, pair.new)
    yield from _keywords(pair, pair.new, sides)
    yield from _limits(pair, pair.new, sides)


def _calls(pair: Pair, new: Code, sides: DefinitionPairs) -> Iterator[Removal]:
    before, after = pair.old.call_counts, new.call_counts
    gained = [name for name in after if after[name] > before[name]]
    if any(vocabulary.protects(name) for name in gained):
        return
    if any(sides.added_definition(name) is not None for name in gained):
        return
    statements = {id(node.value) for node in pair.old.nodes if isinstance(node, ast.Expr)}
    for call in pair.old.calls:
        name = syntax.last_name(call.func)
        if after[name] >= before[name] or not pair.removes(call.lineno):
            continue
        about = names_in([*call.args, *(keyword.value for keyword in call.keywords)])
        if not about and isinstance(call.func, ast.Attribute):
            about = names_in(call.func.value)
        left = sorted(about & new.names)
        if sides.added_words[name] or (about and not left):
            continue
        # What the code at the base tells is looked up last and only for calls without a result.
        known = vocabulary.protects(name)
        if known and sides.only_sounds_safe(name):
            continue
        if not known and not (id(call) in statements and about and sides.protects(name)):
            continue
        on = f" on `{', '.join(left[:3])}`" if left else ""
        message = f"Is `{name}` no longer needed{on}? {pair.place} called it here."
        rule = LIMIT if vocabulary.is_limit(name) else CALL
        yield Removal(rule, call.lineno, message, name=name)


def _safer(pair: Pair, new: Code) -> Iterator[Removal]:
    """Safe functions and classes that the definition no longer uses, and now uses an unsafe one."""
    before, after = _uses(pair.old), _uses(new)
    for name, lines in before.items():
        instead = sorted(
            one
            for one in _SAFER.get(name, ())
            if len(after.get(one, ())) > len(before.get(one, ()))
        )
        gone = [line for line in lines if pair.removes(line)]
        mixed = name in after and bool(instead) and instead[0] in before
        if instead and gone and not mixed and len(after.get(name, ())) < len(lines):
            message = f"Is `{instead[0]}` as safe as `{name}` here? {pair.place} used that before."
            yield Removal(SAFER, gone[0], message)


def _limits(pair: Pair, new: Code, sides: DefinitionPairs) -> Iterator[Removal]:
    """Limits that the definition no longer looks at: settings, attributes and constants."""
    before, after = _uses(pair.old), _uses(new)
    stored = {
        node.id for node in pair.old.nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }  # fmt: skip
    local = {node.id for node in pair.old.nodes if isinstance(node, ast.Name)}
    gone = {
        name: lines
        for name, lines in before.items()
        if vocabulary.is_limit(name) and (name.isupper() or name not in local)
    }
    came = after.keys() - before.keys()
    if not gone or any(name.isupper() or vocabulary.is_limit(name) for name in came):
        return
    for name, lines in gone.items():
        line = next((line for line in lines if pair.removes(line)), 0)
        if name in stored and sides.removed_words[name] > 1:
            continue  # what used it tells whether there is still a limit
        if line and name not in new.names and not sides.added_words[name]:
            text = pair.old.file.removed[line]
            if _renamed(text, name, new) or _written_out(text, name, pair.old, sides):
                continue
            message = f"Is there still a limit? {pair.place} used `{name}` here."
            yield Removal(LIMIT, line, message)


def _renamed(line: str, name: str, new: Code) -> bool:
    """Whether the change only writes another name instead of `name` in this line."""
    before, _, after = map(re.escape, squeezed(line).partition(name))
    return any(re.fullmatch(rf"{before}\w+{after}", squeezed(one)) for one in new.changed.values())


def _written_out(line: str, name: str, old: Code, sides: DefinitionPairs) -> bool:
    """Whether the change writes the value of a constant of the module in place of its name."""
    tree = old.file.base_tree
    values = (
        value for statement in (tree.body if tree is not None else ())
        for target, value in syntax.assigned(statement)
        if isinstance(target, ast.Name) and target.id == name
    )  # fmt: skip
    return any(
        squeezed(line.replace(name, ast.unparse(value))) in sides.added_text for value in values
    )


def _uses(code: Code) -> dict[str, list[int]]:
    """Name, attribute or base class -> the lines that use it."""
    found: dict[str, list[int]] = {}
    nodes = list(code.nodes)
    if isinstance(code.node, ast.ClassDef):
        nodes += [part for base in code.node.bases for part in ast.walk(base)]
    for node in nodes:
        if isinstance(node, ast.Name):
            found.setdefault(node.id, []).append(node.lineno)
        elif isinstance(node, ast.Attribute):
            found.setdefault(node.attr, []).append(node.end_lineno or node.lineno)
    return found


def _keywords(pair: Pair, new: Code, sides: DefinitionPairs) -> Iterator[Removal]:
    """Limits, flags and validators that a call no longer gets."""
    passed: dict[str, list[ast.Call]] = {}
    for call in new.calls:
        passed.setdefault(syntax.last_name(call.func), []).append(call)
    for call in pair.old.calls:
        name = syntax.last_name(call.func)
        if name in ("", "__init__") or pair.old.call_counts[name] > new.call_counts[name]:
            continue
        for keyword in call.keywords:
            rule = _keyword_rule(keyword.arg or "", keyword.value)
            if rule is None or not pair.removes(keyword.value.lineno):
                continue
            if not pair.dropped_parameters.isdisjoint(names_in(keyword.value)):
                continue  # the callers decided it
            had = sum(_has(one, keyword.arg) for one in pair.old.calls if _is(one, name))
            has = sum(_has(one, keyword.arg) for one in passed[name])
            if has >= had or keyword.arg in new.names or sides.added_words[keyword.arg or ""]:
                continue
            if _gained(name, pair.old, new):
                continue
            value = f"{keyword.arg}={shown(ast.unparse(keyword.value))}"
            message = f"Does `{name}` no longer need `{value}`? {pair.place} passed it here."
            yield Removal(rule, keyword.value.lineno, message)


def _gained(name: str, old: Code, new: Code) -> bool:
    """Whether calls of `name` have a keyword that they had not: the other one may be renamed."""
    before, after = (
        {keyword.arg for call in code.calls if _is(call, name) for keyword in call.keywords}
        for code in (old, new)
    )
    return not after <= before


def _is(call: ast.Call, name: str) -> bool:
    return syntax.last_name(call.func) == name


def _has(call: ast.Call, keyword: str | None) -> bool:
    return any(one.arg in (keyword, None) for one in call.keywords)


def _keyword_rule(name: str, value: ast.expr) -> LensRule | None:
    if isinstance(value, ast.Constant) and value.value in (None, False):
        return None
    if name == "context" and not _CONTEXTS & set(syntax.words(" ".join(names_in(value)))):
        return None  # of an error or a template, not of a connection
    if name in _TLS:
        return TLS
    if name in _FLAGS:
        return FLAG
    if name in _VALIDATORS:
        return VALIDATOR
    return LIMIT if vocabulary.is_limit(name) else None
