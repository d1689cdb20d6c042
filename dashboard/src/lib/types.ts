/** What the routes answer; `null` is: not known. */

export * from "./answers";

export type Zone = "green" | "yellow" | "orange" | "red";

export interface Listed {
  count: number;
  total: number;
  limit: number;
  offset: number;
}
