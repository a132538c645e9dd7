// Calls of the operators' API. Every refusal becomes a Problem.

const base = "/admin/api/";

// Problem is what the server, or the network, said instead of an answer.
export class Problem extends Error {
  constructor(status, body) {
    super(body.detail ?? body.code);
    this.status = status;
    this.code = body.code ?? "internal";
    this.faults = body.errors ?? []; // {field, detail, line?, column?}
    this.retryAfter = body.retry_after_ms ?? 0;
  }
}

// Client holds the login's csrf. "ended" is called when the server wants a login.
export class Client {
  csrf = "";
  ended = () => {};

  get(path, query) { return this.call("GET", path + asQuery(query)); }
  post(path, body) { return this.call("POST", path, body ?? {}); }
  put(path, body, query) { return this.call("PUT", path + asQuery(query), body); }
  delete(path, body) { return this.call("DELETE", path, body); }

  // call returns the answer's JSON, null where there is none. A body that is a Blob or
  // FormData goes as it is. Throws a Problem.
  async call(method, path, body, headers = {}) {
    const plain = body === undefined || body instanceof Blob || body instanceof FormData;
    const sent = { ...headers };
    if (!plain) sent["Content-Type"] = "application/json";
    if (method !== "GET" && this.csrf) sent["X-CSRF-Token"] = this.csrf;
    let answer;
    try {
      answer = await fetch(base + path, {
        method, headers: sent, body: plain ? body : JSON.stringify(body), credentials: "same-origin", cache: "no-store",
      });
    } catch {
      throw new Problem(0, { code: "network" });
    }
    const read = await answer.text().catch(() => "");
    const json = parsed(read);
    if (answer.ok) return json;
    const problem = new Problem(answer.status, json ?? { code: "internal", detail: `HTTP ${answer.status}` });
    if (answer.status === 401 && path !== "login") this.ended(problem);
    throw problem;
  }
}

function parsed(text) {
  try {
    return text === "" ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

// asQuery makes "?a=b" of what is not empty.
export function asQuery(query = {}) {
  const given = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== "" && v !== null && v !== undefined && v !== false));
  return given.size > 0 ? `?${given}` : "";
}

// path joins the parts of a path; each may hold any character.
export function path(...parts) { return parts.map(encodeURIComponent).join("/"); }

// explain says a problem in the operator's language, with the fields that are wrong.
export function explain(words, problem) {
  if (!(problem instanceof Problem)) return words.problem.internal;
  const known = words.problem[problem.code];
  let text = known ?? problem.message;
  if (known && problem.code !== "network" && problem.message && problem.message !== problem.code) text += ` (${problem.message})`;
  const faults = problem.faults.map((f) => (f.line ? `${words.line(f.line, f.column)} ` : "") + `${f.field}: ${f.detail}`);
  const wait = problem.retryAfter > 0 ? [words.retryIn(Math.ceil(problem.retryAfter / 1000))] : [];
  return [text, ...faults, ...wait].join("\n");
}
