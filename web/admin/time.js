// Times: how long ago, how long yet; kept up while they are shown.

import { el } from "./dom.js";

const units = [["day", 86400], ["hour", 3600], ["minute", 60], ["second", 1]];

// relative says an instant from now, such as "3 minutes ago".
export function relative(at, lang, now = Date.now()) {
  const seconds = (new Date(at) - now) / 1000;
  const [unit, size] = units.find(([, s]) => Math.abs(seconds) >= s) ?? units.at(-1);
  return new Intl.RelativeTimeFormat(lang, { numeric: "auto" }).format(Math.trunc(seconds / size), unit);
}

export function absolute(at, lang) {
  return new Intl.DateTimeFormat(lang, { dateStyle: "medium", timeStyle: "medium" }).format(new Date(at));
}

// moment shows an instant; its title has the full date.
export function moment(at, lang) {
  if (!at) return "–";
  return el("time", { datetime: at, title: absolute(at, lang), data: { lang } }, relative(at, lang));
}

// span says a duration, such as "1 min 20 s" or "350 ms".
export function span(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return s % 60 ? `${Math.floor(s / 60)} min ${s % 60} s` : `${s / 60} min`;
  return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
}

// keepTimes says all moments of the page anew each second. It returns what ends that.
export function keepTimes() {
  const timer = setInterval(() => {
    for (const node of document.querySelectorAll("time[data-lang]")) {
      const said = relative(node.dateTime, node.dataset.lang);
      if (node.textContent !== said) node.textContent = said;
    }
  }, 1000);
  return () => clearInterval(timer);
}

// whole says a number with its thousands apart; what is not known is a dash.
export function whole(n, lang) {
  return n === null || n === undefined ? "–" : new Intl.NumberFormat(lang, { maximumFractionDigits: 3 }).format(n);
}
