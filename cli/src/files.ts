import { access, constants, stat } from "node:fs/promises";
import path from "node:path";

import { type CliError, usageError } from "./cli-error.ts";

export const unreadable = (file: string, { message }: Error): CliError =>
  usageError(`${file} cannot be read: ${message}`);

/** Fails before work whose result could not be written; neither creates the file nor changes it. */
export async function checkWritable(file: string): Promise<void> {
  const existing = await stat(file).catch(() => undefined);
  if (existing?.isDirectory() === true) {
    throw usageError(`${file} cannot be written: it is a directory`);
  }
  const target = existing === undefined ? path.dirname(file) + path.sep : file;
  await access(target, constants.W_OK).catch((error: Error) => {
    throw usageError(`${file} cannot be written: ${error.message}`);
  });
}
