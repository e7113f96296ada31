"""The service under load: what it loses, delays, keeps and costs, over real HTTP and SQLite.

    python -m benchmarks.served [--runs 200] [--tasks 20] [--streams 50] [--short 3600]

First `--runs` runs at once of `--tasks` tasks each, by a model on loopback, while `--streams`
clients follow one run each: no event may be missing, and the delay counts from an event's time, or
from the request for the stream if that came later, to its arrival. Then a run of `--large` tasks is
shown. Then `--short` runs of one task by code, four at a time: memory, files and threads after a
sixth of them and at the end. Then what a run over HTTP costs beside `Supervisor.run`, in CPU of the
process. The service is `leadhand serve`; it and the model server are processes of their own.
"""

import argparse
import asyncio
import datetime as dt
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
from fastapi import Request

from leadhand import Handoff, Supervisor, TaskTemplate, Team, Worker
from leadhand.serve import Principal
from leadhand.testing import ScriptedServer

RUNS = "/api/v1/runs"
MAX_DELAY_MS = 250.0
AT_ONCE = 4
HEADERS = {"Authorization": "Bearer benchmark"}


def echo(handoff: Handoff) -> str:
    return handoff.intent


asks = Worker("clerk", "Answers", instructions="Answer.", plain=True)
parts = range(int(os.environ.get("TASKS", "20")))
large = Team(
    "large",
    model="openai-chat:scripted",
    workers=[asks],
    planner="template",
    template=[TaskTemplate(f"t{n}", "clerk", f"{{request}}, part {n}") for n in parts],
    template_synthesis="last",
)
code = Team(
    "code",
    workers=[Worker("echo", "Echoes", run=echo)],
    template=[TaskTemplate("t1", "echo", "{request}")],
)


def caller(request: Request) -> Principal | None:
    known = request.headers.get("authorization") == HEADERS["Authorization"]
    return Principal("benchmark", "benchmark", frozenset(["operator"])) if known else None


@dataclass(frozen=True, slots=True)
class Held:
    """What a process holds."""

    mb: float
    files: int
    threads: int
    cpu_s: float

    @classmethod
    def by(cls, pid: int) -> "Held":
        status = Path(f"/proc/{pid}/status").read_text()
        found = {name: int(n) for name, n in re.findall(r"^(VmRSS|Threads):\s+(\d+)", status, re.M)}
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(fields[11]) + int(fields[12])
        files = len(os.listdir(f"/proc/{pid}/fd"))
        cpu_s = ticks / os.sysconf("SC_CLK_TCK")
        return cls(found["VmRSS"] / 1024, files, found["Threads"], cpu_s)


@dataclass(slots=True)
class Followed:
    delays_ms: list[float] = field(default_factory=list[float])
    """Of events that happened after the stream was asked for."""
    opening_ms: list[float] = field(default_factory=list[float])
    """Of those that were there before, from the request for the stream."""
    missing: int = 0
    ended: int = 0


async def follow(base: httpx2.URL, path: str, seen: Followed) -> None:
    """Over a bare connection: an HTTP client takes longer to open 50 streams than the service."""
    last, asked = 0, dt.datetime.now(dt.UTC)
    reader, writer = await asyncio.open_connection(base.host, base.port, limit=2**24)
    head = [f"GET {path} HTTP/1.1", f"Host: {base.host}", *map(": ".join, HEADERS.items()), "", ""]
    writer.write("\r\n".join(head).encode())
    async for raw in reader:
        line, now = raw.decode().rstrip(), dt.datetime.now(dt.UTC)
        if line.startswith("id: "):
            seen.missing += int(line[4:]) - last - 1
            last = int(line[4:])
        elif line.startswith('data: {"seq"'):
            at = dt.datetime.fromisoformat(json.loads(line[6:])["at"])
            delays_ms = seen.opening_ms if at < asked else seen.delays_ms
            delays_ms.append((now - max(at, asked)).total_seconds() * 1000)
        elif line == "event: end":
            seen.ended += 1
            writer.close()


async def started(client: httpx2.AsyncClient, team: str, wait: int = 0) -> str:
    given = {"team": team, "request": "Say something"}
    headers = {"Prefer": f"wait={wait}"} if wait else {}
    response = await client.post(RUNS, json=given, headers=headers)
    response.raise_for_status()
    return response.json()["run_id"]


async def load(client: httpx2.AsyncClient, pid: int, options: argparse.Namespace) -> bool:
    await started(client, "large", wait=60)
    before, since_s = Held.by(pid), time.perf_counter()
    ids = await asyncio.gather(*(started(client, "large") for _ in range(options.runs)))
    seen = Followed()
    peak_mb = 0.0
    streams = [
        asyncio.create_task(follow(client.base_url, f"{RUNS}/{id}/events", seen))
        for id in ids[: options.streams]
    ]
    left = {*ids}
    while left:
        peak_mb = max(peak_mb, Held.by(pid).mb)
        page = await client.get(RUNS, params={"limit": 200, "team": "large"})
        ended = {run["run_id"] for run in page.json()["runs"] if run["status"] == "complete"}
        left -= ended
        await asyncio.sleep(0.5)
    await asyncio.gather(*streams)
    took_s, after = time.perf_counter() - since_s, Held.by(pid)
    shown = [(await client.get(f"{RUNS}/{id}")).json() for id in ids[:20]]
    lost = sum(task["status"] != "completed" for run in shown for task in run["tasks"])
    every = [*seen.opening_ms, *seen.delays_ms]
    p50, p95 = quantiles(every)
    print(
        f"{options.runs} runs of {options.tasks} tasks, {options.streams} streams: {took_s:.1f} s, "
        f"{len(every):,} events followed, {seen.missing} missing, {seen.ended} streams "
        f"ended, {lost} tasks lost"
    )
    print(f"  event delay: median {p50:.0f} ms, p95 {p95:.0f} ms (at most {MAX_DELAY_MS:.0f})")
    for which, delays_ms in (("before", seen.opening_ms), ("after", seen.delays_ms)):
        p50, p95_of_these = quantiles(delays_ms or [0.0])
        print(
            f"    {len(delays_ms):,} from {which} the request for the stream: median {p50:.0f} ms, "
            f"p95 {p95_of_these:.0f} ms"
        )
    print(f"  memory: {before.mb:.0f} MB before, {peak_mb:.0f} at most, {after.mb:.0f} after")
    print(f"  CPU: {(after.cpu_s - before.cpu_s) / options.runs * 1000:.1f} ms a run")
    whole = not seen.missing and not lost and seen.ended == len(streams)
    return whole and p95 <= MAX_DELAY_MS


