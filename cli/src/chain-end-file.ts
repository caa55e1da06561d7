import { readFile, writeFile } from "node:fs/promises";

import type { ChainEnd } from "@scrip/export/audit-log";

import { usageError } from "./cli-error.ts";
import { unreadable } from "./files.ts";
import { isJsonObject } from "./http.ts";

/** Writes one JSON object per line. */
export const writeChainEnds = (file: string, ends: readonly ChainEnd[]): Promise<void> =>
  writeFile(file, ends.map((end) => `${JSON.stringify(end)}\n`).join(""));

/** A file with another line is invalid usage. */
export async function readChainEndFile(file: string): Promise<readonly ChainEnd[]> {
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw unreadable(file, error);
  });
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line, index) => {
      const end = parse(line);
      if (end === undefined) throw usageError(`${file}:${index + 1} is not the end of a chain`);
      return end;
    });
}

function parse(line: string): ChainEnd | undefined {
  let end: unknown;
  try {
    end = JSON.parse(line);
  } catch {
    return undefined;
  }
  const names = ["project_id", "day", "position", "hash"] as const;
  if (!isJsonObject(end) || !names.every((name) => typeof end[name] === "string")) return undefined;
  return end as ChainEnd;
}
