// The small parts that all views are made of.

import { html, useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { shapes } from "./vendor/icons.js";
import { Problem } from "./api.js";
import { ago, at, duration, look } from "./format.js";

export const classes = (...names) => names.filter(Boolean).join(" ");

export function Icon({ name, label, spin = false }) {
  return html`<svg class=${classes("icon", spin && "spin")} viewBox="0 0 24 24" role=${label ? "img" : undefined}
    aria-label=${label} aria-hidden=${label ? undefined : "true"}>
    ${(shapes[name] ?? shapes.circle).map(([Tag, attributes]) => html`<${Tag} ...${attributes} />`)}
  </svg>`;
}

// A status as icon and word; `bare`: the icon, with the word for screen readers.
export function Status({ status, bare = false, word }) {
  const seen = look(status);
  return html`<span class="status tone-${seen.tone}">
    <${Icon} name=${seen.icon} label=${bare ? (word ?? seen.word) : undefined} spin=${status === "running"} />${bare ? null : (word ?? seen.word)}
  </span>`;
}

// `quiet`: no border. `main`: what one most likely wants. `danger`: can't be undone.
export function Button({ icon, children, main, quiet, danger, small, busy, title, href, ...rest }) {
  const named = classes("button", main && "main", quiet && "quiet", danger && "danger", small && "small", icon && !hasText(children) && "square");
  const inside = html`${icon ? html`<${Icon} name=${busy ? "loader-circle" : icon} spin=${busy} />` : null}${children}`;
  if (href) return html`<a class=${named} href=${href} title=${title} aria-label=${hasText(children) ? undefined : title} ...${rest}>${inside}</a>`;
  return html`<button type="button" class=${named} title=${title} aria-label=${hasText(children) ? undefined : title} disabled=${busy} ...${rest}>${inside}</button>`;
}
const hasText = (children) => [children].flat(9).some((one) => one || one === 0);

// Links that look like a switch; the chosen one is in the URL.
export function Tabs({ label, tabs, current }) {
  return html`<nav class="tabs" aria-label=${label}>
    ${tabs.map((tab) => html`<a key=${tab.id} href=${tab.href} aria-current=${tab.id === current ? "page" : undefined}>
      ${tab.icon ? html`<${Icon} name=${tab.icon} />` : null}<span>${tab.name}</span>${tab.count ? html`<span class="count">${tab.count}</span>` : null}
    </a>`)}
  </nav>`;
}

export function Loading({ what = "" }) {
  const [late, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), 150);
    return () => clearTimeout(timer);
  }, []);
  return html`<div class="loading" role="status">${late ? html`<${Icon} name="loader-circle" spin /> Loading${what ? ` ${what}` : ""}…` : null}</div>`;
}

export function Empty({ icon = "inbox", title, children, action }) {
  return html`<div class="empty"><${Icon} name=${icon} /><h2>${title}</h2><div>${children}</div>${action ? html`<p>${action}</p>` : null}</div>`;
}

// What went wrong and what one can do about it.
export function Trouble({ error, retry, small = false }) {
  if (error instanceof Problem && error.status === 401) return null;
  const gone = error.status === 404, lost = error.status === 0;
  const title = lost ? "The service can't be reached" : gone ? "There is no such thing here" : error.title || "That did not work";
  const body = lost ? "The page tries again by itself as soon as it answers." : error.message;
  if (small) return html`<p class="note bad" role="alert"><${Icon} name="circle-alert" /><span>${body === title ? body : `${title}: ${body}`}</span></p>`;
  return html`<div class="empty" role="alert"><${Icon} name=${lost ? "wifi-off" : gone ? "search" : "triangle-alert"} />
    <h2>${title}</h2><div>${body}</div>${retry ? html`<p><${Button} icon="refresh-cw" onClick=${retry}>Try again<//></p>` : null}</div>`;
}

// What a component throws is shown in its place; the rest of the page stays.
export function Guard({ children }) {
  const [error, reset] = useErrorBoundary((thrown) => console.error(thrown));
  if (!error) return children;
  return html`<${Trouble} error=${{ title: "This part of the page broke", message: `${error.message ?? error}` }} retry=${reset} />`;
}

export function Note({ tone = "idle", icon = "info", children, action }) {
  return html`<div class="note ${tone}"><${Icon} name=${icon} /><div>${children}</div>${action}</div>`;
}

// The size of an element, as it changes.
export function useSize(ref) {
  const [size, setSize] = useState({ w: 900, h: 800 });
  useLayoutEffect(() => {
    const sized = new ResizeObserver(([entry]) => setSize({ w: entry.contentRect.width, h: entry.contentRect.height }));
    sized.observe(ref.current);
    return () => sized.disconnect();
  }, []);
  return size;
}

// Draws a component anew every so often, while that is wanted.
export function useTick(wanted = true, ms = 1000) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = wanted ? setInterval(() => document.hidden || tick((count) => count + 1), ms) : 0;
    return () => clearInterval(timer);
  }, [wanted]);
}

// How long something takes that goes on; `seconds` gives it.
export function Clock({ seconds }) {
  useTick();
  return duration(Math.max(0, Math.round(seconds())));
}

export function Time({ iso }) {
  useTick(true, 30000);
  return iso ? html`<time datetime=${iso} title=${at(iso)}>${ago(iso)}</time>` : null;
}

export function Copy({ text, label = "Copy" }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "function" ? text() : text);
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return html`<${Button} small quiet icon=${done ? "check" : "copy"} title=${label} onClick=${copy}>${done ? "Copied" : null}<//>`;
}

// A dialog in the middle; `onClose` is called by Escape, too.
export function Dialog({ title, onClose, children }) {
  const ref = useRef(null);
  useEffect(() => ref.current.showModal(), []);
  return html`<dialog ref=${ref} class="dialog" aria-label=${title} onCancel=${(event) => (event.preventDefault(), onClose())}
    onClick=${(event) => event.target === ref.current && onClose()}>
    <header><h2>${title}</h2><${Button} quiet small icon="x" title="Close" onClick=${onClose} /></header>${children}</dialog>`;
}

// A long text: its first lines, and the rest when asked for. `more`: loads the whole, if only a part is here.
export function LongText({ text, lines = 12, more, mono = true }) {
  const [open, setOpen] = useState(false), [whole, setWhole] = useState(null);
  const shown = whole ?? text, rows = shown.split("\n");
  const long = rows.length > lines || shown.length > lines * 160 || (more && whole === null);
  const cut = open ? shown : rows.slice(0, lines).join("\n").slice(0, lines * 160);
  const toggle = async () => {
    if (!open && more && whole === null) setWhole(await more());
    setOpen(!open);
  };
  return html`<div class="longtext"><pre class=${mono ? "mono" : "prose-pre"} tabindex=${open ? 0 : undefined}>${cut}${long && !open ? "…" : ""}</pre>
    ${long ? html`<${Button} small quiet icon=${open ? "chevron-down" : "chevron-right"} onClick=${toggle}>${open ? "Less" : "All of it"}<//>` : null}</div>`;
}

// Single keys, outside of fields and dialogs. What a key does is that of the latest drawing, however fast one types.
export function useKeys(keys) {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const press = (event) => {
      const { target, key } = event;
      if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || target.closest?.("input, textarea, select, dialog") || !latest.current[key]) return;
      event.preventDefault();
      latest.current[key]();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
