// When what was done: a bar per attempt, a lane per worker. Waits are hatched, long gaps compressed.

import { html, useEffect, useMemo, useRef, useState } from "./vendor/preact.js";
import { attempts, duration, look, number } from "./format.js";
import { changed, go, here } from "./router.js";
import { Button, classes, Icon, useSize, useTick } from "./ui.js";

const ROW = 26, HEAD = 30, LANE = 12, LABEL = 168, GAP = 46;
const LONG_GAP = 0.12;

export function Timeline({ run, view, matching }) {
  const ref = useRef(null), box = useSize(ref), [scroll, setScroll] = useState({ x: 0, y: 0 });
  const zoom = Math.min(64, Math.max(1, Number(here.value.query.zoom) || 1)), version = run.version.value;
  useTick(view.status === "running");
  const now = run.now_s, plan = useMemo(() => lanes(run, now), [run, version, Math.round(now)]);
  const label = box.w < 560 ? 96 : LABEL, room = Math.max(160, (box.w - label - 24) * zoom), scale = useMemo(() => scaled(plan.bars, now, room), [plan, room]);
  const selected = plan.bars.find((bar) => bar.task.path === run.selected);
  useEffect(() => {
    if (selected && (selected.y < scroll.y || selected.y > scroll.y + box.h - 60)) ref.current.scrollTop = selected.y - box.h / 3;
  }, [run.selected]);
  const top = scroll.y - 400, bottom = scroll.y + box.h + 400, left = scroll.x - 600, right = scroll.x + box.w + 600;
  const placed = (bars) => bars.filter((bar) => bar.y > top && bar.y < bottom).map((bar) => ({ ...bar, x: scale.x(bar.from), w: Math.max(3, scale.x(bar.to) - scale.x(bar.from)) })).filter((bar) => bar.x + bar.w > left && bar.x < right);
  const shown = merged(placed(plan.bars), run.selected);
  const keys = (event) => {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = plan.bars[Math.min(plan.bars.length - 1, Math.max(0, plan.bars.indexOf(selected) + step))];
    if (next) go(run.href(next.task.path), { replace: Boolean(selected) });
  };
  return html`<div class="timeline">
    <div class="times" ref=${ref} tabindex="0" role="region" aria-label="Timeline; arrow keys move from one attempt to the next" onScroll=${(event) => setScroll({ x: event.target.scrollLeft, y: event.target.scrollTop })} onKeyDown=${keys}>
      <div class="sheet" style=${{ width: `${label + room + 24}px`, height: `${plan.h + HEAD + 48}px` }}>
        <div class="axis">${scale.ticks.map((at) => html`<span key=${at} style=${{ left: `${label + scale.x(at)}px` }}>${duration(at)}</span>`)}</div>
        ${scale.gaps.map((gap) => html`<div key=${gap.from} class="gap" style=${{ left: `${label + scale.x(gap.from)}px`, width: `${GAP}px` }} title=${`Nothing ran for ${duration(gap.to - gap.from)}`}><span>${duration(gap.to - gap.from)}</span></div>`)}
        ${plan.lanes.map((lane) => html`<div key=${lane.worker} class="lane" style=${{ top: `${lane.y + HEAD}px`, height: `${lane.h}px` }}><span class="name clip" style=${{ width: `${label - 12}px` }} title=${lane.worker}>${lane.worker} <span class="muted num">${number(lane.count)}</span></span></div>`)}
        ${placed(plan.waits).map((wait) => html`<div key=${wait.key} class="pause" title=${wait.why} style=${{ left: `${label + wait.x}px`, top: `${wait.y + HEAD}px`, width: `${wait.w}px` }}></div>`)}
        ${shown.map((bar) => bar.several ? html`<div key=${bar.key} class=${`attempt several tone-${look(bar.attempt.end).tone}`} title=${`${number(bar.several)} attempts; more detail shows each`} style=${{ left: `${label + bar.x}px`, top: `${bar.y + HEAD}px`, width: `${bar.w}px` }}></div>` : html`<${Bar} key=${bar.key} bar=${bar} left=${label} run=${run} faded=${matching && !matching.has(bar.task.path)} scale=${scale} />`)}
        ${view.status === "running" ? html`<div class="now" style=${{ left: `${label + scale.x(now)}px` }}></div>` : null}
      </div></div>
    <div class="legend small muted" aria-hidden="true"><span class="key wait"></span>waiting<span class="key critical"></span>longest path</div>
    <div class="controls"><${Button} small icon="zoom-out" title="Less detail" disabled=${zoom <= 1} onClick=${() => go(changed({ zoom: zoom <= 2 ? "" : zoom / 2 }), { replace: true })} /><${Button} small icon="zoom-in" title="More detail" onClick=${() => go(changed({ zoom: zoom * 2 }), { replace: true })} /></div></div>`;
}