def quantiles(values: Iterable[float]) -> tuple[float, float]:
    ordered = sorted(values)
    return statistics.median(ordered), ordered[int(len(ordered) * 0.95)]


async def short(client: httpx2.AsyncClient, pid: int, count: int) -> bool:
    done = 0

    async def work(share: int) -> None:
        nonlocal done
        while done < share:
            done += 1
            await started(client, "code", wait=30)

    marks: list[Held] = []
    for share in (count // 6, count // 2, count):
        await asyncio.gather(*(work(share) for _ in range(AT_ONCE)))
        marks.append(Held.by(pid))
        one = marks[-1]
        print(
            f"  after {share:,} short runs: {one.mb:.0f} MB, {one.files} files, {one.threads} "
            f"threads, {one.cpu_s:.1f} s of CPU"
        )
    first, last = marks[0], marks[-1]
    return last.files <= first.files + 2 and last.threads <= first.threads + 2


async def show(client: httpx2.AsyncClient, tasks: int) -> bool:
    """A run of many tasks: shown for the first time, and again."""
    plan = {
        "goal": "Many",
        "tasks": [{"id": f"t{n}", "worker": "echo", "intent": f"Say {n}"} for n in range(tasks)],
    }
    given = {"team": "code", "request": "Many", "plan": plan}
    response = await client.post(RUNS, json=given, headers={"Prefer": "wait=60"})
    run_id = response.json()["run_id"]
    async with client.stream("GET", f"{RUNS}/{run_id}/events") as stream:
        async for _ in stream.aiter_lines():
            pass
    took: list[float] = []
    for _ in range(2):
        since_s = time.perf_counter()
        response = await client.get(f"{RUNS}/{run_id}")
        took.append(time.perf_counter() - since_s)
    print(
        f"  a run of {tasks:,} tasks ({len(response.content) / 1e6:.1f} MB): {took[0]:.2f} s first "
        f"(at most 1.0), {took[1]:.2f} s again"
    )
    return took[1] <= 1.0


async def alone(count: int, home: str) -> float:
    """CPU in ms of a short run by `Supervisor.run`, with a journal of its own."""
    supervisor = Supervisor(code, home=home)
    await supervisor.run("Say something")

    async def work(share: int) -> None:
        for _ in range(share):
            await supervisor.run("Say something")

    before_s = resource.getrusage(resource.RUSAGE_SELF)
    await asyncio.gather(*(work(count // AT_ONCE) for _ in range(AT_ONCE)))
    after_s = resource.getrusage(resource.RUSAGE_SELF)
    await supervisor.close()
    spent_s = after_s.ru_utime + after_s.ru_stime - before_s.ru_utime - before_s.ru_stime
    return spent_s / count * 1000


async def measure(options: argparse.Namespace, url: str, pid: int, folder: str) -> bool:
    limits = httpx2.Limits(max_connections=options.runs + options.streams + 10)
    timeout = httpx2.Timeout(600.0)
    async with httpx2.AsyncClient(
        base_url=url, headers=HEADERS, limits=limits, timeout=timeout, trust_env=False
    ) as client:
        good = await load(client, pid, options)
        good &= await show(client, options.large)
        good &= await short(client, pid, options.short)
        count = 400
        before_s = Held.by(pid).cpu_s
        for _ in range(count // AT_ONCE):
            await asyncio.gather(*(started(client, "code", wait=30) for _ in range(AT_ONCE)))
        http_ms = (Held.by(pid).cpu_s - before_s) / count * 1000
    own_ms = await alone(count, str(Path(folder, "alone")))
    over = http_ms - own_ms
    print(f"  CPU of a short run: {http_ms:.1f} ms over HTTP, {own_ms:.1f} by itself: +{over:.1f}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("runs", 200), ("tasks", 20), ("streams", 50)):
        parser.add_argument(f"--{name}", type=int, default=default)
    for name, default in (("large", 5000), ("short", 3600)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    load_1, *_ = os.getloadavg()
    print(f"{dt.date.today()}, load of the machine {load_1:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder, ScriptedServer() as server:
        home = str(Path(folder, "home"))
        command = [sys.executable, "-m", "leadhand", "serve", "--home", home, "--port", "0"]
        command += ["--auth", "benchmarks.served:caller"]
        command += ["--team", f"{__file__}:large", "--team", f"{__file__}:code"]
        env = {**os.environ, **server.env(), "TASKS": str(options.tasks)}
        with subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True) as process:
            assert process.stderr is not None
            try:
                url = next(
                    found[0]
                    for line in process.stderr
                    if (found := re.findall(r"serving .* at (http://[^,]+)", line))
                )
                threading.Thread(target=process.stderr.read, daemon=True).start()
                good = asyncio.run(measure(options, url, process.pid, folder))
            finally:
                process.terminate()
    print("as it should be" if good else "MISSED a target")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
