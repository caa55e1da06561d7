/** What changed: cached credentials of this token, key or project are out of date. */
export type Eviction = { readonly kind: "token" | "key" | "project"; readonly name: string };
