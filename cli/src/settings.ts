import { readFile } from "node:fs/promises";
import path from "node:path";

import { usageError } from "./cli-error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Variables of the environment, completed from the keys.env of the standalone data folder. */
export type Settings = {
  readonly dataDir: string;
  read(name: string): string | undefined;
  /** Fails, and says where the value can come from. */
  need(name: string): string;
};

const ROOT = path.join(import.meta.dirname, "../..");

export async function readSettings(env: Environment): Promise<Settings> {
  // Default: the data folder of `npm start`, independent of the working directory.
  const dataDir =
    env["SCRIP_DATA_DIR"] === undefined || env["SCRIP_DATA_DIR"] === ""
      ? path.join(ROOT, ".scrip")
      : path.resolve(env["SCRIP_DATA_DIR"]);
  const keysFile = path.join(dataDir, "keys.env");
  const stored = parseKeys(await readFile(keysFile, "utf8").catch(() => ""));
  // An empty variable counts as absent: shells set them easily.
  const read = (name: string): string | undefined => env[name] || stored[name];
  return {
    dataDir,
    read,
    need: (name) => {
      const value = read(name);
      if (value !== undefined) return value;
      throw usageError(
        `${name} is not set: set it in the environment, or set SCRIP_DATA_DIR to the data folder ` +
          `of a standalone installation (${keysFile} does not contain it)`,
      );
    },
  };
}

/** Parses the lines `export NAME='value'` of a keys.env. */
function parseKeys(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(/^(?:export )?(\w+)=(?:'([^']*)'|"([^"]*)"|(\S*))\s*$/gm)].map(
      ([, name, single, double, bare]) => [name, single ?? double ?? bare ?? ""],
    ),
  );
}
