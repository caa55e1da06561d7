import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";

import { ConfigError, type Env, readEnv, variable } from "@scrip/config";
import type { Logger } from "@scrip/telemetry";

import type { ClientTls } from "../transport/grpc-transport.ts";

/** A process's certificate, its key, and the authority that signs the certificates of all processes. */
type Certificates = { readonly cert: string; readonly key: string; readonly ca: string };

/** The files that contain them. */
export type TlsFiles = Certificates;

/** Mutual TLS between the processes of an installation. */
export type Tls = Disposable & {
  readonly current: () => Certificates;
  /** Of a connection to `host`. New connections use the current certificates. */
  readonly clientOf: (host: string) => ClientTls;
  /** Called when the files have changed. */
  readonly onChange: (listener: (certificates: Certificates) => void) => void;
};

/** Short, so that the distribution of the files determines how long a renewal takes. */
const READ_AGAIN_MS = 1_000;

/** Undefined without any of the variables, which must be set together. */
export function readTlsFiles(env: Env): TlsFiles | undefined {
  const names = ["SCRIP_TLS_CERT_FILE", "SCRIP_TLS_KEY_FILE", "SCRIP_TLS_CA_FILE"] as const;
  if (names.every((name) => !env[name])) return undefined;
  const files = readEnv(env, {
    cert: { name: names[0], reader: variable.text },
    key: { name: names[1], reader: variable.text },
    ca: { name: names[2], reader: variable.text },
  });
  const mistakes = names.flatMap((name) => {
    try {
      return isPem(readFileSync(env[name] ?? "", "utf8")) ? [] : [`${name} must be a PEM file`];
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      return [`${name} must be a PEM file: it cannot be read (${code})`];
    }
  });
  if (mistakes.length > 0) throw new ConfigError(mistakes.join("\n"));
  return files;
}

const isPem = (text: string): boolean => text.includes("-----BEGIN ");

/** Follows the files: renewed certificates are used without a restart. While a file is invalid, the last ones stay. */
export function followTls(files: TlsFiles, logger: Pick<Logger, "info" | "warn">): Tls {
  const listeners: ((certificates: Certificates) => void)[] = [];
  let current: Certificates = {
    cert: readFileSync(files.cert, "utf8"),
    key: readFileSync(files.key, "utf8"),
    ca: readFileSync(files.ca, "utf8"),
  };
  const readAgain = async (): Promise<void> => {
    const [cert, key, ca] = await Promise.all(
      [files.cert, files.key, files.ca].map((file) => readFile(file, "utf8")),
    );
    if (cert === undefined || key === undefined || ca === undefined) return;
    if (cert === current.cert && key === current.key && ca === current.ca) return;
    const next = { cert, key, ca };
    // Throws on a file that is being written, and on a key of another certificate.
    createSecureContext(next);
    for (const listener of listeners) listener(next);
    current = next;
    logger.info({}, "TLS certificates changed");
  };
  const timer = setInterval(() => {
    readAgain().catch((error: unknown) =>
      logger.warn({ error }, "TLS certificates cannot be read again; the last ones stay"),
    );
  }, READ_AGAIN_MS).unref();
  return {
    current: () => current,
    // Read when a connection is opened.
    clientOf: (host) => ({
      servername: host,
      get cert() {
        return current.cert;
      },
      get key() {
        return current.key;
      },
      get ca() {
        return current.ca;
      },
    }),
    onChange: (listener) => void listeners.push(listener),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
