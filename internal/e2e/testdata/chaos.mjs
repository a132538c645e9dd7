// Conversations through the widget's own connection module, over a bad network. One line of
// JSON each: what was asked, and what this tab and another one of the session saw.
// node chaos.mjs CONNECTION_MODULE URL KEY CONVERSATIONS MESSAGES AT_ONCE LIMIT_MS
import { webcrypto } from "node:crypto";
import { pathToFileURL } from "node:url";
import { Wire } from "./wire.mjs";

globalThis.crypto ??= webcrypto;
globalThis.WebSocket = Wire;

const [module, url, key, ...numbers] = process.argv.slice(2);
const [conversations, messages, atOnce, limit] = numbers.map(Number);
const { Connection } = await import(pathToFileURL(module));
const pause = (ms) => new Promise((done) => setTimeout(done, ms));

// Tab is one tab: it writes down each event as it is shown.
class Tab {
  seen = [];
  resets = 0;
  stopped = null;
  kept = null;
  cuts = 0;

  constructor(kept) {
    this.kept = kept;
    this.options = {
      url, key,
      store: { load: () => this.kept, save: (value) => { this.kept = structuredClone(value); } },
      on: (name, detail) => this.#heard(name, detail),
    };
    this.connection = new Connection(this.options);
    this.connection.start();
    // The page comes to the foreground now and then: that finds a dead connection.
    this.timer = setInterval(() => this.connection.wake(), 1500 + 2000 * Math.random());
  }

  #heard(name, detail) {
    if (name === "event") {
      const { seq, kind, who = "", ticket, cmid = "", text = "", status = "" } = detail;
      this.seen.push({ seq, kind, who, ticket, cmid, text, status });
    } else if (name === "reset") this.resets++;
    else if (name === "refused" && !detail.retryAt) this.stopped = detail;
    else if (name === "state" && detail.state === "stopped") this.stopped = detail;
    else if (name === "state" && detail.state === "waiting") {
      this.cuts++;
      setTimeout(() => this.connection.wake(), 20 + 300 * Math.random());
    } else if (name === "welcome") this.options.url = url + "?again";
  }

  ends() { return this.seen.filter((e) => e.status).length; }

  stop() {
    clearInterval(this.timer);
    this.connection.stop();
  }
}

async function conversation(number) {
  const end = Date.now() + limit;
  const one = new Tab(null);
  const until = async (so) => {
    while (!so() && !one.stopped && Date.now() < end) await pause(20);
  };
  await until(() => one.kept?.token);
  const two = new Tab({ session: one.kept?.session, token: one.kept?.token, pending: [] });
  const asked = [];
  while (asked.length < messages && !one.stopped && Date.now() < end) {
    const together = Math.min(Math.random() < 0.25 ? 2 : 1, messages - asked.length);
    for (let i = 0; i < together; i++) {
      const text = `Conversation ${number}, message ${asked.length}: where is my parcel?`;
      asked.push({ cmid: one.connection.send(text), text });
    }
    await until(() => one.ends() >= asked.length);
  }
  await until(() => two.ends() >= asked.length);
  await pause(300); // for what should not come
  one.stop();
  two.stop();
  console.log(JSON.stringify({
    session: one.kept?.session, asked, one: one.seen, two: two.seen, cuts: one.cuts + two.cuts,
    resets: one.resets + two.resets, stopped: one.stopped ?? two.stopped,
  }));
}

let next = 0;
await Promise.all(Array.from({ length: Math.min(atOnce, conversations) }, async () => {
  while (next < conversations) await conversation(next++);
}));
process.exit(0);
