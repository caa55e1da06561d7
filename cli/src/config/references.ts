import type { JsonObject } from "../http.ts";

/**
 * References replace ids in the file, because ids differ between projects: `$ref:` and the path of
 * the object, such as `$ref:campaigns/Summer` or `$ref:promotion_tiers/Spring/Ten percent`.
 */
const MARK = "$ref:";

const ID = /^[a-z]+_[0-9a-f]{18}$/;

export const toReference = (path: string): string => `${MARK}${path}`;

/** Replaces strings everywhere in the value, in keys too: some maps are keyed by ids. */
export function replaceStrings(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) return value.map((each) => replaceStrings(each, replace));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [replace(key), replaceStrings(each, replace)]),
  );
}

export const idsIn = (value: unknown): ReadonlySet<string> =>
  collect(value, (text) => (ID.test(text) ? text : undefined));

/** Paths of the objects that the value refers to. */
export const pathsIn = (value: unknown): ReadonlySet<string> =>
  collect(value, (text) => (text.startsWith(MARK) ? text.slice(MARK.length) : undefined));

function collect(value: unknown, match: (text: string) => string | undefined): ReadonlySet<string> {
  const found = new Set<string>();
  replaceStrings(value, (text) => {
    const part = match(text);
    if (part !== undefined) found.add(part);
    return text;
  });
  return found;
}

/** Replaces references with ids; `idOf` knows the path of every one. */
export const resolveReferences = (value: JsonObject, idOf: (path: string) => string): JsonObject =>
  replaceStrings(value, (text) =>
    text.startsWith(MARK) ? idOf(text.slice(MARK.length)) : text,
  ) as JsonObject;
