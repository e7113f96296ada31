// Everything that the page asks the service for: requests with CSRF, and live events.

import { signal, useEffect, useRef, useState } from "./vendor/preact.js";
import { stored } from "./router.js";

const base = `${document.querySelector("meta[name=base]")?.content ?? ""}/api/v1`;
const data = stored ? JSON.parse(document.getElementById("stored").textContent) : null;

export const me = signal(null);
export const signedOut = signal(false);

// An answer of the service that is no success: RFC 9457's title and detail, or no connection (status 0).
export class Problem extends Error {
  constructor(status, body = {}) {
    super(body.detail || body.title || (status ? `The service answered ${status}.` : "The service can't be reached."));
    Object.assign(this, { status, title: body.title ?? "", body });
  }
}

async function request(method, path, body, headers = {}) {
  if (stored) {
    if (method === "GET" && path in data) return data[path];
    throw new Problem(404, { detail: "This file does not have it: it shows one run as it was stored." });
  }
  const form = body instanceof FormData;
  const sent = { Accept: "application/json", ...headers };
  if (body !== undefined && !form) sent["Content-Type"] = "application/json";
  if (method !== "GET" && me.value?.csrf) sent["X-CSRF-Token"] = me.value.csrf;
  let response;
  try {
    response = await fetch(base + path, { method, headers: sent, credentials: "same-origin", body: form || body === undefined ? body : JSON.stringify(body) });
  } catch {
    throw new Problem(0);
  }
  const text = response.status === 204 ? "" : await response.text();
  const json = /json/.test(response.headers.get("Content-Type") ?? "") && text ? JSON.parse(text) : null;
  if (response.status === 401) signedOut.value = true;
  if (!response.ok) throw new Problem(response.status, json ?? {});
  return json ?? text;
}

export const get = (path) => request("GET", path);
export const post = (path, body = {}, headers) => request("POST", path, body, headers);
export const remove = (path) => request("DELETE", path);
export const link = (path) => base + path;
export const part = encodeURIComponent;

export async function signIn({ code, token } = {}) {
  await request("POST", "/session", undefined, { Authorization: `Bearer ${code ?? token}` });
  await load();
}

export async function load() {
  me.value = stored ? { name: "", roles: [], teams: [] } : await get("/me");
  signedOut.value = false;
}

// What a path gives, for a component: {data, error, loading, reload}. What was there stays while it is asked for anew.
export function useData(path, { every = 0 } = {}) {
  const [state, setState] = useState({ loading: true });
  const asked = useRef(0), current = useRef(path);
  current.current = path; // a reload that was put off is for what is shown by then
  const reload = async () => {
    const path = current.current, number = ++asked.current;
    if (path === null) return;
    try {
      const got = await get(path);
      if (number === asked.current) setState({ path, data: got, loading: false });
    } catch (error) {
      if (number === asked.current) setState((old) => ({ ...old, path, error, loading: false }));
    }
  };
  useEffect(() => {
    setState({ path, loading: true });
    reload();
    const timer = every ? setInterval(() => document.hidden || paused.value || reload(), every) : 0;
    return () => (asked.current++, clearInterval(timer));
  }, [path]);
  return { ...(state.path === path ? state : { loading: true }), reload };
}

// One request at a time, of a button or a form: {busy, error, send}.
export function useSending() {
  const [busy, setBusy] = useState(false), [error, setError] = useState(null);
  const send = async (work) => {
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      await work();
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  return { busy, error, send };
}

export const paused = signal(false);
// "off" (nothing to follow), "live", "paused", "lost" (it tries again)
export const live = signal("off");

const WAITS_MS = [500, 1000, 2000, 4000, 8000];

// Follows server-sent events until there are no more (204, or an event `end`); returns a function that stops it.
// A lost connection is made again from the last event seen. A hidden tab holds no connection for long.
export function follow(path, { last = null, event, end = () => {} }) {
  let stop = false, tries = 0, control = null, wake = () => {};
  const pause = (ms) => new Promise((done) => ((wake = done), setTimeout(done, ms)));
  const held = () => paused.value || document.hidden;
  const nudge = () => {
    if (held()) setTimeout(() => held() && control?.abort(), document.hidden ? 30000 : 0);
    wake();
  };
  const unsubscribe = paused.subscribe(nudge);
  document.addEventListener("visibilitychange", nudge);

  async function once() {
    control = new AbortController();
    const headers = { Accept: "text/event-stream", ...(last === null ? {} : { "Last-Event-ID": `${last}` }) };
    const response = await fetch(base + path, { headers, signal: control.signal, credentials: "same-origin", cache: "no-store" });
    if (response.status === 204) return true;
    if (response.status === 401) signedOut.value = true;
    if ([401, 403, 404].includes(response.status)) return true;
    if (!response.ok) throw new Problem(response.status);
    live.value = "live";
    tries = 0;
    for await (const message of messages(response.body)) {
      if (message.id !== null) last = message.id;
      if (message.type === "end") return true;
      if (message.data) event(message.type, JSON.parse(message.data));
    }
    return false;
  }

  (async () => {
    while (!stop) {
      if (held()) {
        live.value = paused.value ? "paused" : live.value;
        await pause(1e9);
        continue;
      }
      try {
        if (await once()) break;
      } catch {
        if (!stop && !held()) live.value = "lost";
      }
      if (!stop && !held()) await pause(WAITS_MS[Math.min(tries++, WAITS_MS.length - 1)]);
    }
    if (!stop) {
      live.value = "off";
      end();
    }
  })();

  return () => {
    stop = true;
    control?.abort();
    wake();
    unsubscribe();
    document.removeEventListener("visibilitychange", nudge);
    live.value = "off";
  };
}

async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "", message = { id: null, type: "message", data: "" };
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split(/\r?\n/);
    rest = lines.pop();
    for (const line of lines) {
      const colon = line.indexOf(":");
      const [name, text] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
      if (line === "") {
        if (message.data || message.type !== "message") yield message;
        message = { id: null, type: "message", data: "" };
      } else if (name === "data") message.data += (message.data ? "\n" : "") + text;
      else if (name === "event") message.type = text;
      else if (name === "id") message.id = text;
    }
  }
}

export const questions = signal({ list: [], loaded: false });

export async function loadQuestions() {
  if (stored) return;
  try {
    questions.value = { list: (await get("/questions")).questions, loaded: true };
  } catch (error) {
    questions.value = { ...questions.value, loaded: true, error };
  }
}
