import { readFileSync } from "node:fs";

import type { Stack } from "../stack/compositions.ts";
import { residentMiB } from "./machine.ts";

/** Resident memory by process, in MiB. */
export function memoryOf(stack: Stack): ReadonlyMap<string, number> {
  return new Map(stack.pids().map((pid) => [nameOf(pid), residentMiB(pid)]));
}

/** The folder of the process's main file: `export`, `gateway`, `standalone`. */
const nameOf = (pid: number): string =>
  /(\w+)\/src\/main\.ts/.exec(readFileSync(`/proc/${pid}/cmdline`, "utf8"))?.[1] ?? String(pid);

const EVERY_MS = 100;

/** Watches the memory of each process; `stop` returns the most that each had. */
export function peaks(stack: Stack): { readonly stop: () => ReadonlyMap<string, number> } {
  const most = new Map<string, number>();
  const watch = (): void => {
    for (const [name, mib] of memoryOf(stack)) most.set(name, Math.max(mib, most.get(name) ?? 0));
  };
  watch();
  const timer = setInterval(watch, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      return most;
    },
  };
}

/** `export 134 → 159`, for each process. */
export const memoryText = (
  before: ReadonlyMap<string, number>,
  most: ReadonlyMap<string, number>,
): string =>
  [...most]
    .map(([name, mib]) => `${name} ${before.get(name)?.toFixed(0)} → ${mib.toFixed(0)}`)
    .join(", ");
