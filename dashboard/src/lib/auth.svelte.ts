/** Who is logged in: the token of this tab, kept in `sessionStorage` and asked of other tabs. */

const STORED = "holdfast.token";
const SIBLINGS_MS = 200;

type Word = { kind: "ask" } | { kind: "token"; token: string } | { kind: "forget" };

export const root = new URL("../", document.baseURI);

class Auth {
  /** null: nobody is logged in; an empty token: this server asks for none. */
  token = $state<string | null>(null);
  ready = $state(false);
  reason = $state("");
  readonly #siblings = new BroadcastChannel("holdfast");

  constructor() {
    this.#siblings.onmessage = (message: MessageEvent<Word>) => this.#heard(message.data);
    // A link that is opened in this tab changes the fragment alone and loads nothing again.
    addEventListener("hashchange", () => {
      const ticket = takeTicket();
      if (ticket) void this.#trade(ticket);
    });
  }

  async begin(): Promise<void> {
    const ticket = takeTicket();
    if (ticket) await this.#trade(ticket);
    else this.token = sessionStorage.getItem(STORED);
    if (this.token === null && !ticket) {
      await this.#askSiblings();
      if (this.token === null && (await isAccepted(""))) this.token = "";
    }
    this.ready = true;
  }

  async logIn(token: string): Promise<void> {
    if (await isAccepted(token)) this.#take(token);
    else this.reason = "This is not the token of this server.";
  }

  /** The server no longer takes the token: nothing of what was shown stays. */
  expire(): void {
    if (this.token === null) return;
    this.#drop();
    this.reason = "The token is no longer valid.";
  }

  logOut(): void {
    this.#drop();
    this.reason = "";
    this.#siblings.postMessage({ kind: "forget" } satisfies Word);
  }

  async #trade(ticket: string): Promise<void> {
    try {
      const response = await fetch(new URL("api/login", root), {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ ticket }),
      });
      const answer = (await response.json()) as { token?: string; error?: string };
      if (response.ok && answer.token !== undefined) this.#take(answer.token);
      else this.reason = answer.error ?? "The link was not accepted.";
    } catch {
      this.reason = "The server does not answer.";
    }
  }

  async #askSiblings(): Promise<void> {
    this.#siblings.postMessage({ kind: "ask" } satisfies Word);
    await new Promise((done) => setTimeout(done, SIBLINGS_MS));
  }

  #heard(word: Word): void {
    if (word.kind === "ask" && this.token)
      this.#siblings.postMessage({ kind: "token", token: this.token } satisfies Word);
    if (word.kind === "token" && this.token === null) this.#take(word.token);
    if (word.kind === "forget") this.#drop();
  }

  #take(token: string): void {
    sessionStorage.setItem(STORED, token);
    this.token = token;
    this.reason = "";
  }

  #drop(): void {
    sessionStorage.removeItem(STORED);
    this.token = null;
  }
}

/** The ticket of a login link; it leaves the address before anything else happens. */
function takeTicket(): string | null {
  const [path, query] = location.hash.slice(1).split("?");
  if (path !== "/login") return null;
  location.replace("#/"); // not replaceState, which tells nobody
  return new URLSearchParams(query).get("ticket");
}

async function isAccepted(token: string): Promise<boolean> {
  try {
    const headers: HeadersInit = token ? { Authorization: `Bearer ${token}` } : {};
    return (await fetch(new URL("api/projects?limit=1", root), { headers })).ok;
  } catch {
    return false;
  }
}

export const auth = new Auth();
