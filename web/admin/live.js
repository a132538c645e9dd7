// What the server says by itself: how everything stands now, and the last hour. One
// stream for the whole page; without it (an older server) the overview is asked for
// again and again, and the hour grows from there.

const pollEach = 5000; // ms
const step = 10_000; // ms between two points of a series
const kept = 360; // points of an hour
const slowest = 30_000; // ms between two tries at most
const silence = 40_000; // ms without a heartbeat

// Live hears the stream. It dispatches "state", "history", "alerts" and "online".
export class Live extends EventTarget {
  overview = null;
  alerts = null;
  series = {}; // name → values, oldest first, at most an hour
  online = false;
  since = null; // when it was last live
  #client;
  #source = null;
  #timer = 0;
  #watch = 0;
  #tries = 0;
  #pointAt = 0;
  #try = 0; // grows with each try; whoever belongs to an earlier one goes no further

  constructor(client) {
    super();
    this.#client = client;
  }

  start() {
    this.stop();
    this.#open();
  }

  stop() {
    this.#try++;
    this.#close();
    clearTimeout(this.#timer);
  }

  // open reports whether a stream is there, or is being opened.
  get open() { return this.#source !== null; }

  // values returns a series; one that nobody knows is empty.
  values(name) { return this.series[name] ?? []; }

  #open() {
    const source = new EventSource("/admin/api/stream");
    this.#source = source;
    const hear = (name, then) => source.addEventListener(name, (e) => {
      this.#alive();
      then(JSON.parse(e.data));
    });
    source.onopen = () => this.#alive();
    source.onerror = () => this.#lost();
    hear("history", (h) => { this.series = h.series ?? {}; this.#say("history"); });
    hear("point", (p) => this.#point(p.values ?? {}));
    hear("state", (o) => this.#state(o));
    hear("alerts", (a) => { this.alerts = a; this.#say("alerts"); });
  }

  #close() {
    clearTimeout(this.#watch);
    this.#source?.close();
    this.#source = null;
  }

  // alive: a stream over which nothing comes any more is opened anew.
  #alive() {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.#lost(), silence);
    this.#tries = 0;
    this.#is(true);
  }

  // lost asks once without the stream, which tells an old server and an ended login from
  // one that is away, and tries again.
  async #lost() {
    this.stop();
    const mine = this.#try, ok = await this.poll();
    if (mine !== this.#try) return;
    this.#tries = ok ? 0 : this.#tries + 1;
    const wait = ok ? pollEach : Math.min(slowest, 500 * 2 ** this.#tries);
    this.#timer = setTimeout(() => this.#open(), wait * (0.5 + Math.random() / 2));
  }

  // poll asks for the overview now; also after a change, to see it at once.
  async poll() {
    try {
      this.#state(await this.#client.get("overview"));
      this.#is(true);
      return true;
    } catch {
      this.#is(false);
      return false;
    }
  }

  #state(o) {
    this.overview = o;
    if (!this.#source || this.#source.readyState !== EventSource.OPEN) this.#sample(o);
    this.#say("state");
  }

  // sample makes points of overviews, for as long as nobody sends any.
  #sample(o) {
    if (Date.now() - this.#pointAt < step) return;
    const values = { level: o.level };
    for (const l of o.lanes) values[`lane.${l.lane}.depth`] = l.depth;
    for (const v of o.vendors) if (v.now) Object.assign(values, { [`vendor.${v.name}.in_use`]: v.now.in_use, [`vendor.${v.name}.limit`]: v.now.limit });
    this.#point(values);
  }

  #point(values) {
    this.#pointAt = Date.now();
    const long = Math.max(0, ...Object.values(this.series).map((s) => s.length));
    for (const name of new Set([...Object.keys(this.series), ...Object.keys(values)])) {
      const before = this.series[name] ?? Array(long).fill(null);
      this.series[name] = [...before, values[name] ?? null].slice(-kept);
    }
    this.#say("history");
  }

  #is(online) {
    if (online) this.since = new Date().toISOString();
    if (this.online === online) return;
    this.online = online;
    this.#say("online");
  }

  #say(name) { this.dispatchEvent(new Event(name)); }
}
