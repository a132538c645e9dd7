// The views, by the group in which the bar names them.

import overview from "./views/overview.js";

export const groups = [
  ["watch", [overview]],
];
