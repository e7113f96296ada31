"""What reading an answer as it is written costs for each piece that the model sends.

    python -m benchmarks.deltas [--pieces 2000] [--rounds 7]

CPU time of a call whose text a reader of `run.events(deltas=True)` takes, beside the same stream
that only the provider's library reads. The target for our part is 0.15 ms a piece.
"""

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Callable

from pydantic_ai.messages import ModelMessage

from leadhand.engine.recorder import Recorder, SystemClock
from leadhand.events import TextDelta
from leadhand.journal import MemoryJournal
from leadhand.models.calls import Caller, CallRequest, Requester
from leadhand.models.connections import Connections
from leadhand.models.structured import first_message
from leadhand.models.writing import watching
from leadhand.testing import ScriptedServer

MODEL = "openai-chat:any"
PLAIN = CallRequest("Answer in one sentence.")
WORD = "word"


async def cpu_ms(*, read: bool) -> float:
    """Milliseconds of CPU of one streamed call."""
    recorder = Recorder("r", MemoryJournal(), clock=SystemClock())
    deltas: list[TextDelta] = []
    listener = deltas.append if read else None
    async with Connections() as connections:
        caller = Caller(connections, recorder)
        messages: list[ModelMessage] = [first_message("Write.", PLAIN)]
        started = time.process_time()
        with watching(lambda _: listener):
            await caller.ask(
                Requester("worker", shown=read),
                messages,
                request=PLAIN,
                models=[MODEL],
                follow=lambda: _nothing,
            )
        return (time.process_time() - started) * 1_000


def _nothing(part: int, piece: str) -> None:
    """Reads a stream without doing anything."""


def main() -> None:
    """Print the cost of a piece."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--pieces", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    with ScriptedServer(tokens_per_s=given.pieces) as server:
        os.environ |= {"OPENAI_BASE_URL": f"{server.url}/v1", "OPENAI_API_KEY": "none"}
        server.configure(script=[{"reply": {"text": WORD * given.pieces}}])
        measure: Callable[[bool], float] = lambda read: asyncio.run(  # noqa: E731
            cpu_ms(read=read)
        )
        measure(True)
        pairs = [(measure(False), measure(True)) for _ in range(given.rounds)]
    library = statistics.median(before for before, _ in pairs) / given.pieces
    ours = statistics.median(after - before for before, after in pairs) / given.pieces
    print(f"{given.pieces} pieces: library {library:.3f} ms a piece, our part {ours:.3f} ms")


if __name__ == "__main__":
    main()
