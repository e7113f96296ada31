"""`ScriptedServer`: the model server in its own process, started and stopped by a test."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Self

from leadhand.errors import InputError, ToolError
from leadhand.testing.counts import MAX_BODY_CHARS, Stats
from leadhand.testing.json_data import Object, mapping, parse, text
from leadhand.testing.script import Function, name_of
from leadhand.testing.settings import HOST

_STOP_S = 5.0


class ScriptedServer:
    """A model server on loopback, for the length of a `with` block.

    It plays planner, workers and synthesizer; a script, faults and latency change its answers. It
    takes a process and about a fifth of a second to start.
    """

    def __init__(
        self,
        script: Function | str | Sequence[Mapping[str, object]] | None = None,
        *,
        faults: Mapping[str, float] | None = None,
        seed: int = 0,
        latency_ms: float = 0.0,
        tokens_per_s: float = 0.0,
        model: str = "scripted",
        context_tokens: int = 0,
        max_tokens: int = 0,
        keep_bodies: int = 100,
    ) -> None:
        """`script` is a list of rules, or a function of a module, itself or as `module:function`.

        With `tokens_per_s` answers are written at that rate: a stream arrives token by token, each
        of four characters, and another answer after its last token.

        `context_tokens` is what a request and its answer may take together, and `max_tokens` the
        highest limit that a request may set for its answer; 0: any. Others are refused.

        The server's process imports the function's module and calls it there. Raises `InputError`
        at the start of the block for an invalid setting.
        """
        self._settings: dict[str, object] = {
            "script": script,
            "faults": faults or {},
            "seed": seed,
            "latency_ms": latency_ms,
            "tokens_per_s": tokens_per_s,
            "model": model,
            "context_tokens": context_tokens,
            "max_tokens": max_tokens,
            "keep_bodies": keep_bodies,
        }
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._asking = threading.Lock()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        """Start the process; it serves when this returns."""
        paths = [path or os.getcwd() for path in sys.path]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "leadhand.testing.server", "--piped"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # The script may be in any module that the test can import.
            env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        )
        try:
            port = self._line().get("port")
            self._port = port if isinstance(port, int) else 0
            self._ask("configure", self._settings)
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End the process and wait for it; does nothing if it was stopped before."""
        process, self._process = self._process, None
        if process is None:
            return
        if process.stdin is not None:
            process.stdin.close()
        try:
            process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()

    @property
    def url(self) -> str:
        return f"{self.anthropic_url}/v1"

    @property
    def anthropic_url(self) -> str:
        return f"http://{HOST}:{self._port}"

    def env(self) -> dict[str, str]:
        return {
            "OPENAI_BASE_URL": self.url,
            "OPENAI_API_KEY": "dummy",
            "ANTHROPIC_BASE_URL": self.anthropic_url,
            "ANTHROPIC_API_KEY": "dummy",
        }

    def stats(self) -> Stats:
        """Requests and responses since the start or the last reset."""
        return Stats.from_json(self._ask("stats", {}).get("stats"))

    def requests(self, *, role: str | None = None) -> list[Object]:
        """What models were asked, in order: the body of each request since the last reset.

        With `role` only those of one role: `planner`, `worker`, `synthesizer`, ... Raises
        `InputError` if the server has not kept all of them, as a test could then miss something.
        """
        stats = self.stats()
        if len(stats.bodies) < stats.requests:
            raise InputError(
                f"the server kept {len(stats.bodies):,} of {stats.requests:,} requests: raise "
                f"`keep_bodies`; a body of over {MAX_BODY_CHARS:,} characters is never kept"
            )
        return [mapping(one["body"]) for one in stats.bodies if role in (None, one["role"])]

    def reset(self, **settings: object) -> None:
        """Reset the counts and the script; settings given here change, others stay."""
        self._ask("reset", settings)

    def configure(self, **settings: object) -> None:
        """Change settings and keep the counts; a new script, faults or seed resets the script."""
        self._ask("configure", settings)

    def _ask(self, command: str, settings: Mapping[str, object]) -> Object:
        process = self._process
        if process is None or process.stdin is None:
            raise ToolError("the scripted server is not running: use it as `with ScriptedServer()`")
        sent = {name: name_of(one) if callable(one) else one for name, one in settings.items()}
        line = json.dumps({"do": command, "settings": sent}).encode() + b"\n"
        with self._asking:
            process.stdin.write(line)
            process.stdin.flush()
            answer = self._line()
        if "error" in answer:
            raise InputError(text(answer["error"]))
        return answer

    def _line(self) -> Object:
        process = self._process
        line = process.stdout.readline() if process is not None and process.stdout else b""
        if not line:
            raise ToolError("the scripted server ended; its last output is on standard error")
        return mapping(parse(line))
