// Questions to the service. Addresses are relative: it may live below a folder of a proxy.

const KEY = "candgen-key";
const PATIENCE = 3; // how often a list is sent again while the service is busy

/** Why there is no answer, in a sentence for a person. */
export class Refused extends Error {
  constructor(status, detail, retryAfter = null) {
    super(detail);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

/** Only the latest of several questions matters: each one that starts calls off the one before. */
export class Latest {
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

/** A service; `askForKey(problem)` resolves to a key, or to null if the visitor has none. */
export class Service {
  #key = remembered();
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
    const whole = k === "" ? "" : String(Number(k)); // 1e2 is a number to browsers
    return this.#ask("candidates", { mention, k: whole, lam, index, details: "true" }, { signal });
  }

  explain({ mention, lam, index }, entity, signal) {
    return this.#ask("explain", { mention, entity, lam, index }, { signal });
  }

  /** The candidates of several mentions; waits and asks again where the service is busy. */
  async candidatesOf(mentions, { k, lam, index }, signal) {
    const numbers = { ...(k !== "" && { k: Number(k) }), ...(lam !== "" && { lam: Number(lam) }) };
    const body = JSON.stringify({ mentions, ...numbers, index, details: true });
    const init = { signal, body, method: "POST", headers: { "Content-Type": "application/json" } };
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#ask("candidates", {}, init);
      } catch (error) {
        if (error.status !== 503 || tries === PATIENCE) throw error;
        await pause(1000 * (error.retryAfter ?? 1), signal);
      }
    }
  }

  async #ask(path, parameters = {}, init = {}) {
    const told = Object.entries(parameters).filter(([, value]) => value !== "");
    const query = new URLSearchParams(told).toString();
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

  /** Whether there is another key than the one that was refused; all questions wait for one. */
  async #newKey(used, refused) {
    if (this.#key === used) {
      this.#asking ??= this.askForKey(used === null ? "" : "That key is not the right one.");
      const key = await this.#asking;
      this.#asking = null;
      if (key === null) throw refused;
      this.#key = key;
      remember(key);
    }
    return true;
  }
}

async function reach(address, init) {
  try {
    return await fetch(address, init);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The service cannot be reached. Is it still running?");
  }
}

async function problemOf(response) {
  const said = await response.json().catch(() => ({}));
  const detail = response.status === 401
    ? "This service wants a key: ask who runs it."
    : (said.detail ?? `The service answered ${response.status}.`);
  return new Refused(response.status, detail, Number(response.headers.get("Retry-After")) || null);
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

// A key lives as long as its tab, and only there.

function remembered() {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null; // a browser may refuse to store anything
  }
}

function remember(key) {
  try {
    sessionStorage.setItem(KEY, key);
  } catch {
    // then it is asked for again after a reload
  }
}
