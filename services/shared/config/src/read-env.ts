export type Env = Readonly<Record<string, string | undefined>>;

/** Turns the text of a variable into a value, or tells what was expected instead. */
export type Reader<Value> = {
  readonly expected: string;
  readonly read: (text: string) => Value | undefined;
  /** Used when the variable is absent or empty; without one it is required. */
  readonly fallback?: { readonly value: Value };
};

/** Everything that is wrong with the environment at once, fit for the terminal. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Spec = Readonly<Record<string, { readonly name: string; readonly reader: Reader<unknown> }>>;
type Values<S extends Spec> = {
  readonly [Key in keyof S]: S[Key]["reader"] extends Reader<infer Value> ? Value : never;
};

/** Reads variables by their names; the values of the wrong ones are never repeated: they may be secrets. */
export function readEnv<S extends Spec>(env: Env, spec: S): Values<S> {
  const mistakes: string[] = [];
  const values: Record<string, unknown> = {};
  for (const [key, { name, reader }] of Object.entries(spec)) {
    const text = env[name];
    if (text === undefined || text === "") {
      if (reader.fallback === undefined) mistakes.push(`${name} is missing: ${reader.expected}`);
      else values[key] = reader.fallback.value;
      continue;
    }
    const value = reader.read(text);
    if (value === undefined) mistakes.push(`${name} must be ${reader.expected}`);
    else values[key] = value;
  }
  if (mistakes.length > 0) throw new ConfigError(mistakes.join("\n"));
  return values as Values<S>;
}

const reader = <Value>(expected: string, read: Reader<Value>["read"]): Reader<Value> => ({
  expected,
  read,
});

/** The kinds of variables. `optional` and `withDefault` make one that need not be set. */
export const variable = {
  text: reader("text", (text) => text),
  secret: reader("a secret of at least 16 characters", (text) =>
    text.length >= 16 ? text : undefined,
  ),
  url: reader("a URL", (text) => (URL.canParse(text) ? text : undefined)),
  boolean: reader("true or false", (text) =>
    text === "true" ? true : text === "false" ? false : undefined,
  ),
  list: reader("a list separated by commas", (text) => text.split(",").map((item) => item.trim())),
  integer: (min: number, max: number): Reader<number> =>
    reader(`an integer from ${min} to ${max}`, (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
      return value !== undefined && value >= min && value <= max ? value : undefined;
    }),
  json: <Value>(expected: string): Reader<Value> =>
    reader(expected, (text) => {
      try {
        return JSON.parse(text) as Value;
      } catch {
        return undefined;
      }
    }),
  withDefault: <Value>(kind: Reader<Value>, value: Value): Reader<Value> => ({
    ...kind,
    fallback: { value },
  }),
  optional: <Value>(kind: Reader<Value>): Reader<Value | undefined> => ({
    ...kind,
    fallback: { value: undefined },
  }),
};
