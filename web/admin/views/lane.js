// How a lane's state is shown.

import { el } from "../dom.js";

const kinds = { open: "good", paused: "warn", draining: "warn", drained: "bad" };

export function laneTag(words, lane) {
  return el("span", { class: `tag ${kinds[lane.state]}` }, words.laneStates[lane.state]);
}
