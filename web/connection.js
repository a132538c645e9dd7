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
//   delta, queue                     as they come

const protocol = "sluice.v1";
const patience = 10_000; // ms for a welcome, and for any sign of life after a ping
const probe = 5_000; // the same after the page came back to the foreground
const backOff = { base: 500, cap: 30_000, stable: 60_000 };
const resend = { base: 5_000, cap: 30_000, tries: 8 };

export class Connection {
  #options;
  #on;
  #state = "new";
  #socket = null;
  #timers = {}; // at most one of each: watch, ping, retry, stable
  #session = ""; // with #token what reopens the conversation
  #token = "";
  #last = 0; // seq of the newest event that was delivered
  #head = 0;
  #catching = false;
  #read = 0; // seq of the newest event that the customer is known to have read
  #introduced = false; // the identity was presented since the page was loaded
  #failures = 0;
  #away = 0; // ms over which the server asked its clients to spread
  #pending = new Map(); // cmid → {text, tries, timer}, in the order of sending

  // options: url, key, identity?, locale?, store {load(), save(value)}, on(name, detail)
  constructor(options) {
    this.#options = options;
    this.#on = options.on;
    const kept = options.store.load();
    if (!kept) return;
    this.#session = kept.session;
    this.#token = kept.token;
    for (const { cmid, text } of kept.pending) this.#pending.set(cmid, { text, tries: 0, timer: 0 });
  }

  // pending lists what was sent and not acknowledged: [{cmid, text}].
  get pending() { return [...this.#pending].map(([cmid, { text }]) => ({ cmid, text })); }

  // known tells whether there is a conversation to go on with.
  get known() { return this.#session !== "" || this.#pending.size > 0; }

  start() { if (this.#state === "new") this.#dial(); }

  // stop lets go of everything; start begins again.
  stop() {
    this.#detach(1000);
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#state = "new";
  }

  // wake makes sure that the socket is alive, now: after sleep or a lost network the
  // browser itself may take minutes to notice.
  wake() {
    if (this.#state === "waiting") this.#dial();
    else if (this.#state === "online") this.#ping(probe);
  }

  // read says that the customer has read all that was delivered.
  read() {
    if (this.#state !== "online" || this.#catching || this.#last <= this.#read) return;
    this.#read = this.#last;
    this.#write({ type: "read", seq: this.#last });
  }

  // forget begins a new conversation.
  forget() {
    this.#detach(1000);
    for (const { timer } of this.#pending.values()) clearTimeout(timer);
    this.#pending.clear();
    this.#leaveSession();
    this.#dial();
  }

  // send returns the message's cmid; it is transmitted until it is acknowledged.
  send(text) {
    const cmid = newID();
    this.#pending.set(cmid, { text, tries: 0, timer: 0 });
    this.#save();
    this.#transmit(cmid);
    return cmid;
  }

  cancel(ticket) { this.#write({ type: "cancel", ticket }); }

  // ---- socket

  #dial() {
    this.#detach(1000);
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
  #detach(code) {
    for (const name of Object.keys(this.#timers)) this.#clear(name);
    const socket = this.#socket;
    this.#socket = null;
    if (socket) socket.close(code);
  }

  #drop() { this.#lost(0, ""); }

  #lost(code, reason) {
    this.#detach(1000);
    for (const p of this.#pending.values()) clearTimeout(p.timer);
    if (code >= 4500 && code < 5000) {
      if (reason === "bad token" && this.#session) {
        // The server does not know the conversation any more: begin another, once.
        this.#leaveSession();
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
    if (this.#socket?.readyState === 1) this.#socket.send(JSON.stringify(frame));
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
      case "queue": this.#on(frame.type, frame);
    }
  }

  #welcome(frame) {
    if (!frame.recovered) {
      this.#last = 0;
      this.#on("reset", {});
    }
    this.#introduced = true;
    this.#session = frame.session;
    if (frame.token) this.#token = frame.token;
    this.#head = frame.head;
    this.#read = 0; // what was said last may not have arrived
    this.#catching = true;
    this.#save();
    this.#become("online", {});
    this.#on("welcome", { head: frame.head, recovered: frame.recovered });
    this.#caughtUp();
    this.#after("stable", backOff.stable, () => { this.#failures = 0; });
    this.#beat(frame.ping_s * 1000);
    for (const cmid of this.#pending.keys()) this.#transmit(cmid);
  }

  #event(frame) {
    if (frame.seq <= this.#last) return;
    // The first event after "not recovered" may stand anywhere; later ones may not jump.
    if (frame.seq !== this.#last + 1 && this.#last > 0) return this.#drop();
    this.#last = frame.seq;
    if (frame.cmid) this.#settle(frame.cmid);
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
    const p = this.#pending.get(cmid);
    if (!p) return;
    if (!temporary || p.tries >= resend.tries) {
      this.#settle(cmid);
      this.#on("refused", { cmid, code });
      return;
    }
    const delay = wait + Math.random() * Math.max(wait, 1_000) / 2;
    this.#transmitIn(cmid, delay);
    this.#on("refused", { cmid, code, retryAt: Date.now() + delay });
  }

  #pong({ head }) {
    // An event that is on its way now will have come by the next pong.
    if (this.#head > this.#last && !this.#catching) return this.#drop();
    this.#head = head;
  }

  // ---- messages

  #transmit(cmid) {
    const p = this.#pending.get(cmid);
    if (!p || this.#state !== "online") return;
    this.#write({ type: "send", cmid, text: p.text });
    // No answer means "accepted or not, ask again": the same cmid is never two messages.
    this.#transmitIn(cmid, Math.min(resend.cap, resend.base * 2 ** p.tries++));
  }

  #transmitIn(cmid, delay) {
    const p = this.#pending.get(cmid);
    clearTimeout(p.timer);
    p.timer = setTimeout(() => this.#transmit(cmid), delay);
  }

  #settle(cmid) {
    const p = this.#pending.get(cmid);
    if (!p) return;
    clearTimeout(p.timer);
    this.#pending.delete(cmid);
    this.#save();
  }

  // ---- time

  #beat(every) {
    this.#after("ping", every, () => {
      this.#ping(patience);
      this.#beat(every);
    });
  }

  #ping(within) {
    this.#write({ type: "ping" });
    if (!this.#timers.watch) this.#after("watch", within, () => this.#drop());
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

  #leaveSession() {
    this.#session = this.#token = "";
    this.#last = this.#head = this.#read = 0;
    this.#introduced = false;
    this.#save();
    this.#on("reset", {});
  }

  #save() {
    this.#options.store.save({ session: this.#session, token: this.#token, pending: this.pending });
  }
}

// newID is not crypto.randomUUID: that one is missing on plain http pages.
function newID() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}
