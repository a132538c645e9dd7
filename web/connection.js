// One session on one socket at a time: hello, resume, resend, back-off. There is no
// DOM in here, so it runs wherever there is a WebSocket.
//
// What the owner hears through `on(name, detail)`:
//   state   {state: connecting | online | waiting | stopped, retryAt?, code?, reason?}
//   welcome {head, recovered}        caught {}: everything up to that head was delivered
//   reset   {}                       what was shown is not this session's any more
//   event   {seq, kind, …}           durable, each once and in order
//   ack     {cmid, ticket, seq, dup}
//   refused {cmid, code, retryAt?}   with retryAt it is sent again by itself
//   problem {code}                   of a frame that is no message
//   read    {}                       more was read, in this tab or in another
//   delta, queue, typing             as they come

import { Pending } from "./pending.js";

const protocol = "sluice.v1";
const patience = 10_000; // ms for a welcome, and for any sign of life after a ping
const probe = 5_000; // the same after the page came back to the foreground
const backOff = { base: 1_000, cap: 30_000, stable: 60_000 };
const mostRatings = 20; // that wait for their event

export class Connection {
  #options;
  #on;
  #state = "new";
  #socket = null;
  #timers = {}; // at most one of each: watch, ping, retry, stable
  #unwatch = null; // ends the look at what other tabs store
  #session = ""; // with #token what reopens the conversation
  #token = "";
  #last = 0; // seq of the newest event that was delivered
  #head = 0;
  #catching = false;
  #seen = 0; // seq of the newest event that the customer has read
  #told = 0; // the same, as this socket has said it
  #introduced = false; // the identity was presented since the page was loaded
  #failures = 0;
  #away = 0; // ms over which the server asked its clients to spread
  #pending = new Pending((frame) => this.#state === "online" && this.#write(frame));
  #ratings = new Map(); // ticket → frame, until its event comes

  // options: url, key, identity?, locale? (of replies), on(name, detail),
  // store {load(), save(value, settled), clear?(), watch?(changed)}
  constructor(options) {
    this.#options = options;
    this.#on = options.on;
    const kept = options.store.load();
    if (!kept) return;
    this.#take(kept);
    for (const p of kept.pending) this.#pending.add(p);
  }

