"""Spans to the collector that the environment names, and what becomes of a run where it fails."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from leadhand import Answer, Supervisor
from leadhand.redaction import Redactor
from leadhand.trace.otel import spans_from_environment
from tests.nested_teams import DESK, clause, law, office, plan
from tests.test_house import loaded_by
from tests.trace.collector import Collector, Tree

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
RUN = """
import asyncio
from leadhand.trace.otel import spans_from_environment
from leadhand import Supervisor
from tests.nested_teams import DESK, clause, law, office, plan
supervisor = Supervisor(office(law(reader=clause)))
with spans_from_environment(warn=print) as listener:
    answer = asyncio.run(supervisor.run(plan=plan(DESK), listener=listener))
print(answer.status, listener is not None)
"""


@pytest.fixture(name="collector")
def _collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    with Collector() as collector:
        monkeypatch.setenv(ENDPOINT, collector.base)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "600")
        yield collector


def ran(told: list[str]) -> Answer:
    """A run whose spans go where the environment says."""
    supervisor = Supervisor(office(law(reader=clause)))
    with spans_from_environment(warn=told.append, flush_s=600) as listener:
        return asyncio.run(supervisor.run(plan=plan(DESK), listener=listener))


def test_spans_go_where_the_environment_says(collector: Collector) -> None:
    told: list[str] = []
    answer = ran(told)
    tree = Tree(collector.spans)
    assert told == []
    assert collector.resource["service.name"] == "leadhand"
    assert tree.root.attributes["leadhand.run.id"] == answer.run_id
    assert tree.way(tree.one("invoke_agent desk")) == [
        "invoke_workflow office",
        "invoke_agent desk",
    ]
    assert b"clause found" not in b"".join(collector.bodies)


def test_a_service_is_called_what_the_environment_calls_it(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "nightly")
    ran([])
    assert collector.resource["service.name"] == "nightly"


def test_content_is_sent_where_the_environment_says_so(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "true")
    ran([])
    assert b"clause found by desk" in b"".join(collector.bodies)


def test_without_a_collector_nothing_is_loaded() -> None:
    loaded = loaded_by(
        "from leadhand.trace.otel import spans_from_environment as spans;"
        " spans(warn=print).__enter__()"
    )
    assert "leadhand.trace.otel.export" in loaded
    assert not [name for name in loaded if name.startswith("opentelemetry")]


@pytest.mark.parametrize(
    ("name", "value"), [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")]
)
def test_tracing_can_be_switched_off(
    collector: Collector, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    told: list[str] = []
    assert ran(told).status == "complete"
    assert (told, collector.bodies) == ([], [])


def test_a_protocol_that_is_not_spoken_is_named(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    told: list[str] = []
    assert ran(told).status == "complete"
    assert told == [
        f"no spans are sent to {collector.base}: leadhand speaks http/protobuf, not grpc"
    ]


def test_a_setting_that_the_exporter_does_not_take_costs_the_spans_and_not_the_run(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1000000")
    told: list[str] = []
    assert ran(told).status == "complete"
    assert len(told) == 1
    assert told[0].startswith(f"no spans are sent to {collector.base}: ")
    assert "max_export_batch_size" in told[0]


def test_a_collector_that_refuses_costs_a_line(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []
    with Collector(status=404) as collector:
        monkeypatch.setenv(ENDPOINT, collector.base)
        assert ran(told).status == "complete"
    assert len(told) == 1
    assert told[0].startswith(f"not all spans reached {collector.base}: ")
    assert "404" in told[0]
    assert capfd.readouterr() == ("", "")


def test_a_password_in_the_endpoint_is_not_shown(
    collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F36"""
    monkeypatch.setenv(ENDPOINT, collector.base.replace("//", "//me:hunter2@"))
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    told: list[str] = []
    ran(told)
    assert collector.base in told[0]
    assert "hunter2" not in told[0]


@pytest.mark.parametrize(
    "endpoint",
    [
        *("http://me:s3/cr@et@there:1/v1", "http://there:1/v1?token=s3et", "me:s3et@there:1/v1"),
        *("http://me:s3@there:1/v1?token=et#et", "http://there:1/v1/ghp_" + "s3et" * 9),
    ],
)
def test_no_secret_in_an_endpoint_is_shown(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F36"""
    monkeypatch.setenv(ENDPOINT, endpoint)
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    told: list[str] = []
    with spans_from_environment(warn=told.append, redact=Redactor()):
        pass
    assert "there:1/v1" in told[0]
    assert "s3" not in told[0].replace("leadhand speaks", "")
    assert "et" not in told[0].partition(": leadhand")[0]


def test_a_run_that_ends_in_an_error_has_its_spans_sent(collector: Collector) -> None:
    supervisor = Supervisor(office(law(reader=clause)))

    def interrupted() -> None:
        with spans_from_environment(warn=print, flush_s=600) as listener:
            asyncio.run(supervisor.run(plan=plan(DESK), listener=listener))
            raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        interrupted()
    assert Tree(collector.spans).root.name == "invoke_workflow office"


def test_a_collector_that_never_answers_holds_the_answer_up_for_two_seconds_at_most() -> None:
    """Nor does it keep the process from its end, or have anything printed but a line.

    It takes the connection and never answers, and the exporter would wait for an hour.
    """
    with socket.create_server(("127.0.0.1", 0)) as silent:
        nobody = f"http://127.0.0.1:{silent.getsockname()[1]}"
        done = script(RUN, nobody)
    assert done.stdout.splitlines() == [
        f"not all spans reached {nobody}: they were not taken within 2 s",
        "complete True",
    ]
    assert done.stderr == ""


def test_without_the_extra_a_line_says_what_to_install() -> None:
    done = script("import sys; sys.modules['opentelemetry.sdk'] = None" + RUN, "http://127.0.0.1:1")
    assert done.stdout.splitlines() == [
        "no spans are sent to http://127.0.0.1:1: install the extra: pip install 'leadhand[otel]'",
        "complete False",
    ]
    assert done.stderr == ""


def script(code: str, endpoint: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={
            ENDPOINT: endpoint,
            "OTEL_EXPORTER_OTLP_TIMEOUT": "3600",
            "LEADHAND_LOOPBACK_ONLY": "1",
        },
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
