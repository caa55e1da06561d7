import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";

import { ConfigError, type Env } from "@scrip/config";
import type { Logger } from "@scrip/telemetry";
import type { JSONWebKeySet, JWK } from "jose";

import type { ServiceKeys } from "./service-token.ts";

/** Where the keys of a process come from, and what is there at its start. */
export type ServiceKeySources = {
  readonly signing: KeySource<JWK>;
  readonly trusted: KeySource<JSONWebKeySet>;
};

type KeySource<Key> = {
  readonly value: Key;
  readonly text: string;
  readonly parse: (text: string) => Key | undefined;
  /** Read again while the process runs; undefined when a variable contains the key. */
  readonly file: string | undefined;
};

/** Short, so that the distribution of the files determines how long a rotation takes. */
const READ_AGAIN_MS = 1_000;

/**
 * The key that a process signs with and the keys that it trusts (`npx scrip service-key`), each in a
 * variable, or in a file, which may change while the process runs.
 */
export function readServiceKeys(env: Env): ServiceKeySources {
  const mistakes: string[] = [];
  const signing = readSource(env, mistakes, {
    variable: "SCRIP_SERVICE_KEY",
    fileVariable: "SCRIP_SERVICE_KEY_FILE",
    expected: "a private Ed25519 key as JWK",
    parse: parseSigningKey,
  });
  const trusted = readSource(env, mistakes, {
    variable: "SCRIP_SERVICE_JWKS",
    fileVariable: "SCRIP_SERVICE_JWKS_FILE",
    expected: "public Ed25519 keys as JWK set",
    parse: parseTrustedKeys,
  });
  if (signing === undefined || trusted === undefined) throw new ConfigError(mistakes.join("\n"));
  return { signing, trusted };
}

type SourceSpec<Key> = {
  readonly variable: string;
  readonly fileVariable: string;
  readonly expected: string;
  readonly parse: (text: string) => Key | undefined;
};

function readSource<Key>(
  env: Env,
  mistakes: string[],
  { variable, fileVariable, expected, parse }: SourceSpec<Key>,
): KeySource<Key> | undefined {
  const file = env[variable] ? undefined : env[fileVariable] || undefined;
  let text = env[variable] ?? "";
  if (file !== undefined) {
    try {
      text = readFileSync(file, "utf8");
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      mistakes.push(`${fileVariable} must be a file with ${expected}: it cannot be read (${code})`);
      return undefined;
    }
  }
  if (text === "" && file === undefined) {
    mistakes.push(
      `${variable} is missing: ${expected}, or ${fileVariable}, a file that contains it`,
    );
    return undefined;
  }
  const value = parse(text);
  if (value !== undefined) return { value, text, parse, file };
  mistakes.push(
    file === undefined
      ? `${variable} must be ${expected}`
      : `${fileVariable} must be a file with ${expected}`,
  );
  return undefined;
}

/**
 * The current keys: those of files are read again every second. While a file is missing or invalid,
 * its last keys stay.
 */
export function followServiceKeys(
  sources: ServiceKeySources,
  logger: Pick<Logger, "info" | "warn">,
): ServiceKeys & Disposable {
  const files = [sources.signing.file, sources.trusted.file].some((file) => file !== undefined);
  let { signing, trusted } = sources;
  let problem = "";
  const readAgain = async (): Promise<void> => {
    try {
      const before = [signing, trusted];
      signing = await changed(signing);
      trusted = await changed(trusted);
      problem = "";
      if (before[0] === signing && before[1] === trusted) return;
      const trustedIds = trusted.value.keys.map(({ kid }) => kid);
      logger.info({ signing: signing.value.kid, trusted: trustedIds }, "service keys changed");
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (message === problem) return;
      problem = message;
      logger.warn({ error }, "service keys cannot be read again; the last ones stay");
    }
  };
  let reading = Promise.resolve();
  const timer = files
    ? setInterval(() => (reading = reading.then(readAgain)), READ_AGAIN_MS).unref()
    : undefined;
  return {
    get signing() {
      return signing.value;
    },
    get trusted() {
      return trusted.value;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** The source with its new content; the same object when it has not changed. */
async function changed<Key>(source: KeySource<Key>): Promise<KeySource<Key>> {
  const { file, parse } = source;
  if (file === undefined) return source;
  const text = await readFile(file, "utf8");
  if (text === source.text) return source;
  const value = parse(text);
  if (value === undefined) throw new Error(`${file} contains no valid keys`);
  return { ...source, text, value };
}

function parseSigningKey(text: string): JWK | undefined {
  const key = parseJson(text) as JWK | undefined;
  return isEd25519(key) && typeof key.d === "string" ? key : undefined;
}

/** Without a key the process could not be called. */
function parseTrustedKeys(text: string): JSONWebKeySet | undefined {
  const set = parseJson(text) as JSONWebKeySet | undefined;
  const isSet = Array.isArray(set?.keys) && set.keys.length > 0 && set.keys.every(isEd25519);
  return isSet ? set : undefined;
}

const isEd25519 = (key: JWK | undefined): key is JWK =>
  typeof key === "object" && key?.crv === "Ed25519" && typeof key.x === "string";

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
