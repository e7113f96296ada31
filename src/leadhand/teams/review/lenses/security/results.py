"""What a call gives back, as far as its name tells: a source, a harmless form, or its argument.

A call that nothing is known of gives `UNKNOWN`: it may well have checked what it was given.
"""

from leadhand.teams.review.lenses.security import sources, values
from leadhand.teams.review.lenses.security.names import ImportedNames
from leadhand.teams.review.lenses.security.values import HOLE, NOTHING, Trust, Value

MEMBER = "archive member"
"""`made_by` of the names of an archive's members."""

_FILE_SAFE = sources.EVERY_USE - {"pickle", "xml"}
_ARCHIVES = frozenset(
    ("tarfile.open", "tarfile.TarFile", "tarfile.TarFile.open", "zipfile.ZipFile")
)
_LISTS_MEMBERS = frozenset(("namelist", "infolist", "getmembers", "getnames"))
_OPENERS = frozenset(("open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open"))


def result(
    name: str,
    names: ImportedNames,
    *,
    receiver: Value | None,
    args: tuple[Value, ...],
    keywords: dict[str, Value],
) -> Value:
    """The value of the call of `name`; `receiver` is the object of a method call."""
    last = name.rsplit(".", 1)[-1]
    trust = sources.call_trust(name, names, receiver.origin if receiver else "")
    if trust is not None:
        return Value(trust, f"{name}()", made_by=name, safe=sources.call_safe_for(name))
    if receiver is not None and last == "format":
        return values.braces(receiver, list(args), keywords)
    passed = values.merge([*args, *keywords.values()]) if args or keywords else NOTHING
    harmless = sources.harmless_for(name)
    if harmless is sources.EVERY_USE:
        return Value(Trust.CLEAN, made_by=name)
    if harmless is not None:
        return as_hole(passed)._replace(made_by=name, safe=passed.safe | harmless)
    if name in ("os.path.join", "posixpath.join", "ntpath.join"):
        parts = [part for arg in args for part in (values.literal("/"), arg)]
        return values.concat(parts[1:])._replace(made_by=name)
    if name in _OPENERS:
        return Value(
            passed.trust, passed.origin, made_by="open", safe=_FILE_SAFE, steps=passed.steps
        )
    if name in _ARCHIVES:
        own = bool(args) and args[0].trust <= Trust.CLEAN
        return Value(Trust.CLEAN if own else Trust.UNKNOWN, f"{name}()", made_by=name)
    if receiver is not None and last in _LISTS_MEMBERS and receiver.made_by in _ARCHIVES:
        return Value(Trust.UNKNOWN, name, made_by=MEMBER)
    if sources.passes_on(name):
        return passed if name == "str" else passed._replace(made_by=name)
    if name == "re.compile" and args:
        return Value(Trust.CLEAN, made_by=name, text=args[0].text, holes=args[0].holes)
    if receiver is None:
        return Value(Trust.UNKNOWN, f"{name}()", made_by=name)
    if last == "join" and args:
        return as_hole(args[0])
    if sources.method_passes_on(last):
        if last in ("replace", "joinpath", "with_name", "get"):
            found = values.merge([as_hole(receiver), *(as_hole(arg) for arg in args)])
            is_item = last == "get" and found.trust is Trust.REMOTE
            return found._replace(made_by="item") if is_item else found
        return as_hole(receiver) if receiver.built else receiver
    return Value(Trust.UNKNOWN, f"{name}()", made_by=name)


def as_hole(value: Value) -> Value:
    """`value` without its shape: one hole as untrusted as its worst piece, or the constant."""
    if HOLE not in value.text or not value.holes:
        return value
    least = values.merge(list(value.holes))
    return Value(
        least.trust, least.origin, made_by=value.made_by, safe=least.safe, steps=value.steps
    )
