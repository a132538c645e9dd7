// Why a load level changed, in the reader's language. The server says it in plain English with
// the figures in it; what is not known here is shown as it came.

import { absolute } from "../time.js";

const percent = (share) => `${Math.round(share * 1000) / 10}%`;

// kinds are the causes by name, each with what its figures are.
const kinds = [
  ["calm", /^nothing has asked for level (\d) for (\S+)$/, [String, String]],
  ["wordEnded", /^an operator's word has ended$/, []],
  ["word", /^an operator's word until (\S+)$/, [absolute]],
  ["errors", /^errors ([\d.]+) ≥ ([\d.]+) of (\d+) calls$/, [percent, percent, String]],
  ["p99", /^p99 to the first token (\S+) ≥ (\S+)$/, [String, String]],
  ["depth", /^depth of (\w+) ([\d.]+) ≥ ([\d.]+)$/, [String, percent, percent]],
  ["wait", /^wait in (\w+) (\S+) ≥ (\S+)$/, [String, String, String]],
];

export function causeIn(words, lang, cause) {
  for (const [name, is, parts] of kinds) {
    const found = is.exec(cause);
    if (found) return words.levelCauses[name](...parts.map((show, i) => words.lanes[found[i + 1]] ?? show(found[i + 1], lang)));
  }
  return cause;
}