  // pending lists what was sent and not acknowledged: [{cmid, text, phone?}].
  get pending() { return this.#pending.list; }

  // known tells whether there is a conversation to go on with.
  get known() { return this.#session !== "" || this.#pending.size > 0; }

  // seen is the seq of the newest event that the customer has read, in any tab.
  get seen() { return this.#seen; }

  start() {
    this.#unwatch ??= this.#options.store.watch?.((kept) => this.#elsewhere(kept));
    if (this.#state === "new") this.#dial();
  }

  // stop lets go of everything; start begins again.
  stop() {
    this.#unwatch?.();
    this.#unwatch = null;
    this.#detach();
    this.#state = "new";
  }

  // introduce replaces a signed identity by a newer one of the same visitor.
  introduce(identity) { this.#options.identity = identity; }

  // wake makes sure that the socket is alive, now: after sleep or a lost network the
  // browser itself may take minutes to notice.
  wake() {
    if (this.#state === "waiting") this.#dial();
    else if (this.#state === "online") this.#ping(probe);
  }

  // read says that the customer has read all that was delivered.
  read() {
    if (this.#catching) return;
    if (this.#last > this.#seen) {
      this.#seen = this.#last;
      this.#save();
      this.#on("read", {});
    }
    if (this.#state !== "online" || this.#seen <= this.#told) return;
    this.#told = this.#seen;
    this.#write({ type: "read", seq: this.#seen });
  }

  // forget begins a new conversation.
  forget() {
    this.#detach();
    this.#leaveSession(true);
    this.#dial();
  }

  // erase ends the conversation in this browser, and stops.
  erase() {
    this.stop();
    this.#leaveSession(true);
    this.#options.store.clear?.();
  }

  // send returns the message's cmid; it is transmitted until it is acknowledged. "": too
  // many wait already.
  send(text, phone) {
    if (this.#pending.full) return "";
    const cmid = newID();
    this.#pending.add({ cmid, text, phone });
    this.#save();
    this.start();
    this.#pending.send(cmid);
    return cmid;
  }

  cancel(ticket) { this.#write({ type: "cancel", ticket }); }

  typing(on) { this.#write({ type: "typing", on }); }

  // rate says what an answer was worth, again on each new socket until its event has come.
  rate(ticket, score, comment) {
    const frame = { type: "rate", ticket, score, ...(comment && { comment }) };
    if (this.#ratings.size < mostRatings) this.#ratings.set(ticket, frame);
    this.#write(frame);
  }

  // ---- socket

  #dial() {
    this.#detach();
    this.#become("connecting", {});
    const socket = new WebSocket(this.#options.url, protocol);
    this.#socket = socket;
    const mine = (handle) => (e) => { if (socket === this.#socket) handle(e); };
    socket.onopen = mine(() => this.#hello());
    socket.onmessage = mine((e) => this.#receive(e.data));
    socket.onclose = mine((e) => this.#lost(e.code, e.reason));
    this.#after("watch", patience, () => this.#drop());
  }

  // detach lets go of the socket without waiting for its close handshake.
  #detach() {
    for (const name of Object.keys(this.#timers)) this.#clear(name);
    this.#pending.rest();
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close(1000);
  }

  #drop() { this.#lost(0, ""); }

  #lost(code, reason) {
    this.#detach();
    if (code >= 4500 && code < 5000) {
      if (reason === "bad token" && this.#session) {
        // The server does not know the conversation any more: begin another, once.
        this.#leaveSession(false);
        this.#dial();
        return;
      }
      this.#become("stopped", { code, reason });
      return;
    }
    let delay = Math.random() * Math.min(backOff.cap, backOff.base * 2 ** this.#failures++);
    if (this.#away > 0) delay = Math.random() * this.#away;
    this.#away = 0;
    this.#become("waiting", { retryAt: Date.now() + delay, code });
    this.#after("retry", delay, () => this.#dial());
  }

  #hello() {
    const { key, identity, locale } = this.#options;
    const hello = { type: "hello", key, after: this.#last };
    if (locale) hello.locale = locale;
    if (this.#session) Object.assign(hello, { session: this.#session, token: this.#token });
    // An identity lives for an hour at most; the session's own token for longer.
    if (identity && !(this.#introduced && this.#token)) hello.identity = identity;
    this.#write(hello);
  }

  #write(frame) {
    if (this.#socket?.readyState !== 1) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  // ---- frames

  #receive(data) {
    this.#clear("watch");
    let frame;
    try { frame = JSON.parse(data); } catch { return this.#drop(); }
    switch (frame.type) {
      case "welcome": return this.#welcome(frame);
      case "event": return this.#event(frame);
      case "ack": return this.#acked(frame);
      case "error": return this.#refused(frame);
      case "pong": return this.#pong(frame);
      case "goaway": this.#away = Math.max(1, frame.after_ms); return;
      case "delta":
      case "queue":
      case "typing": this.#on(frame.type, frame);
    }
  }

  #welcome(frame) {
    // Two tabs opened at once, and the other has begun the conversation: this one joins it.
    const first = this.#session === "" ? this.#options.store.load() : null;
    if (first?.session) return this.#follow(first);
    if (!frame.recovered) {
      this.#last = 0;
      this.#on("reset", {});
    }
    this.#introduced = true;
    this.#session = frame.session;
    if (frame.token) this.#token = frame.token;
    this.#head = frame.head;
    this.#seen = Math.min(Math.max(this.#seen, frame.read ?? 0), frame.head);
    this.#told = 0; // what was said last may not have arrived
    this.#catching = true;
    this.#save();
    this.#become("online", {});
    this.#on("welcome", { head: frame.head, recovered: frame.recovered });
    this.#caughtUp();
    this.#after("stable", backOff.stable, () => { this.#failures = 0; });
    this.#beat(frame.ping_s * 1000);
    this.#pending.sendAll();
    for (const rating of this.#ratings.values()) this.#write(rating);
  }

  #event(frame) {
    if (frame.seq <= this.#last) return;
    // The first event after "not recovered" may stand anywhere; later ones may not jump.
    if (frame.seq !== this.#last + 1 && this.#last > 0) return this.#drop();
    this.#last = frame.seq;
    if (frame.cmid) this.#settle(frame.cmid);
    if (frame.kind === "rating") this.#ratings.delete(frame.ticket);
    this.#on("event", frame);
    this.#caughtUp();
  }

  #caughtUp() {
    if (!this.#catching || this.#last < this.#head) return;
    this.#catching = false;
    this.#on("caught", {});
  }

  #acked(frame) {
    this.#settle(frame.cmid);
    this.#on("ack", frame);
  }

  #refused({ cmid, code, temporary, retry_after_ms: wait = 0 }) {
    if (!cmid) {
      // It may have been about a rating: one that is refused for good is not sent again.
      if (!temporary) this.#ratings.clear();
      return this.#on("problem", { code });
    }
    const retryAt = this.#pending.refused(cmid, temporary, wait);
    if (retryAt === undefined) return;
    if (retryAt === 0) this.#settle(cmid);
    this.#on("refused", { cmid, code, ...(retryAt > 0 && { retryAt }) });
  }

  #pong({ head }) {
    // An event that is on its way now will have come by the next pong.
    if (this.#head > this.#last && !this.#catching) return this.#drop();
    this.#head = head;
  }

  // ---- time

  #beat(every) {
    this.#after("ping", every, () => {
      this.#ping(patience);
      this.#beat(every);
    });
  }

  #ping(within) {
    if (this.#timers.watch && within >= patience) return;
    this.#write({ type: "ping" });
    this.#after("watch", within, () => this.#drop());
  }

  #after(name, delay, run) {
    this.#clear(name);
    this.#timers[name] = setTimeout(() => { delete this.#timers[name]; run(); }, delay);
  }

  #clear(name) {
    clearTimeout(this.#timers[name]);
    delete this.#timers[name];
  }

  // ---- state

  #become(state, detail) {
    this.#state = state;
    this.#on("state", { state, ...detail });
  }

  #take({ session, token, read }) {
    this.#session = session;
    this.#token = token;
    this.#seen = read ?? 0;
    this.#last = this.#head = this.#told = 0;
    this.#introduced = false;
  }

  // elsewhere hears what another tab has stored: it read on, began another conversation
  // (this one follows), or ended it (null).
  #elsewhere(kept) {
    if (kept === null) {
      this.#detach();
      this.#leaveSession(true, false);
      this.#become("new", {});
    } else if (kept.session === this.#session) {
      if (kept.read <= this.#seen) return;
      this.#seen = kept.read;
      this.#on("read", {});
    } else if (kept.session) {
      this.#follow(kept);
    }
  }

  #follow(kept) {
    this.#take(kept);
    this.#pending.drop(false);
    this.#on("reset", {});
    this.#dial();
  }

  // leaveSession forgets the conversation, and what was to be said in it, too, if all.
  #leaveSession(all, store = true) {
    this.#take({ session: "", token: "" });
    this.#ratings.clear();
    if (all) this.#pending.drop(true);
    if (store) this.#save();
    this.#on("reset", {});
  }

  #settle(cmid) { if (this.#pending.settle(cmid)) this.#save([cmid]); }

  #save(settled = []) {
    const value = { session: this.#session, token: this.#token, read: this.#seen, pending: this.pending };
    this.#options.store.save(value, new Set(settled));
  }
}

// newID is not crypto.randomUUID: that one is missing on plain http pages.
function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}
