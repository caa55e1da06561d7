/** Values captured from responses: `"{{name}}"` in a response captures, elsewhere it is replaced. */
export type Variables = Map<string, string>;

const VARIABLE = /\{\{(\w+)\}\}/g;
const WHOLE_VARIABLE = /^\{\{(\w+)\}\}$/;

/** Replaces each `{{name}}` by the captured value. */
export function fill(text: string, variables: Variables): string {
  return text.replace(VARIABLE, (_, name: string) => {
    const value = variables.get(name);
    if (value === undefined) throw new Error(`{{${name}}} was not captured before`);
    return value;
  });
}

type Position = { readonly variables: Variables; readonly path: string };

/**
 * How `actual` differs from the documented subset: objects may have further keys, arrays have the
 * documented length, `"..."` stands for any value but null.
 */
export function differencesOf(expected: unknown, actual: unknown, at: Position): string[] {
  if (typeof expected === "string") return textDifferences(expected, actual, at);
  if (Array.isArray(expected)) return arrayDifferences(expected, actual, at);
  if (typeof expected === "object" && expected !== null) {
    return objectDifferences(expected as Record<string, unknown>, actual, at);
  }
  return expected === actual ? [] : [differs(expected, actual, at)];
}

function textDifferences(expected: string, actual: unknown, at: Position): string[] {
  if (expected === "...") {
    return actual === undefined || actual === null ? [differs("any value", actual, at)] : [];
  }
  const name = WHOLE_VARIABLE.exec(expected)?.[1];
  if (name !== undefined && !at.variables.has(name)) {
    if (typeof actual !== "string") return [differs("a text", actual, at)];
    at.variables.set(name, actual);
    return [];
  }
  const filled = fill(expected, at.variables);
  return filled === actual ? [] : [differs(filled, actual, at)];
}

function arrayDifferences(expected: readonly unknown[], actual: unknown, at: Position): string[] {
  if (!Array.isArray(actual) || actual.length !== expected.length) {
    return [differs(`${expected.length} elements`, actual, at)];
  }
  return expected.flatMap((each, index) =>
    differencesOf(each, actual[index], { ...at, path: `${at.path}[${index}]` }),
  );
}

function objectDifferences(
  expected: Readonly<Record<string, unknown>>,
  actual: unknown,
  at: Position,
): string[] {
  if (typeof actual !== "object" || actual === null) return [differs("an object", actual, at)];
  const fields = actual as Record<string, unknown>;
  return Object.entries(expected).flatMap(([name, each]) => {
    const key = fill(name, at.variables);
    return differencesOf(each, fields[key], { ...at, path: `${at.path}.${key}` });
  });
}

const differs = (expected: unknown, actual: unknown, { path }: Position): string =>
  `${path} is ${JSON.stringify(actual)}, not ${JSON.stringify(expected)}`;
