import type { Command } from "commander";

import { usageError } from "../cli-error.ts";

export const encode = encodeURIComponent;

/** Irreversible commands require --yes: they may run in scripts, where nobody can confirm. */
export const confirmed = (command: Command): Command =>
  command.option("--yes", "confirm the command").hook("preAction", (called) => {
    if (called.opts<{ yes?: boolean }>().yes !== true) {
      throw usageError("this cannot be undone: repeat the command with --yes");
    }
  });
