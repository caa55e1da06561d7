import { globSync, writeFileSync } from "node:fs";
import path from "node:path";

import { type EnvOf, SERVICES, type ServiceName } from "../stack/compositions.ts";

/** The clocks of the processes of an installation, by libfaketime. */
export type Clocks = {
  readonly envOf: EnvOf;
  /** The difference to the real time in seconds; processes that run notice it too. */
  readonly set: (name: ServiceName | "gateway", seconds: number) => void;
};

export function createClocks(folder: string): Clocks {
  const library = findLibrary();
  const fileOf = (name: string): string => path.join(folder, name);
  const set: Clocks["set"] = (name, seconds) =>
    writeFileSync(fileOf(name), `${seconds < 0 ? "" : "+"}${seconds}\n`);
  for (const name of [...SERVICES, "gateway"] as const) set(name, 0);
  return {
    set,
    envOf: (name) => ({
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: fileOf(name),
      FAKETIME_CACHE_DURATION: "1",
      // As when somebody sets the clock of a machine.
      DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    }),
  };
}

function findLibrary(): string {
  const [library] = globSync("/usr/{lib,lib64}/{*/,}faketime/libfaketimeMT.so.1");
  if (library === undefined) throw new Error("libfaketime is missing: install faketime");
  return library;
}
