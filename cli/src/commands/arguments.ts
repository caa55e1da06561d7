import type { Command } from "commander";

import { usageError } from "../cli-error.ts";

export const encode = encodeURIComponent;

/** Irreversible commands require --yes: they may run in scripts, where nobody can confirm. */
export const confirmed = (command: Command): Command =>
  command.option("--yes", "really do it").hook("preAction", (called) => {
    if (called.opts<{ yes?: boolean }>().yes !== true) {
      throw usageError("this cannot be undone; add --yes to do it");
    }
  });
