// What the widget remembers between two page loads: the session, its token, how far the
// customer has read, and the messages that were not acknowledged. It is shared by the tabs
// of one browser. It works without storage too (private windows, blocked cookies, frames):
// then the conversation lasts as long as the page.

const version = 2;
const mostPending = 50; // kept messages, of all tabs
const id = /^[A-Za-z0-9_-]{1,64}$/;

// newStore keeps the conversation of one visitor with one tenant. who names the visitor
// (empty: nobody known); what another visitor left in this browser is discarded.
export function newStore(key, who) {
  const name = `sluice:${key}`;
  let memory = null;
  const stored = () => {
    try { return JSON.parse(localStorage.getItem(name)); } catch { return null; /* no storage, or not ours */ }
  };
  const mine = (kept) => valid(kept) && kept.who === who;
  return {
    load() {
      const kept = stored();
      if (mine(kept)) return kept;
      if (kept !== null) this.clear();
      return memory;
    },

    // save keeps what other tabs of the same conversation still have to send; settled are
    // the messages that nobody has to send any more.
    save(value, settled) {
      const kept = stored();
      const own = new Set(value.pending.map((p) => p.cmid));
      const others = mine(kept) && kept.session === value.session
        ? kept.pending.filter((p) => !own.has(p.cmid) && !settled.has(p.cmid)) : [];
      memory = { version, who, ...value };
      const all = { ...memory, pending: [...others, ...value.pending].slice(-mostPending) };
      try { localStorage.setItem(name, JSON.stringify(all)); } catch { /* memory alone */ }
    },

    clear() {
      memory = null;
      try { localStorage.removeItem(name); } catch { /* nothing is there */ }
    },

    // watch tells what another tab has saved, or null once it has cleared all; of another
    // visitor's nothing is told. It returns what ends it.
    watch(changed) {
      const listener = (e) => {
        if (e.key !== name && e.key !== null) return;
        const kept = stored();
        if (kept === null || mine(kept)) changed(kept);
      };
      addEventListener("storage", listener);
      return () => removeEventListener("storage", listener);
    },
  };
}

// valid discards what another version, or somebody else, left behind.
function valid(kept) {
  return kept !== null && typeof kept === "object" && kept.version === version && typeof kept.who === "string" &&
    typeof kept.token === "string" && (kept.session === "" || id.test(kept.session)) &&
    Number.isSafeInteger(kept.read) && kept.read >= 0 && Array.isArray(kept.pending) && kept.pending.length <= mostPending &&
    kept.pending.every((p) => id.test(p?.cmid) && typeof p.text === "string" && ["string", "undefined"].includes(typeof p.phone));
}

// subject returns whom a signed identity names. It is only compared, never trusted: the
// server alone verifies.
export function subject(identity) {
  try {
    const body = identity.split(".")[1].replace(/-/g, "+").replace(/_/g, "/");
    const bytes = Uint8Array.from(atob(body), (c) => c.charCodeAt(0));
    return String(JSON.parse(new TextDecoder().decode(bytes)).sub ?? "");
  } catch {
    return identity ?? "";
  }
}
