// Messages of the customer that nobody has acknowledged yet. Each is transmitted again
// until it is: the same cmid is never two messages. There is no DOM in here.

const resend = { base: 5_000, cap: 30_000, tries: 8 }; // ms
const most = 20; // messages

export class Pending {
  #all = new Map(); // cmid → {text, phone, tries, timer}, in the order of sending
  #transmit;

  // transmit(frame) reports whether the frame could leave.
  constructor(transmit) { this.#transmit = transmit; }

  // list returns [{cmid, text, phone?}].
  get list() { return [...this.#all].map(([cmid, { text, phone }]) => ({ cmid, text, ...(phone && { phone }) })); }

  get size() { return this.#all.size; }

  // full says that no more are taken before one was acknowledged.
  get full() { return this.#all.size >= most; }

  add({ cmid, text, phone }) { if (!this.#all.has(cmid)) this.#all.set(cmid, { text, phone, tries: 0, timer: 0 }); }

  // send transmits a message now, and again for as long as it is not settled.
  send(cmid) {
    const p = this.#all.get(cmid);
    if (!p) return;
    const frame = { type: "send", cmid, text: p.text };
    if (p.phone) frame.phone = p.phone;
    if (this.#transmit(frame)) this.#sendIn(p, cmid, Math.min(resend.cap, resend.base * 2 ** p.tries++));
  }

  sendAll() { for (const cmid of this.#all.keys()) this.send(cmid); }

  // refused returns when a refused message will be sent again, in ms since 1970; 0: it is
  // given up, undefined: it is not waiting.
  refused(cmid, temporary, wait) {
    const p = this.#all.get(cmid);
    if (!p) return undefined;
    if (!temporary || p.tries >= resend.tries) return 0;
    const delay = wait + Math.random() * Math.max(wait, 1_000) / 2;
    this.#sendIn(p, cmid, delay);
    return Date.now() + delay;
  }

  // settle forgets a message; it reports whether it was waiting.
  settle(cmid) {
    clearTimeout(this.#all.get(cmid)?.timer);
    return this.#all.delete(cmid);
  }

  // rest stops all timers: sendAll begins again.
  rest() { for (const p of this.#all.values()) clearTimeout(p.timer); }

  // drop forgets the messages that may have been accepted, or all.
  drop(all) {
    for (const [cmid, { tries }] of this.#all) if (all || tries > 0) this.settle(cmid);
  }

  #sendIn(p, cmid, delay) {
    clearTimeout(p.timer);
    p.timer = setTimeout(() => this.send(cmid), delay);
  }
}
