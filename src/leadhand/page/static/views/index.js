// Which view an address has; the first that fits. `section`: the entry of the top bar that it belongs to.

import { Inbox } from "./inbox.js";
import { RUN, RunView } from "./run.js";
import { Runs } from "./runs.js";
import { Start } from "./start.js";
import { Team, Teams } from "./teams.js";

export const views = [
  { match: /^\/inbox$/, view: Inbox, section: "inbox" },
  { match: /^\/runs$/, view: Runs, section: "runs" },
  { match: /^\/runs\/new$/, view: Start, section: "runs" },
  { match: RUN, view: RunView, section: "runs" },
  { match: /^\/teams$/, view: Teams, section: "teams" },
  { match: /^\/teams\/(?<name>[^/]+)$/, view: Team, section: "teams" },
];
