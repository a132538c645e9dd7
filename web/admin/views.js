// The views, by the group in which the bar names them.

import alerts from "./views/alerts.js";
import lanes from "./views/lanes.js";
import overview from "./views/overview.js";
import rules from "./views/rules.js";
import valve from "./views/valve.js";
import vendors from "./views/vendors.js";

export const groups = [
  ["watch", [overview, alerts]],
  ["steer", [lanes, vendors, valve, rules]],
];
