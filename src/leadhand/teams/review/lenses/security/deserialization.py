"""Rules on data that becomes objects: pickle and its like, YAML, XML with entities.

Loading is a problem only where the data can come from someone else; a constant path is the
author's own file.
"""

import ast
from collections.abc import Iterator

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import (
    Event,
    ResolvedCall,
    SecurityHit,
    Topic,
    flows,
)
from leadhand.teams.review.lenses.security.hints import CALL, MEMBER
from leadhand.teams.review.lenses.security.names import listed, words
from leadhand.teams.review.lenses.security.values import Trust

_FAMILY = "security/deserialization"
UNPICKLE_REMOTE = LensRule(
    "security/unpickle-untrusted", "security/untrusted-input", "critical",
    "Unpickling runs code that the data chooses.",
    "Use JSON or another format that carries data only, or verify a signature before loading.",
)  # fmt: skip
UNPICKLE = LensRule(
    "security/unpickle", "security/unpickle", "warning",
    "Unpickling runs code that the data chooses, so every caller must trust its origin.",
    "Use a format that carries data only, or say and check where the data comes from.",
)  # fmt: skip
YAML = LensRule(
    "security/yaml-load", _FAMILY, "critical",
    "That loader builds any Python object that the document names.",
    "Use `yaml.safe_load`.",
)  # fmt: skip
XXE = LensRule(
    "security/xml-external-entities", "security/xml", "warning",
    "A document can then read local files or reach into the network through entities.",
    "Parse with `resolve_entities=False, no_network=True`, or with defusedxml.",
)  # fmt: skip
XML = LensRule(
    "security/xml-untrusted", "security/untrusted-input", "warning",
    "Nested entities in the document can exhaust memory, or read files where they are resolved.",
    "Parse it with defusedxml, or with an lxml parser with `resolve_entities=False`.",
)  # fmt: skip

_UNPICKLERS = listed(
    "pickle.load pickle.loads pickle.Unpickler dill.load dill.loads cloudpickle.load"
    " cloudpickle.loads joblib.load marshal.load marshal.loads shelve.open jsonpickle.decode"
    " pandas.read_pickle"
)
_YAML_LOADS = frozenset(("yaml.load", "yaml.load_all"))
_YAML_UNSAFE = frozenset(("yaml.unsafe_load", "yaml.unsafe_load_all"))
_UNSAFE_LOADERS = frozenset(("Loader", "UnsafeLoader", "CLoader", "CUnsafeLoader"))
_LXML_PARSERS = frozenset(("lxml.etree.XMLParser", "lxml.etree.ETCompatXMLParser"))
_PARSES = listed(
    "lxml.etree.fromstring lxml.etree.parse lxml.etree.XML lxml.etree.iterparse"
    " xml.etree.ElementTree.fromstring xml.etree.ElementTree.parse xml.etree.ElementTree.XML"
    " xml.etree.ElementTree.iterparse xml.dom.minidom.parseString xml.dom.minidom.parse"
    " xml.dom.pulldom.parseString xml.dom.pulldom.parse xml.sax.parseString xml.sax.parse"
    " xmltodict.parse"
)
_FROM_OUTSIDE = listed(
    "header headers cookie cookies request req body payload message msg packet session upload"
    " environ"
)
_OWN_STATE = frozenset(("setstate", "copy", "deepcopy", "clone", "roundtrip", "unpickle", "reduce"))


def look(event: Event) -> Iterator[SecurityHit]:
    """What is wrong with `event`, if anything."""
    if not isinstance(event, ResolvedCall):
        return
    name = event.name
    if name in ("pickle.dump", "pickle.dumps"):
        event.scope.facts["dumps"] = True
    elif name in _UNPICKLERS:
        yield from _unpickle(event)
    elif name in _YAML_LOADS or name in _YAML_UNSAFE:
        yield from _yaml(event)
    elif name in _LXML_PARSERS:
        yield from _lxml(event)
    elif name in _PARSES:
        yield from _parse(event)
    elif event.last == "setFeature":
        yield from _sax(event)
    elif (name == "numpy.load" and event.is_true("allow_pickle")) or (
        name == "torch.load" and event.is_false("weights_only")
    ):
        yield from _unpickle(event)