function Bar({ bar, left, run, faded, scale }) {
  const { task, attempt } = bar, seen = look(attempt.end), several = attempts(task) > 1;
  const waits = waitsOf(bar).map(([from, to]) => [scale.x(from) - bar.x, scale.x(to) - scale.x(from)]).filter(([, wide]) => wide > 2), name = `${task.id}${several ? ` · attempt ${attempt.attempt}` : ""}`;
  const said = `${task.path}${several ? `, attempt ${attempt.attempt}` : ""}: ${seen.word}, ${duration(bar.to - bar.from)}${attempt.waited_s > 0.001 ? `, of it ${duration(attempt.waited_s)} waiting` : ""}${attempt.model ? `, ${attempt.model}` : ""}`;
  const wide = name.length * 6.5 + 24, inside = bar.w > wide, beside = !inside && Math.min(scale.x(bar.free), scale.room + 20) - bar.x - bar.w > wide;
  const before = !inside && !beside && bar.x - scale.x(bar.since) > (bar.since ? 2 * wide : wide), named = inside || beside || before;
  return html`<a class=${classes("attempt", `tone-${seen.tone}`, attempt.end, task.critical && "critical", faded && "faded", run.selected === task.path && "selected")} href=${run.href(task.path)} tabindex="-1" aria-label=${said} title=${said}
    style=${{ left: `${left + bar.x}px`, top: `${bar.y + HEAD}px`, width: `${bar.w}px` }}>${waits.map(([x, wide]) => html`<span key=${x} class="waits" style=${{ left: `${x}px`, width: `${wide}px` }}></span>`)}${named || bar.w > 20 ? html`<span class=${classes("what", inside ? "clip" : "beside", before && "before", !named && "full")}><${Icon} name=${seen.icon} />${named ? name : null}</span>` : null}</a>`;
}

// When an attempt waited. What is not known in detail stands at its beginning.
function waitsOf({ attempt, from, to }) {
  const known = (attempt.waits ?? []).map(([start, end]) => [start, Math.min(end, to)]).filter(([start, end]) => end > start);
  return known.length || !attempt.waited_s ? known : [[from, Math.min(to, from + attempt.waited_s)]];
}

const WHY = {
  failed: "Waits before it is tried again",
  paused: "Waits for a person",
  escalated: "Waits before it goes on",
  interrupted: "The run stood still",
};

// The time between two attempts of a task, and after the last if another one follows: [from, to, why].
function pauses(task, now) {
  return task.attempts.flatMap((attempt, index) => {
    const next = task.attempts[index + 1], goes = ["waiting", "retrying"].includes(task.status);
    const until = next ? next.started_s : goes ? now : attempt.ended_s;
    const why = !next && task.status === "waiting" ? WHY.paused : WHY[attempt.end];
    return attempt.ended_s !== null && why && until - attempt.ended_s > 0.001 ? [{ from: attempt.ended_s, to: until, why: `${task.path}: ${why.toLowerCase()}, ${duration(until - attempt.ended_s)}${attempt.message ? `. ${attempt.message}` : ""}` }] : [];
  });
}

// Bars of a row that are too narrow to tell apart, and ended alike, are one.
function merged(bars, selected) {
  const out = [], last = new Map();
  for (const bar of bars) {
    const before = last.get(bar.y), plain = bar.w < 5 && bar.task.path !== selected;
    if (plain && before && bar.x - before.x - before.w < 2 && before.attempt.end === bar.attempt.end) {
      before.several = (before.several ?? 1) + 1;
      before.w = Math.max(before.w, bar.x + bar.w - before.x);
    } else {
      out.push(bar);
      last.set(bar.y, plain ? bar : null);
    }
  }
  return out;
}

