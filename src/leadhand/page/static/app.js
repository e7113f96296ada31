// The frame of the page: top bar, sign-in, and the view that the URL names.

import { html, render, useEffect, useState } from "./vendor/preact.js";
import { follow, live, load, loadQuestions, me, paused, questions, remove, signedOut, signIn } from "./api.js";
import { go, here, parts, url } from "./router.js";
import { Button, classes, Empty, Guard, Icon, Loading, Trouble } from "./ui.js";
import { Inbox } from "./views/inbox.js";
import { RUN, RunView } from "./views/run.js";
import { Runs } from "./views/runs.js";
import { Start } from "./views/start.js";
import { Team, Teams } from "./views/teams.js";

// Which view an address has; the first that fits.
const views = [
  { match: /^\/inbox$/, view: Inbox, section: "inbox" },
  { match: /^\/runs$/, view: Runs, section: "runs" },
  { match: /^\/runs\/new$/, view: Start, section: "runs" },
  { match: RUN, view: RunView, section: "runs" },
  { match: /^\/teams$/, view: Teams, section: "teams" },
  { match: /^\/teams\/(?<name>[^/]+)$/, view: Team, section: "teams" },
];

const NAVIGATION = [
  { id: "inbox", name: "Inbox", icon: "inbox", path: "/inbox" },
  { id: "runs", name: "Runs", icon: "list", path: "/runs" },
  { id: "teams", name: "Teams", icon: "users", path: "/teams" },
];

function TopBar({ section }) {
  const waiting = questions.value.list.length;
  return html`<header class="topbar">
    <a class="brand" href=${url("/")} aria-label="leadhand, start"><${Logo} /><span>leadhand</span></a>
    <nav aria-label="Main">${NAVIGATION.map((one) => html`<a key=${one.id} href=${url(one.path)} aria-current=${one.id === section ? "page" : undefined}>
      <${Icon} name=${one.icon} /><span>${one.name}</span>${one.id === "inbox" && waiting ? html`<span class="count wait" title="Questions that wait for a reply">${waiting}<span class="sr"> waiting</span></span>` : null}
    </a>`)}</nav>
    <${LiveState} />
    ${me.value?.name ? html`<span class="who" title=${`Signed in as ${me.value.name}: ${me.value.roles.join(", ")}`}><${Icon} name="user" /><span>${me.value.name}</span>
      <${Button} small quiet icon="log-out" title="Sign out" onClick=${() => remove("/session").finally(() => (signedOut.value = true))} /></span>` : null}
  </header>`;
}

const LIVE = {
  live: ["Live", "Updates arrive as they happen. Press to pause them."],
  paused: ["Paused", "The page stands still. Press to catch up and follow again."],
  lost: ["Reconnecting", "The connection was lost; the page tries again and catches up by itself."],
  off: ["", ""],
};

function LiveState() {
  const state = paused.value ? "paused" : live.value, [word, title] = LIVE[state];
  useEffect(() => { document.documentElement.dataset.live = state; }, [state]);
  if (!word) return html`<span class="live"></span>`;
  return html`<button type="button" class=${classes("live", state)} title=${title} aria-pressed=${paused.value} onClick=${() => (paused.value = !paused.value)}>
    <span class="dot"></span><span role="status">${word}</span>${state === "lost" ? null : html`<${Icon} name=${paused.value ? "play" : "pause"} />`}
  </button>`;
}

const Logo = () => html`<svg viewBox="0 0 32 32" class="logo" aria-hidden="true"><rect width="32" height="32" rx="8" /><path d="M9 16h5M14 16c4 0 2-7 7-7M14 16c4 0 2 7 7 7" /><circle cx="9" cy="16" r="3" /><circle cx="23" cy="9" r="3" /><circle cx="23" cy="23" r="3" /></svg>`;

function Main() {
  const { path } = here.value;
  if (path === "/") return html`<${First} />`;
  for (const { match, view, section } of views) {
    const found = parts(match, path);
    if (found) return html`<${TopBar} section=${section} /><main id="main" tabindex="-1"><${Guard} key=${view.name}><${view} ...${found} /><//></main>`;
  }
  return html`<${TopBar} /><main id="main"><${Empty} icon="search" title="There is no such page" action=${html`<${Button} href=${url("/runs")}>All runs<//>`}>The address may be incomplete.<//></main>`;
}

// What waits for a person comes first, if anything does.
function First() {
  const { loaded, list } = questions.value;
  useEffect(() => { if (loaded) go(url(list.length ? "/inbox" : "/runs"), { replace: true }); }, [loaded]);
  return html`<${Loading} />`;
}

// Without a session: the link of the terminal, or a token.
function SignIn() {
  const [token, setToken] = useState(""), [error, setError] = useState(spent);
  const send = async (event) => {
    event.preventDefault();
    try {
      await signIn({ token: token.trim() });
    } catch (problem) {
      setError({ title: "", message: problem.status === 401 ? "The service does not know this token." : problem.message });
    }
  };
  return html`<main class="signin"><h1>Sign in to leadhand</h1>
    <p>Open the link that <code>leadhand ui</code> or <code>leadhand serve</code> prints at the terminal. It works once and signs this browser in.</p>
    <form onSubmit=${send}><label for="token">Or a token</label>
      <input id="token" type="password" autocomplete="current-password" required value=${token} onInput=${(event) => setToken(event.target.value)} />
      ${error ? html`<${Trouble} small error=${error} />` : null}
      <p><${Button} main type="submit" icon="key-round">Sign in<//></p></form></main>`;
}

// Outside of a run the page follows all runs, for the number of questions and for lists: `changes` counts.
const ASKS = new Set(["approval_requested", "approval_given", "run_waiting", "run_finished", "run_resumed"]);
let soon = 0;
export const ask = () => { clearTimeout(soon); soon = setTimeout(loadQuestions, 200); };

function App() {
  const out = signedOut.value, inRun = /^\/runs\/(?!new)[^/]+/.test(here.value.path);
  useEffect(() => {
    if (!me.value || out) return;
    loadQuestions();
    const timer = setInterval(() => document.hidden || paused.value || loadQuestions(), 20000);
    return () => clearInterval(timer);
  }, [me.value, out]);
  useEffect(() => {
    if (!me.value || out || inRun) return;
    return follow("/events", { event: (type, data) => { if (ASKS.has(type)) ask(); dispatchEvent(new CustomEvent("run-event", { detail: data })); } });
  }, [me.value, out, inRun]);
  if (out) return html`<${SignIn} />`;
  return html`<a class="skip" href="#main">To the content</a><${Main} />`;
}

const root = document.getElementById("app");
const code = new URLSearchParams(location.hash.slice(1)).get("code"); // of the link at the terminal; works once
let spent = null; // why the link did not sign in
async function begin() {
  root.replaceChildren();
  try {
    await load();
  } catch (error) {
    if (!signedOut.value) {
      render(html`<${Trouble} error=${error} retry=${begin} />`, root);
      if (error.status === 0) setTimeout(begin, 2000);
      return;
    }
  }
  render(html`<${App} />`, root);
}
if (!code) begin();
else signIn({ code }).catch((problem) => { spent = { title: "", message: problem.status === 401 ? "The link was used before, or is too old." : problem.message }; }).finally(() => (go(url(here.value.path, here.value.query), { replace: true }), begin()));
