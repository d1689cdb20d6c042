/** Where the reader is: `#/session/ID?from=200`. Fragments reach no log of a server or a proxy. */

type Query = Record<string, string>;

class Route {
  path = $state<string[]>([]);
  query = $state<Query>({});

  constructor() {
    this.#read();
    addEventListener("hashchange", () => this.#read());
  }

  get page(): string {
    return this.path[0] ?? "";
  }

  /** The project everything is narrowed to; it stays while one goes from page to page. */
  get project(): string {
    return this.query["project"] ?? "";
  }

  href(path: string, query: Query = {}): string {
    const all: Query = this.project ? { project: this.project, ...query } : query;
    return write(path, all);
  }

  go(path: string, query: Query = {}): void {
    location.hash = this.href(path, query).slice(1);
  }

  /** Change the query in place; an empty value takes its name out. */
  set(changes: Query): void {
    const query = { ...this.query, ...changes };
    history.replaceState(null, "", write(this.path.map(encodeURIComponent).join("/"), query));
    this.#read();
  }

  #read(): void {
    const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    const parts = path.split("/").filter(Boolean).map(decoded);
    // A new array would draw the page again, and the box that is typed in would lose the focus.
    if (parts.join("/") !== this.path.join("/")) this.path = parts;
    this.query = Object.fromEntries(new URLSearchParams(query));
  }
}

function write(path: string, query: Query): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== "");
  const text = new URLSearchParams(pairs).toString();
  return `#/${path}${text ? `?${text}` : ""}`;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const route = new Route();
