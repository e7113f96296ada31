// The address bar as state: every view, filter and selection is in the URL.
// In a stored page (one file) the URL is what follows "#".

import { signal } from "./vendor/preact.js";

const meta = (name) => document.querySelector(`meta[name=${name}]`)?.content ?? null;
export const stored = document.getElementById("stored") !== null;
const base = meta("base") ?? "";

function read() {
  const whole = stored ? location.hash.slice(1) || meta("start") : location.pathname.slice(base.length) + location.search;
  const [path, search = ""] = whole.split("?");
  return { path: path || "/", query: Object.fromEntries(new URLSearchParams(search)) };
}

export const here = signal(read());

// The address of a view, for `href`. Parameters without a value are left out.
export function url(path, query = {}) {
  const kept = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false);
  const search = new URLSearchParams(kept).toString();
  return `${stored ? "#" : base}${path}${search ? `?${search}` : ""}`;
}

// The present address with some parameters changed.
export const changed = (query, path = here.value.path) => url(path, { ...here.value.query, ...query });

export function go(href, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", href);
  const before = here.value;
  here.value = read();
  if (before.path.split("/", 3).join("/") !== here.value.path.split("/", 3).join("/")) window.scrollTo(0, 0);
}

// What a pattern names in a path, decoded; null if the path does not fit.
export function parts(pattern, path) {
  const found = pattern.exec(path);
  return found && Object.fromEntries(Object.entries(found.groups ?? {}).map(([name, value]) => [name, value?.split("/").map(decodeURIComponent).join("/")]));
}
export const taskPath = (path) => path.split("/").map(encodeURIComponent).join("/");

addEventListener("popstate", () => (here.value = read()));
addEventListener("hashchange", () => (here.value = read()));

// Links within the page change the URL without loading anything.
addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href]");
  if (!link || event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const href = link.getAttribute("href");
  const inside = stored ? href.startsWith("#") : href.startsWith(`${base}/`) && !href.startsWith(`${base}/api/`) && !href.startsWith("//");
  if (!inside || link.hasAttribute("target") || link.hasAttribute("download")) return;
  event.preventDefault();
  go(href);
});
