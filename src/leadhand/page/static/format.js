// Durations, prices, counts and times, the same in every view.

export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds < 0.0005) return seconds ? "under 1 ms" : "0 s";
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${Number.isInteger(seconds) ? seconds : seconds.toFixed(1)} s`;
  const total = Math.round(seconds), minutes = Math.floor(total / 60) % 60, hours = Math.floor(total / 3600);
  if (hours >= 48) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  if (hours) return minutes ? `${hours} h ${minutes} min` : `${hours} h`;
  return total % 60 ? `${minutes} min ${total % 60} s` : `${minutes} min`;
}

export function price(usd) {
  if (usd === null || usd === undefined) return "–";
  if (usd > 0 && usd < 0.0001) return "under $0.0001";
  return usd === 0 ? "$0" : usd < 0.1 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

const whole = new Intl.NumberFormat("en");
export const number = (value) => whole.format(value);
export const counted = (count, noun, plural = `${noun}s`) => `${number(count)} ${count === 1 ? noun : plural}`;
export const bytes = (size) => (size < 1024 ? `${size} B` : size < 1048576 ? `${Math.round(size / 1024)} kB` : `${(size / 1048576).toFixed(1)} MB`);

const moment = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
export const at = (iso) => moment.format(new Date(iso));

export function ago(iso, now = Date.now()) {
  const seconds = (now - new Date(iso)) / 1000;
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min ago`;
  if (seconds < 86400) return `${Math.round(seconds / 3600)} h ago`;
  if (seconds < 86400 * 14) return counted(Math.round(seconds / 86400), "day") + " ago";
  return new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" }).format(new Date(iso));
}

// What happened, as the log names it, for people who have not read its glossary.
const WORDS = [
  [/^critic, draft (\d+): (.+)/, "The draft of the answer was checked: $2"],
  [/^no round \d+/, "No further tasks were planned"],
  [/^round \d+ starts (.+?)(, and the planner is done)?$/, "The next tasks start: $1"],
  [/^round \d+ asks to start (.+?)(, and the planner is done)?$/, "The next tasks wait for approval: $1"],
  [/^round \d+, and the planner is done/, "No further tasks are needed"],
  [/^round (\d+)/, "Planning went on, round $1"],
  [/^tier raised from (.+) to (.+)/, "A stronger model tries it ($2 instead of $1)"],
  [/^intent refined/, "What it is to do was put more clearly"],
  [/^reassigned to (.+)/, "Given to $1"],
  [/^second opinion of (.+)/, "$1 is asked for a second opinion"],
  [/^given up/, "No further attempt"],
  [/^told to stop/, "Stopped"],
];
export function plain(said) {
  const found = WORDS.find(([pattern]) => pattern.test(said));
  return found ? said.replace(...found) : said.replaceAll("_", " ").replace(/^(?:resumed|stopped|waits|tried|accepted|split|done|cancelled)\b/, (word) => word[0].toUpperCase() + word.slice(1));
}

// How long there is until then, and what happens to a question without a reply.
export function until(iso) {
  const minutes = Math.max(0, Math.round((new Date(iso) - Date.now()) / 60000));
  return minutes < 1 ? "under a minute" : minutes < 90 ? `${minutes} min` : minutes < 2880 ? `${Math.round(minutes / 60)} h` : `${Math.round(minutes / 1440)} days`;
}
export const lapse = (one) => `Without a reply by ${at(one.expires_at)} (${until(one.expires_at)} left) ${one.plan || one.calls?.length ? "it is refused" : "the run goes on without one"}.`;

// A question about a task, as the service writes it: what is asked, and of what. `about` is empty if it has another form.
export function asked(text) {
  const [, worker, reason, message, task] = /^(\S+)(?: \(([a-z ]+)\))?: (.+)\nIts task: (.+?)(?:\nIf it is for another worker.*)?$/s.exec(text) ?? [];
  return message ? { message, about: `${worker} works on: ${task}${reason ? `\nWhy it asks: ${reason}.` : ""}` } : { message: text, about: "" };
}

// Statuses of runs, tasks and attempts: word, icon and tone. Never colour alone.
const STATES = {
  complete: ["complete", "circle-check", "good"],
  completed: ["done", "circle-check", "good"],
  closed: ["working", "circle-check", "good"],
  partial: ["partial", "circle-alert", "wait"],
  failed: ["failed", "circle-x", "bad"],
  damaged: ["damaged", "octagon-x", "bad"],
  timed_out: ["timed out", "clock-alert", "bad"],
  open: ["paused after failures", "octagon-x", "bad"],
  running: ["running", "loader-circle", "busy"],
  waiting: ["waiting for a person", "hand", "wait"],
  paused: ["paused for a person", "hand", "wait"],
  half_open: ["being tried again", "circle-alert", "wait"],
  escalated: ["handed back", "message-circle-question", "wait"],
  interrupted: ["interrupted", "unlink", "wait"],
  retrying: ["to be tried again", "clock", "wait"],
  pending: ["not started", "circle-dashed", "idle"],
  queued: ["queued", "clock", "idle"],
  planned: ["planned", "list-checks", "idle"],
  cancelled: ["cancelled", "ban", "idle"],
  skipped: ["skipped", "circle-slash", "idle"],
  split: ["split", "git-fork", "idle"],
  dropped: ["dropped", "minus", "idle"],
};

export function look(status) {
  const [word, icon, tone] = STATES[status] ?? [`${status}`.replaceAll("_", " "), "circle", "idle"];
  return { word, icon, tone };
}

// How many attempts a task had: one that waited for a person and went on is one.
export const attempts = (task) => task.attempts.at(-1)?.attempt ?? 0;

// For summaries: what needs a person's eye comes first.
export const ORDER = ["failed", "timed_out", "waiting", "escalated", "retrying", "running", "interrupted", "pending", "skipped", "cancelled", "split", "dropped", "completed"];
