// Which view an address has. `section`: the entry of the top bar that it belongs to.

import { RunView } from "./run.js";

export const views = [
  { match: /^\/runs\/(?<id>[^/]+)(?:\/tasks\/(?<task>.+))?$/, view: RunView, section: "runs" },
];
