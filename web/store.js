// What the widget remembers between two page loads: the session, its token, and the
// messages that were not acknowledged. It works without storage too (private windows,
// blocked cookies): then the conversation lasts as long as the page.

const version = 1;

export function newStore(key) {
  const name = `sluice:${key}`;
  let memory = null;
  return {
    load() {
      let kept = null;
      try { kept = JSON.parse(localStorage.getItem(name)); } catch { /* no storage, or not ours */ }
      return valid(kept) ? kept : memory;
    },
    save(value) {
      memory = { version, ...value };
      try { localStorage.setItem(name, JSON.stringify(memory)); } catch { /* memory alone */ }
    },
  };
}

// valid discards what another version, or somebody else, left behind.
function valid(kept) {
  return kept !== null && typeof kept === "object" && kept.version === version &&
    typeof kept.session === "string" && typeof kept.token === "string" &&
    Array.isArray(kept.pending) &&
    kept.pending.every((p) => typeof p?.cmid === "string" && typeof p?.text === "string");
}
