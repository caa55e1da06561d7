import { randomBytes } from "node:crypto";
import { chmod, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";

import { DataFolderError } from "@scrip/embedded-postgres";
import { generateServiceKey, type ServiceKeys } from "@scrip/rpc";

/** Secrets that the first start generates and every later start needs unchanged. */
export type Secrets = {
  /** Encrypts the ids of voucher images. */
  readonly assetSecret: string;
  /** Keys the hashes behind tracking ids. */
  readonly trackingSecret: string;
  readonly managementId: string;
  readonly managementToken: string;
  readonly serviceKeys: ServiceKeys;
};

const SECRETS = "secrets.json";
const KEYS = "keys.env";

/** Reads the secrets of the folder, or generates them at the first start. */
export async function readSecrets(folder: string): Promise<Secrets> {
  const file = path.join(folder, SECRETS);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw new DataFolderError(`${file} cannot be read: ${reasonOf(error)}`, { cause: error });
  });
  if (text === undefined) {
    const secrets = await generateSecrets();
    await writePrivate(file, `${JSON.stringify(secrets, null, 2)}\n`);
    return secrets;
  }
  try {
    return JSON.parse(text) as Secrets;
  } catch (cause) {
    throw new DataFolderError(
      `${file} is damaged. Restore it from a backup, or remove the whole data folder to start with an empty database.`,
      { cause },
    );
  }
}

async function generateSecrets(): Promise<Secrets> {
  return {
    assetSecret: randomBytes(32).toString("base64url"),
    trackingSecret: randomBytes(32).toString("base64url"),
    managementId: `mgmt_${randomBytes(9).toString("hex")}`,
    managementToken: randomBytes(32).toString("base64url"),
    serviceKeys: await generateServiceKey(),
  };
}

/** Stores the variables that the README's examples use, readable by the owner only. */
export async function writeKeys(
  folder: string,
  variables: Readonly<Record<string, string>>,
): Promise<string> {
  const file = path.join(folder, KEYS);
  const lines = Object.entries(variables).map(([name, value]) => `export ${name}='${value}'`);
  await writePrivate(file, `${lines.join("\n")}\n`);
  return file;
}

export async function readKeys(folder: string): Promise<Record<string, string>> {
  const text = await readFile(path.join(folder, KEYS), "utf8").catch(() => "");
  return Object.fromEntries(
    [...text.matchAll(/^(?:export )?(\w+)='([^']*)'$/gm)].map(([, name, value]) => [name, value]),
  );
}

/** Writes the file atomically: a crash must not leave half a file of keys. */
async function writePrivate(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}`;
  try {
    await writeFile(temporary, text, { mode: 0o600 });
    await chmod(temporary, 0o600);
    await rename(temporary, file);
  } catch (cause) {
    throw new DataFolderError(
      `${file} cannot be written: ${reasonOf(cause)}. Free some space or change the owner of the folder, or set SCRIP_DATA_DIR to another one.`,
      { cause },
    );
  }
}

const reasonOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);