// Every attempt in the lane of its worker, in the first row that is free; the worker that began first on top.
function lanes(run, now) {
  const by = new Map(), bars = [], waits = [];
  for (const task of run.tasks) {
    const around = task.parent ? `${run.byPath.get(task.parent)?.worker ?? task.parent} › ` : "";
    const after = new Map(pauses(task, now).map((pause) => [pause.from, pause]));
    for (const [place, attempt] of task.attempts.entries()) {
      const worker = around + attempt.worker, bar = { key: `${task.path}:${place}`, task, attempt, from: attempt.started_s, to: Math.max(attempt.started_s, attempt.ended_s ?? now), pause: after.get(attempt.ended_s) };
      if (by.has(worker)) by.get(worker).push(bar);
      else by.set(worker, [bar]);
    }
  }
  const found = [];
  let y = 0;
  const first = (list) => list.reduce((least, bar) => Math.min(least, bar.from), Infinity);
  for (const [worker, list] of [...by].sort((one, two) => first(one[1]) - first(two[1]))) {
    const free = [], last = [], rows = new Map();
    for (const bar of list.sort((one, two) => one.from - two.from)) {
      let row = rows.get(bar.task) ?? free.findIndex((until) => until <= bar.from + 1e-9);
      if (row < 0 || free[row] > bar.from + 1e-9) row = free.length;
      if (last[row]) last[row].free = bar.from;
      Object.assign(bar, { y: y + LANE / 2 + row * ROW, since: last[row]?.to ?? 0, free: Infinity });
      [free[row], last[row]] = [bar.pause?.to ?? bar.to, bar];
      rows.set(bar.task, row);
      bars.push(bar);
      if (bar.pause) waits.push({ ...bar.pause, key: `${bar.key}:wait`, y: bar.y });
    }
    found.push({ worker, y, h: free.length * ROW + LANE, count: list.length });
    y += free.length * ROW + LANE;
  }
  return { lanes: found, bars, waits, h: y };
}

// Seconds to pixels. A time in which nothing ran is a narrow gap if it is long beside the rest.
function scaled(bars, now, room) {
  const spans = bars.map((bar) => [bar.from, bar.to]).sort((one, two) => one[0] - two[0]), gaps = [];
  const end = Math.max(now, ...spans.map((span) => span[1]), 0.001);
  let reached = spans[0]?.[0] ?? 0, quiet = 0;
  const busy = spans.reduce((sum, [from, to]) => {
    const added = Math.max(0, to - Math.max(from, reached));
    if (from > reached) gaps.push({ from: reached, to: from });
    reached = Math.max(reached, to);
    return sum + added;
  }, 0);
  if (spans[0]?.[0] > 0) gaps.unshift({ from: 0, to: spans[0][0] });
  const long = gaps.filter((gap) => gap.to - gap.from > Math.max(LONG_GAP * busy, 2));
  for (const gap of long) quiet += gap.to - gap.from;
  const unit = Math.max(1, room - long.length * GAP) / Math.max(end - quiet, 0.001);
  const x = (at) => {
    let past = at, more = 0;
    for (const gap of long) {
      if (at <= gap.from) break;
      const share = Math.min(1, (at - gap.from) / (gap.to - gap.from));
      past -= share * (gap.to - gap.from);
      more += share * GAP;
    }
    return past * unit + more;
  };
  const step = nice(110 / unit), ticks = [];
  for (let at = 0; at <= end && ticks.length < 400; at += step) {
    if (long.some((gap) => at > gap.from && at < gap.to)) continue;
    if (!ticks.length || x(at) - x(ticks.at(-1)) > 70) ticks.push(at);
  }
  return { x, gaps: long, ticks, room };
}

function nice(seconds) {
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21600, 43200, 86400];
  return steps.find((step) => step >= seconds) ?? 604800;
}
