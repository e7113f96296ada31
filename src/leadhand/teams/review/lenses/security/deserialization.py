"""Rules on data that becomes objects: pickle and similar formats, YAML, XML with entities.

Loading is a problem only if the data can come from outside; a constant path is the author's file.
"""

from leadhand.teams.review.lens import LensRule
from leadhand.teams.review.lenses.security.events import Event, Hits, ResolvedCall, Topic, hit
from leadhand.teams.review.lenses.security.hints import ANYTHING, ATTRIBUTE, CALL
from leadhand.teams.review.lenses.security.values import Trust
from leadhand.teams.review.syntax import last_name, word_set, words

_FAMILY = "security/deserialization"
UNPICKLE_REMOTE = LensRule(
    "security/unpickle-untrusted", "security/untrusted-input", "critical",
    "Unpickling can run any code that the data names.",
    "Use JSON or another format that carries data only, or verify a signature before loading.",
)  # fmt: skip
UNPICKLE = LensRule(
    "security/unpickle", "security/unpickle", "warning",
    "Unpickling can run any code that the data names, so every caller must trust its origin.",
    "Use a format that carries data only, or check and document where the data comes from.",
)  # fmt: skip
YAML = LensRule(
    "security/yaml-load", _FAMILY, "critical",
    "This loader can build any Python object that the document names.",
    "Use `yaml.safe_load`.",
)  # fmt: skip
XXE = LensRule(
    "security/xml-external-entities", "security/xml", "warning",
    "Entities in a document can then read local files or send network requests.",
    "Parse with `resolve_entities=False, no_network=True`, or with defusedxml.",
)  # fmt: skip
XML = LensRule(
    "security/xml-untrusted", "security/untrusted-input", "warning",
    "Nested entities can exhaust memory, and external entities can read files.",
    "Parse it with defusedxml, or with an lxml parser with `resolve_entities=False`.",
)  # fmt: skip

_UNPICKLERS = word_set(
    "pickle.load pickle.loads pickle.Unpickler dill.load dill.loads cloudpickle.load"
    " cloudpickle.loads joblib.load marshal.load marshal.loads shelve.open jsonpickle.decode"
    " pandas.read_pickle"
)
_YAML_LOADS = word_set("yaml.load yaml.load_all")
_YAML_UNSAFE = word_set("yaml.unsafe_load yaml.unsafe_load_all")
_UNSAFE_LOADERS = word_set("Loader UnsafeLoader CLoader CUnsafeLoader")
_LXML_PARSERS = frozenset(("lxml.etree.XMLParser", "lxml.etree.ETCompatXMLParser"))
_PARSES = word_set(
    "lxml.etree.fromstring lxml.etree.parse lxml.etree.XML lxml.etree.iterparse"
    " xml.etree.ElementTree.fromstring xml.etree.ElementTree.parse xml.etree.ElementTree.XML"
    " xml.etree.ElementTree.iterparse xml.dom.minidom.parseString xml.dom.minidom.parse"
    " xml.dom.pulldom.parseString xml.dom.pulldom.parse xml.sax.parseString xml.sax.parse"
    " xmltodict.parse"
)
_FROM_OUTSIDE = word_set(
    "header headers cookie cookies request req body payload message msg packet session upload"
    " environ"
)
_OWN_STATE = word_set("setstate copy deepcopy clone roundtrip unpickle reduce")


def find(event: Event) -> Hits:
    """The hits of this topic's rules in `event`."""
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


def _unpickle(event: ResolvedCall) -> Hits:
    data = event.arg(0, "file", "data", "f", "string", "filename", "filepath_or_buffer")
    piece = data.least_trusted("pickle")
    outside = piece.trust >= Trust.PARAMETER and bool(_FROM_OUTSIDE & set(words(piece.origin)))
    what = f"`{piece.origin}`" if piece.origin else "its argument"
    if piece.trust is Trust.REMOTE or outside:
        message = f"{event.title} loads {what}, which comes from outside."
        yield hit(UNPICKLE_REMOTE, event, message, piece, data)
    elif piece.trust is Trust.PARAMETER and not _own(event) and "marshal" not in event.name:
        message = f"{event.title} loads {what}, which callers provide."
        yield hit(UNPICKLE, event, message, piece, data)


def _own(event: ResolvedCall) -> bool:
    """Whether the code itself wrote the data: it pickles here too, or is a pickling method."""
    return event.scope.facts.get("dumps", False) or bool(event.scope.words & _OWN_STATE)


def _yaml(event: ResolvedCall) -> Hits:
    stream = event.arg(0, "stream")
    if stream.constant is not None or stream.trust <= Trust.CLEAN:
        return
    if event.name in _YAML_LOADS:
        loader = event.keyword("Loader") or next(iter(event.node.args[1:]), None)
        if loader is None and event.spread:
            return
        value = event.arg(1, "Loader").made_by.rsplit(".", 1)[-1]
        if loader is not None and not {last_name(loader), value} <= _UNSAFE_LOADERS:
            return
    loader_note = " with an unsafe loader" if event.args[1:] else ""
    what = f"loads `{stream.origin}`" if stream.origin else "is used"
    yield hit(YAML, event, f"`{event.name}`{loader_note} in {event.scope.title} {what}.", stream)


def _lxml(event: ResolvedCall) -> Hits:
    for keyword, risky in (("resolve_entities", True), ("no_network", False), ("load_dtd", True)):
        if event.is_true(keyword) if risky else event.is_false(keyword):
            what = f"`XMLParser({keyword}={risky})` in {event.scope.title}"
            yield hit(XXE, event, f"{what} lets documents use external entities.")
            return


def _parse(event: ResolvedCall) -> Hits:
    document = event.arg(0, "text", "source", "string", "file", "xml_input")
    if len(event.args) > 1 or "parser" in event.keywords:
        return
    piece = document.least_trusted("xml")
    if piece.trust is Trust.REMOTE:
        message = f"{event.title} parses `{piece.origin}`, which a client sends."
        yield hit(XML, event, message, piece, document)


def _sax(event: ResolvedCall) -> Hits:
    feature = event.arg(0, "feature", "name")
    names = f"{feature.origin} {feature.text} {feature.made_by}"
    external = "external_ges" in names or "external-general-entities" in names
    state = event.arg(1, "state", "value")
    if external and state.constant in ("True", "1"):
        yield hit(XXE, event, f"`setFeature` in {event.scope.title} turns on external entities.")


TOPIC = Topic(
    rules=(UNPICKLE_REMOTE, UNPICKLE, YAML, XXE, XML),
    calls=word_set(
        "load loads Unpickler open decode read_pickle load_all unsafe_load unsafe_load_all dump"
        " dumps XMLParser ETCompatXMLParser fromstring parse XML iterparse parseString"
        " setFeature"
    ),
    find=find,
    hints={
        ATTRIBUTE: "pickle cPickle _pickle dill cloudpickle joblib marshal shelve jsonpickle yaml",
        CALL: "load loads Unpickler XMLParser setFeature",
        ANYTHING: "read_pickle allow_pickle weights_only unsafe_load",
    },
)
