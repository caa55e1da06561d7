import type { Reader } from "./reader.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** All problems of the environment in one error, formatted for the terminal. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

type Spec = Readonly<Record<string, { readonly name: string; readonly reader: Reader<unknown> }>>;
type Values<S extends Spec> = {
  readonly [Key in keyof S]: S[Key]["reader"] extends Reader<infer Value> ? Value : never;
};

/**
 * Reads variables by their names. An empty variable counts as absent. Error messages never repeat
 * values, which may be secrets.
 */
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
  // The reader of each key has returned a value of its type.
  return values as Values<S>;
}

type Parts = readonly (() => unknown)[];
type Results<P extends Parts> = { readonly [Index in keyof P]: ReturnType<P[Index]> };

/** Reads several groups of settings, and reports the mistakes of all of them together. */
export function readTogether<const P extends Parts>(...parts: P): Results<P> {
  const mistakes: string[] = [];
  const results = parts.map((read) => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      mistakes.push(error.message);
      return undefined;
    }
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes.join("\n"));
  // Each part has returned its result.
  return results as unknown as Results<P>;
}