def _unpickle(event: ResolvedCall) -> Iterator[SecurityHit]:
    data = event.arg(0, "file", "data", "f", "string", "filename", "filepath_or_buffer")
    piece = data.worst("pickle")
    outside = piece.trust >= Trust.PARAMETER and bool(_FROM_OUTSIDE & set(words(piece.origin)))
    where = f"`{piece.origin}`" if piece.origin else "its argument"
    if piece.trust is Trust.REMOTE or outside:
        message = f"`{event.name}` in {event.scope.title} loads {where}, which comes from outside."
        yield SecurityHit(UNPICKLE_REMOTE, event.node, message, flows(data, piece))
    elif piece.trust is Trust.PARAMETER and not _own(event) and "marshal" not in event.name:
        message = f"`{event.name}` in {event.scope.title} loads {where}, whatever it is given."
        yield SecurityHit(UNPICKLE, event.node, message, flows(data, piece))


def _own(event: ResolvedCall) -> bool:
    """Whether the data is this very code's own: written here too, or a protocol's method."""
    return event.scope.facts.get("dumps", False) or bool(event.scope.words & _OWN_STATE)


def _yaml(event: ResolvedCall) -> Iterator[SecurityHit]:
    stream = event.arg(0, "stream")
    if stream.constant is not None or stream.trust <= Trust.CLEAN:
        return
    if event.name in _YAML_LOADS:
        loader = event.keyword("Loader") or (
            event.node.args[1] if len(event.node.args) > 1 else None
        )
        if loader is None and event.spread:
            return
        last = loader.attr if isinstance(loader, ast.Attribute) else getattr(loader, "id", "")
        if loader is not None and last not in _UNSAFE_LOADERS:
            return
        held = event.arg(1, "Loader").made_by.rsplit(".", 1)[-1]
        if loader is not None and held not in _UNSAFE_LOADERS:
            return
    how = f"`{event.name}` with an unsafe loader" if event.args[1:] else f"`{event.name}`"
    origin = f" loads `{stream.origin}`" if stream.origin else " is used"
    message = f"{how} in {event.scope.title}{origin}."
    yield SecurityHit(YAML, event.node, message[:1].upper() + message[1:], flows(stream, stream))


def _lxml(event: ResolvedCall) -> Iterator[SecurityHit]:
    for keyword, risky in (("resolve_entities", True), ("no_network", False), ("load_dtd", True)):
        if event.is_true(keyword) if risky else event.is_false(keyword):
            message = f"`XMLParser({keyword}={risky})` in {event.scope.title} follows entities."
            yield SecurityHit(XXE, event.node, message)
            return


def _parse(event: ResolvedCall) -> Iterator[SecurityHit]:
    document = event.arg(0, "text", "source", "string", "file", "xml_input")
    if len(event.args) > 1 or "parser" in event.keywords:
        return
    piece = document.worst("xml")
    if piece.trust is Trust.REMOTE:
        message = f"`{event.name}` in {event.scope.title} parses `{piece.origin}` from a client."
        yield SecurityHit(XML, event.node, message, flows(document, piece))


def _sax(event: ResolvedCall) -> Iterator[SecurityHit]:
    feature = event.arg(0, "feature", "name")
    names = f"{feature.origin} {feature.text} {feature.made_by}"
    external = "external_ges" in names or "external-general-entities" in names
    state = event.arg(1, "state", "value")
    if external and state.constant in ("True", "1"):
        message = f"`setFeature` in {event.scope.title} switches external entities on."
        yield SecurityHit(XXE, event.node, message)


TOPIC = Topic(
    rules=(UNPICKLE_REMOTE, UNPICKLE, YAML, XXE, XML),
    calls=listed(
        "load loads Unpickler open decode read_pickle load_all unsafe_load unsafe_load_all dump"
        " dumps XMLParser ETCompatXMLParser fromstring parse XML iterparse parseString"
        " setFeature"
    ),
    look=look,
    hints={
        **dict.fromkeys(
            listed("pickle cPickle _pickle dill cloudpickle joblib marshal shelve jsonpickle yaml"),
            MEMBER,
        ),
        **dict.fromkeys(("load", "loads", "Unpickler", "XMLParser", "setFeature"), CALL),
        **dict.fromkeys(("read_pickle", "allow_pickle", "weights_only", "unsafe_load"), ()),
    },
)
