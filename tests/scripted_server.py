"""One scripted model server for all tests, which each starts over with settings of its own."""

from leadhand.testing import ScriptedServer


def start_over(
    server: ScriptedServer, script: object = None, *, latency_ms: int = 0
) -> ScriptedServer:
    """The server as if it had just been started, with this script."""
    server.reset(
        script=script,
        faults={},
        seed=0,
        latency_ms=latency_ms,
        model="scripted",
        context_tokens=0,
        max_tokens=0,
        keep_bodies=1_000,
    )
    return server
