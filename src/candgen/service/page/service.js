// Requests to the service. Addresses are relative, because a proxy may serve it in a subfolder.

const KEY = "candgen-key";
const MAX_TRIES = 3; // of a batch, while the service is busy

/** A request that failed; the message is for the user. */
export class RequestError extends Error {
  constructor(status, detail, retryAfter = null) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Only the latest request matters: each start aborts the one before. */
export class LatestRequest {
  #controller = null;

  start() {
    this.stop();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  stop() {
    this.#controller?.abort();
  }
}

/** The service; `askForKey(problem)` resolves to a key, or to null if the user has none. */
export class Service {
  #key = loadKey();
  #asking = null;

  constructor(askForKey) {
    this.askForKey = askForKey;
  }

  get hasKey() {
    return this.#key !== null;
  }

  indexes() {
    return this.#ask("indexes");
  }

  candidates({ mention, k, lam, index }, signal) {
    const whole = k === "" ? "" : String(Number(k)); // browsers accept 1e2
    return this.#ask("candidates", { mention, k: whole, lam, index, details: "true" }, { signal });
  }

  explain({ mention, lam, index }, entity, signal) {
    return this.#ask("explain", { mention, entity, lam, index }, { signal });
  }

  /** The candidates of several mentions; waits and tries again while the service is busy. */
  async candidatesOf(mentions, { k, lam, index }, signal) {
    const numbers = { ...(k !== "" && { k: Number(k) }), ...(lam !== "" && { lam: Number(lam) }) };
    const body = JSON.stringify({ mentions, ...numbers, index, details: true });
    const init = { signal, body, method: "POST", headers: { "Content-Type": "application/json" } };
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#ask("candidates", {}, init);
      } catch (error) {
        if (error.status !== 503 || tries === MAX_TRIES) throw error;
        await pause(1000 * (error.retryAfter ?? 1), signal);
      }
    }
  }

  async #ask(path, parameters = {}, init = {}) {
    const given = Object.entries(parameters).filter(([, value]) => value !== "");
    const query = new URLSearchParams(given).toString();
    const address = `api/v1/${path}${query && "?"}${query}`;
    for (;;) {
      const used = this.#key;
      const response = await reach(address, this.#withKey(init));
      if (response.ok) return response.json();
      const refused = await problemOf(response);
      if (response.status !== 401 || !(await this.#newKey(used, refused))) throw refused;
    }
  }

  #withKey(init) {
    if (this.#key === null) return init;
    return { ...init, headers: { ...init.headers, Authorization: `Bearer ${this.#key}` } };
  }

  /** Get another key than the rejected one; all requests wait for the same dialog. */
  async #newKey(used, refused) {
    if (this.#key === used) {
      this.#asking ??= this.askForKey(used === null ? "" : "Wrong API key.");
      const key = await this.#asking;
      this.#asking = null;
      if (key === null) throw refused;
      this.#key = key;
      storeKey(key);
    }
    return true;
  }
}

async function reach(address, init) {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new RequestError(0, "The service cannot be reached. Is it still running?");
  }
}

async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  const detail = response.status === 401
    ? "This service requires an API key: ask its operator."
    : (body.detail ?? `The service answered ${response.status}.`);
  return new RequestError(response.status, detail, Number(response.headers.get("Retry-After")) || null);
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

// The key is stored for this tab only, until it is closed.

function loadKey() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null; // a browser may refuse to store anything
  }
}

function storeKey(key) {
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // the user has to enter it again after a reload
  }
}
