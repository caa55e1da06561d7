import { RESERVED_WORDS } from "@scrip/contract";

/** Segments of a path template: literal text, or `{name}` for one segment. */
export type Pattern = { readonly method: string; readonly segments: readonly string[] };

export type Match<Route> =
  | { readonly kind: "found"; readonly route: Route; readonly params: readonly string[] }
  /** The path exists with other methods. */
  | { readonly kind: "other_method"; readonly allowed: readonly string[]; readonly route: Route }
  | { readonly kind: "none" };

export type Router<Route> = {
  /** `path` as in the request line, still percent-encoded. */
  match(method: string, path: string): Match<Route>;
};

type Node<Route> = {
  readonly literals: Map<string, Node<Route>>;
  parameter: Node<Route> | undefined;
  readonly routes: Map<string, Route>;
};

/** No path of the contract is longer. */
const MAX_SEGMENTS = 32;

/**
 * Matches paths in a tree of segments, in time independent of the number of routes. Literal
 * segments win over parameters, and a trailing slash is accepted. Segments are matched before they
 * are decoded, so a code may contain `%2F`.
 */
export function createRouter<Route extends Pattern>(routes: readonly Route[]): Router<Route> {
  const root = node<Route>();
  for (const route of routes) insert(root, route);
  return {
    match(method, path) {
      const segments = split(path);
      if (segments.length > MAX_SEGMENTS) return NONE;
      const params: string[] = [];
      const found = walk({ segments, method, params }, root, 0);
      if (found !== undefined) return { kind: "found", route: found, params };
      const others = new Map<string, Route>();
      collect(segments, root, 0, others);
      const first = others.values().next();
      if (first.done === true) return NONE;
      return { kind: "other_method", allowed: methodsOf(others), route: first.value };
    },
  };
}

const NONE = { kind: "none" } as const;

function node<Route>(): Node<Route> {
  return { literals: new Map(), parameter: undefined, routes: new Map() };
}

function insert<Route extends Pattern>(root: Node<Route>, route: Route): void {
  let at = root;
  for (const segment of route.segments) {
    if (segment.startsWith("{")) {
      at.parameter ??= node();
      at = at.parameter;
    } else {
      const next = at.literals.get(segment) ?? node<Route>();
      at.literals.set(segment, next);
      at = next;
    }
  }
  if (at.routes.has(route.method)) {
    throw new Error(`two routes have the path ${route.method} /${route.segments.join("/")}`);
  }
  at.routes.set(route.method, route);
  // HEAD is GET without a body (RFC 9110 section 9.3.2), which Node omits by itself.
  if (route.method === "GET") at.routes.set("HEAD", route);
}

function split(path: string): string[] {
  const end = path.length > 1 && path.endsWith("/") ? path.length - 1 : path.length;
  return path.slice(1, end).split("/");
}

type Search = {
  readonly segments: readonly string[];
  readonly method: string;
  /** Raw path parameters up to the current node. */
  readonly params: string[];
};

function walk<Route>(search: Search, at: Node<Route>, depth: number): Route | undefined {
  if (depth === search.segments.length) return at.routes.get(search.method);
  const segment = search.segments[depth] ?? "";
  const literal = at.literals.get(segment);
  const found = literal && walk(search, literal, depth + 1);
  if (found !== undefined || at.parameter === undefined || !isParameter(segment)) return found;
  search.params.push(segment);
  const other = walk(search, at.parameter, depth + 1);
  if (other === undefined) search.params.pop();
  return other;
}

function collect<Route>(
  segments: readonly string[],
  at: Node<Route>,
  depth: number,
  into: Map<string, Route>,
): void {
  if (depth === segments.length) {
    for (const [method, route] of at.routes) into.set(method, route);
    return;
  }
  const segment = segments[depth] ?? "";
  const literal = at.literals.get(segment);
  if (literal !== undefined) collect(segments, literal, depth + 1, into);
  if (at.parameter !== undefined && isParameter(segment)) {
    collect(segments, at.parameter, depth + 1, into);
  }
}

const isParameter = (segment: string): boolean =>
  segment !== "" && !RESERVED_WORDS.has(segment.includes("%") ? unescaped(segment) : segment);

/** For comparison only; the transcoder rejects malformed escapes. */
function unescaped(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

const methodsOf = (routes: ReadonlyMap<string, unknown>): readonly string[] =>
  [...routes.keys()].toSorted();
