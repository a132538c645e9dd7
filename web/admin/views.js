// The views, by the group in which the bar names them.

import alerts from "./views/alerts.js";
import audit from "./views/audit.js";
import batches from "./views/batches.js";
import deadLetters from "./views/dead.js";
import faq from "./views/faq.js";
import handoffs from "./views/handoffs.js";
import knowledge from "./views/knowledge.js";
import lanes from "./views/lanes.js";
import operators from "./views/operators.js";
import overview from "./views/overview.js";
import promises from "./views/promises.js";
import ratings from "./views/ratings.js";
import rules from "./views/rules.js";
import tenants from "./views/tenants.js";
import tickets from "./views/tickets.js";
import valve from "./views/valve.js";
import vendors from "./views/vendors.js";
import webhooks from "./views/webhooks.js";

export const groups = [
  ["watch", [overview, alerts]],
  ["steer", [lanes, vendors, valve, rules]],
  ["work", [tickets, deadLetters, handoffs, promises, webhooks, batches]],
  ["content", [knowledge, faq, ratings]],
  ["access", [tenants, operators, audit]],
];
