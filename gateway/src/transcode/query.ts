import type { JsonObject, JsonValue } from "@bufbuild/protobuf";

import { DecodeError } from "./decode-error.ts";

const MAX_LENGTH = 16_384;
const MAX_PARAMETERS = 500;
const MAX_DEPTH = 8;

export type QueryOptions = {
  /** Rejects repeated parameters, as forms require (RFC 6749 section 3.2). */
  readonly unique?: boolean;
};

/** The values of a parameter, or its nested parameters. */
type Node = string[] | Map<string, Node>;

/**
 * Parses a query string or form into a tree of strings: `created_at[after]=…` and
 * `filters[code][conditions][$in][0]=…` nest, brackets around the first name are accepted, and a
 * repeated name makes a list.
 */
export function parseQuery(query: string, options: QueryOptions = {}): JsonObject {
  if (query.length > MAX_LENGTH)
    throw new DecodeError(`must NOT have more than ${MAX_LENGTH} characters`);
  const root = new Map<string, Node>();
  let count = 0;
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    count += 1;
    if (count > MAX_PARAMETERS) {
      throw new DecodeError(`must NOT have more than ${MAX_PARAMETERS} parameters`);
    }
    const at = pair.indexOf("=");
    const name = decodeText(at === -1 ? pair : pair.slice(0, at));
    const value = at === -1 ? "" : decodeText(pair.slice(at + 1));
    insert(root, pathOf(name), value, options);
  }
  foldJunction(root);
  return toObject(root);
}

/**
 * `junction` may be sent next to the filters: `filters[code]…&junction=OR`
 * (docs/filters-and-listing.md#filters).
 */
function foldJunction(root: Map<string, Node>): void {
  const filters = root.get("filters");
  const junction = root.get("junction");
  if (!(filters instanceof Map) || junction === undefined || filters.has("junction")) return;
  filters.set("junction", junction);
}

/** Decodes percent-encoded text; rejects invalid UTF-8 and NUL. */
export function decodePercent(text: string): string {
  if (!/^[\x20-\x7e]*$/.test(text)) throw new DecodeError("must be percent-encoded");
  const decoded = decodeUtf8(text);
  if (decoded.includes("\0")) throw new DecodeError("must not contain NUL or lone surrogates");
  return decoded;
}

function decodeUtf8(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new DecodeError("must be percent-encoded UTF-8");
  }
}

const decodeText = (text: string): string => decodePercent(text.replaceAll("+", " "));

/** Both `filters[code][$in]` and `[filters][code][$in]` have the path filters, code, $in. */
function pathOf(name: string): string[] {
  const match = /^([^[\]]*)((?:\[[^[\]]*\])*)$/.exec(name);
  if (match === null) throw new DecodeError(`must not have the malformed name '${name}'`);
  const [, head = "", brackets = ""] = match;
  const inner = brackets === "" ? [] : brackets.slice(1, -1).split("][");
  const path = head === "" ? inner : [head, ...inner];
  if (path.length === 0) throw new DecodeError("must not have a parameter without a name");
  if (path.length > MAX_DEPTH) {
    throw new DecodeError(`must not be nested deeper than ${MAX_DEPTH} levels`);
  }
  for (const key of path) {
    if (key === "__proto__" || key === "constructor" || key === "prototype") {
      throw new DecodeError(`must not have the property '${key}'`);
    }
  }
  return path;
}

function insert(
  root: Map<string, Node>,
  path: readonly string[],
  value: string,
  options: QueryOptions,
): void {
  let branch = root;
  for (const key of path.slice(0, -1)) {
    const next = branch.get(key) ?? new Map<string, Node>();
    if (Array.isArray(next)) throw conflict(path);
    branch.set(key, next);
    branch = next;
  }
  // Empty brackets append: `$in[]=a&$in[]=b`.
  const last = path.at(-1) ?? "";
  const key = last === "" && branch !== root ? String(branch.size) : last;
  const earlier = branch.get(key);
  if (earlier === undefined) {
    branch.set(key, [value]);
    return;
  }
  if (!Array.isArray(earlier)) throw conflict(path);
  if (options.unique === true) throw new DecodeError(`must not repeat '${path.join(".")}'`);
  earlier.push(value);
}

const conflict = (path: readonly string[]): DecodeError =>
  new DecodeError(`must not have both a value and properties at '${path.join(".")}'`);

function toObject(branch: Map<string, Node>): JsonObject {
  return Object.fromEntries([...branch].map(([key, node]) => [key, toJson(node)]));
}

function toJson(node: Node): JsonValue {
  if (Array.isArray(node)) return node.length === 1 ? (node[0] ?? "") : node;
  const keys = [...node.keys()];
  if (!keys.every((key) => /^\d{1,6}$/.test(key))) return toObject(node);
  return keys
    .toSorted((left, right) => Number(left) - Number(right))
    .map((key) => toJson(node.get(key) ?? []));
}
