// The document that an operator works on, and the revision that it was made from.

const typing = 400; // ms without another key before what was typed is checked

// Draft dispatches "change" when anything of it has changed.
export class Draft extends EventTarget {
  base = null; // the stored revision that the text was made from
  text = "";
  faults = []; // of the text
  numbers = {}; // of the text, as far as it is valid
  trials = []; // of intents that the text changes, as far as it is valid
  newest = 0; // the newest revision that the server told of
  #timer = 0;
  #asked = 0;

  get changed() { return this.base !== null && this.text !== this.base.document; }
  get stale() { return this.base !== null && this.newest > this.base.revision; }

  // load takes the newest revision, and drops what was changed.
  async load(api) {
    this.take(await api.get("rules"));
    await this.check(api);
  }

  // take makes a revision the one that the text is made from; keep: the text stays.
  take(revision, keep = false) {
    this.base = revision;
    this.newest = Math.max(this.newest, revision.revision);
    if (!keep) this.text = revision.document;
    this.#say();
  }

  reset() { this.write(null, this.base.document); }

  // write sets the text; it is checked when nobody has typed for a moment.
  write(api, text) {
    this.text = text;
    clearTimeout(this.#timer);
    if (api) this.#timer = setTimeout(() => this.check(api), typing);
    else this.faults = [];
    this.#say();
  }

  // check asks what the server would say. An answer that came after a newer question
  // does not count; what cannot be asked now is asked the next time.
  async check(api) {
    const asked = ++this.#asked;
    try {
      this.#hear(asked, await api.post("rules/check", { document: this.text }));
    } catch { /* the banner says that the server is away */ }
  }

  // put writes numbers into the text, by path. It returns the faults of the numbers.
  async put(api, numbers) {
    const asked = ++this.#asked;
    const said = await api.post("rules/check", { document: this.text, numbers });
    if (said.document === undefined) return said.faults;
    if (asked === this.#asked) this.text = said.document;
    this.#hear(asked, said);
    return [];
  }

  #hear(asked, said) {
    this.newest = Math.max(this.newest, said.revision);
    if (asked !== this.#asked) return;
    this.faults = said.faults;
    if (said.numbers) this.numbers = said.numbers;
    this.trials = said.intents ?? [];
    this.#say();
  }

  #say() { this.dispatchEvent(new Event("change")); }
}
